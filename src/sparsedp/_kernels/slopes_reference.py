"""Derivatives record by record, in NumPy: the oracle and the fallback of ``slopes``.

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


def logistic(margins: Array, target: Array, out: Array) -> None:
    """Probability minus label.

    The probability is right to a few units in its last place (the tests allow 4), for margins
    within 708; beyond, it is that of 708.
    """
    x = np.clip(-margins, -FARTHEST, FARTHEST)
    out[:] = 1.0 / (1.0 + _exponential(x)) - target


def shrink(slopes: Array, lengths: Array, bound: float, squares: Array) -> None:
    """Divide slopes by the part of the bound that slope times length uses, if that is above one.

    In place; ``squares`` gets the squares of these parts, at most one each.
    """
    used = np.abs(slopes) * lengths / bound
    slopes /= np.maximum(used, 1.0)
    squares[:] = np.square(np.minimum(used, 1.0))


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
    return np.ldexp(p, k.astype(np.int64))
