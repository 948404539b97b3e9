"""The lazy kernel against appendix B of Khanna et al. (2024), in CPU time per step.

Run ``python benchmarks/lazy.py [shape ...] [--epsilon 1 10] [--noise laplace exponential]``. With
``--data DIR``, a folder with a module load.py that has ``load(name, scale=...)``, imdb is measured
too. With ``--memory`` one fit per shape is made in a process of its own, which says how much memory
it took at most, from reading the records on.
"""

import argparse
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.appendix_b import appendix_b
from benchmarks.shapes import SHAPES, Shape, generate
from scipy.sparse import csr_array, load_npz, save_npz

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.mechanisms import KeyStream, NoisyCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import FrankWolfe
from sparsedp.solvers.frank_wolfe.compact import compact_columns

N_STEPS = 1000


def door(solver, n_features, n, epsilon, seed):
    """A curator for one fit without an intercept, delta = 1 / n."""
    public = PublicFacts(
        n_features=n_features,
        n_nonzero=1,
        n_outputs=1,
        intercept=False,
        neighbors="add_remove",
        n_records=None,
    )
    budget = Budget(solver.schedule(public), epsilon=epsilon, delta=1 / n, neighbors="add_remove")
    return NoisyCurator(budget, public, KeyStream.from_seed(seed))


def fit_time(data, radius, epsilon, noise, mode, seeds=(0, 1, 2)):
    """CPU seconds per step, the mean over seeds, and the last weights."""
    calibration = "published" if noise == "laplace" else "sound"
    solver = FrankWolfe(radius=radius, n_steps=N_STEPS, mode=mode, calibration=calibration)
    spent, weights = [], None
    for seed in seeds:
        curator = door(solver, data.n_features, data.n_records, epsilon, seed)
        start = time.process_time()
        weights = solver.solve(data, Logistic(), curator).weights
        spent.append((time.process_time() - start) / N_STEPS)
    return float(np.mean(spent)), weights


def appendix_time(X, y, radius, epsilon, n_run):
    """CPU seconds per step of the listing."""
    rng = np.random.default_rng(0)
    start = time.process_time()
    appendix_b(
        X,
        y,
        radius=radius,
        n_steps=N_STEPS,
        epsilon=epsilon,
        delta=1 / len(y),
        rng=rng,
        n_run=n_run,
    )
    return (time.process_time() - start) / n_run


def measure(name, shape: Shape, X, y, epsilons, noises, modes):
    """Print one line per setting."""
    data = Dataset.clip(X, y, Bounds(-1, 1), intercept=False)
    start = time.process_time()
    compact = compact_columns(data)
    for noise in noises:  # the first fit computes scores at zero weights, shared by all
        fit_time(data, shape.radius, 0.1, noise, "auto", seeds=(0,))
    prepared = time.process_time() - start
    n_entries = X.size if isinstance(X, np.ndarray) else X.nnz
    print(
        f"{name}: n {shape.n} d {shape.d} entries {n_entries}, prepared in {prepared:.2f} s, "
        f"{compact.n_bytes / n_entries:.1f} bytes per entry",
        flush=True,
    )
    n_run = int(max(5, min(200, 2e8 / (n_entries * 2 + 40 * shape.d))))
    for epsilon in epsilons:
        listing = appendix_time(X, y, shape.radius, epsilon, n_run)
        for noise in noises:
            for mode in modes:
                seeds = (0,) if mode == "full" else (0, 1, 2)
                took, w = fit_time(data, shape.radius, epsilon, noise, mode, seeds)
                accuracy = np.mean((X @ w > 0) == (y > 0))
                print(
                    f"  epsilon {epsilon:g} {noise:11s} {mode:4s} {1e6 * took:10.1f} us/step, "
                    f"appendix B {1e6 * listing:9.0f}, {listing / took:9.1f} x, "
                    f"accuracy {accuracy:.3f}",
                    flush=True,
                )


def imdb(folder: Path):
    """The reviews, columns divided by their largest value as in the paper."""
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    X, y = module.load("imdb", scale="maxabs")
    X = csr_array(X)
    return Shape(*X.shape, X.nnz // X.shape[0], "text", 50.0), X, np.asarray(y, dtype=float)


def fit_in_a_child(folder: Path, radius: float):
    """Fit once and say how much memory this process has taken at most."""
    X, y = csr_array(load_npz(folder / "X.npz")), np.load(folder / "y.npy")
    data = Dataset.clip(X, y, Bounds(-1, 1), intercept=False)
    del X
    took, _ = fit_time(data, radius, 1.0, "laplace", "auto", seeds=(0,))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"  {1e6 * took:.1f} us/step with all preparation, {peak:.0f} MB at most", flush=True)


def memory(name, shape: Shape, X, y):
    """Fit in a process that has not made the records."""
    with tempfile.TemporaryDirectory() as folder:
        save_npz(Path(folder) / "X.npz", X, compressed=False)
        np.save(Path(folder) / "y.npy", y)
        print(f"{name}: one fit at epsilon 1 in a process of its own", flush=True)
        child = [sys.executable, __file__, "--child", folder, "--radius", str(shape.radius)]
        subprocess.run(child, check=True)


def main():
    """Measure what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("shapes", nargs="*", default=list(SHAPES))
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--noise", nargs="+", default=["laplace", "exponential"])
    parser.add_argument("--mode", nargs="+", default=["auto"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--radius", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.child is not None:
        fit_in_a_child(options.child, options.radius)
        return
    for name in options.shapes:
        shape = SHAPES[name]
        X, y = generate(shape)
        if options.memory:
            memory(name, shape, X, y)
        else:
            measure(name, shape, X, y, options.epsilon, options.noise, options.mode)
    if options.data is not None:
        shape, X, y = imdb(options.data)
        measure("imdb", shape, X, y, options.epsilon, options.noise, options.mode)


if __name__ == "__main__":
    main()
