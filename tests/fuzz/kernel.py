"""``python -m tests.fuzz.kernel --seconds 60``: random walks through the debug build of the kernel.

Every invariant is asserted at every step, and all scores along the walk are compared with the
reference to the last bit. A failure names the number that repeats it (``--first NUMBER``).
"""

import argparse
import time

import numpy as np

from sparsedp._kernels.walk import checked, reference
from sparsedp.mechanisms import KeyStream
from tests.walk import walks


def random_case(rng: np.random.Generator) -> walks.Case:
    """Ties, duplicates, negated duplicates, empty columns, one record, one feature, every loss."""
    n = int(rng.choice([1, 2, 7, 60, 300]))
    d = int(rng.choice([1, 2, 5, 40, 150]))
    if rng.random() < 0.4:
        X = rng.choice([-1.0, 0.0, 0.5, 1.0], (n, d))
    else:
        X = rng.uniform(-1, 1, (n, d))
    X[rng.random((n, d)) > rng.choice([0.02, 0.3, 1.0]) + 3 / (1 + np.arange(d))] = 0
    for copy, sign in zip(rng.integers(0, d, (4, 2)), (1, -1, 0, 1), strict=True):
        if rng.random() < 0.5:
            X[:, copy[0]] = sign * X[:, copy[1]]
    loss = str(rng.choice(["logistic", "squared", "multinomial"]))
    n_outputs = int(rng.integers(2, 6)) if loss == "multinomial" else 1
    if loss == "squared":
        y = rng.choice([-1.0, -0.3, 0.0, 1.0], n)
    else:
        y = rng.integers(0, max(n_outputs, 2), n)
    weights = {
        0: None,
        1: walks.shares(rng.integers(1, 6, n))[:n],
        2: rng.choice([0.0, 2.0**-30, 1e-3, 0.5, 1 - 2.0**-30, 1.0], n),
        3: rng.random(n) * rng.choice([1e-4, 1.0]),
    }[int(rng.integers(4))]
    centered = rng.random() < 0.3
    n_steps = int(rng.integers(1, 40))
    steps = {
        0: 1 / (np.arange(n_steps) + 2.0),
        1: 2 / (np.arange(n_steps) + 3.0),
        2: rng.uniform(1e-9, 1, n_steps),
        3: rng.choice([1.0, 1e-12, 0.5], n_steps),
    }[int(rng.integers(4))]
    return walks.Case(
        np.abs(X) if centered else X,
        y,
        loss=loss,
        n_outputs=n_outputs,
        bound=float(rng.choice([0.5, 0.3, 1.0, 0.01, 2.0**-9, 1e-6])),
        radius=float(10 ** rng.uniform(-3, 6)),
        steps=np.ascontiguousarray(steps),
        intercept=bool(centered or rng.random() < 0.2),
        lower=0.0 if centered else -1.0,
        weights=weights,
    )


def run(number: int) -> dict:
    """One random walk; raises if anything is not as it must be."""
    rng = np.random.default_rng(number)
    case = random_case(rng)
    records = case.records(str(rng.choice(["sparse", "dense"])))
    setting = records, case.loss, case.n_outputs, case.bound
    start = checked.scores_at_zero(*setting)
    assert (start == reference.scores_at_zero(*setting)).all(), "scores at weights zero"
    how = dict(walks.PATHS[str(rng.choice(list(walks.PATHS)))])
    steepness = float(10 ** rng.uniform(-1.3, 5)) / case.bound
    chosen, counters = walks.walk(
        checked,
        case,
        records,
        start,
        walks.rate_of(case, steepness),
        KeyStream.from_seed(number),
        laplace=bool(rng.random() < 0.4),
        **how,
    )
    setting = *setting, case.radius, case.steps, chosen
    same = checked.scores_along(*setting) == reference.scores_along(*setting)
    assert same.all(), "scores along the walk"
    return counters


def main() -> None:
    """As many walks as time allows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**9)
    asked = parser.parse_args()
    end, totals, number = time.monotonic() + asked.seconds, {}, asked.first
    while time.monotonic() < end and number < asked.first + asked.count:
        try:
            counters = run(number)
        except BaseException:
            print(f"failed: python -m tests.fuzz.kernel --first {number} --count 1", flush=True)
            raise
        for name, value in counters.items():
            totals[name] = totals.get(name, 0) + value
        number += 1
    print(f"{number - asked.first} random walks, every invariant held at every step: {totals}")


if __name__ == "__main__":
    main()
