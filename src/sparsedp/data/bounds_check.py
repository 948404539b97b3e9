"""Checks of declared bounds: finite, ordered, and within what arithmetic carries."""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.data.raw import Label
from sparsedp.data.storage import Array

Entries = float | tuple[float, ...]

Binary = Literal[True] | tuple[int, ...]
"""Features that hold only their two bounds: all of them, or their positions in ascending order."""

NARROWEST, WIDEST = 1e-50, 1e50
"""Widths of intervals lie between these, bounds within the latter: fourth powers of widths and of
their inverses, and sums of these over all records, are then ordinary doubles (summation.md)."""

LONGEST_ROW = 1e12
"""Row norms lie between the narrowest width and this: beside longer rows the constant column is
lost, and the gate would let in only a few thousand records (summation.md)."""

HOW_BINARY = (
    "Write binary=True if every feature holds only its lower and its upper bound, else names "
    "(binary=['smoker'], with features=[...]) or positions (binary=[0, 3])."
)

FINEST = 2.0**-40
"""Least width of an interval, over its largest absolute bound: below, values are not told apart."""


def checked_entries(value: ArrayLike, name: str) -> Entries:
    """Finite numbers: one for all features, or one per feature."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number or one number per feature.") from None
    if array.ndim > 1 or array.size == 0:
        raise ValueError(f"{name} must be a number or one number per feature.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite: declare a limit beyond which values are clipped.")
    return array.item() if array.ndim == 0 else tuple(array.tolist())


def checked_names(features: Iterable[Label]) -> tuple[str, ...]:
    """Names of features as text, each once."""
    if isinstance(features, str):
        raise ValueError("features must be a sequence of names, one per feature.")
    names = tuple(map(str, features))
    if len(set(names)) != len(names):
        raise ValueError("Feature names must differ from each other.")
    return names


def checked_binary(
    value: object, names: tuple[str, ...] | None, n_features: int | None
) -> Binary | None:
    """Features given by name or position, as positions; None if there are none.

    All of a known number of features are True, so that equal promises have one form.
    """
    if value is None or value is True:
        return value
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(HOW_BINARY)
    place = {name: j for j, name in enumerate(names or ())}
    found = set()
    for entry in value:
        whole = isinstance(entry, int | np.integer) and not isinstance(entry, bool)
        j = int(entry) if whole else place.get(entry, -1) if isinstance(entry, str) else -1
        if j < 0 or (n_features is not None and j >= n_features):
            raise ValueError(f"binary has {entry!r:.60}, which is no feature. {HOW_BINARY}")
        found.add(j)
    if len(found) == n_features:
        return True
    return tuple(sorted(found)) or None


def check_limits(lower: Array, upper: Array, names: tuple[str, ...] | None) -> None:
    """Refuse intervals that are empty, or too wide or too narrow for double precision."""

    def where(j: int) -> str:
        return "" if lower.size == 1 else f" (feature {names[j]!r})" if names else f" (feature {j})"

    wrong = np.flatnonzero(lower >= upper)
    if wrong.size:
        j = int(wrong[0])
        raise ValueError(
            f"lower must be below upper{where(j)}: got lower={lower[j]}, upper={upper[j]}. "
            "A constant feature carries nothing: drop it, or give it a wider interval."
        )
    largest = np.maximum(np.abs(lower), np.abs(upper))
    # Written so that NaN is refused; beyond these limits squares would vanish or overflow.
    wrong = np.flatnonzero(~(largest <= WIDEST))
    if wrong.size:
        raise ValueError(
            f"bounds beyond {WIDEST:g} are more than arithmetic carries{where(int(wrong[0]))}: "
            "change the unit."
        )
    wrong = np.flatnonzero(~(upper - lower >= np.maximum(NARROWEST, FINEST * largest)))
    if wrong.size:
        raise ValueError(
            f"upper - lower is beyond double precision{where(int(wrong[0]))}: it must be at least "
            f"{NARROWEST:g} and 2**-40 of the larger bound. Change the unit or the origin."
        )


def checked_row_norm(value: float, lower: Entries, upper: Entries) -> float:
    """A bound on norms that arithmetic carries, in a box that contains zero."""
    row_norm = checked_entries(value, "row_norm")
    if not isinstance(row_norm, float) or row_norm <= 0:
        raise ValueError("row_norm must be a positive number, or None for no such promise.")
    if not NARROWEST <= row_norm <= LONGEST_ROW:
        raise ValueError(
            f"row_norm must lie between {NARROWEST:g} and {LONGEST_ROW:g}, which is what "
            "arithmetic carries: change the unit."
        )
    if np.max(lower) > 0 or np.min(upper) < 0:
        raise ValueError(
            "row_norm shrinks records toward zero, so every feature needs lower <= 0 <= upper: "
            "extend the bounds to contain 0 or leave row_norm out."
        )
    return row_norm
