"""Do intervals cover? How many are refused, how wide are they, and what do they cost?

    python benchmarks/intervals.py simulated --runs 500 --out sim.jsonl
    python benchmarks/intervals.py real --data DIR --runs 200 --out real.jsonl
    python benchmarks/intervals.py cost --data DIR --runs 8 --out cost.jsonl
    python benchmarks/intervals.py page sim.jsonl real.jsonl cost.jsonl > benchmarks/intervals.md

Records are drawn with replacement from a finite population, whose own fit is the truth: the
weighted fit that `Inference.estimand` says, to the features, limits and weights of each run. The
populations and seeds are not those by which anything was chosen (these had seed 0).
"""

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm
from sklearn.metrics import r2_score, roc_auc_score

from sparsedp import SparseLinearRegression, SparseLogisticRegression

DELTA = 1e-6
EPSILONS = (0.3, 1.0, 3.0)
N_POPULATION = 20_000
DESIGNS = {
    # kind, task, records, features, of these real, chosen (None: all), strength, misspecified
    "numeric": ("num", "log", 4000, 8, 5, None, "strong", False),
    "numeric, weak": ("num", "log", 4000, 8, 5, None, "weak", False),
    "binary": ("bin", "log", 4000, 8, 5, None, "strong", False),
    "mixed, misspecified": ("mix", "log", 4000, 10, 5, None, "strong", True),
    "AR(.8)": ("ar", "log", 8000, 10, 5, None, "strong", False),
    "numeric, chosen": ("num", "log", 10_000, 40, 5, 8, "strong", False),
    "binary, chosen, weak": ("bin", "log", 10_000, 40, 5, 8, "weak", False),
    "AR(.8), chosen": ("ar", "log", 10_000, 40, 5, 8, "strong", False),
    "numbers": ("num", "lin", 4000, 8, 5, None, "strong", False),
    "numbers, misspecified": ("mix", "lin", 4000, 10, 5, None, "strong", True),
    "numbers, AR(.8)": ("ar", "lin", 8000, 10, 5, None, "weak", False),
    "numbers, chosen": ("bin", "lin", 10_000, 40, 5, 8, "weak", False),
}
REAL = ("phishing", "a9a", "covtype", "california")


def population(name, seed):
    """Features in [-1, 1], targets, and which features have an effect."""
    kind, task, _, d, k, _, strength, misspecified = DESIGNS[name]
    random, n = np.random.default_rng(seed), N_POPULATION
    Z = random.normal(size=(n, d)) * math.sqrt(0.7) + random.normal(size=(n, 1)) * math.sqrt(0.3)
    if kind == "ar":
        for j in range(d):
            fresh = random.normal(size=n)
            Z[:, j] = fresh if j == 0 else 0.8 * Z[:, j - 1] + 0.6 * fresh
        Z = Z[:, random.permutation(d)]
    X, spread = np.clip(Z / 2.5, -1, 1), 0.4
    two = np.where(norm.ppf(np.linspace(0.05, 0.5, d)[random.permutation(d)]) > Z, 1.0, -1.0)
    if kind == "bin":
        X, spread = two, 0.75
    elif kind == "mix":
        some = random.random(d) < 0.5
        X[:, some], spread = two[:, some], 0.55
    beta = np.zeros(d)
    sizes = random.uniform(0.5, 1.5, k) if strength == "strong" else random.uniform(0.1, 0.6, k)
    beta[:k] = random.choice([-1, 1], k) * sizes * 0.5 / spread
    margins = X @ beta
    if misspecified:
        margins += 0.8 * np.sin(4 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.8 * X[:, 2] * X[:, k]
    margins -= margins.mean()
    if task == "log":
        return X, (random.random(n) < expit(margins - 1)).astype(int), beta != 0
    noise = random.normal(size=n) * margins.std() * (1 if strength == "strong" else 2)
    if misspecified:
        noise *= 0.5 + 2 * np.abs(X[:, 0])
    y = margins + noise
    return X, np.clip(y / (4 * y.std()), -1, 1), beta != 0


def estimator(numbers, **settings):
    """For features and numbers in [-1, 1]."""
    settings = {"delta": DELTA, "bounds": 1.0} | settings
    if numbers:
        return SparseLinearRegression(target_bounds=(-1, 1), **settings)
    return SparseLogisticRegression(classes=(0, 1), **settings)


def truth(fitted, X, y, numbers, *, weighted=True):
    """Coefficients of the estimand in the population (else of the plain fit), by Newton steps."""
    found = fitted.inference_
    low, high = (limit[found.features] for limit in fitted.clip_bounds_)
    half = (high - low) / 2
    unit = (np.clip(X[:, found.features], low, high) - (low + high) / 2) / half
    Z = np.column_stack([np.ones(len(unit)), unit])
    clip, weights = (found.estimand.clip if weighted else math.inf), np.ones(len(Z))
    if weighted:
        lengths = np.square(Z @ found.estimand.whitening).sum(axis=1)
        values = X[:, found.features]
        inside = ((values >= low) & (values <= high)).all(axis=1)
        weights = inside * np.minimum(1, found.estimand.reach**2 / lengths)
    estimates = found.table.estimates
    theta = np.append(0.0, estimates[:-1] * half)
    theta[0] = estimates[-1] + estimates[:-1] @ ((low + high) / 2)
    for _ in range(60):
        margins = Z @ theta
        mean = margins if numbers else expit(margins)
        curvature = np.abs(mean - y) < clip if numbers else mean * (1 - mean)
        hessian = (Z * (weights * curvature)[:, None]).T @ Z + 1e-9 * np.eye(len(theta))
        step = np.linalg.solve(hessian, Z.T @ (weights * np.clip(mean - y, -clip, clip)))
        theta = theta - step * min(1.0, 5 / np.abs(step).max())
        if np.abs(step).max() < 1e-6:
            break
    return theta[1:] / half


def covered(fitted, target):
    """Whether each interval holds the truth; NaN where there is none."""
    table = fitted.inference_.table
    low, high = table.intervals[:-1].T
    return np.where(np.isnan(low), np.nan, (low <= target) & (target <= high))


def summarized(rows):
    """Of a cell: coverage of what is shown, refusals, widths, false share."""
    hits = np.concatenate([row["hits"] for row in rows])
    every = np.concatenate([row["every"] for row in rows])
    wide = np.concatenate([row["wide"] for row in rows])
    shown = ~np.isnan(hits)
    return {
        "runs": len(rows),
        "shown": float(np.mean(hits[shown])) if shown.any() else None,
        "all": float(every.mean()),
        "refused": float(1 - shown.mean()),
        "intervals": int(shown.sum()),
        "width": float(np.median(wide[shown])) if shown.any() else None,
        "plain": _mean([value for row in rows for value in row.get("plain", ())]),
        "false": _mean([row["false"] for row in rows if "false" in row]),
        "claims": _mean([row["claims"] for row in rows if "claims" in row]),
    }


def _mean(values):
    values = [value for value in values if not math.isnan(value)]
    return float(np.mean(values)) if values else None


def one_run(fitted, X, y, numbers, real=None, *, plain=False):
    """What a run adds to its cell."""
    table, found = fitted.inference_.table, fitted.inference_
    target = truth(fitted, X, y, numbers)
    half = table.confidence  # the same rule for what was refused, from its covariance
    row = {"hits": covered(fitted, target), "wide": 1 / np.sqrt(1 - table.noise_shares[:-1])}
    row["every"] = np.where(np.isnan(row["hits"]), half, row["hits"])
    if plain:
        row["plain"] = covered(fitted, truth(fitted, X, y, numbers, weighted=False)).tolist()
    if real is not None:
        claimed = table.nonzero
        row["claims"] = float(claimed.sum())
        row["false"] = float((claimed & ~real[found.features]).sum() / max(claimed.sum(), 1))
    return row


def simulated(runs, out, only):
    """Coverage over the designs."""
    for number, name in enumerate(DESIGNS):
        if only and name not in only:
            continue
        _, task, n, d, _, chosen, _, _ = DESIGNS[name]
        numbers = task == "lin"
        X, y, real = population(name, 7000 + number)
        for epsilon in EPSILONS:
            begin, rows = time.process_time(), []
            random = np.random.default_rng(31_000 + number)
            for run in range(runs):
                some = random.integers(0, len(y), n)
                fitted = estimator(
                    numbers,
                    epsilon=epsilon,
                    n_nonzero=chosen or d,
                    intervals=True,
                    random_state=1_000_003 * number + run,
                ).fit(X[some], y[some])
                rows.append(one_run(fitted, X, y, numbers, real, plain=run % 10 == 0))
            cell = {"part": "simulated", "name": name, "epsilon": epsilon, "n": n}
            _write(out, cell | summarized(rows) | {"seconds": time.process_time() - begin})


def real_set(name, folder):
    """Features and target in [-1, 1]; bounds at quantiles stand for public ones."""
    sys.path.insert(0, str(folder))
    from load import load

    X, y = load(name, "all") if name == "a9a" else load(name)
    some = np.random.default_rng(0).permutation(len(y))[:30_000]
    X = np.nan_to_num((X[some].toarray() if sparse.issparse(X) else X[some]).astype(float))
    y = np.asarray(y, dtype=float)[some]
    two = np.array([len(np.unique(column)) <= 2 for column in X.T])
    low = np.where(two, X.min(axis=0), np.quantile(X, 0.01, axis=0))
    high = np.where(two, X.max(axis=0), np.quantile(X, 0.99, axis=0))
    low, high = np.where(high > low, low, X.min(axis=0)), np.where(high > low, high, X.max(axis=0))
    varies = high > low
    unit = np.clip(2 * (X[:, varies] - low[varies]) / (high - low)[varies] - 1, -1, 1)
    if name == "california":
        y = np.clip(y / 2.5e5 - 1 - np.mean(y / 2.5e5 - 1), -1, 1)
    return unit, y, name == "california"


def real(runs, out, folder, only):
    """Coverage on real sets, each a population."""
    for number, name in enumerate(REAL):
        if only and name not in only:
            continue
        X, y, numbers = real_set(name, folder)
        for n, epsilon in ((10_000, 1.0), (10_000, 3.0)):
            rows, begin = [], time.process_time()
            random = np.random.default_rng(52_000 + number)
            for run in range(runs):
                some = random.integers(0, len(y), n)
                fitted = estimator(
                    numbers, epsilon=epsilon, intervals=True, random_state=2_000_003 * number + run
                ).fit(X[some], y[some])
                rows.append(one_run(fitted, X, y, numbers, plain=run % 10 == 0))
            method = fitted.inference_.table.method
            cell = {"part": "real", "name": name, "epsilon": epsilon, "n": n, "method": method}
            _write(out, cell | summarized(rows) | {"seconds": time.process_time() - begin})


def cost(runs, out, folder, only):
    """Test AUC, or R2, with intervals off and on."""
    for name in REAL:
        if only and name not in only:
            continue
        X, y, numbers = real_set(name, folder)
        for epsilon in EPSILONS:
            found = {"default": [], "linear": [], "intervals": []}
            for run in range(runs):
                order = np.random.default_rng(run).permutation(len(y))
                test, train = order[: len(y) // 5], order[len(y) // 5 :]
                for way, settings in (
                    ("default", {}),
                    ("linear", {"shapes": "linear"}),
                    ("intervals", {"intervals": True}),
                ):
                    fitted = estimator(numbers, epsilon=epsilon, random_state=run, **settings)
                    fitted.fit(X[train], y[train])
                    scores = (
                        fitted.predict(X[test]) if numbers else fitted.decision_function(X[test])
                    )
                    found[way].append((r2_score if numbers else roc_auc_score)(y[test], scores))
            cell = {"part": "cost", "name": name, "epsilon": epsilon, "runs": runs}
            _write(out, cell | {way: float(np.mean(values)) for way, values in found.items()})


def _write(out, cell):
    with Path(out).open("a", encoding="utf-8") as file:
        file.write(json.dumps(cell) + "\n")
    print(cell, flush=True)


def page(files):
    """All of it as Markdown."""
    lines = [line for name in files for line in Path(name).read_text("utf-8").splitlines()]
    cells = [json.loads(line) for line in lines]
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    print(f"# Do intervals cover?\n\n`benchmarks/intervals.py`, at {commit}. {PROSE}")
    keys = ("shown", "refused", "plain", "width", "claims", "false")
    for part, title in (("simulated", "Simulated"), ("real", "Real sets")):
        print(f"\n## {title}\n\n{HEAD}")
        for cell in (cell for cell in cells if cell["part"] == part):
            shown = ["-" if cell[key] is None else f"{cell[key]:.3g}" for key in keys]
            row = [cell["name"], f"{cell['n']:,}", f"{cell['epsilon']:g}", str(cell["runs"])]
            print(f"| {' | '.join(row + shown)} |")
    print(f"\n## What it costs\n\n{COST}")
    for cell in (cell for cell in cells if cell["part"] == "cost"):
        ways = (f"{cell[way]:.3f}" for way in ("default", "linear", "intervals"))
        print(f"| {cell['name']} | {cell['epsilon']:g} | {' | '.join(ways)} |")


HEAD = """| population | n | epsilon | runs | covered | refused | plain | width | claims | false |
|---|---|---|---|---|---|---|---|---|---|"""

COST = """Mean test AUC (california: R2) without intervals, with lines, and with intervals.

| set | epsilon | default | linear | intervals |
|---|---|---|---|---|"""

PROSE = """Its docstring has the commands. Nominal 95 %, delta = 1e-6, records and noise
drawn anew in every run. *covered*: how often the intervals that are shown hold the estimand
(`docs/intervals.md`). *refused*: coefficients without an interval. *plain*: the same for the
unweighted fit, from a tenth of the runs. *width*: median of standard errors over those of sampling
alone. *claims*: features that are called non-zero. *false*: mean share of claims about features
without an effect of their own; where features are correlated and only some are chosen, proxies of
others are non-zero in the model and still count as false here."""


def main():
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=("simulated", "real", "cost", "page"))
    parser.add_argument("files", nargs="*")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", default="intervals.jsonl")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", action="append")
    given = parser.parse_args()
    if given.part == "page":
        page(given.files)
    elif given.part == "simulated":
        simulated(given.runs, given.out, given.only)
    elif given.part == "real":
        real(given.runs, given.out, given.data, given.only)
    else:
        cost(given.runs, given.out, given.data, given.only)


if __name__ == "__main__":
    main()
