"""Selections along a walk in one go, most scores never computed (proof: lazy.md)."""

import math
from fractions import Fraction

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.exact import is_below
from sparsedp.mechanisms.select import grid_and_rate
from sparsedp.mechanisms.walk import CompactWalk

if COMPILED:
    from sparsedp._kernels import lazy as kernel

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
    *Privacy.* Each selection is bounded range with exactly epsilon0, as those of
    `exponential_mechanism`: same grid, same weights, no floating point in what is decided. How
    long a walk takes depends on the records.
    """
    grid, rate = grid_and_rate(epsilon0, score_range)

    def settle(word: int, gap: int, octaves: int, weight: int) -> bool:
        return is_below(word, rate * gap, Fraction(2**octaves, weight), stream)

    return _run(walk, grid, float(rate), settle, stream, laplace=False)


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
    grid = math.ldexp(1.0, math.frexp(walk.bound)[1] - 32)  # far below the noise

    def settle(word: int, gap: int, octaves: int, weight: int) -> bool:
        raise AssertionError("Laplace noise is decided in floating point")

    return _run(walk, grid, grid / scale, settle, stream, laplace=True)


def _run(walk: CompactWalk, grid, rate, settle, stream: KeyStream, *, laplace: bool) -> np.ndarray:
    chosen, _ = kernel.walk(
        walk.columns,
        walk.loss,
        walk.start,
        walk.bound,
        walk.radius,
        walk.steps,
        grid,
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
        Of the positive vertices, before rounding; negative ones have minus that. Private: a walk
        never computes most of them.
    """
    n_outputs = walk.start.shape[1]
    return kernel.scores_along(
        walk.columns, walk.loss, n_outputs, walk.bound, walk.radius, walk.steps, vertices
    )
