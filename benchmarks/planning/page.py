"""How the law does on tables that it has not seen, as a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.planning.fit_law import Check, Fits
from benchmarks.rivals.run import commit

from sparsedp.planning.band import Ceiling, band
from sparsedp.planning.facts import Facts
from sparsedp.planning.law import Curves

HALF_RANGE = {"binary": 0.04, "regression": 0.1, "multiclass": 0.05}
"""Of a guess of the ceiling, which holds in nine of ten cases."""

ABOUT = """\
`make plan-law DATA=DIR`, fits at {commit}: the defaults, delta = 1e-6, epsilon 0.1 to 10, 200 to
19,500 records, two fits of each; quality on records that were not fitted to. The ceiling is what
the better of a linear model and our own without noise has with the same records. Sources of tables
weigh alike. Tables on which there is little to find (a ceiling of AUC up to 0.6, R2 up to 0.08, or
within 0.05 of guessing) are left out. *Below* is the share of fits whose quality is below what was
promised to hold in 19 of 20; R2 below -1 counts as -1."""
UNSEEN = """\
Named before a fit was made: phishing, w8a (a class of 3 %), german, abalone, cpusmall, satimage,
whole and in parts."""
GUESSED = """\
*Guessed*: the ceiling is off by a normal error and given as the range that holds in nine of ten
cases, 0.04 on both sides of the guess (R2 0.1, accuracy 0.05). *Boosted trees* see interactions
that the model cannot have: give the ceiling of a linear or additive model. The share below in each
source:"""
METRIC = {"binary": "AUC", "regression": "R2", "multiclass": "accuracy"}


@dataclass(frozen=True)
class Part:
    """One kind of target."""

    kind: str
    law: Curves
    promised: float
    one_by_one: Check
    unseen: Fits
    final: Check
    boosted: Check
    guessed: float


def guessed(law: Curves, fits: Fits, seed: int = 0) -> float:
    """Share below the promise where the ceiling is a range around a wrong guess."""
    rng = np.random.default_rng(seed)
    half, low = HALF_RANGE[fits.kind], []
    for i in range(len(fits.n)):
        facts = Facts(
            kind=fits.kind,
            n_records=float(fits.n[i]),
            n_features=int(fits.n_features[i]),
            n_nonzero=1,
            epsilon=float(fits.epsilon[i]),
            delta=1e-6,
            rate=float(fits.rate[i]),
            spread=float(fits.spread[i]),
            n_classes=int(fits.n_classes[i]),
        )
        middle = fits.ceiling[i] + half / 1.645 * rng.normal()
        high = min(middle + half, 1.0)
        least = max(middle - half, facts.null + 0.02)
        found = band(law, facts, Ceiling(min(least, high), high))
        low.append(fits.quality[i] < found.at_least - 1e-9)
    return float(np.average(low, weights=fits.weight))


def write(parts: Sequence[Part], path: Path, where: str | None) -> None:
    """The page."""
    lines = [
        "# What plans promise, and how often it is broken",
        "",
        ABOUT.format(commit=where or commit()),
        "",
        "| target | score | sources | fits | below, each source by the law of the others | "
        "error of the middle |",
        "|---|---|---|---|---|---|",
    ]
    for part in parts:
        law, check = part.law, part.one_by_one
        lines.append(
            f"| {part.kind} | {METRIC[part.kind]} | {law.n_groups} | {law.n_fits} | "
            f"{100 * check.below:.1f} % | {check.off:.3f} |"
        )
    lines += [
        "",
        "## Six sources that the law has never seen",
        "",
        UNSEEN,
        "",
        "| target | fits | below | above the band | error of the middle | below, ceiling guessed | "
        "below, ceiling of boosted trees |",
        "|---|---|---|---|---|---|---|",
    ]
    for part in parts:
        final = part.final
        lines.append(
            f"| {part.kind} | {final.n} | {100 * final.below:.1f} % | {100 * final.above:.1f} % | "
            f"{final.off:.3f} | {100 * part.guessed:.1f} % | {100 * part.boosted.below:.1f} % |"
        )
    total = sum(part.final.n for part in parts)
    below = sum(part.final.n * part.final.unweighted for part in parts) / total
    lines += [
        f"| all, each fit alike | {total} | {100 * below:.1f} % | | | | |",
        "",
        GUESSED,
        "",
        "| source | " + " | ".join(part.kind for part in parts) + " |",
        "|---|" + "---|" * len(parts),
    ]
    for source in sorted({group for part in parts for group in part.final.by_group}):
        found = [part.final.by_group.get(source) for part in parts]
        cells = ["" if each is None else f"{100 * each:.1f} %" for each in found]
        lines.append(f"| {source} | " + " | ".join(cells) + " |")
    path.write_text("\n".join(lines) + "\n")
