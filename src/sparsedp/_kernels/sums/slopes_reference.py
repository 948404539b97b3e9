"""Residuals record by record, in NumPy: the oracle and the fallback of ``slopes``.

The same operations in the same order as the compiled loops, so that results agree to the last bit.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FARTHEST = 708.0
"""The exponential of this is a double; margins further out count as this."""

SHIFTER = 1.5 * 2.0**52
"""Adding it rounds to a whole number, found in the lowest bits."""

HALVING = (float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45"))
"""The logarithm of two: 41 bits, whose products with exponents are exact, and the rest."""


def exponential(x: Array, out: Array) -> None:
    """Exponentials of arguments cut off at 708; close to zero where one is not a number."""
    out[:] = _exponential(np.clip(np.where(x == x, x, -FARTHEST), -FARTHEST, FARTHEST))


def logistic(margins: Array, target: Array, out: Array) -> None:
    """Probability minus label; zero if the margin is not a number.

    The probability is right to a few units in its last place (the tests allow 4), for margins
    within 708; beyond, it is that of 708.
    """
    known = margins == margins
    x = np.where(known, np.clip(-margins, -FARTHEST, FARTHEST), 0.0)
    out[:] = np.where(known, 1.0 / (1.0 + _exponential(x)) - target, 0.0)


def multinomial(margins: Array, target: NDArray[np.int64], out: Array) -> None:
    """Probabilities of the classes, margins of shape (n, K), minus the label's.

    Zero for a record with a margin that is not a number, or whose largest one is infinite.
    Exponentials are added in the order of the classes.
    """
    if not len(margins):
        return
    top = margins.max(axis=1)  # NaN if any is
    known = np.isfinite(top)
    with np.errstate(invalid="ignore"):
        x = np.maximum(margins - top[:, None], -FARTHEST)
    residuals = _exponential(np.where(known[:, None], x, 0.0))
    total = np.zeros(len(residuals))
    for column in residuals.T:
        total += column
    residuals /= total[:, None]
    residuals -= np.arange(residuals.shape[1]) == target[:, None]
    out[:] = np.where(known[:, None], residuals, 0.0)


def shrink(residuals: Array, lengths: Array, bound: float, squares: Array) -> None:
    """Divide residuals by the part of the bound that they use times their length, if above one.

    In place; ``squares`` gets the squares of these parts, at most one each. A part that is
    infinite or not a number makes the residual zero.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        used = np.abs(residuals) * lengths / bound
        shrunk = residuals / np.maximum(used, 1.0)
    residuals[:] = np.where(used < math.inf, shrunk, 0.0)
    squares[:] = _squares(used)


def shrink_whole(residuals: Array, lengths: Array, bound: float, squares: Array) -> None:
    """As ``shrink``, for residuals of shape (n, K) whose L2 norm over the classes counts."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.zeros(len(residuals))
        for column in residuals.T:
            total += column * column
        used = np.sqrt(total) * lengths / bound
        shrunk = residuals / np.maximum(used, 1.0)[:, None]
    residuals[:] = np.where((used < math.inf)[:, None], shrunk, 0.0)
    squares[:] = _squares(used)


def limit_whole(residuals: Array, bound: float) -> None:
    """Shrink the residuals of each record as a whole, in place, until none is beyond the bound."""
    largest = np.abs(residuals).max(axis=1, initial=0.0)
    known = largest < math.inf
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(largest > bound, bound / largest, 1.0)
        limited = np.clip(residuals * factor[:, None], -bound, bound)
    residuals[:] = np.where(known[:, None] & (limited == limited), limited, 0.0)


def _squares(used: Array) -> Array:
    used = np.where(used < math.inf, used, 0.0)
    return np.square(np.minimum(used, 1.0))


def _exponential(x: Array) -> Array:
    """Powers of two times a polynomial in the rest, at most half the logarithm of two."""
    shifted = x * 1.4426950408889634 + SHIFTER
    k = shifted - SHIFTER
    r = (x - k * HALVING[0]) - k * HALVING[1]
    square = r * r
    even, odd = (np.full_like(r, 1.0 / math.factorial(i)) for i in (12, 13))
    for i in range(10, 0, -2):
        even = even * square + 1.0 / math.factorial(i)
        odd = odd * square + 1.0 / math.factorial(i + 1)
    p = (square * (even + r * odd) + r) + 1.0
    # Whole numbers of at most 1022, as callers keep x within 708 and free of NaN.
    return np.ldexp(p, k.astype(np.int64))
