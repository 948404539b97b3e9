"""Fit methods to splits that all share; one line of a CSV file for every fit.

    PYTHONPATH=src:. python -m benchmarks.rivals.run --methods ours --data DIR --out ours.csv

Fits that the file has are not made again: a stopped run goes on where it was, and after a change of
a method take a new file. Runs are the outermost loop, so that a part of a run is of use.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.rivals import metrics, sets
from benchmarks.rivals.methods import METHODS, SQUARE, WIDEST, WITHOUT_PRIVACY, Request

EPSILONS = (0.1, 1.0, 8.0, 0.3, 3.0)
KEY = ("set", "method", "epsilon", "run")
FIELDS = ("commit", *KEY, "n", "d", "delta", *metrics.NAMES, "seconds")


def commit():
    """Of the tree that runs, with a mark if it was changed."""
    git = ["git", "-C", str(Path(__file__).parent)]
    found = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD"], check=False).returncode
    return found.stdout.strip() + ("+" if changed else "")


def wanted(names, methods, epsilons, runs):
    """All fits: a first run of everything, then a second."""
    for run in runs:
        for name in names:
            for epsilon in epsilons:
                for method in methods:
                    if method in WITHOUT_PRIVACY:
                        if epsilon == epsilons[0]:
                            yield name, method, np.inf, run
                    else:
                        yield name, method, epsilon, run


def measured(part, method, request):
    """One line of the file, without what identifies it; no figures where the method failed."""
    start = time.process_time()
    try:
        if method in SQUARE and part.X.shape[1] > WIDEST:
            raise NotImplementedError("too many columns")
        found = METHODS[method](part, request)
        seconds = time.process_time() - start
        if part.table.target_bounds is not None:
            values = metrics.of_regression(part, found.value)
        else:
            values = metrics.of_classifier(part, found.score, found.value)
    except (ArithmeticError, ValueError, RuntimeError, NotImplementedError) as error:
        print(f"{part.table.name} {method} {request.epsilon:g}: {error}", file=sys.stderr)
        values, seconds = {}, time.process_time() - start
    written = {name: f"{value:.5g}" for name, value in values.items()}
    return written | {"seconds": f"{seconds:.3g}"}


def done(path):
    """Fits that the file has."""
    if not path.exists():
        return set()
    with path.open(newline="") as file:
        return {tuple(line[name] for name in KEY) for line in csv.DictReader(file)}


def run(options):
    """Fit what is missing."""
    known, stamp = done(options.out), commit()
    fresh = not options.out.exists()
    part, held = None, None
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
        if fresh:
            writer.writeheader()
        for name, method, epsilon, index in wanted(
            options.sets, options.methods, options.epsilons, options.runs
        ):
            label = options.label or method
            key = (name, label, f"{epsilon:g}", str(index))
            if key in known:
                continue
            if held != (name, index):
                part = sets.split(sets.table(name, options.cache, options.data), index)
                held = name, index
            request = Request(epsilon, index, options.cache, options.settings)
            line = measured(part, method, request) | dict(zip(KEY, key, strict=True))
            n, d = part.X.shape
            writer.writerow(line | {"commit": stamp, "n": n, "d": d, "delta": f"{part.delta:.3g}"})
            file.flush()


def listed(kind):
    """A comma-separated option."""
    return lambda text: [kind(item) for item in text.split(",")]


def main():
    """Read options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("RIVALS_CACHE", "build/rivals/cache")
    parser.add_argument("--methods", type=listed(str), required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="folder of the data sets; not if all are cached")
    parser.add_argument("--cache", type=Path, default=Path(default))
    parser.add_argument("--sets", type=listed(str), default=list(sets.ROUGHLY_BY_COST))
    parser.add_argument("--epsilons", type=listed(float), default=list(EPSILONS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--first-run", type=int, default=0)
    parser.add_argument("--label", help="written in the place of the method's name")
    parser.add_argument("--settings", type=json.loads, default={}, help="of the estimator, as JSON")
    options = parser.parse_args()
    options.runs = range(options.first_run, options.runs)
    with warnings.catch_warnings():
        # Seeds, and what rivals say of data that has been declared.
        warnings.simplefilter("ignore")
        run(options)


if __name__ == "__main__":
    main()
