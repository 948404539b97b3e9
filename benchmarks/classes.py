"""More than two classes: the defaults beside noisy gradient descent, at equal budgets.

    PYTHONPATH=. python -m benchmarks.classes --packages DIR [--runs 5] [--out PAGE]

DIR holds the packages of benchmarks/rivals/packaged.py. Fits are kept in --fits and not made again.
"""

import argparse
import csv
import warnings
from collections import defaultdict
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from benchmarks.rivals.packaged import SEVERAL, read_several
from benchmarks.rivals.run import commit
from benchmarks.rivals.sets import outwards
from sklearn.metrics import roc_auc_score

METHODS = {"sparsedp, defaults": {}, "sparsedp, `noisy_gd`": {"solver": "noisy_gd"}}
EPSILONS = (0.1, 0.3, 1.0, 3.0, 8.0)
LARGEST, FEWEST = 25_000, 50
FIELDS = ("commit", "set", "method", "epsilon", "run", "n", "d", "classes")
MEASURES = ("auc", "log_loss", "null_log_loss", "accuracy", "null_accuracy")

PAGE = """# More than two classes

Made by `make classes` at {commit}. Change benchmarks/classes.py, not this page.

Twelve tables that come with Python packages, by which nothing was chosen; at most 25,000 records,
drawn once, and classes of at least 50. A run is a split, 80/20, and a seed; {runs} runs. Bounds are
the range of the data rounded outwards, as in packaged.md, and so is delta. AUC is the mean over
classes, each against all others; log loss is over that of the null model, which predicts the base
rates of the training part.

"""


def table(name, folder):
    """Features, labels from 0 on, and bounds."""
    X, y = read_several(name, folder)
    chosen = np.random.default_rng(0).permutation(len(y))[:LARGEST]
    X, y = X[chosen], y[chosen]
    many = np.bincount(y)[y] >= FEWEST
    X, y = X[many], np.unique(y[many], return_inverse=True)[1]
    return X, y, *outwards(X.min(axis=0), X.max(axis=0))


def measured(X, y, bounds, settings, epsilon, run):
    """Scores of one fit."""
    from sparsedp import SparseLogisticRegression

    order, k = np.random.default_rng(100 + run).permutation(len(y)), int(y.max()) + 1
    test, train = order[: len(y) // 5], order[len(y) // 5 :]
    n = len(train)
    model = SparseLogisticRegression(
        epsilon=epsilon,
        delta=1e-6 if n >= 5000 else 1 / (10 * n),
        bounds=bounds,
        classes=list(range(k)),
        random_state=run,
        **settings,
    ).fit(X[train], y[train])
    found, truth = np.clip(model.predict_proba(X[test]), 1e-12, 1), y[test]
    rates = np.bincount(y[train], minlength=k) / n
    apart = [j for j in range(k) if 0 < (truth == j).sum() < len(truth)]
    return {
        "n": n,
        "d": X.shape[1],
        "classes": k,
        "auc": np.mean([roc_auc_score(truth == j, found[:, j]) for j in apart]),
        "log_loss": -np.log(found[np.arange(len(truth)), truth]).mean(),
        "null_log_loss": -np.log(np.maximum(rates, 1e-12)[truth]).mean(),
        "accuracy": (found.argmax(axis=1) == truth).mean(),
        "null_accuracy": (truth == rates.argmax()).mean(),
    }


def fits(task):
    """All fits of a table that are wanted."""
    from sparsedp import Bounds

    warnings.filterwarnings("ignore")
    name, folder, wanted, stamp = task
    X, y, lower, upper = table(name, folder)
    rows = []
    for method, epsilon, run in wanted:
        scores = measured(X, y, Bounds(lower, upper), METHODS[method], epsilon, run)
        scores |= {key: round(float(scores[key]), 5) for key in MEASURES}
        first = {"commit": stamp, "set": name, "method": method, "epsilon": epsilon, "run": run}
        rows.append(first | scores)
    return rows


def page(rows, runs):
    """Tables by epsilon, and by set."""
    cells = defaultdict(list)
    for row in rows:
        cells[row["method"], float(row["epsilon"]), row["set"]].append(row)
    text = [PAGE.format(commit=", ".join(sorted({row["commit"] for row in rows})), runs=runs)]
    heads = " | ".join(f"ε = {epsilon:g}" for epsilon in EPSILONS)
    ruler = "|---|" + "--:|" * len(EPSILONS)

    def over(method, epsilon, what):
        sets = [np.mean([what(row) for row in cells[method, epsilon, name]]) for name in SEVERAL]
        return float(np.mean(sets))

    measures = {
        "AUC": lambda row: float(row["auc"]),
        "Log loss over null": lost,
        "Accuracy": lambda row: float(row["accuracy"]),
        "Part of the fits with a log loss above null": lambda row: float(lost(row) > 1),
    }
    for title, what in measures.items():
        text.append(f"## {title}, mean over tables\n\n| method | {heads} |\n{ruler}\n")
        for method in METHODS:
            found = " | ".join(f"{over(method, epsilon, what):.3f}" for epsilon in EPSILONS)
            text.append(f"| {method} | {found} |\n")
        text.append("\n")
    text.append(
        "## Tables\n\nAUC and log loss over null: defaults, and `noisy_gd` in brackets.\n\n"
    )
    text.append(f"| set | {heads} |\n{ruler}\n")
    ours, theirs = METHODS
    for name in SEVERAL:
        some = cells[ours, EPSILONS[0], name][0]
        shape = f"{name} ({int(some['n']):,} × {some['d']}, {some['classes']} classes)"
        line = []
        for epsilon in EPSILONS:
            own, other = cells[ours, epsilon, name], cells[theirs, epsilon, name]
            values = [mean(own, "auc"), mean(other, "auc"), mean(own), mean(other)]
            line.append("{:.3f} ({:.3f}), {:.2f} ({:.2f})".format(*values))
        text.append(f"| {shape} | {' | '.join(line)} |\n")
    return "".join(text)


def lost(row):
    """Log loss over that of the null model."""
    return float(row["log_loss"]) / float(row["null_log_loss"])


def mean(rows, key=None):
    """Of a measure, or of log loss over null."""
    return float(np.mean([lost(row) if key is None else float(row[key]) for row in rows]))


def main():
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--fits", default="build/classes.csv")
    parser.add_argument("--out")
    options = parser.parse_args()
    path, stamp = Path(options.fits), commit()
    rows = list(csv.DictReader(path.open())) if path.exists() else []
    made = {(row["set"], row["method"], float(row["epsilon"]), int(row["run"])) for row in rows}
    tasks = []
    for name in SEVERAL:
        grid = [(m, e, r) for r in range(options.runs) for e in EPSILONS for m in METHODS]
        wanted = [each for each in grid if (name, *each) not in made]
        if wanted:
            tasks.append((name, options.packages, wanted, stamp))
    with Pool(2) as pool:
        for found in pool.imap_unordered(fits, tasks[::-1]):
            rows += found
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, FIELDS + MEASURES)
                writer.writeheader()
                writer.writerows(rows)
            print(found[0]["set"], flush=True)
    written = page(rows, options.runs)
    if options.out:
        Path(options.out).write_text(written)
    else:
        print(written)


if __name__ == "__main__":
    main()
