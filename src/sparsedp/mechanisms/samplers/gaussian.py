"""Gaussian noise on a grid: rounded, never approximated."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.exact import exp_bounds

if COMPILED:
    from sparsedp._kernels.sampling import sample as kernel
else:
    from sparsedp._kernels.sampling import sample_reference as kernel

_N_BLOCKS = 128  # of width 1/16: the tail begins at eight standard deviations
_MARGIN = 2.0**-44  # the double precision density is off by less than 2**-46, relatively
_MANTISSA_BITS = 31
_MAX_SIGMA = 2**45


def gaussian_release(
    values: np.ndarray, sensitivity: float, mu: float, stream: KeyStream
) -> np.ndarray:
    """Add Gaussian noise to an array, at a cost of exactly `mu` in Gaussian differential privacy.

    Parameters
    ----------
    values : array_like of float, any shape
        Private.
    sensitivity : float
        How far `values` can move between neighbors, in L2 norm.
    mu : float
        Cost of the release.
    stream : KeyStream
        Source of the bits.

    Returns
    -------
    ndarray of float64
        The noisy values, in the shape of the input, multiples of a public grid.

    Notes
    -----
    *Privacy.* Exactly mu-GDP, as with real numbers. The values are rounded to a grid of integers;
    the standard deviation, ``sensitivity / mu`` up to 2e-9 unless mu is tiny, pays for what the
    rounding adds to the sensitivity; and rounding the Gaussian of an integer query is
    post-processing.
    """
    values = np.asarray(values, dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("values must be finite")
    grid, sigma = _grid_and_sigma(values.size, sensitivity, mu)
    noise = rounded_gaussian(values.size, sigma, stream).reshape(values.shape)
    # Both summands are exact, so the sum is the exact one, rounded to a float: post-processing.
    return np.asarray(kernel.round_to_grid(values, grid) + noise * grid)


def rounded_gaussian(n: int, sigma: int, stream: KeyStream) -> np.ndarray:
    """Draw `n` independent Gaussians of standard deviation `sigma`, rounded to integers.

    Parameters
    ----------
    n : int
        How many.
    sigma : int
        Standard deviation before rounding, from 1 to ``2**45``, with at most 31 significant bits.
    stream : KeyStream
        Source of the bits.

    Returns
    -------
    ndarray of int64, shape (n,)
        Each is `k` with exactly the probability that a normal variable lies within 1/2 of `k`.
    """
    return _draw(n, sigma, stream, _table(_N_BLOCKS), _MARGIN)


def _grid_and_sigma(n_values: int, sensitivity: float, mu: float) -> tuple[float, int]:
    """Return the grid that values are rounded to, and the standard deviation in grid units."""
    if not 0 < mu < math.inf:
        raise ValueError(f"mu must be positive and finite, got {mu}")
    if not 2.0**-900 <= sensitivity / mu <= 2.0**900:
        raise ValueError(f"sensitivity must be positive and of ordinary size, got {sensitivity}")
    # Rounding moves the change of each value by at most one unit: the norm by sqrt(n_values).
    rounding = math.isqrt(max(n_values, 1) - 1) + 1
    # So fine a grid that this adds at most 1e-9 to the sensitivity, or as fine as possible.
    n_bits = int(min(1e9 * rounding / mu, 2.0**60)).bit_length() + 1
    n_bits = min(max(n_bits, _MANTISSA_BITS), 44)
    grid = math.ldexp(1.0, math.frexp(sensitivity / mu)[1] - n_bits)
    # In whole numbers: the ceiling of (sensitivity / grid + rounding) / mu, where dividing by the
    # grid, a power of two, is exact.
    (a, b), (p, q) = (sensitivity / grid).as_integer_ratio(), mu.as_integer_ratio()
    sigma = -(-(a + rounding * b) * q // (b * p))
    # Rounded up to the bits that the sampler takes, to the side of more noise.
    dropped = max(0, sigma.bit_length() - _MANTISSA_BITS)
    sigma = -(-sigma >> dropped) << dropped
    if sigma > _MAX_SIGMA:
        raise ValueError(
            f"mu = {mu} is too small for {n_values} values: the noise would drown them"
        )
    return grid, sigma


@dataclass(frozen=True)
class _Table:
    """An envelope of ``scale * exp(-t**2 / 2)`` for t >= 0, constant on blocks of width 1/16."""

    scale: int
    cumulative: np.ndarray  # where each block begins, then the tail, then what is rejected
    heights: np.ndarray  # the density at the left edge of each block
    tail_height: int  # an upper bound of the density where the tail begins


@cache
def _table(n_blocks: int) -> _Table:
    """Tabulate the envelope, to fill 62 bits; `n_blocks` is at least 16."""
    # At the left edge of block j, t**2 / 2 = j**2 / 512.
    edges = [exp_bounds(j * j, 512, 200)[1] for j in range(n_blocks + 1)]
    # The tail is cut into pieces of 16 blocks each; those of piece i have 2**-i times the height
    # of the first. That is an envelope: beyond t = 1 the density halves at least per piece.
    total = sum(edges[:-1]) + 32 * edges[-1]
    scale = ((2**62 - n_blocks - 32) << 200) // total
    bounds = [(scale * edge >> 200) + 1 for edge in edges]
    cumulative = np.cumsum([0, *bounds[:-1], 32 * bounds[-1]], dtype=np.uint64)
    heights = np.array([scale * edge / 2**200 for edge in edges[:-1]])
    return _Table(scale, cumulative, heights, bounds[-1])


def _draw(n: int, sigma: int, stream: KeyStream, table: _Table, margin: float) -> np.ndarray:
    exponent = max(0, sigma.bit_length() - _MANTISSA_BITS)
    mantissa = sigma >> exponent
    if not 1 <= sigma <= _MAX_SIGMA or mantissa << exponent != sigma:
        raise ValueError(f"sigma must lie in [1, 2**45] and have at most 31 bits, got {sigma}")
    drawn = [np.empty(0, dtype=np.int64)]
    n_drawn = 0
    while n_drawn < n:
        # About 97 % are accepted.
        words = stream.words(2 * (n - n_drawn + (n - n_drawn) // 24 + 4))
        values, status = kernel.gaussian_attempts(
            words, table.cumulative, table.heights, mantissa, exponent, margin
        )
        for i in np.flatnonzero(status == 2):
            value = _decide(int(words[2 * i]), int(words[2 * i + 1]), sigma, table, stream)
            status[i] = value is not None
            values[i] = value or 0
        accepted = values[status == 1]
        drawn.append(accepted)
        n_drawn += accepted.size
    return np.concatenate(drawn)[:n]


def _decide(first: int, second: int, sigma: int, table: _Table, stream: KeyStream) -> int | None:
    """Finish one attempt with as many bits as it takes; None if it is rejected."""
    n_blocks = table.heights.size
    point = first >> 2
    block = int(np.searchsorted(table.cumulative, np.uint64(point), side="right")) - 1
    if block < n_blocks:
        fraction, height, piece = second, point - int(table.cumulative[block]), 0
    else:
        piece = 0
        while stream.bits(1):
            piece += 1
        block = n_blocks + 16 * piece + stream.bits(4)
        fraction, height = stream.bits(64), stream.integer_below(table.tail_height)
    # The point lies at t = (block + fraction) / 16 and at `height`, in units of 2**-piece; both
    # are known to n_bits binary places so far and get more until the question is settled.
    n_bits = 64
    height = (height << 64) | stream.bits(64)
    while True:
        left = (block << n_bits) + fraction
        square = 2 * n_bits + 9
        _, upper = exp_bounds(left * left, 1 << square, 128 + n_bits)
        lower, _ = exp_bounds((left + 1) * (left + 1), 1 << square, 128 + n_bits)
        if height << 128 >= (table.scale << piece) * upper:
            return None
        doubled = left * sigma >> (n_bits + 3)
        settled = ((left + 1) * sigma - 1) >> (n_bits + 3) == doubled
        if (height + 1) << 128 <= (table.scale << piece) * lower and settled:
            magnitude = (doubled + 1) >> 1
            return -magnitude if first & 1 else magnitude
        fraction = (fraction << 64) | stream.bits(64)
        height = (height << 64) | stream.bits(64)
        n_bits += 64
