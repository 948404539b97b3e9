"""How content from strangers is looked at: nothing is believed, and a reason says what is wrong."""

import math
from collections.abc import Collection
from typing import TypeGuard

from sparsedp.release.document import Json, Object


class NotAModel(ValueError):
    """Why a file is not a model that can be read."""


def need(condition: bool, reason: str) -> None:
    """Refuse the file unless the condition holds."""
    if not condition:
        raise NotAModel(reason)


def checked_object(item: Json, otherwise: str) -> Object:
    """What must be an object, or the reason why the file is refused."""
    if not isinstance(item, dict):
        raise NotAModel(otherwise)
    return item


def checked_fields(item: Json, known: Collection[str], where: str) -> Object:
    """What must be an object with exactly these fields."""
    found = checked_object(item, f"{where} is not an object")
    missing, unknown = sorted(set(known) - set(found)), sorted(set(found) - set(known))
    need(not missing, f"{where} lacks {', '.join(missing)}")
    need(not unknown, f"{where} has unknown fields {', '.join(unknown):.80}")
    return found


def is_whole(value: Json) -> TypeGuard[int]:
    """Whether this is a whole number; JSON's true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Json) -> TypeGuard[int | float]:
    """Whether this is a number that floating point can hold."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def are_numbers(values: Json, count: int) -> TypeGuard[list[int | float]]:
    """Whether this is a list of so many numbers."""
    return isinstance(values, list) and len(values) == count and all(map(is_number, values))


def is_finite(value: float) -> bool:
    """Whether floating point can hold it."""
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond floating point
        return False
