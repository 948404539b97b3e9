"""Speed and memory against others, in one run: writes benchmarks/results.md and its figures.

    make bench [DATA=DIR]
    PYTHONPATH=. python benchmarks/bench.py [--quick] [--data DIR] [--parts sets,scaling]

DIR holds data sets and a module load.py with ``load(name, split)``; with it imdb, w8a and a9a are
measured too. Times are CPU time of one thread, those to be compared taken in turn. The folder
build/bench gets results.json, from which bench_page.py writes the page; with --parts the other
parts of an earlier run are kept. --quick runs everything on small sets, to see that it works.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import gc
import importlib.metadata
import importlib.util
import json
import platform
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import bench_fits
import bench_memory
import bench_page
import bench_rounds
import bench_walk
import numpy as np
import solver_speed
from bench_walk import Records
from peers import DIFFPRIVLIB, Diffprivlib
from scipy import sparse
from shapes import SHAPES, Shape, generate

REAL = {"imdb": 50.0, "w8a": 10.0, "a9a": 10.0}
BASE = Shape(20_000, 50_000, 75, "text", 50.0)
AXES = {
    "n": (5_000, 10_000, 20_000, 40_000, 80_000),
    "d": (12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000),
    "per_row": (19, 38, 75, 150, 300),
}
SHORT_FITS = ("rcv1", "a9a", "w8a (real)", "a9a (real)")
PACKAGES = ("numpy", "scipy", "scikit-learn", "celer", "skglm", "numba", "dask", "dp-accounting")


@dataclass(frozen=True)
class Effort:
    """How long to measure: sizes divided by ``divisor``, turns, seconds per measurement."""

    divisor: int = 1
    turns: int = 3
    seconds: float = 0.25
    limit: float = 25.0
    n_seeds: int = 10
    import_repeats: int = 5


QUICK = Effort(20, 1, 0.01, 5.0, 1, 1)


def data_sets(effort, folder):
    """All sets, one after the other: only one is in memory."""
    for name, shape in SHAPES.items():
        shape = smaller(shape, effort.divisor)
        yield Records(name, *generate(shape), shape.radius)
    yield from real_sets(effort, folder)


def real_sets(effort, folder):
    """Those in the folder, if there is one, features divided by their largest absolute value."""
    if folder is None:
        return
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, radius in REAL.items():
        X, y = module.load(name, split="train")
        largest = abs(X).max(axis=0).toarray().ravel()
        scales = sparse.diags_array(1 / np.where(largest > 0, largest, 1))
        X = sparse.csr_array(X @ scales)[:: effort.divisor]
        yield Records(f"{name} (real)", X, y[:: effort.divisor], radius)


def smaller(shape, divisor):
    """A set with so many times fewer records and, if there are many, features."""
    d = shape.d // divisor if shape.d > 1000 else shape.d
    return replace(shape, n=shape.n // divisor, d=d, per_row=min(shape.per_row, d))


def sets(effort, options, results):
    """Everything that is measured on each set."""
    diffprivlib = Diffprivlib(Path("build/venv-diffprivlib"))
    results["diffprivlib_missing"] = diffprivlib.missing
    peers = bench_fits.quiet_peers()
    for key in ("walk", "fits", "choice", "threads"):
        results[key] = []
    for records in data_sets(effort, options.data):
        say(records.name)
        results["walk"] += bench_walk.compare(records, effort.turns, effort.seconds)
        say("whole fits")
        line = bench_fits.whole_fits(records, peers, diffprivlib, effort.limit)
        results["fits"].append(line)
        if records.name in SHORT_FITS:
            say("short fits")
            results["choice"] += bench_walk.choice(
                records, 100, (10.0, 50.0), effort.turns, effort.seconds
            )
        if records.name == "rcv1":
            say("threads")
            radii, epsilons = (1.0, 5.0, 10.0, 20.0, 50.0), (0.1, 0.5, 1.0, 5.0, 10.0)
            results["threads"] += bench_walk.threads(records, radii, epsilons, effort.n_seeds)
        save(results, options.output)
        del records
        gc.collect()


def memory(effort, options, results):
    """Peaks of fits of large sparse sets."""
    results["memory"] = []
    for records in data_sets(effort, options.data):
        if not isinstance(records.X, np.ndarray) and records.X.shape[1] > 1000:
            found = bench_memory.measure(records, 1.0)
            results["memory"].append(bench_walk.facts(records) | found)


def scaling(effort, options, results):
    """Cost against the sizes of the data."""
    base = smaller(BASE, effort.divisor)
    results["scaling"] = []
    for axis, values in AXES.items():
        say(f"growing {axis}")
        divisor = 1 if axis == "per_row" else effort.divisor
        values = [value // divisor for value in values]
        turns = effort.turns + 2 if axis == "d" else effort.turns
        results["scaling"] += bench_walk.scaling(base, axis, values, turns, effort.seconds)


def solvers(effort, options, results):
    """The other solvers over their bare products."""
    found = [(records.name, records.X, records.y) for records in real_sets(effort, options.data)]
    if not found:
        found = [(name, *solver_speed.records(name, None)) for name in solver_speed.SHAPES]
    found.append(("dense", *solver_speed.records("dense", None)))
    # Smallest times: of more turns, as the interpreter is more easily disturbed than a product.
    results["solvers"] = bench_fits.over_products(found, 3 * effort.turns)


def imports(effort, options, results):
    """Time to import."""
    results["imports"] = bench_fits.import_times(effort.import_repeats)


def rounds(effort, options, results):
    """Rounds on a Dask cluster."""
    shapes = {name: smaller(SHAPES[name], effort.divisor) for name in ("rcv1", "news20")}
    results["rounds"] = bench_rounds.rounds(shapes)


PARTS = {
    "sets": sets,
    "memory": memory,
    "scaling": scaling,
    "solvers": solvers,
    "imports": imports,
    "rounds": rounds,
}


def machine():
    """What the figures were measured on; no names."""
    cpu = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    return {
        "cores": os.cpu_count(),
        "cpu": cpu[0].split(":")[1].strip() if cpu else platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "diffprivlib": DIFFPRIVLIB,
        "sparsedp": version("sparsedp"),
    }


def version(package):
    """Of an installed package, or a dash."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "–"


def say(text):
    """Show where we are."""
    print(f"{time.process_time():6.0f} s of CPU: {text}", file=sys.stderr, flush=True)


def save(results, folder):
    """Write what is known so far."""
    (folder / "results.json").write_text(json.dumps(results, indent=1))


def main():
    """Measure, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--parts", default=",".join(PARTS), help="comma-separated")
    parser.add_argument("--note", default="", help="to be said on the page")
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # that fits are seeded, what peers say about convergence
    options.output.mkdir(parents=True, exist_ok=True)
    earlier = options.output / "results.json"
    results = json.loads(earlier.read_text()) if earlier.exists() else {}
    effort = QUICK if options.quick else Effort()
    results |= {"machine": machine(), "quick": options.quick, "note": options.note}
    seconds, runs = results.setdefault("seconds", {}), results.setdefault("runs", {})
    run = time.strftime("%Y-%m-%d %H:%M")
    for part in options.parts.split(","):
        say(part)
        start = time.perf_counter()
        PARTS[part](effort, options, results)
        seconds[part], runs[part] = time.perf_counter() - start, run
        save(results, options.output)
    bench_page.write(results, options.output)


if __name__ == "__main__":
    main()
