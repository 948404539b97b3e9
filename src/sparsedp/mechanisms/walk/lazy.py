"""Selections along a walk in one go, most scores never computed (proof: lazy.md)."""

import math
from fractions import Fraction

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp._kernels.walk.records import ONE
from sparsedp._kernels.walk.reference import Settle
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.exact import is_below
from sparsedp.mechanisms.walk.protocol import CompactWalk

if COMPILED:
    from sparsedp._kernels.walk import kernel
else:
    from sparsedp._kernels.walk import reference as kernel

_BLOCK = 1024  # random words that the kernel gets at a time


def exponential_walk(
    walk: CompactWalk, epsilon0: float, score_range: float, stream: KeyStream
) -> np.ndarray:
    """Choose every vertex by the exponential mechanism.

    Parameters
    ----------
    walk : CompactWalk
        Private.
    epsilon0 : float
        Cost of each selection.
    score_range : float
        How much more one score can move than another between neighbors, at most.
    stream : KeyStream
        Source of the bits.

    Returns
    -------
    ndarray of int64
        One vertex per step, released all at once.

    Notes
    -----
    *Privacy.* Each selection is bounded range with exactly epsilon0: scores are whole numbers, one
    record moves them by at most ``2**28``, no floating point is in what is decided. How long a walk
    takes depends on the records.
    """
    rate = unit_rate(epsilon0, walk.bound, score_range)

    def settle(word: int, gap: int, octaves: int, weight: int) -> bool:
        return is_below(word, rate * gap, Fraction(2**octaves, weight), stream)

    return _run(walk, float(rate), settle, stream, laplace=False)


def unit_rate(epsilon0: float, bound: float, score_range: float) -> Fraction:
    """The log weight of one unit of score.

    Parameters
    ----------
    epsilon0 : float
        Cost of a selection.
    bound : float
        What one record adds to a score at most: ``ONE * ONE`` units.
    score_range : float
        How much more one candidate's score can move than another's, at most: over both signs, twice
        the bound if a record is added, four times if one is replaced.
    """
    if not 0 < epsilon0 <= 2.0**100:
        raise ValueError(f"epsilon0 must be positive and of ordinary size, got {epsilon0}")
    if not 2 * bound <= score_range < math.inf:
        raise ValueError("over both signs one record moves scores by twice the bound, or more")
    n_units = Fraction(score_range) / Fraction(bound) * ONE**2
    return Fraction(epsilon0) / n_units


def laplace_walk(walk: CompactWalk, scale: float, stream: KeyStream) -> np.ndarray:
    """Choose every vertex as the largest of scores plus Laplace noise.

    Parameters
    ----------
    walk : CompactWalk
        Private.
    scale : float
        Scale of the noise.
    stream : KeyStream
        Source of the bits.

    Notes
    -----
    *Privacy.* As `laplace_noisy_max`: kept to reproduce published methods, in double precision.
    """
    if not 0 < scale < math.inf:
        raise ValueError(f"scale must be positive and finite, got {scale}")

    def settle(word: int, gap: int, octaves: int, weight: int) -> bool:
        raise AssertionError("Laplace noise is decided in floating point")

    return _run(walk, walk.bound / ONE**2 / scale, settle, stream, laplace=True)


def _run(
    walk: CompactWalk, rate: float, settle: Settle, stream: KeyStream, *, laplace: bool
) -> np.ndarray:
    chosen, _ = kernel.walk(
        walk.columns,
        walk.loss,
        walk.start,
        walk.n_outputs,
        walk.bound,
        walk.radius,
        walk.steps,
        rate,
        lambda: stream.words(_BLOCK),
        settle,
        laplace=laplace,
        mode=walk.mode,
    )
    return chosen


def scores_along(walk: CompactWalk, vertices: np.ndarray) -> np.ndarray:
    """All scores that a walk to these vertices has to do with, step by step: for audits.

    Parameters
    ----------
    walk : CompactWalk
        Private.
    vertices : ndarray of int64, shape (n_steps,)
        As released.

    Returns
    -------
    ndarray of shape (n_steps, n_columns * n_outputs)
        Of the positive vertices; negative ones have minus that. Private: a walk never computes most
        of them.
    """
    units = kernel.scores_along(
        walk.columns, walk.loss, walk.n_outputs, walk.bound, walk.radius, walk.steps, vertices
    )
    return units * (walk.bound / ONE**2)
