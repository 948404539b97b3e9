"""R2 of the solvers that perturb an objective, beside Pursuit and the mean of the target.

    python benchmarks/other_solvers.py --data DIR [--sets california,abalone] [--runs 5]

Sets are loaded and split as by benchmarks/pursuit.py (80/20, seed 0), which says what DIR has to
hold. Features stay in their own units; bounds of features and target are the smallest and largest
training value rounded outwards to two digits (3.7 to 3.8, -122 to -130), as somebody who knows the
table would declare them. All solvers run by their defaults, at delta = 1/n; ADMM also with pure
noise. Prints a table in Markdown: mean R2 on the test part, and the worst run.
"""

import argparse
import math
import time
import warnings
from pathlib import Path

import numpy as np
from pursuit import raw
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

from sparsedp import Bounds, SparseLinearRegression
from sparsedp.solvers import ADMM

SETS = ("california", "abalone", "cpusmall", "bodyfat")
EPSILONS = (1.0, 3.0, 8.0)
SOLVERS = {
    "pursuit": "pursuit",
    "objective_perturbation": "objective_perturbation",
    "two_stage": "two_stage",
    "admm": "admm",
    "admm, pure": ADMM(noise="pure"),
    "noisy_gd": "noisy_gd",
}


def outwards(lowest, highest):
    """Limits that a person might declare: two digits, away from the middle."""

    def rounded(value, toward):
        if value == 0:
            return 0.0
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
        return toward(value / unit) * unit

    return rounded(lowest, math.floor), rounded(highest, math.ceil)


def prepared(name, folder):
    """Training and test part, bounds of features and of the target."""
    X, y = raw(name, folder)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    limits = np.array([outwards(column.min(), column.max()) for column in X.T])
    lower, upper = limits.T
    bounds = Bounds(lower, np.where(upper > lower, upper, lower + 1))
    return X, X_test, y, y_test, bounds, outwards(y.min(), y.max())


def scores(parts, solver, epsilon, runs):
    """R2 on the test part, one for each seed."""
    X, X_test, y, y_test, bounds, target_bounds = parts
    found = []
    for seed in range(runs):
        model = SparseLinearRegression(
            epsilon=epsilon,
            delta=1 / len(y),
            bounds=bounds,
            target_bounds=target_bounds,
            solver=solver,
            random_state=seed,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # every fit would say that it is seeded
            found.append(r2_score(y_test, model.fit(X, y).predict(X_test)))
    return found


def main():
    """Run and print, set by set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    head = " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS)
    print(f"| set | solver | {head} | seconds a fit |")
    print("|---|---|" + "---|" * (len(EPSILONS) + 1))
    for name in options.sets.split(","):
        parts = prepared(name, options.data)
        null = r2_score(parts[3], np.full(len(parts[3]), parts[2].mean()))
        print(f"| {name} ({len(parts[2]):,} x {parts[0].shape[1]}) | mean of the target |", end="")
        print(f" {null:.3f} |" * len(EPSILONS) + " |", flush=True)
        for label, solver in SOLVERS.items():
            cells = []
            start = time.perf_counter()
            for epsilon in EPSILONS:
                found = scores(parts, solver, epsilon, options.runs)
                cells.append(f"{np.mean(found):.3f} ({min(found):.3f})")
            seconds = (time.perf_counter() - start) / (len(EPSILONS) * options.runs)
            print(f"| | `{label}` | {' | '.join(cells)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
