"""Pairs of features in models of made records: are those found that are there, and only those?

    python benchmarks/pairs.py [--fits 20]

Eight features within [-1, 1], independent of each other, of which four matter; in half of the fits
the first two matter together, too. Prints a table in Markdown.
"""

import argparse
import warnings

import numpy as np

from sparsedp import SparseLinearRegression, SparseLogisticRegression

EFFECTS = np.array([2.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
FEATURES = {
    "uniform": lambda random, n: random.uniform(-1, 1, (n, 8)),
    "normal, deviation .3": lambda random, n: random.normal(0, 0.3, (n, 8)).clip(-1, 1),
    "two values, one in five": lambda random, n: np.where(random.random((n, 8)) < 0.2, 1.0, -1.0),
}


def fitted(kind, made, n, epsilon, together, seed):
    """Pairs of a default fit: how many that are not there, and whether the one that is."""
    random = np.random.default_rng(seed)
    X = made(random, n)
    margins = X @ EFFECTS + together * X[:, 0] * X[:, 1]
    common = {"epsilon": epsilon, "delta": 1e-6, "bounds": (-1.0, 1.0), "random_state": seed}
    if kind == "numbers":
        y = margins + random.normal(size=n)
        model = SparseLinearRegression(target_bounds=(-8, 8), **common)
    else:
        rate = float(kind)
        chance = 1 / (1 + np.exp(-margins - np.log(rate / (1 - rate))))
        y = (random.random(n) < chance).astype(int)
        model = SparseLogisticRegression(classes=(0, 1), **common)
    found = {pair.features for pair in model.fit(X, y).interactions_}
    real = {(0, 1)} if together else set()
    return len(found - real), len(found & real)


def main():
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fits", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| target | features | records | epsilon | pairs that are not there | the one that is |")
    print("|---|---|--:|--:|--:|--:|")
    for kind in ("numbers", "0.5", "0.05"):
        for name, made in FEATURES.items():
            for n, epsilon in ((5000, 1), (5000, 8), (20_000, 1), (20_000, 8)):
                none, one = (
                    np.array(
                        [
                            fitted(kind, made, n, epsilon, together, seed)
                            for seed in range(options.fits)
                        ]
                    )
                    for together in (0.0, 2.0)
                )
                target = kind if kind == "numbers" else f"classes, {kind} of one"
                wrong = np.concatenate([none[:, 0], one[:, 0]]).mean()
                seen = f"{one[:, 1].sum()} of {options.fits}"
                print(f"| {target} | {name} | {n:,} | {epsilon} | {wrong:.1f} of 28 | {seen} |")


if __name__ == "__main__":
    main()
