"""The LASSO without privacy beside liblinear, celer and skglm, in one run.

    python benchmarks/reference.py [--shapes rcv1,news20,gisette,a9a] [--radii 10,50]

On shapes of benchmarks/shapes.py, in CPU seconds of one thread. First the minimum over an L1 ball
with its Frank-Wolfe gap, then all solvers at the penalty that this ball amounts to, without a
constant term, all on the same values. Peers that are not installed are left out.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import importlib.util
import time
import warnings

import numpy as np
from scipy.sparse import csc_matrix
from shapes import SHAPES, generate
from sklearn.linear_model import LogisticRegression

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.losses import Logistic
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import PublicFacts
from sparsedp.sets import L1Ball
from sparsedp.solvers import Lasso


def cpu_seconds(function):
    """CPU time of a call, and its result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def objective(X, y, w, penalty):
    """Mean loss and penalty."""
    margins = X @ w
    return np.mean(np.logaddexp(0, margins) - y * margins) + penalty * np.abs(w).sum()


def by_column(X):
    """The values as the peers want them: by column, sparse ones with 32-bit indices."""
    if isinstance(X, np.ndarray):
        return np.asfortranarray(X)
    X = X.tocsc()
    return csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def liblinear(X, y, penalty):
    """Logistic regression of scikit-learn by liblinear."""
    model = LogisticRegression(
        l1_ratio=1, C=1 / (len(y) * penalty), solver="liblinear", fit_intercept=False, tol=1e-4
    )
    return model.fit(X, y).coef_[0]


def celer(X, y, penalty):
    """Logistic regression of celer."""
    from celer import LogisticRegression as Celer

    model = Celer(C=1 / (len(y) * penalty), fit_intercept=False, tol=1e-4)
    return model.fit(X, y).coef_.ravel()


def skglm(X, y, penalty):
    """Logistic regression of skglm."""
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(alpha=penalty, fit_intercept=False, tol=1e-4)
    return model.fit(X, y).coef_.ravel()


def peers():
    """Those that are installed, once warmed up: skglm and celer may compile first."""
    found = {"liblinear": liblinear}
    found |= {f.__name__: f for f in (celer, skglm) if importlib.util.find_spec(f.__name__)}
    X, y = generate(SHAPES["a9a"])
    for fit in found.values():
        fit(by_column(X[:500].toarray()), y[:500], 0.01)
        fit(by_column(X[:500]), y[:500], 0.01)
    return found


def compare(name, radius, others):
    """Time the ball, then everybody at the same penalty."""
    X, y = generate(SHAPES[name])
    loss = Logistic()
    lower = float(min(X.min(), 0))
    for intercept in (True, False):
        data = Dataset.clip(X, y, (lower, 1), intercept=intercept)
        public = PublicFacts(n_features=X.shape[1], n_nonzero=1, intercept=intercept)
        curator = NoiselessCurator(public)
        solver = Lasso(radius=radius)
        seconds, solution = cpu_seconds(lambda s=solver, d=data, c=curator: s.solve(d, loss, c))
        gradient = gradient_sum(data, loss, solution.weights, 1.0) / len(y)
        gap = L1Ball(radius).gap(solution.weights, gradient)
        used = np.count_nonzero(solution.weights[: X.shape[1]])
        kind = "with" if intercept else "without"
        print(
            f"| {name} | {radius:g} | ball, {kind} constant | {seconds:.2f} | {used} | {gap:.0e} |",
            flush=True,
        )
    penalty = float(np.abs(gradient).max())
    columns = by_column(X)
    solver = Lasso(penalty=penalty)
    seconds, solution = cpu_seconds(lambda: solver.solve(data, loss, curator))
    found = {"Lasso": (seconds, solution.weights)}
    for other, fit in others.items():
        found[other] = cpu_seconds(lambda fit=fit: fit(columns, y, penalty))
    least = min(objective(X, y, w, penalty) for _, w in found.values())
    for other, (seconds, w) in found.items():
        above = objective(X, y, w, penalty) - least
        print(
            f"| {name} | {radius:g} | {other}, one penalty | {seconds:.2f} | "
            f"{np.count_nonzero(w)} | {above:.0e} |",
            flush=True,
        )


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="rcv1,news20,gisette,a9a")
    parser.add_argument("--radii", default="10,50")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # what peers say about convergence shows in the last column
    others = peers()
    print("| shape | radius | solver | CPU s | features | gap, or above the best |")
    print("|---|---|---|---|---|---|")
    for name in options.shapes.split(","):
        for radius in options.radii.split(","):
            compare(name, float(radius), others)


if __name__ == "__main__":
    main()
