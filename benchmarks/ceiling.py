"""Fits without noise: are they a ceiling of private ones, and do they overfit?

    PYTHONPATH=. python -m benchmarks.ceiling --data DIR [--reference TREE] [--out FILE]

Sets and splits are those of benchmarks/rivals. With a reference the same fits are made with the
sources of another checkout, whose kernels are compiled.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from benchmarks.rivals import metrics, sets
from benchmarks.rivals.methods import Request, is_regression, ours

NAMES = (
    "bodyfat",
    "diabetes_sklearn",
    "abalone",
    "cpusmall",
    "puma32h",
    "california",
    "heart_uci",
    "german",
    "digits_even",
    "splice",
    "abalone_high",
    "satimage_rare",
    "california_high",
    "dna",
    "phishing",
    "covtype_rare",
    "adult",
)
PRIVATE = 8.0
INTRODUCTION = """\
# Fits without noise

Made by `python -m benchmarks.ceiling --data DIR --reference TREE` at {commit}, reference {before}.
Change the script, not this page. Test parts of {runs} splits as in [rivals.md](rivals.md), means:
R2, or AUC / log loss over that of the null model. "Before" is the reference without noise; seconds
are of the CPU, for one fit.

"""


def scored(name, data, cache, run, epsilon, shapes):
    """Quality of one fit on its test part, and its time."""
    part = sets.split(sets.table(name, cache, data), run)
    start = time.process_time()
    found = ours(part, Request(epsilon, run, cache, {"shapes": shapes}))
    seconds = time.process_time() - start
    if is_regression(part):
        return {"r2": metrics.of_regression(part, found.value)["r2"], "seconds": seconds}
    values = metrics.of_classifier(part, found.score, found.value)
    loss = values["log_loss"] / values["null_log_loss"]
    return {"auc": values["auc"], "loss": loss, "seconds": seconds}


def measured(options, epsilon, shapes):
    """Means over splits, by set."""
    found = {}
    for name in options.sets.split(","):
        fits = [
            scored(name, options.data, options.cache, run, epsilon, shapes)
            for run in range(options.runs)
        ]
        found[name] = {key: float(np.mean([fit[key] for fit in fits])) for key in fits[0]}
    return found


def elsewhere(options):
    """Fits without noise with the sources of another checkout."""
    here = [sys.executable, "-m", "benchmarks.ceiling", "--data", str(options.data), "--json"]
    here += ["--sets", options.sets, "--runs", str(options.runs), "--cache", str(options.cache)]
    path = os.pathsep.join([str(Path(options.reference) / "src"), str(Path.cwd())])
    done = subprocess.run(
        here, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def commit(tree):
    """Of a checkout."""
    git = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip()


def shown(cell):
    """Quality in a table."""
    return f"{cell['r2']:.3f}" if "r2" in cell else f"{cell['auc']:.3f} / {cell['loss']:.3f}"


def page(options):
    """The table."""
    before = elsewhere(options) if options.reference else {}
    exact = measured(options, np.inf, "auto")
    lines = measured(options, np.inf, "linear")
    private = measured(options, PRIVATE, "auto")
    known = commit(options.reference) if options.reference else "none"
    text = INTRODUCTION.format(commit=commit("."), before=known, runs=options.runs)
    text += (
        f"| set | before | **without noise** | lines, without noise | ε = {PRIVATE:g} | seconds |\n"
    )
    text += "|---|--:|--:|--:|--:|--:|\n"
    for name, cell in exact.items():
        old = shown(before[name]) if name in before else ""
        row = [name, old, f"**{shown(cell)}**", shown(lines[name]), shown(private[name])]
        text += "| " + " | ".join([*row, f"{cell['seconds']:.1f}"]) + " |\n"
    return text


def main():
    """Print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--sets", default=",".join(NAMES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--json", action="store_true", help="fits without noise alone, as JSON")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        options.cache = options.cache or Path(folder)
        text = json.dumps(measured(options, np.inf, "auto")) if options.json else page(options)
    if options.out:
        options.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
