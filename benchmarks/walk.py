"""Steps of the walk against appendix B of Khanna et al. (2024), in turns, in CPU time.

``PYTHONPATH=src:. OMP_NUM_THREADS=1 python benchmarks/walk.py [shape ...] [--old DIR] [--turns 2]``

Prints a table in some ten minutes. Every turn is a process of its own that times both sides: a few
steps of the listing before and after each setting. ``--old`` is the root of another version of the
library, built in place, whose turns come in between.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.appendix_b import appendix_b
from benchmarks.shapes import SHAPES, generate

DEFAULT = ("signal", "rcv1", "news20", "gisette", "a9a")
SETTINGS = ((1.0, "published"), (1.0, "sound"), (10.0, "published"), (10.0, "sound"))
N_STEPS = 1000


def listing_time(X, y, radius, n_run):
    """CPU seconds per step of the listing."""
    start = time.process_time()
    appendix_b(
        X,
        y,
        radius=radius,
        n_steps=N_STEPS,
        epsilon=1.0,
        delta=1 / len(y),
        rng=np.random.default_rng(0),
        n_run=n_run,
    )
    return (time.process_time() - start) / n_run


def turn(name):
    """Microseconds per step of both sides, and accuracies, for every setting."""
    from benchmarks.lazy import door

    from sparsedp.data.bounds import Bounds
    from sparsedp.data.dataset import Dataset
    from sparsedp.losses import Logistic
    from sparsedp.solvers import FrankWolfe

    warnings.simplefilter("ignore")
    shape = SHAPES[name]
    X, y = generate(shape)
    data = Dataset.clip(X, y, Bounds(-1, 1), intercept=False)
    n_run = 2 if shape.d > 10**6 else 5
    found = []
    for epsilon, calibration in SETTINGS:
        solver = FrankWolfe(radius=shape.radius, n_steps=N_STEPS, calibration=calibration)
        listing, took, accuracy = [listing_time(X, y, shape.radius, n_run)], [], []
        for seed in range(4):  # the first also prepares what later fits share
            curator = door(solver, data.n_features, data.n_records, epsilon, seed)
            start = time.process_time()
            w = solver.solve(data, Logistic(), curator).weights
            took.append((time.process_time() - start) / N_STEPS)
            accuracy.append(float(np.mean((X @ w > 0) == (y > 0))))
        listing.append(listing_time(X, y, shape.radius, n_run))
        line = {"epsilon": epsilon, "calibration": calibration, "accuracy": np.mean(accuracy)}
        line |= {"walk": 1e6 * statistics.median(took[1:]), "listing": 1e6 * min(listing)}
        found.append(line)
    return {"chance": float(max(np.mean(y), 1 - np.mean(y))), "settings": found}


def child(name, root):
    """A turn of the version at ``root``, by the shapes and the listing of this one."""
    paths = [str(Path(root) / "src"), str(Path(__file__).resolve().parents[1])]
    command = [sys.executable, __file__, "--turn", name]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(name, roots, turns):
    """Print what one shape takes."""
    found = {label: [] for label in roots}
    for _ in range(turns):
        for label, root in roots.items():
            found[label].append(child(name, root))
    chance = found["new"][0]["chance"]
    for i, (epsilon, calibration) in enumerate(SETTINGS):
        cells = []
        for turns_of in found.values():
            lines = [one["settings"][i] for one in turns_of]
            walk, listing, accuracy = (
                statistics.median(line[key] for line in lines)
                for key in ("walk", "listing", "accuracy")
            )
            cells += [
                f"{walk:.1f}",
                f"{listing:,.0f}",
                f"{listing / walk:,.0f}x",
                f"{accuracy:.3f}",
            ]
        cells = " | ".join(cells)
        print(f"| {name} | {chance:.2f} | {calibration} {epsilon:g} | {cells} |", flush=True)


def main():
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shapes", nargs="*", default=DEFAULT)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--turn", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.turn:
        print(json.dumps(turn(asked.turn)))
        return
    roots = {"new": Path(__file__).resolve().parents[1]}
    if asked.old is not None:
        roots["old"] = asked.old
    head = [f"{label} us/step | listing | ratio | accuracy" for label in roots]
    print(f"| shape | larger class | setting | {' | '.join(head)} |")
    print("|---|--:|---|" + "--:|--:|--:|--:|" * len(roots))
    for name in asked.shapes:
        table(name, roots, asked.turns)


if __name__ == "__main__":
    main()
