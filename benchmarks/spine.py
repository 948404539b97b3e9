"""Accuracy of Frank-Wolfe with Sparsifier on the synthetic set of Khanna et al. (2024) and on a9a.

    python benchmarks/spine.py [--data DIR] [--runs 20]

DIR holds a9a as LIBSVM files train.svm and test.svm, plain or compressed (.xz, .gz, .bz2); without
it only the synthetic set is run. Prints the mean over runs beside the published figure.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.data.files.readers import read_table
from sparsedp.data.synthetic import wang_zhang
from sparsedp.solvers import FrankWolfe, Sparsifier


def fitted(X, y, radius, n_steps, keep, bounds, seed):
    """One private model at epsilon = 1, delta = 1/n."""
    return SparseLogisticRegression(
        epsilon=1.0,
        delta=1 / len(y),
        bounds=bounds,
        solver=Sparsifier(FrankWolfe(radius=radius, n_steps=n_steps), n_nonzero=keep),
        random_state=seed,
    ).fit(X, y)


def synthetic(runs):
    """Accuracy on a fifth of the synthetic set, a fresh split in every run."""
    made = wang_zhang(seed=0)
    accuracies = []
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(len(made.y))
        train, test = order[:8000], order[8000:]
        model = fitted(made.X[train], made.y[train], 10, 1000, 15, Bounds(-1, 1), seed)
        accuracies.append(model.score(made.X[test], made.y[test]))
    return accuracies


def a9a(folder, runs):
    """AUC on the test file."""
    files = {
        part: sorted(Path(folder).glob(pattern))
        for part, pattern in (("train", "train.svm*"), ("test", "test.svm*"))
    }
    tables = [
        read_table(files[part][0], format="libsvm", n_features=123) for part in ("train", "test")
    ]
    (X, y), (Xt, yt) = ((sparse.csr_array(table.X), table.y) for table in tables)
    return [
        roc_auc_score(yt, fitted(X, y, 10, 100, 16, Bounds(0, 1), seed).decision_function(Xt))
        for seed in range(runs)
    ]


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    rows = [("synthetic, accuracy", synthetic(options.runs), 0.8517)]
    if options.data:
        rows.append(("a9a, AUC", a9a(options.data, options.runs), 0.6764))
    print(f"{'set':22s} {'ours':>7s} {'s.d.':>7s} {'published':>10s}   ({options.runs} runs)")
    for name, values, published in rows:
        print(f"{name:22s} {np.mean(values):7.4f} {np.std(values):7.4f} {published:10.4f}")


if __name__ == "__main__":
    main()
