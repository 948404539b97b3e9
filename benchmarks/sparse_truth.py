"""All features at once, or chosen first: AUC where few features matter and none is correlated.

    python benchmarks/sparse_truth.py

Eight of d features matter, all are uniform on their bounds: the case that is worst for fitting all
of them and leaving out most afterwards, and best for choosing.
"""

import warnings

import numpy as np
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from sparsedp import SparseLogisticRegression

N_TEST, N_MATTER, WEIGHT, RUNS = 5000, 8, 2.0, 2


def table(n, d):
    """Records, labels and true log-odds."""
    random = np.random.default_rng(d)
    X = random.uniform(-1, 1, (n + N_TEST, d))
    margins = WEIGHT * X[:, :N_MATTER].sum(axis=1)
    return X, (random.random(len(X)) < expit(margins)).astype(int), margins


def auc(X, y, n, epsilon, **settings):
    """Mean of the runs."""
    found = []
    for seed in range(RUNS):
        model = SparseLogisticRegression(
            epsilon=epsilon,
            delta=1e-5,
            bounds=(-1, 1),
            classes=(0, 1),
            random_state=seed,
            **settings,
        ).fit(X[:n], y[:n])
        found.append(roc_auc_score(y[n:], model.decision_function(X[n:])))
    return np.mean(found)


def main():
    """Print a table in Markdown."""
    warnings.simplefilter("ignore")
    print("| d | records | epsilon | default | n_nonzero=16 | true log-odds |")
    print("|--:|--:|--:|--:|--:|--:|")
    for d in (100, 200, 300):
        for n in (3000, 20000):
            X, y, margins = table(n, d)
            best = roc_auc_score(y[n:], margins[n:])
            for epsilon in (0.1, 0.3, 1, 3):
                together, chosen = auc(X, y, n, epsilon), auc(X, y, n, epsilon, n_nonzero=16)
                print(f"| {d} | {n} | {epsilon} | {together:.3f} | {chosen:.3f} | {best:.3f} |")


if __name__ == "__main__":
    main()
