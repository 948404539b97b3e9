"""Utility of the gradient methods with their defaults.

    python benchmarks/gradient.py [--data DIR] [--runs 5]

Synthetic: true features found of 10 (20,000 records, 200 features) and the relative error of Wang
and Gu (2019) on their linear set (1,000 records, 1,000 features, delta = 0.01). DIR holds folders
a9a, splice and w8a, each with train.svm and test.svm, plain or compressed: AUC on a fifth of all
records, held out at random, at delta = 1/n, bounds as found in the file.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.files.readers import read_table
from sparsedp.data.synthetic import sparse_glm, wang_gu
from sparsedp.solvers import IGHT, NoisyGD, Sparsifier

SOLVERS = {
    "IGHT": IGHT(),
    "IGHT, peeling": IGHT(peeling=True, n_steps=5),
    "NoisyGD": Sparsifier(NoisyGD()),
}
FILES = {"a9a": 123, "splice": 60, "w8a": 300}


def found(solver, task, epsilon, seed):
    """Of ten true features."""
    made = sparse_glm(20_000, 200, 10, task, seed=seed)
    settings = {
        "epsilon": epsilon,
        "delta": 1e-6,
        "bounds": made.bounds,
        "n_nonzero": 10,
        "solver": solver,
        "random_state": seed,
    }
    if task == "linear":
        model = SparseLinearRegression(target_bounds=made.target_bounds, **settings)
    else:
        model = SparseLogisticRegression(**settings)
    coef = np.ravel(model.fit(made.X, made.y).coef_)
    return np.count_nonzero((coef != 0) & (made.weights != 0))


def relative_error(solver, epsilon, seed):
    """Distance from the true weights of the paper's linear set."""
    made = wang_gu(seed=seed)
    model = SparseLinearRegression(
        epsilon=epsilon,
        delta=0.01,
        bounds=made.bounds,
        target_bounds=(-7, 7),
        n_nonzero=10,
        solver=solver,
        random_state=seed,
    ).fit(made.X, made.y)
    return np.linalg.norm(model.coef_ - made.weights) / np.linalg.norm(made.weights)


def load(folder, n_features):
    """All records of a set, each feature divided by its largest absolute value."""
    tables = [
        read_table(next(folder.glob(f"{part}.svm*")), format="libsvm", n_features=n_features)
        for part in ("train", "test")
    ]
    X = sparse.csr_array(sparse.vstack([sparse.csr_array(table.X) for table in tables]))
    largest = np.maximum(abs(X).max(axis=0).toarray().ravel(), 1e-300)
    X = sparse.csr_array(X @ sparse.diags_array(1 / largest))
    return X, np.concatenate([table.y for table in tables])


def auc(solver, X, y, epsilon, seed):
    """On the records held out."""
    n_features = X.shape[1]
    lower, upper = (getattr(X, side)(axis=0).toarray().ravel() for side in ("min", "max"))
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    model = SparseLogisticRegression(
        epsilon=epsilon,
        delta=1 / len(y_train),
        bounds=Bounds(lower, np.where(upper > lower, upper, lower + 1)),
        n_nonzero=round(1.5 * n_features**0.5),
        solver=solver,
        random_state=seed,
    ).fit(train, y_train)
    return roc_auc_score(y_test, model.decision_function(test))


def show(title, epsilons, measure, runs):
    """One line per solver."""
    print(f"{title:34s}" + "".join(f"  eps={epsilon:<5g}" for epsilon in epsilons))
    for name, solver in SOLVERS.items():
        means = [np.mean([measure(solver, e, s) for s in range(runs)]) for e in epsilons]
        print(f"  {name:32s}" + "".join(f"  {mean:<9.3f}" for mean in means), flush=True)


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for task in ("logistic", "linear"):
        show(
            f"{task}, found of 10",
            (0.1, 0.5, 1, 8),
            lambda solver, epsilon, seed, task=task: found(solver, task, epsilon, seed),
            options.runs,
        )
    show("Wang and Gu, relative error", (2, 5, 10), relative_error, options.runs)
    for name, n_features in FILES.items() if options.data else ():
        X, y = load(options.data / name, n_features)
        show(
            f"{name}, AUC",
            (0.1, 0.5, 1, 3),
            lambda solver, epsilon, seed, X=X, y=y: auc(solver, X, y, epsilon, seed),
            options.runs,
        )


if __name__ == "__main__":
    main()
