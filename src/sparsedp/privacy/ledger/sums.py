"""Exact sums of the numbers in a ledger, whatever the caller did to decimal or to rounding."""

import math
from collections import Counter
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
    if len(text) > 32 or text_of(float(text)) != text:
        raise ValueError(f"{text[:32]!r} is not a number as ledgers write it")
    return Fraction(text)


def total(texts: Iterable[str]) -> Fraction:
    """Exact sum; equal numbers, of which there are many, are multiplied."""
    counts = Counter(texts)
    return sum((exact(text) * count for text, count in counts.items()), Fraction(0))
