"""Whole fits beside those of other libraries, and what a fit costs around its steps.

Parts of benchmarks/bench.py.
"""

import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import reference
import solver_speed
from bench_walk import EPSILONS, N_STEPS, NOISES, Fit, facts, listing_time, n_listing, seeds_of
from peers import limited

from sparsedp import Bounds
from sparsedp.data import Dataset
from sparsedp.losses import Logistic
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import PublicFacts
from sparsedp.sets import L1Ball
from sparsedp.solvers import Lasso

N_COUNT_STEPS = 50_000
"""Of Frank-Wolfe without noise, by which Khanna et al. (2024) count features."""

DENSE_LIMIT = 2**29
"""Bytes; larger sets are not written out for libraries that take no sparse input."""

IMPORTS = {
    "numpy and scipy.sparse": "import numpy, scipy.sparse",
    "sparsedp": "import sparsedp",
    "the solvers": "import sparsedp.solvers",
    "SparseLogisticRegression": "from sparsedp import SparseLogisticRegression",
    "scikit-learn alone": "import sklearn.linear_model",
}


def lasso(records, **goal):
    """Our LASSO without privacy: CPU seconds and weights."""
    public = PublicFacts(n_features=records.X.shape[1], n_nonzero=1, intercept=False)
    solver, curator = Lasso(**goal), NoiselessCurator(public)
    start = time.process_time()
    weights = solver.solve(records.data, Logistic(), curator).weights
    return time.process_time() - start, weights


def whole_fits(records, peers, diffprivlib, seconds):
    """Fits without privacy at the penalty that the radius amounts to, and private ones.

    A peer that takes longer than ``seconds`` is stopped.
    """
    n = len(records.y)
    prepared = records.prepared
    count_seconds, w = lasso(records, radius=records.radius)
    gradient = Logistic().gradient(records.data, w, 1.0) / n
    step = listing_time("appendix_b", records, 1.0, n_listing(records, 0.5))
    line = facts(records) | {
        "prepared": prepared,
        "count_seconds": count_seconds,
        "count": int(np.count_nonzero(w)),
        "gap": float(L1Ball(records.radius).gap(w, gradient)),
        "count_listing": N_COUNT_STEPS * step,
    }
    penalty = float(np.abs(gradient).max())
    found = {"lasso": lasso(records, penalty=penalty)}
    for name, fit in peers.items():
        X = records.rows if name == "liblinear" else records.columns  # each as it likes it
        found[name] = limited(fit, X, records.y, penalty, seconds=seconds)
    known = [w for _, w in filter(None, found.values())]
    least = min(reference.objective(records.X, records.y, w, penalty) for w in known)
    for name, result in found.items():
        if result is None:
            line[name] = {"seconds": None, "limit": seconds}
            continue
        objective = reference.objective(records.X, records.y, result[1], penalty)
        features = int(np.count_nonzero(result[1]))
        line[name] = {"seconds": result[0], "features": features, "above": objective - least}
    for noise in NOISES:
        for epsilon in EPSILONS:
            fit = Fit(records, noise, "auto", epsilon)
            line[f"{noise} {epsilon:g}"] = N_STEPS * fit.step_time(seeds_of(0), 0.05)
    size = 8 * records.X.shape[0] * records.X.shape[1]
    line["diffprivlib"] = {"dense_bytes": size}
    if size <= DENSE_LIMIT and not diffprivlib.missing:
        line["diffprivlib"] |= diffprivlib.fit(records.X, records.y, EPSILONS)
    return line


def over_products(sets, repeats):
    """Time of other solvers over that of their bare products with the records."""
    lines = []
    for name, X, y in sets:
        data = Dataset.clip(X, y, Bounds(-1, 1) if name == "dense" else Bounds(0, 1))
        for label, solver in solver_speed.SOLVERS.items():
            again, plain = solver_speed.noted(solver, data)
            calls = {
                "solve": lambda s=solver, d=data: solver_speed.fit(s, d, 0),
                "products": lambda calls=again: solver_speed.make(calls),
                "plain": lambda calls=plain: solver_speed.make(calls),
            }
            taken = {key: [] for key in calls}
            for _ in range(repeats):
                for key, call in calls.items():
                    taken[key].append(solver_speed.cpu(call, 1))
            line = {"set": name, "n": X.shape[0], "d": X.shape[1], "solver": label}
            lines.append(line | {key: min(times) for key, times in taken.items()})
    return lines


def import_times(repeats):
    """Milliseconds to import, each in interpreters of its own, beyond an empty one; in turn."""
    taken = {name: [] for name in IMPORTS}
    for _ in range(repeats):
        for name, statement in IMPORTS.items():
            before = (
                "" if name in ("numpy and scipy.sparse",) else IMPORTS["numpy and scipy.sparse"]
            )
            program = (
                f"{before}\nimport time\nstart = time.process_time()\n{statement}\n"
                "print(time.process_time() - start)"
            )
            done = subprocess.run(
                [sys.executable, "-c", program], check=True, capture_output=True, text=True
            )
            taken[name].append(1e3 * float(done.stdout))
    return {name: statistics.median(times) for name, times in taken.items()}


def quiet_peers():
    """Libraries that are installed, compiled; their words about convergence are not repeated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return reference.peers()
