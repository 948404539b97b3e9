"""Fit the defaults to tasks of many sizes and budgets; one line of JSON for every fit.

    PYTHONPATH=src:. python -m benchmarks.planning.bank --data DIR --out build/planning

Three files: ceilings.jsonl, what other models without privacy reach on the same records, is kept
when the solver changes; fits.jsonl and decoys.jsonl (fits with a shuffled copy of every column)
are not. A stopped run goes on where it was.
"""

import argparse
import json
import math
import time
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.planning.tasks import DECOYED, TASKS, Table, loader, table
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score, roc_auc_score

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression

SIZES = (200, 600, 2000, 6000, 19_500)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
DELTA = 1e-6


def sizes(made: Table) -> list[int]:
    """Records to fit to: as many as leave a quarter of them for a test."""
    most = len(made.y) * 3 // 4
    found = [n for n in SIZES if n <= most]
    return found if found and most < 1.6 * found[-1] else [*found, min(most, SIZES[-1])]


def parts(made: Table, n: int, run: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit and rows to test, by task, size and run alone."""
    rng = np.random.default_rng([run, n, zlib.crc32(made.name.encode())])
    order = rng.permutation(len(made.y))
    n_test = min(len(order) // 4, 6000)
    return order[n_test : n_test + n], order[:n_test]


def quality(made: Table, model: ClassifierMixin | RegressorMixin, test: np.ndarray) -> float:
    """AUC, R2 or accuracy."""
    X, y = made.X[test], made.y[test]
    if made.task.kind == "regression":
        return float(r2_score(y, model.predict(X)))
    if made.task.kind == "multiclass":
        return float(np.mean(model.predict(X) == y))
    if "decision_function" in dir(model):
        return float(roc_auc_score(y, model.decision_function(X)))
    return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))


def private(made: Table, epsilon: float, seed: int | None):
    """The defaults, with what would be declared."""
    common = {"epsilon": epsilon, "delta": DELTA, "bounds": Bounds(*made.bounds)}
    if made.task.kind == "regression":
        return SparseLinearRegression(target_bounds=made.target_bounds, random_state=seed, **common)
    classes = list(range(made.n_classes))
    return SparseLogisticRegression(classes=classes, random_state=seed, **common)


def ceilings(made: Table, n: int, run: int) -> dict[str, float]:
    """What models without privacy reach."""
    train, test = parts(made, n, run)
    X, y = made.X[train], made.y[train]
    low, high = made.bounds
    scaled = (made.X - (low + high) / 2) / ((high - low) / 2)
    few = min(np.bincount(y)) < 20 if made.task.kind != "regression" else n < 100
    early = {"max_iter": 60, "early_stopping": False, "min_samples_leaf": 5 if few else 20}
    found = {}
    if made.task.kind == "regression":
        boosted = HistGradientBoostingRegressor(**early).fit(X, y)
        plain = [Ridge(alpha=a).fit(scaled[train], y) for a in (0.1, 3.0, 30.0)]
    else:
        if made.n_classes > 2:
            early["max_iter"] = 30
        boosted = HistGradientBoostingClassifier(**early).fit(X, y)
        plain = [
            LogisticRegression(C=c, max_iter=100).fit(scaled[train], y) for c in (0.03, 0.5, 5.0)
        ]
    found["boosted"] = quality(made, boosted, test)
    unit = Table(made.name, made.task, scaled, made.y, made.bounds, made.target_bounds)
    found["linear"] = max(quality(unit, model, test) for model in plain)
    return found


def fitted(made: Table, n: int, epsilon: float, run: int) -> dict[str, float]:
    """One private fit."""
    train, test = parts(made, n, run)
    seed = None if math.isinf(epsilon) else 1000 * run + 7
    model = private(made, epsilon, seed).fit(made.X[train], made.y[train])
    return {"quality": quality(made, model, test), "used": len(model.shapes_)}


def decoyed(made: Table, n: int, epsilon: float, run: int) -> dict[str, float]:
    """A fit with a shuffled copy of every column: how many of either kind are in the model."""
    rng = np.random.default_rng([run, n])
    copies = np.column_stack([rng.permutation(column) for column in made.X.T])
    low, high = (np.concatenate([limit, limit]) for limit in made.bounds)
    both = Table(
        made.name,
        made.task,
        np.hstack([made.X, copies]),
        made.y,
        (low, high),
        made.target_bounds,
    )
    train, _ = parts(made, n, run)
    model = private(both, epsilon, 1000 * run + 7).fit(both.X[train], both.y[train])
    used, d = np.array(list(model.shapes_)), made.X.shape[1]
    return {"real": int(np.sum(used < d)), "decoys": int(np.sum(used >= d))}


def described(made: Table) -> dict[str, object]:
    """What a plan knows about a task."""
    return {
        "task": made.name,
        "group": made.task.group,
        "kind": made.task.kind,
        "n_features": made.X.shape[1],
        "rate": made.rate,
        "spread": made.spread,
        "n_classes": made.n_classes,
    }


def lines(path: Path) -> list[dict]:
    """What a file has."""
    return [json.loads(line) for line in path.open()] if path.exists() else []


def wanted(made: Table, runs: range, epsilons: tuple[float, ...]) -> Iterator[tuple]:
    """Fits of a task, with one that has no noise."""
    for n in sizes(made):
        for run in runs:
            for epsilon in (*epsilons, *([math.inf] if run == 0 else [])):
                yield n, epsilon, run


def run(options: argparse.Namespace) -> None:
    """Fit what is missing."""
    options.out.mkdir(parents=True, exist_ok=True)
    roofs, fits = options.out / "ceilings.jsonl", options.out / "fits.jsonl"
    known = {(r["task"], r["n"], r["run"]) for r in lines(roofs)}
    done = {(r["task"], r["n"], r["epsilon"], r["run"]) for r in lines(fits)}
    decoys = options.out / "decoys.jsonl"
    tried = {(r["task"], r["n"], r["epsilon"], r["run"]) for r in lines(decoys)}
    load, start = loader(options.data), time.process_time()
    names = options.tasks.split(",") if options.tasks else list(TASKS)
    for name in sorted(names, key=lambda each: TASKS[each].group):
        made = table(name, load)
        facts = described(made)
        with roofs.open("a") as out:
            for n in sizes(made):
                for number in range(options.ceilings):
                    if (name, n, number) not in known:
                        found = {"task": name, "n": n, "run": number, **ceilings(made, n, number)}
                        out.write(json.dumps(found) + "\n")
                        out.flush()
        with fits.open("a") as out:
            for n, epsilon, number in wanted(made, range(options.runs), EPSILONS):
                if (name, n, epsilon, number) not in done:
                    cell = {"n": n, "epsilon": epsilon, "delta": DELTA, "run": number}
                    found = {**facts, **cell, **fitted(made, n, epsilon, number)}
                    out.write(json.dumps(found) + "\n")
        if name in DECOYED:
            with decoys.open("a") as out:
                for n, epsilon, number in wanted(made, range(1), EPSILONS):
                    if n < 600 or math.isinf(epsilon):
                        continue
                    if (name, n, epsilon, number) not in tried:
                        cell = {"n": n, "epsilon": epsilon, "delta": DELTA, "run": number}
                        found = {**facts, **cell, **decoyed(made, n, epsilon, number)}
                        out.write(json.dumps(found) + "\n")
        print(f"{name} {time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder with load.py")
    parser.add_argument("--out", type=Path, default=Path("build/planning"))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--ceilings", type=int, default=1, help="splits with ceilings")
    parser.add_argument("--tasks", help="some of them, by commas")
    run(parser.parse_args())
