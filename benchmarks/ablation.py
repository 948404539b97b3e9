"""What each part of Pursuit buys: scores of the fit without it, less those of the whole.

    python -m benchmarks.ablation --data DIR [--sets kddcup99] [--epsilons 0.1,1] [--runs 5]

Sets and splits are those of benchmarks/rivals. A variant replaces settings of the estimator or
constants of the solver while it runs, so the solver itself has no switches; noise is calibrated as
ever, but a variant may leave some of its budget unspent. Prints a table in Markdown.
"""

import argparse
import math
import os
import warnings
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import numpy as np
from benchmarks.rivals.methods import Request, ours
from benchmarks.rivals.sets import split, table
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from sparsedp.solvers.pursuit import bounds, descent, gradient, prune, pursuit, step
from sparsedp.solvers.pursuit.calibration import margins, two_classes
from sparsedp.solvers.pursuit.columns import ball, levels, shapes
from sparsedp.solvers.pursuit.targets import labels, loudness, numbers, span

SETS = "kddcup99,synthetic,california_high,madelon"
"""By their scores no constant was chosen."""


def as_seen(seen, noise):
    """A share as its noisy count has it."""
    return min(max(seen, two_classes.RAREST), 1 - two_classes.RAREST)


def mean_curvature(steepness, gradient, noise, n_records, curvature):
    """No step is shorter than the mean curvature says."""
    return 1.0


def few(d):
    """Features that were kept by default before."""
    return {"n_nonzero": min(d, round(1.5 * math.sqrt(d)))}


VARIANTS = {
    "straight effects": (lambda d: {"shapes": "linear"}, []),
    "effects that add up": (lambda d: {"shapes": "additive"}, []),
    "1.5 sqrt(d) features, chosen": (few, []),
    "16 or 1.5 sqrt(d), chosen": (
        lambda d: {"n_nonzero": min(d, max(16, few(d)["n_nonzero"]))},
        [],
    ),
    "Gram matrix of the whole box": (lambda d: {}, [(ball, "LOUDEST", 0.0)]),
    "nothing left out": (lambda d: {}, [(prune, "EVIDENCE", -1.0)]),
    "base rates as counted": (lambda d: {}, [(labels, "likely_share", as_seen)]),
    "declared range of the target": (lambda d: {}, [(span, "LOUDEST", 0.0)]),
    "bends late": (lambda d: {}, [(shapes, "EARLY", 1.0), (shapes, "FEWEST_CELLS", 32)]),
    "steps by mean curvature": (lambda d: {}, [(gradient.Steepness, "look", mean_curvature)]),
    "8 steps with 64 features": (lambda d: {}, [(pursuit, "MANY_COLUMNS", 10**6)]),
    "a Gram matrix in any case": (lambda d: {}, [(pursuit, "LOUD", np.inf)]),
    "bounds that clip 5 %": (lambda d: {}, [(bounds, "TAIL", 0.05)]),
    "no descent": (
        lambda d: {},
        [(loudness, "LOUD_NUMBERS", 0.0), (loudness, "LOUD_LABELS", 0.0)],
    ),
    "descent in one part": (lambda d: {}, [(descent, "NUMBER_LEGS", ((1.0, 80),))]),
    "descent without momentum": (lambda d: {}, [(descent, "MOMENTUM", 0.0)]),
    "margins not counted": (
        lambda d: {},
        [
            (levels, "CENTER_DOUBT", 0.01),
            (levels, "LEVEL_DOUBT", 0.01),
            (margins, "LEVEL_DOUBT", 0.01),
        ],
    ),
    "factor not looked at": (
        lambda d: {},
        [(two_classes.TwoClassLaw, "_best_factor", lambda law, product, noise: law._factor)],
    ),
    "descent without a pull": (
        lambda d: {},
        [(descent, "CLASS_RIDGE", 0.0), (descent, "NUMBER_RIDGE", 0.0)],
    ),
    "steps as long as curvature lets them": (
        lambda d: {},
        [(descent, "CLASSES_FAR", 1e9), (descent, "NUMBERS_FAR", 1e9)],
    ),
    "a pull of 6 for numbers": (lambda d: {}, [(descent, "NUMBER_RIDGE", 6.0)]),
    "nothing expected of sizes": (
        lambda d: {},
        [(levels, "SIZE_DOUBT", 1e6), (levels, "ROUGH", 0.0)],
    ),
    "nothing left out on the way": (lambda d: {}, [(prune, "LEAST_LIKELY", -1.0)]),
    "pairs to the end": (lambda d: {}, [(step, "PROMISING", 0.0)]),
    "16 long steps": (lambda d: {}, [(pursuit, "N_LONG_STEPS", 16)]),
    "28 times the noise": (
        lambda d: {},
        [(loudness, "FEWEST_SEEN", 28.0), (numbers, "FEWEST_SIGNAL", 15.0)],
    ),
}


def scores(part, epsilon, run, cache, settings, patches):
    """AUC or R2 (at least -1), and log loss over that of the base rate (nothing for numbers)."""
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module, name, value in patches:
            stack.enter_context(patch.object(module, name, value))
        found = ours(part, Request(epsilon, run, cache, settings))
    if part.table.target_bounds is not None:
        return max(r2_score(part.y_test, found.value), -1.0), np.nan
    p = np.clip(found.value, 1e-6, 1 - 1e-6)
    null = log_loss(part.y_test, np.full(len(p), part.y.mean()))
    return roc_auc_score(part.y_test, found.score), log_loss(part.y_test, p) / null


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--epsilons", default="0.1,1,8")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--variants", help="some of them, with a comma between; else all")
    options = parser.parse_args()
    cache = Path(os.environ.get("RIVALS_CACHE", "build/rivals"))
    variants = VARIANTS
    if options.variants:
        variants = {name: VARIANTS[name] for name in options.variants.split(",")}
    names, epsilons = options.sets.split(","), [float(e) for e in options.epsilons.split(",")]
    print("| set | epsilon | whole |" + "".join(f" {name} |" for name in variants))
    print("|---|--:|--:|" + "--:|" * len(variants))
    means = {epsilon: [] for epsilon in epsilons}
    for name in names:
        made = table(name, cache, options.data)
        for epsilon in epsilons:
            found = {variant: [] for variant in ("whole", *variants)}
            for run in range(options.runs):
                part = split(made, run)
                d = part.X.shape[1]
                found["whole"].append(scores(part, epsilon, run, cache, {}, []))
                for variant, (settings, patches) in variants.items():
                    found[variant].append(scores(part, epsilon, run, cache, settings(d), patches))
            whole = np.array(found["whole"])
            less = [np.array(found[variant]) - whole for variant in variants]
            line = np.array([whole.mean(axis=0), *(each.mean(axis=0) for each in less)])
            means[epsilon].append(line)
            print(written(name, epsilon, line), flush=True)
    if len(names) > 1:
        for epsilon, lines in means.items():
            print(written("mean", epsilon, np.mean(lines, axis=0)))


def written(name, epsilon, line):
    """A line of the table: the whole, and differences."""
    (score, loss), *rest = line
    cells = [f"{score:.3f} / {loss:.3f}", *(f"{a:+.3f} / {b:+.3f}" for a, b in rest)]
    return (
        f"| {name} | {epsilon:g} | "
        + " | ".join(cells).replace(" / nan", "").replace(" / +nan", "")
        + " |"
    )


if __name__ == "__main__":
    main()
