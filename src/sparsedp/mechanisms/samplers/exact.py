"""Bernoulli trials of probability exp(-x), in integers, so that no rounding enters."""

import math
from fractions import Fraction

from sparsedp.mechanisms.entropy import KeyStream


def exp_bounds(numerator: int, denominator: int, n_bits: int) -> tuple[int, int]:
    """Enclose ``2**n_bits * exp(-numerator / denominator)`` between two integers.

    Parameters
    ----------
    numerator, denominator : int
        The argument, at least zero, as a fraction.
    n_bits : int
        Precision: the two integers differ by few units, less as the exponential gets small.

    Returns
    -------
    lower, upper : int
        Certain bounds: ``lower <= 2**n_bits * exp(-x) <= upper``.
    """
    # exp(-x) = exp(-y)**(2**halvings) with y < 1/16, where the series converges at once.
    halvings = (16 * numerator // denominator).bit_length()
    width = n_bits + halvings + 12  # each squaring costs one bit; twelve hold the slack below
    y = (numerator << width) // (denominator << halvings)
    term = total = 1 << width
    n_terms = 0
    while term:
        n_terms += 1
        term = (term * y >> width) // n_terms
        total += term if n_terms % 2 == 0 else -term
    # Every term is too small by less than 4 units: its predecessor's error shrinks by y < 1/16,
    # y itself was cut by one unit, and two divisions cut at most one unit each. The terms left out
    # sum to less than 5, since the first of them is below 4 and each is at most 1/16 of the last.
    slack = 4 * n_terms + 5
    lower, upper = total - slack, total + slack
    for _ in range(halvings):
        lower = lower * lower >> width
        upper = -(-upper * upper >> width)
    excess = width - n_bits
    return lower >> excess, -(-upper >> excess)


def bernoulli_exp(
    numerator: int, denominator: int, stream: KeyStream, *, shift: int = 0, step: int = 64
) -> bool:
    """Return True with probability exactly ``2**shift * exp(-numerator / denominator)``.

    Parameters
    ----------
    numerator, denominator : int
        The argument, at least zero, as a fraction.
    stream : KeyStream
        Source of the bits.
    shift : int
        Power of two in front; the product must not exceed one.
    step : int
        How many bits of the uniform variable are drawn at a time. The result has the same
        distribution for every choice; a small one makes refinements frequent, for tests.
    """
    if numerator == 0 and shift == 0:
        return True
    uniform = n_bits = 0
    while True:
        # The uniform variable lies in [uniform, uniform + 1) / 2**n_bits; it gets more digits
        # only while they matter, which is as good as having all of them from the start.
        uniform = (uniform << step) | stream.bits(step)
        n_bits += step
        lower, upper = exp_bounds(numerator, denominator, n_bits + shift)
        if uniform + 1 <= lower:
            return True
        if uniform >= upper:
            return False


def is_below(word: int, exponent: Fraction, factor: Fraction, stream: KeyStream) -> bool:
    """Say whether a uniform variable lies below ``factor * exp(exponent)``, exactly.

    Parameters
    ----------
    word : int
        The first 64 binary digits of the variable; further ones are drawn as long as they matter.
    exponent, factor : Fraction
        Of the probability, which must not exceed one.
    stream : KeyStream
        Source of further digits.
    """
    digits, n_digits = word, 64
    size = abs(exponent)
    while True:
        # Dividing by a small number takes its digits; for a negative exponent a few bits more than
        # the variable has are enough, however small the probability.
        n_bits = n_digits + 64 + (math.ceil(1.5 * size) if exponent > 0 else 0)
        lower, upper = exp_bounds(size.numerator, size.denominator, n_bits)
        one = 1 << n_bits
        if exponent > 0:  # exp(x) is one over exp(-x)
            least, most = factor * Fraction(one, upper), factor * Fraction(one, max(lower, 1))
        else:
            least, most = factor * Fraction(lower, one), factor * Fraction(upper, one)
        if Fraction(digits + 1, 1 << n_digits) <= least:
            return True
        if Fraction(digits, 1 << n_digits) >= most:
            return False
        digits = (digits << 64) | stream.bits(64)
        n_digits += 64
