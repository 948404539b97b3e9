"""Exact sums of the numbers in a ledger, whatever the caller did to decimal or to rounding."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction


def text_of(value: float) -> str:
    """A number as it is written into a ledger: the shortest decimal that reads back the same.

    Raises
    ------
    ValueError
        If it is negative or not finite.
    """
    value = float(value) + 0.0  # minus zero becomes zero
    if not 0 <= value < math.inf:
        raise ValueError(f"a ledger holds finite numbers that are not negative, got {value!r}")
    return repr(value)


def exact(text: str) -> Fraction:
    """The decimal number that `text_of` wrote, exactly.

    Raises
    ------
    ValueError
        If `text_of` does not write this. (A number with a million digits would be one.)
    """
    digits, places = _decimal(text)
    return digits / Fraction(10) ** places


def total(texts: Iterable[str]) -> Fraction:
    """Exact sum. Whole numbers add up per number of places: ten thousand in milliseconds."""
    sums: defaultdict[int, int] = defaultdict(int)
    for text, count in Counter(texts).items():
        digits, places = _decimal(text)
        sums[places] += digits * count
    return sum((digits / Fraction(10) ** places for places, digits in sums.items()), Fraction(0))


def _decimal(text: str) -> tuple[int, int]:
    """Digits and places: "2.5e-07" is 25 and 8."""
    if len(text) > 32 or text_of(float(text)) != text:
        raise ValueError(f"{text[:32]!r} is not a number as ledgers write it")
    mantissa, _, exponent = text.partition("e")
    whole, _, rest = mantissa.partition(".")
    return int(whole + rest), len(rest) - int(exponent or 0)
