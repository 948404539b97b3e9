"""Khanna et al. (2024): whether the listing of Appendix B does what the text says."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from sparsedp.audit.errata.erratum import Erratum, Finding

PAPER = "Khanna et al. (2024)"


def _ascent() -> Finding:
    """Records x = y = 1, so that the loss is log(1 + exp(-w)); without noise, 100 iterations."""
    radius, zero = 10.0, math.log(2)

    def walk(choose: Callable[[np.ndarray], np.intp]) -> float:
        w = 0.0
        for t in range(1, 101):
            gradient = -1 / (1 + math.exp(w))
            vertices = radius * np.array([1.0, -1.0])
            w += 2 / (t + 2) * (vertices[choose(vertices * gradient)] - w)
        return math.log1p(math.exp(-w))

    largest, least = walk(np.argmax), walk(np.argmin)
    return Finding(
        stands=largest > zero > least,
        measured=(
            ("claimed", f"a loss below {zero:.4f}, that of no model"),
            ("found", f"{largest:.4f} where the largest score is taken, as in line 43"),
            ("control", f"{least:.6f} where the least is taken, as in Algorithm 1 and line 19"),
        ),
    )


def _float_count() -> Finding:
    """Line 58 and 70 for covtype: 54 features, 17 of them in the model without privacy."""
    limits = math.sqrt(54), 2 * math.sqrt(54)
    count = np.clip(17, *limits)
    message = ""
    try:
        np.argpartition(np.zeros(54), -1 * count)
    except (TypeError, IndexError) as error:
        message = f"a {type(error).__name__}"
    kept = np.argpartition(np.zeros(54), -int(count))[-int(count) :]
    return Finding(
        stands=bool(message) and len(kept) == int(count),
        measured=(
            ("found", f"np.argpartition(weights, {-count:.4f}) raises {message}"),
            ("control", f"with a whole number it returns {len(kept)} indices"),
        ),
    )


def errata() -> Iterator[Erratum]:
    """In the order of the listing."""
    yield Erratum(
        name="listing-ascent",
        paper=PAPER,
        reference="listing of Appendix B, line 43, against Algorithm 1",
        claim="The listing's private_lasso minimizes the loss.",
        why="It takes the vertex with the largest noisy derivative along it, not the least: it "
        "climbs. (Privacy is not affected: both are the best of noisy scores, with opposite "
        "signs.)",
        convict=_ascent,
        instead='FrankWolfe; calibration="published" takes the least, as Algorithm 1 does.',
        verdict="the listing maximizes the loss",
    )
    yield Erratum(
        name="listing-runs",
        paper=PAPER,
        reference="listing of Appendix B, lines 53, 58, 65 and 70",
        claim="The listing can be used to implement Sparsifier.",
        why="Lines 53 and 65 call nonprivate_frank_wolfe and private_frank_wolfe, which are not "
        "defined (lines 5 and 26 define nonprivate_lasso and private_lasso). With alpha = sqrt(p) "
        "the count that is clipped in line 58 is a real number, which line 70 cannot use as a "
        "position.",
        convict=_float_count,
        instead="Sparsifier.",
        verdict="the listing does not run as printed",
    )
