"""Small walks whose law is known: every path enumerated, scores from the reference.

Shared by the tests of the kernel, `make laws` (all combinations) and the fuzzer.
"""

import itertools
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import chi2

from sparsedp._kernels.walk import reference
from sparsedp._kernels.walk.records import ONE, WHOLE_WEIGHT, Records
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.samplers.exact import is_below
from sparsedp.solvers.frank_wolfe.compact import compact_columns

STEEPNESS = (0.05, 0.6, 5.0, 300.0, 1e5)
PATHS = {
    "auto": {},
    "lazy": {"mode": "lazy"},
    "long levels": {"mode": "lazy", "first_horizon": 1e5},
    "capped": {"mode": "lazy", "idle": 50.0},
    "members": {"mode": "lazy", "idle": 0.0},
    "resolved": {"mode": "lazy", "margin": 1e9},  # every decision, in fractions
    "full": {"mode": "full"},
}
REMAINDER = {"mode": "full", "most_attempts": 0}  # Laplace noise of all after one attempt


@dataclass(frozen=True)
class Case:
    """A walk of three steps."""

    X: np.ndarray
    y: np.ndarray
    loss: str = "logistic"
    n_outputs: int = 1
    bound: float = 0.5
    radius: float = 3.0
    steps: np.ndarray = field(default_factory=lambda: 1 / (np.arange(3) + 2.0))
    intercept: bool = False
    lower: float = -1.0
    weights: np.ndarray | None = None

    def records(self, layout: str) -> Records:
        """Through the gate, as solvers get them."""
        how = {"target_bounds": (-1, 1)} if self.loss == "squared" else {}
        if self.loss == "multinomial":
            how = {"classes": range(self.n_outputs)}
        storage = csr_array(self.X) if layout == "sparse" else self.X
        bounds = Bounds(self.lower, 1)
        data = Dataset.clip(storage, self.y, bounds, intercept=self.intercept, **how)
        return compact_columns(replace(data, weights=self.weights)).columns


def cases() -> dict[str, Case]:
    """Ties, duplicates, empty columns, the smallest sizes, every loss, steep and long steps."""
    rng = np.random.default_rng(1)
    n, d = 60, 5
    X = np.where(rng.random((n, d)) < 0.5, rng.uniform(-1, 1, (n, d)), 0)
    y = rng.integers(0, 2, n)
    twice, empty = X.copy(), X.copy()
    twice[:, 1], twice[:, 3] = twice[:, 0], -twice[:, 0]
    empty[:, [0, 2]] = 0
    few = X[:, :3]
    persons = shares(np.repeat([1, 2, 3, 6, 8], 3))
    light = np.where(np.arange(n) < 50, 2.0 ** -rng.integers(10, 31, n), rng.random(n))
    zero = np.where(np.arange(n) % 3, persons, 0.0)
    return {
        "random": Case(X, y),
        "duplicates": Case(twice, y),
        "empty columns": Case(empty, y),
        "all empty": Case(np.zeros((7, 3)), rng.integers(0, 2, 7)),
        "one record": Case(np.array([[1.0, -0.5, 0.25]]), np.array([1])),
        "one feature": Case(X[:, :1], y),
        "one of each": Case(np.ones((1, 1)), np.array([0])),
        "squared": Case(X, np.clip(rng.normal(size=n), -1, 1), loss="squared"),
        "multinomial": Case(few, rng.integers(0, 3, n), loss="multinomial", n_outputs=3, bound=0.4),
        "centered": Case(np.abs(few), y, intercept=True, lower=0.0),
        "large radius": Case(X, y, radius=1e3),
        "whole steps": Case(X, y, steps=np.array([1.0, 1.0, 0.5])),
        "small bound": Case(X, y, bound=0.01),
        "breaking": breaking(40, 3),
        "persons": Case(X, y, weights=persons),
        "persons, multinomial": Case(
            few, np.arange(n) % 3, loss="multinomial", n_outputs=3, weights=zero
        ),
        "light records": Case(np.abs(few), y, intercept=True, lower=0.0, weights=light),
    }


def shares(rows: np.ndarray) -> np.ndarray:
    """Weights of the records of persons with so many rows each, as the gate makes them."""
    found = []
    for m in rows.tolist():
        base, extra = divmod(WHOLE_WEIGHT, m)
        found += [base + 1] * extra + [base] * (m - extra)
    return np.array(found) / WHOLE_WEIGHT


def breaking(m: int, behind: int) -> Case:
    """Two equal columns, one that cancels them, and one a little behind: it broke an older kernel.

    An envelope whose exponents were cut off gave the last column no weight in the second step.
    """
    X = np.zeros((3 * m - behind, 4))
    X[:m, 0] = X[:m, 1] = X[: 2 * m, 2] = X[2 * m :, 3] = 1
    y = np.concatenate([np.ones(m), np.zeros(m), np.ones(m - behind)]).astype(int)
    return Case(X, y, radius=20.0)


def rate_of(case: Case, steepness: float) -> Fraction:
    """The log weight of a unit if a score of 1 counts ``steepness``."""
    return Fraction(steepness) * Fraction(case.bound) / ONE**2


def walk(kernel, case, records, start, rate, stream, *, laplace=False, **how):
    """One walk by the kernel: what it chose, and how often it took which path."""

    def settle(word, gap, octaves, weight):
        return is_below(word, rate * gap, Fraction(2**octaves, weight), stream)

    return kernel.walk(
        records,
        case.loss,
        start,
        case.n_outputs,
        case.bound,
        case.radius,
        case.steps,
        float(rate),
        lambda: stream.words(64),
        settle,
        laplace=laplace,
        **how,
    )


def choices(scores, rate, laplace):
    """Probabilities of all candidates of one step: positive ones, then negative ones."""
    h = float(rate) * np.concatenate([scores, -scores]).astype(float)
    h -= h.max()
    if not laplace:
        weights = np.exp(h)
        return weights / weights.sum()
    # The largest of scores plus noise, by Gauss-Legendre between kinks, which lie at the scores.
    ends = np.unique(np.concatenate([np.linspace(-45, 45, 31), h[h > -45]]))
    nodes, shares = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    z, width = (ends[:-1, None] + half * (nodes + 1)).ravel(), (half * shares).ravel()
    x = z[:, None] - h
    log_below = np.where(x < 0, x - np.log(2), np.log1p(-np.exp(-np.abs(x)) / 2))
    log_density = -np.abs(x) - np.log(2)
    p = width @ np.exp(log_density + log_below.sum(axis=1, keepdims=True) - log_below)
    return p / p.sum()


def law(case: Case, records: Records, rate: Fraction, laplace: bool = False) -> dict:
    """The probability of every path that is not negligible."""
    found = {}

    def follow(path, probability):
        t = len(path)
        if t == len(case.steps):
            found[path] = probability
            return
        vertices = np.array([*path, 0])
        scores = reference.scores_along(
            records,
            case.loss,
            case.n_outputs,
            case.bound,
            case.radius,
            case.steps[: t + 1],
            vertices,
        )[-1]
        for vertex, p in enumerate(choices(scores, rate, laplace)):
            if probability * p > 1e-9:
                follow((*path, vertex), probability * p)

    follow((), 1.0)
    return found


def p_value(expected: dict, counts: dict, n_walks: int) -> float:
    """The smallest of single steps, pairs of steps and whole paths, times their number."""
    n_steps = len(next(iter(expected)))
    parts = [part for k in (1, 2, 3) for part in itertools.combinations(range(n_steps), k)]
    found = [_part_p_value(part, expected, counts, n_walks) for part in parts]
    return min(1.0, len(parts) * min(found))


def _part_p_value(part: tuple, expected: dict, counts: dict, n_walks: int) -> float:
    """Of some of the steps; what is expected less than ten times counts as one."""
    means, seen = {}, {}
    for path, p in expected.items():
        key = tuple(path[t] for t in part)
        means[key] = means.get(key, 0.0) + p * n_walks
    for path, count in counts.items():
        key = tuple(path[t] for t in part)
        seen[key] = seen.get(key, 0) + count
    often = {key: mean for key, mean in means.items() if mean >= 10}
    rest = n_walks - sum(often.values())
    others = n_walks - sum(seen.get(key, 0) for key in often)
    terms = [(seen.get(key, 0) - mean) ** 2 / mean for key, mean in often.items()]
    if rest > 5:
        terms.append((others - rest) ** 2 / rest)
    elif others > rest + 25:  # a Poisson variable of mean 5 gets there once in 1e10
        return 0.0
    return float(chi2.sf(sum(terms), len(terms) - 1)) if len(terms) > 1 else 1.0


def compare(
    kernel, case, records, steepness, n_walks, seed, *, laplace=False, expected=None, **how
):
    """The p-value of so many walks, and how often they took which path."""
    rate, stream = rate_of(case, steepness), KeyStream.from_seed(seed)
    start = reference.scores_at_zero(records, case.loss, case.n_outputs, case.bound)
    counts, totals = {}, {}
    for _ in range(n_walks):
        chosen, counters = walk(kernel, case, records, start, rate, stream, laplace=laplace, **how)
        path = tuple(chosen.tolist())
        counts[path] = counts.get(path, 0) + 1
        for name, value in counters.items():
            totals[name] = totals.get(name, 0) + value
    expected = law(case, records, rate, laplace) if expected is None else expected
    return p_value(expected, counts, n_walks), totals


def combinations():
    """Every case, layout, steepness, noise and path: the long form."""
    everything = itertools.product(cases(), ("sparse", "dense"), STEEPNESS, (False, True), PATHS)
    for name, layout, steepness, laplace, path in everything:
        if laplace and (path == "resolved" or steepness > 1e3):
            continue  # decided in floating point; without noise the largest score is chosen
        yield name, layout, steepness, laplace, path
