"""Utility of the solvers on real data sets, beside models without privacy.

    python benchmarks/utility.py --data DIR [--output build/utility] [--sets a9a,splice] [--all]

Sets are loaded, split and scaled as by benchmarks/pursuit.py, which says what DIR has to hold. The
folder --output gets utility.csv with one line per fit, and at the end utility.md and utility.svg.
Fits that utility.csv already has are not run again, so a stopped run goes on where it was; after a
change of a solver take a new folder. Splits are fixed: repetitions differ by their noise only.
"""

import argparse
import csv
import multiprocessing
import sys
import time
import warnings
from dataclasses import astuple, dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from pursuit import BARS, EPSILONS, REGRESSIONS, prepared
from sklearn.linear_model import LinearRegression, LogisticRegression, lasso_path
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from utility_page import write_figure, write_page

from sparsedp import SparseLinearRegression, SparseLogisticRegression
from sparsedp.solvers import IGHT, FrankWolfe, Pursuit, Sparsifier

PRIVATE = {
    "published": Sparsifier(FrankWolfe(radius=10, n_steps=1000, calibration="published")),
    "sound": Sparsifier(FrankWolfe(radius=10, n_steps=100)),
    "ight": IGHT(),
    "pursuit": Pursuit(),
}
WITHOUT_NOISE = ("null", "pursuit_exact", "lasso")
LARGE = ("covtype", "imdb")
SETTINGS = {"random_state": 0, "max_iter": 5000}


@dataclass(frozen=True)
class Fit:
    """What to fit; seed is the repetition."""

    set: str
    solver: str
    epsilon: float
    seed: int


data_set = lru_cache(maxsize=1)(prepared)


def n_nonzero(X):
    """Features to keep."""
    return round(1.5 * np.sqrt(X.shape[1]))


def lasso_classifier(X, y):
    """Features of the L1 path, then a refit of these with little regularization."""
    lower, upper = -5.0, 3.0  # powers of ten of C
    chosen = np.array([], dtype=int)
    for _ in range(12):
        middle = (lower + upper) / 2
        path = LogisticRegression(l1_ratio=1, C=10**middle, solver="liblinear", **SETTINGS)
        used = np.flatnonzero(path.fit(X, y).coef_[0])
        if len(used) > n_nonzero(X):
            upper = middle
        else:
            lower, chosen = middle, used
    model = LogisticRegression(C=10, max_iter=5000).fit(X[:, chosen], y)
    return lambda X: model.decision_function(X[:, chosen])


def lasso_regression(X, y):
    """Features of the L1 path on standardized features, then least squares on these."""
    _, path, _ = lasso_path(StandardScaler().fit_transform(X), y - y.mean(), n_alphas=500)
    few = np.flatnonzero((path != 0).sum(axis=0) <= n_nonzero(X))
    chosen = np.flatnonzero(path[:, few[-1]])
    model = LinearRegression().fit(X[:, chosen], y)
    return lambda X: model.predict(X[:, chosen])


def predictor(fit, X, y, bounds):
    """A function from features to what the test score ranks or compares."""
    regression = fit.set in REGRESSIONS
    if fit.solver == "null":
        return lambda X: np.full(X.shape[0], y.mean())
    if fit.solver == "lasso":
        return (lasso_regression if regression else lasso_classifier)(X, y)
    common = {
        "epsilon": fit.epsilon,
        "delta": 1 / len(y),
        "bounds": bounds,
        "n_nonzero": n_nonzero(X),
        "solver": PRIVATE.get(fit.solver, Pursuit()),
        "random_state": fit.seed,
    }
    if regression:
        limits = (y.min(), y.max())
        return SparseLinearRegression(target_bounds=limits, **common).fit(X, y).predict
    return SparseLogisticRegression(**common).fit(X, y).decision_function


def score(fit, folder):
    """AUC or R2 on the test part."""
    X, X_test, y, y_test, bounds = data_set(fit.set, folder)
    with warnings.catch_warnings():
        # Every fit would say that it is seeded or that its calibration is not proven.
        warnings.simplefilter("ignore")
        found = predictor(fit, X, y, bounds)(X_test)
    metric = r2_score if fit.set in REGRESSIONS else roc_auc_score
    return fit, float(metric(y_test, found)), X.shape


def wanted(sets, runs, published_runs):
    """All fits, set by set, so that a process loads a set once."""
    fits = []
    for name in sets:
        fits += [Fit(name, solver, np.inf, 0) for solver in WITHOUT_NOISE]
        for solver in PRIVATE:
            seeds = range(published_runs if solver == "published" else runs)
            fits += [Fit(name, solver, epsilon, seed) for epsilon in EPSILONS for seed in seeds]
    return fits


def read(path):
    """Scores of earlier runs, by fit, and the shapes of the sets."""
    scores, shapes = {}, {}
    if path.exists():
        with path.open(newline="") as file:
            for name, solver, epsilon, seed, value, n, d in csv.reader(file):
                scores[Fit(name, solver, float(epsilon), int(seed))] = float(value)
                shapes[name] = int(n), int(d)
    return scores, shapes


def run(fits, folder, path, processes):
    """Fit what is missing; every score is written as soon as it is known."""
    scores, _ = read(path)
    missing = [fit for fit in fits if fit not in scores]
    start = time.perf_counter()
    with path.open("a", newline="") as file, multiprocessing.Pool(processes) as pool:
        writer = csv.writer(file)
        results = pool.imap_unordered(partial(score, folder=folder), missing)
        for count, (fit, value, shape) in enumerate(results, 1):
            writer.writerow([*astuple(fit), value, *shape])
            file.flush()
            took = time.perf_counter() - start
            print(
                f"\r{count}/{len(missing)} fits, {took:.0f} s, {fit.set:12s}",
                end="",
                file=sys.stderr,
                flush=True,
            )
    print(file=sys.stderr)


def main():
    """Run, then write the page and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("build/utility"))
    parser.add_argument("--sets", help="comma-separated; default: all but the large ones")
    parser.add_argument("--all", action="store_true", help="the large sets too")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--published-runs", type=int, default=3)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    sets = [name for name in BARS if options.all or name not in LARGE]
    if options.sets:
        sets = options.sets.split(",")
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "utility.csv"
    fits = wanted(sets, options.runs, options.published_runs)
    run(fits, options.data, path, options.processes)
    known, shapes = read(path)
    scores = {}
    for fit in fits:
        scores.setdefault((fit.set, fit.solver, fit.epsilon), []).append(known[fit])
    write_page(options.output / "utility.md", scores, {name: shapes[name] for name in sets})
    write_figure(options.output / "utility.svg", scores, sets)


if __name__ == "__main__":
    main()
