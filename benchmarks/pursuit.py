"""Utility of Pursuit with its defaults: the mean over runs beside the bar it has to reach.

    python benchmarks/pursuit.py --data DIR [--sets a9a,splice] [--epsilons 0.1,1] [--runs 10]

DIR holds the data sets and a module load.py with ``load(name, split)``. Every set is split 80/20
(stratified, seed 0) and scaled by the largest absolute value of each feature; declared bounds are
the smallest and largest training value, delta is 1/n and n_nonzero is round(1.5 sqrt(d)), as the
papers do. Bounds and delta taken from the data are a stand-in for public ones. Prints AUC, R2 for
regressions, and the relative error of the weights for the set of Wang and Gu (2019), where less is
better.
"""

import argparse
import importlib.util
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.synthetic import wang_gu, wang_zhang

EPSILONS = (0.1, 0.5, 1.0, 3.0)
BARS = {
    "a9a": (0.881, 0.891, 0.893, 0.892),
    "splice": (0.843, 0.890, 0.896, 0.902),
    "w8a": (0.693, 0.806, 0.839, 0.850),
    "synthetic": (0.983, 0.995, 0.997, 0.996),
    "phishing": (0.970, 0.977, 0.978, 0.978),
    "mushrooms": (0.983, 0.992, 0.994, 0.996),
    "kddcup99": (0.991, 0.996, 0.996, 0.996),
    "covtype": (0.781, 0.779, 0.781, 0.781),
    "imdb": (0.760, 0.892, 0.916, 0.936),
    "california": (0.57, 0.59, 0.595, 0.60),
    "cpusmall": (0.68, 0.87, 0.90, 0.915),
    "abalone": (0.12, 0.43, 0.47, 0.505),
}
REGRESSIONS = ("california", "cpusmall", "abalone")
WANG_GU_BARS = {
    0.1: np.inf,
    0.5: np.inf,
    1.0: 0.32,
    2.0: 0.16,
    3.0: np.inf,
    5.0: 0.145,
    10.0: 0.145,
}


def raw(name, folder):
    """All records of a set."""
    if name == "synthetic":
        made = wang_zhang(seed=0)
        return made.X, made.y
    spec = importlib.util.spec_from_file_location("load", Path(folder) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if name != "kddcup99":
        X, y = module.load(name, split="all")
        # Thirteen features far from zero: as a sparse matrix their bounds would have to contain it.
        return (X.toarray() if name == "california" else X), y
    X, y = module.load(name, split="train")
    chosen = np.random.default_rng(0).permutation(len(y))[:60_000]
    return X[chosen], y[chosen]


def prepared(name, folder):
    """Training and test part, scaled, and the declared bounds."""
    X, y = raw(name, folder)
    labels = None if name in REGRESSIONS else y
    X, Xt, y, yt = train_test_split(X, y, test_size=0.2, random_state=0, stratify=labels)
    if name == "imdb":  # rows of tf-idf have norm 1
        return sparse.csr_array(X), sparse.csr_array(Xt), y, yt, Bounds(0, 1, row_norm=1.0)
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
    largest = np.where(largest > 0, largest, 1)
    if sparse.issparse(X):
        X, Xt = (sparse.csr_array(part @ sparse.diags_array(1 / largest)) for part in (X, Xt))
        lower, upper = (limit.toarray().ravel() for limit in (X.min(axis=0), X.max(axis=0)))
    else:
        X, Xt = X / largest, Xt / largest
        lower, upper = X.min(axis=0), X.max(axis=0)
    return X, Xt, y, yt, Bounds(lower, np.where(upper > lower, upper, lower + 1))


def scores(name, parts, epsilon, runs):
    """One test score per run."""
    X, Xt, y, yt, bounds = parts
    common = {
        "epsilon": epsilon,
        "delta": 1 / len(y),
        "bounds": bounds,
        "n_nonzero": round(1.5 * np.sqrt(X.shape[1])),
        "solver": "pursuit",
    }
    found = []
    for seed in range(runs):
        if name in REGRESSIONS:
            limits = (y.min(), y.max())
            model = SparseLinearRegression(target_bounds=limits, random_state=seed, **common)
            found.append(r2_score(yt, model.fit(X, y).predict(Xt)))
        else:
            model = SparseLogisticRegression(random_state=seed, **common)
            found.append(roc_auc_score(yt, model.fit(X, y).decision_function(Xt)))
    return found


def wang_gu_errors(epsilon, runs):
    """Relative error of the weights, n = d = 1000 with 10 features that matter, delta = 0.01."""
    errors = []
    for seed in range(runs):
        made = wang_gu(seed=seed)
        model = SparseLinearRegression(
            epsilon=epsilon,
            delta=0.01,
            bounds=Bounds(made.X.min(axis=0), made.X.max(axis=0)),
            target_bounds=(made.y.min(), made.y.max()),
            n_nonzero=10,
            solver="pursuit",
            random_state=seed,
        ).fit(made.X, made.y)
        errors.append(np.linalg.norm(model.coef_ - made.weights) / np.linalg.norm(made.weights))
    return errors


def show(name, epsilon, found, bar, met, seconds):
    """Print one line."""
    print(
        f"{name:12s} {epsilon:5g} {np.mean(found):8.4f} {np.std(found):7.4f} {bar:7.3f}  "
        f"{'met' if met else 'SHORT':5s} {seconds / len(found):6.2f} s/fit",
        flush=True,
    )


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=",".join([*BARS, "wang_gu"]))
    parser.add_argument("--epsilons", default=",".join(map(str, EPSILONS)))
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    print(f"{'set':12s} {'eps':>5s} {'ours':>8s} {'s.d.':>7s} {'bar':>7s}   ({options.runs} runs)")
    for name in options.sets.split(","):
        if name == "wang_gu":
            for epsilon, bar in WANG_GU_BARS.items():
                start = time.perf_counter()
                found = wang_gu_errors(epsilon, options.runs)
                took = time.perf_counter() - start
                show(name, epsilon, found, bar, np.mean(found) <= bar, took)
            continue
        parts = prepared(name, options.data)
        for epsilon in map(float, options.epsilons.split(",")):
            start = time.perf_counter()
            found = scores(name, parts, epsilon, options.runs)
            took = time.perf_counter() - start
            bar = dict(zip(EPSILONS, BARS[name], strict=True)).get(epsilon, np.nan)
            show(name, epsilon, found, bar, not np.mean(found) < bar, took)


if __name__ == "__main__":
    main()
