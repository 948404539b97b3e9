"""The loops behind the exact samplers, in NumPy.

Deterministic functions of scores and random words: only additions, multiplications, comparisons
and roundings to an integer, which IEEE 754 defines to the last bit. The compiled twin returns the
same bits. ``mechanisms/samplers/samplers.md`` says why the samplers built on them are exact.
"""

import numpy as np

EXCLUDED = 255
"""The level of candidates that may not be chosen."""

_DEGREE = 13  # of the Taylor polynomial of exp(-a) for 0 <= a <= 1/2, off by less than 2**-50
_FACTORIALS = np.cumprod(np.arange(1.0, _DEGREE + 1))
COEFFICIENTS = np.concatenate(([1.0], (-1.0) ** np.arange(1, _DEGREE + 1) / _FACTORIALS))
"""Taylor coefficients of exp(-a)."""


def round_to_grid(values: np.ndarray, grid: float) -> np.ndarray:
    """Round to the nearest multiple of `grid`, a power of two, without any other error."""
    # Scaling by a power of two is exact; a float of 2**52 grid units or more is on the grid.
    coarse = np.abs(values) >= 2.0**52 * grid
    return np.where(coarse, values, np.rint(np.where(coarse, 0.0, values) / grid) * grid)


def dyadic_levels(
    rounded: np.ndarray,
    excluded: np.ndarray,
    signed: bool,
    top: float,
    rate: float,
    cap: float,
    depth: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Sort candidates into levels by how far they are from the best.

    Parameters
    ----------
    rounded : ndarray of float64, shape (d,)
        Scores, finite and on a grid.
    excluded : ndarray of bool, shape (d,) or (0,)
        Which features may not be chosen; empty for none.
    signed : bool
        Whether the negated scores are candidates too, after the others.
    top : float
        The best score among those that may be chosen.
    rate : float
        Levels per unit of score.
    cap : float
        Gaps to the best beyond this one count as this one.
    depth : int
        Deepest level, at most 254.

    Returns
    -------
    levels : ndarray of uint8, shape (d,) or (2 * d,)
        ``floor(rate * gap)``, at most `depth`; ``EXCLUDED`` where excluded.
    counts : ndarray of int64, shape (depth + 1,)
        How many candidates each level has.
    """
    candidates = np.concatenate((rounded, -rounded)) if signed else rounded
    with np.errstate(over="ignore"):
        # Excluded candidates may be better than the best of the others.
        gaps = np.clip(top - candidates, 0.0, cap)
    levels = np.minimum(gaps * rate, depth).astype(np.uint8)
    if excluded.size:
        levels[np.tile(excluded, 2) if signed else excluded] = EXCLUDED
    return levels, np.bincount(levels, minlength=EXCLUDED + 1)[: depth + 1]


def locate(levels: np.ndarray, level: int, rank: int) -> int:
    """Return the position of the candidate number `rank` (from zero) of a level."""
    return int(np.flatnonzero(levels == level)[rank])


def gaussian_attempts(
    words: np.ndarray,
    cumulative: np.ndarray,
    heights: np.ndarray,
    mantissa: int,
    exponent: int,
    margin: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Try one rounded Gaussian per pair of words.

    Parameters
    ----------
    words : ndarray of uint64, shape (2 * n,)
        Of each pair, the first gives the sign (lowest bit) and a height over all blocks (upper 62
        bits), the second the position within the block.
    cumulative : ndarray of uint64, shape (n_blocks + 2,)
        Where each block begins among the heights, then the tail, then what is rejected.
    heights : ndarray of float64, shape (n_blocks,)
        The density at the left edge of each block; blocks are 1/16 wide.
    mantissa, exponent : int
        The standard deviation is ``mantissa * 2**exponent``, with ``mantissa < 2**31`` and
        ``exponent <= 28``.
    margin : float
        Relative distance from the density within which a height counts as undecided.

    Returns
    -------
    values : ndarray of int64, shape (n,)
        The candidates.
    status : ndarray of uint8, shape (n,)
        0 rejected, 1 accepted, 2 to be decided with more precision.
    """
    first, second = words[0::2], words[1::2]
    n_blocks = heights.size
    point = first >> np.uint64(2)
    block = np.searchsorted(cumulative, point, side="right") - 1
    inside = np.minimum(block, n_blocks - 1)
    height = (point - cumulative[inside]).astype(np.float64)
    offset = second.astype(np.float64) * 2.0**-68
    decline = offset * (inside * 0.0625 + offset * 0.5)
    density = np.full(decline.shape, COEFFICIENTS[_DEGREE])
    for coefficient in COEFFICIENTS[-2::-1]:
        density *= decline
        density += coefficient
    density *= heights[inside]
    status = np.full(block.shape, 2, dtype=np.uint8)
    status[height + 2.0 <= density * (1.0 - margin)] = 1
    status[height >= density * (1.0 + margin)] = 0
    status[block == n_blocks] = 2
    status[block > n_blocks] = 0

    position = (inside.astype(np.uint64) << np.uint64(57)) + (second >> np.uint64(7))
    factor, half = np.uint64(mantissa), np.uint64(2**32 - 1)
    product = (position >> np.uint64(32)) * factor + ((position & half) * factor >> np.uint64(32))
    drop = np.uint64(28 - exponent)
    doubled = product >> drop
    status[(status == 1) & ((product + np.uint64(1)) >> drop != doubled)] = 2
    values = ((doubled + np.uint64(1)) >> np.uint64(1)).astype(np.int64)
    return np.where(first & np.uint64(1), -values, values), status
