"""Checks of what a declaration says; messages are sentences without the place, which is added."""

import difflib
import math
from collections.abc import Collection, Sequence
from datetime import date, datetime
from itertools import pairwise
from numbers import Real

import numpy as np

from sparsedp.data.raw import Unchecked

MOST_ENTRIES = 10_000
"""Of a list of bins or knots."""

LONGEST_SOURCE = 200


def near(word: str, known: Collection[str]) -> str:
    """What was probably meant, for the end of a message."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def refuse_unknown(found: Collection[str], known: Collection[str]) -> None:
    """Raise for a key that no declaration of this kind has."""
    for key in found:
        if key not in known:
            names = ", ".join(sorted(known))
            raise ValueError(f"does not know {key!r:.60} (it knows {names}){near(key, known)}")


def checked_number(value: Unchecked, name: str) -> float:
    """A finite number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {type(value).__name__}")
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ValueError(f"{name} must be finite")
    return found


def checked_whole(value: Unchecked, name: str, least: int, most: int) -> int:
    """A whole number within limits."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must lie between {least} and {most}")
    return int(value)


def checked_source(value: Unchecked) -> None:
    """One line that says where a declaration comes from."""
    if value is None:
        return
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("source must be one line of text: where the declaration comes from")
    if len(value) > LONGEST_SOURCE:
        raise ValueError(f"source must not be longer than {LONGEST_SOURCE} letters")


def checked_ascending(values: Unchecked, name: str, least: int) -> tuple[float, ...]:
    """Numbers in ascending order, each once."""
    if not isinstance(values, (list, tuple, np.ndarray)):
        raise ValueError(f"{name} must be a list of numbers")
    if not least <= len(values) <= MOST_ENTRIES:
        raise ValueError(f"{name} must list between {least} and {MOST_ENTRIES} numbers")
    found = tuple(checked_number(value, f"an entry of {name}") for value in values)
    if any(a >= b for a, b in pairwise(found)):
        raise ValueError(f"{name} must be in ascending order, each number once")
    return found


def checked_texts(values: Unchecked, name: str) -> tuple[str, ...]:
    """A list of texts, or one."""
    values = [values] if isinstance(values, str) else values
    if not isinstance(values, Sequence) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(values)


def checked_flag(value: Unchecked, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false")
    return value


def checked_date(value: Unchecked, name: str) -> date:
    """A date, or a text such as 2000-01-31."""
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(f"{name} must be a date such as 2000-01-31") from None
    if isinstance(value, datetime):
        value = value.date()
    if not isinstance(value, date):
        raise ValueError(f"{name} must be a date such as 2000-01-31")
    return value
