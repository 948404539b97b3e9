"""Time of the solvers against that of their bare products with the records.

    OMP_NUM_THREADS=1 python benchmarks/solver_speed.py [--data DIR] [--repeats 3] [--threads 2]

DIR holds folders a9a and w8a with train.svm, plain or compressed, and may hold imdb with train.npz
(arrays data, indices, indptr, shape and y); sets that are not there are made up in the same shape.
For every solver one fit is made with its products noted down: those with all features, those with
the columns it has chosen, and the change of coordinates that gives their norms. Derivatives,
histograms, clipping, picking columns, noise and selections are none of them. Then, the smallest CPU
time of some repeats each, taken in turn,

- *solve*: the solver after the gate, its budget calibrated before,
- *products*: the same products again, by themselves,
- *plain*: the same products by SciPy and BLAS, which round as they like,
- *ratio*: solve / products.

*gate* and *calibration* are paid once per fit, the second only for a budget that was not asked for
before. At the end: fits per second on one shared `Dataset`, by one thread and by several.
``--profile a9a Pursuit`` says instead what the time of such a fit is spent on.
"""

import argparse
import cProfile
import pstats
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy import sparse

from sparsedp import Bounds
from sparsedp.data import Dataset
from sparsedp.data.files.readers import read_table
from sparsedp.data.sums import norms, products
from sparsedp.losses import Logistic
from sparsedp.mechanisms import NoisyCurator
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.solvers import IGHT, GreedyCoordinateDescent, NoisyGD, Pursuit

SOLVERS = {
    "IGHT": IGHT(),
    "NoisyGD": NoisyGD(),
    "Pursuit": Pursuit(),
    "greedy": GreedyCoordinateDescent(),
}
SHAPES = {"a9a": (32_561, 123, 14), "w8a": (49_749, 300, 12), "imdb": (25_000, 74_851, 137)}


def records(name, folder):
    """Features in [0, 1] (dense: [-1, 1]) and labels."""
    rng = np.random.default_rng(0)
    if name == "dense":
        X = rng.uniform(-1, 1, (20_000, 500))
        return X, (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(float)
    n, d, per_row = SHAPES[name]
    files = []
    if folder is not None:
        files = [*(folder / name).glob("train.npz"), *(folder / name).glob("train.svm*")]
    if not files:
        # Columns by Zipf's law, as words are.
        columns = np.minimum(d * rng.random((n, per_row)) ** 3, d - 1).astype(int)
        entries = (np.ones(n * per_row), (np.repeat(np.arange(n), per_row), columns.ravel()))
        X = sparse.coo_array(entries, shape=(n, d)).tocsr()
        X.data[:] = 1
        return X, (rng.random(n) < 0.3).astype(float)
    if files[0].suffix == ".npz":
        stored = np.load(files[0])
        parts = (stored["data"], stored["indices"], stored["indptr"])
        X = sparse.csr_array(parts, shape=tuple(stored["shape"]))
        return X, stored["y"]
    table = read_table(files[0], format="libsvm", n_features=d)
    return sparse.csr_array(table.X), (np.asarray(table.y, dtype=float) > 0).astype(float)


def facts(data):
    """What is public about a fit with the defaults."""
    d = data.n_features
    return PublicFacts(
        n_features=d,
        n_nonzero=max(1, round(1.5 * d**0.5)),
        n_outputs=1,
        intercept=True,
        neighbors="add_remove",
        n_records=None,
        loss="Logistic",
    )


def fit(solver, data, seed):
    """One private fit after the gate."""
    public = facts(data)
    budget = Budget(solver.schedule(public), epsilon=1.0, delta=1e-6, neighbors="add_remove")
    curator = NoisyCurator(budget, public, KeyStream.from_seed(seed))
    return solver.solve(data, Logistic(), curator)


class Recorder:
    """Stands in for the kernel of products.py or norms.py, and notes the products with records."""

    def __init__(self, kernel, calls):
        self.kernel, self.calls = kernel, calls

    def __getattr__(self, name):
        function = getattr(self.kernel, name)
        if name not in PLAIN:
            return function

        def noting(*arguments):
            self.calls.append((name, function, arguments))
            return function(*arguments)

        return noting


def noted(solver, data):
    """The products of a fit, as calls that can be made again."""
    calls = []
    kernels = [(module, module.kernel) for module in (products, norms)]
    for module, kernel in kernels:
        module.kernel = Recorder(kernel, calls)
    try:
        fit(solver, data, 0)
    finally:
        for module, kernel in kernels:
            module.kernel = kernel
    again = [(function, arguments) for _, function, arguments in calls]
    plain = [PLAIN[name](*arguments) for name, _, arguments in calls]
    return again, plain


def csr(indptr, indices, data, n_columns):
    """A SciPy array that shares these arrays."""
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_columns))


PLAIN = {
    "csr_times": lambda p, i, x, w, start, out: (csr(p, i, x, len(w)).__matmul__, (w,)),
    "csr_transposed": lambda p, i, x, r, run, pairs: (csr(p, i, x, len(pairs)).T.__matmul__, (r,)),
    "csr_mapped": lambda p, i, x, m, *rest: (csr(p, i, x, len(m)).__matmul__, (m,)),
    "dense_mapped": lambda rows, m, *rest: (np.matmul, (rows, m)),
    "dense_times": lambda rows, w, start, out: (np.matmul, (rows, w.T)),
    "dense_transposed": lambda rows, r, *rest: (np.matmul, (rows.T, r)),
}


def make(calls):
    """Make all calls."""
    for function, arguments in calls:
        function(*arguments)


def cpu(function, repeats):
    """Smallest CPU time of some calls, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def measure(name, folder, repeats):
    """A line per solver for one set."""
    X, y = records(name, folder)
    bounds = Bounds(-1, 1) if name == "dense" else Bounds(0, 1)
    gate = cpu(lambda: Dataset.clip(X, y, bounds), repeats)
    data = Dataset.clip(X, y, bounds)
    for label, solver in SOLVERS.items():
        calibrate.cache_clear()
        calibration = cpu(lambda solver=solver: fit(solver, data, 0), 1)
        again, plain = noted(solver, data)
        tasks = (lambda: fit(solver, data, 0), lambda: make(again), lambda: make(plain))  # noqa: B023
        # In turn, so that other programs disturb all of them alike.
        turns = [[cpu(task, 1) for task in tasks] for _ in range(repeats)]
        solve, bare, rough = (min(times) for times in zip(*turns, strict=True))
        print(
            f"{name:6s} {label:9s} {solve:9.1f} {bare:9.1f} {rough:9.1f} {solve / bare:6.2f}"
            f" {gate:9.1f} {max(calibration - solve, 0):12.1f}",
            flush=True,
        )


def profile(name, label, folder, n_fits):
    """Shares of the functions that take most of the time, products first, measured by cProfile."""
    X, y = records(name, folder)
    data = Dataset.clip(X, y, Bounds(-1, 1) if name == "dense" else Bounds(0, 1))
    fit(SOLVERS[label], data, 0)
    profiler = cProfile.Profile()
    profiler.enable()
    for seed in range(n_fits):
        fit(SOLVERS[label], data, seed)
    profiler.disable()
    times = {}
    for (file, _, function), (_, calls, own, *_) in pstats.Stats(profiler).stats.items():
        times[f"{Path(file).stem}.{function}"] = own, calls / n_fits
    total = sum(own for own, _ in times.values())
    print(f"{name} {label}: {1e3 * total / n_fits:.0f} ms a fit while being watched")
    for function, (own, calls) in sorted(times.items(), key=lambda item: -item[1][0])[:16]:
        print(f"{own / total:6.1%} {calls:8.0f} calls  {function}")


def throughput(folder, n_threads, n_fits):
    """Fits per second of wall time, by one thread and by several, on one shared set."""
    for name in ("a9a", "dense"):
        X, y = records(name, folder)
        data = Dataset.clip(X, y, Bounds(-1, 1) if name == "dense" else Bounds(0, 1))
        for label, solver in SOLVERS.items():
            rates = []
            for workers in (1, n_threads):
                with ThreadPoolExecutor(workers) as pool:
                    start = time.perf_counter()
                    list(pool.map(lambda seed: fit(solver, data, seed), range(n_fits)))  # noqa: B023
                    rates.append(n_fits / (time.perf_counter() - start))
            print(f"{name:6s} {label:9s}" + "".join(f" {rate:9.1f}" for rate in rates), flush=True)


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", nargs=2, metavar=("SET", "SOLVER"))
    options = parser.parse_args()
    if options.profile:
        profile(*options.profile, options.data, 10)
        return
    print("CPU time in ms     solve  products     plain  ratio      gate  calibration")
    for name in (*SHAPES, "dense"):
        measure(name, options.data, options.repeats)
    print(f"fits per second        1 {options.threads:9d}  threads")
    throughput(options.data, options.threads, 10)


if __name__ == "__main__":
    main()
