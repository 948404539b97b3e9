"""Counts: discrete Laplace noise, exact in integers."""

from fractions import Fraction

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.exact import bernoulli_exp


def discrete_laplace(epsilon: float, sensitivity: int, stream: KeyStream) -> int:
    """Draw `k` with probability proportional to ``exp(-abs(k) * epsilon / sensitivity)``.

    Parameters
    ----------
    epsilon : float
        Taken as the exact rational number that the float is.
    sensitivity : int
        How far the count can move between neighbors, at least one.
    stream : KeyStream
        Source of the bits.

    Notes
    -----
    *Privacy.* An integer of that sensitivity plus this noise is exactly epsilon-DP. The method is
    that of Canonne, Kamath and Steinke (2020).
    """
    if not 0 < epsilon < float("inf"):
        raise ValueError(f"epsilon must be positive and finite, got {epsilon}")
    if sensitivity < 1:
        raise ValueError(f"sensitivity must be at least one, got {sensitivity}")
    rate = Fraction(epsilon) / int(sensitivity)
    while True:
        # remainder + denominator * quotient is geometric with ratio exp(-1 / denominator);
        # divided by the numerator it is geometric with ratio exp(-rate).
        remainder = stream.integer_below(rate.denominator)
        if not bernoulli_exp(remainder, rate.denominator, stream):
            continue
        quotient = 0
        while bernoulli_exp(1, 1, stream):
            quotient += 1
        magnitude = (remainder + rate.denominator * quotient) // rate.numerator
        negative = stream.bits(1)
        if negative and magnitude == 0:
            continue  # else zero would be drawn twice as often
        return -magnitude if negative else magnitude


def noisy_count(value: int, lower: int, upper: int, epsilon: float, stream: KeyStream) -> int:
    """Release a count that is known to lie between two public numbers.

    Parameters
    ----------
    value : int
        The private count; clipped to the public interval.
    lower, upper : int
        Public bounds. Between neighbors the clipped count moves by at most their difference.
    epsilon : float
        Cost of the release.
    stream : KeyStream
        Source of the bits.

    Returns
    -------
    int
        The clipped count plus discrete Laplace noise, clipped again.

    Notes
    -----
    *Privacy.* Exactly epsilon-DP, whatever the neighbors; free when the bounds coincide.
    """
    if lower > upper:
        raise ValueError(f"lower must not exceed upper, got {lower} and {upper}")
    if lower == upper:
        return int(lower)
    clipped = min(max(int(value), int(lower)), int(upper))
    noisy = clipped + discrete_laplace(epsilon, int(upper) - int(lower), stream)
    return min(max(noisy, int(lower)), int(upper))
