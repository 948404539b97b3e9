"""Histograms of where values lie between their bounds, in NumPy: oracle and fallback of ``levels``.

The way from a lower to an upper bound is cut into cells of equal length, as many as a power of two.
A place is twice the number of the cell, and one more unless a value is the lower end of its cell;
``kinds`` tells for every place what is to be counted (so it is twice as long as there are cells,
plus one). Counts are added to what is there: a row for each column, or one row for all. ``amounts``
says what each row or entry counts, a whole number; without them it is one.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK = 2**20
"""Entries at a time."""


def count_rows(
    rows: Array,
    lower: Array,
    width: Array,
    kinds: NDArray[np.uint8],
    counts: NDArray[np.int64],
    amounts: NDArray[np.int64] | None = None,
) -> None:
    """Count the values of a table, whose columns are in order."""
    columns = np.arange(rows.shape[1])
    step = max(1, BLOCK // max(1, rows.shape[1]))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        found = kinds_of(block, lower, width, kinds)
        each = None
        if amounts is not None:
            each = np.repeat(amounts[start : start + step], rows.shape[1])
        _add(found.ravel(), np.tile(columns, len(block)), counts, each)


def count_entries(
    values: Array,
    columns: np.ndarray,
    lower: Array,
    width: Array,
    kinds: NDArray[np.uint8],
    zeros: NDArray[np.uint8],
    counts: NDArray[np.int64],
    amounts: NDArray[np.int64] | None = None,
) -> None:
    """Count values, with the column of each given, and no longer as zeros.

    ``zeros`` holds the kind of zero in every column: what a value was counted as before.
    """
    _add(kinds_of(values, lower[columns], width[columns], kinds), columns, counts, amounts)
    fewer = np.zeros_like(counts)
    _add(zeros[columns], columns, fewer, amounts)
    counts -= fewer


def hats(
    values: Array,
    knots: Array,
    starts: NDArray[np.int32],
    ends: Array,
    places: NDArray[np.int32],
    parts: Array,
) -> None:
    """Between which knots of its column each value lies, and where between them.

    For a column two places, the start plus the numbers of these knots, and the parts that a value
    has of both. A column whose knots are not numbers has one place, and as its part what its value
    has beyond the column's end.
    """
    at = 0
    for j, known in enumerate(knots):
        column = values[:, j]
        if np.isnan(known[0]):
            places[:, at], parts[:, at] = starts[j], column - ends[j]
            at += 1
            continue
        cell = np.searchsorted(known[1:-1], column, side="right")
        above = (column - known[cell]) / (known[cell + 1] - known[cell])
        # Rounding, or a value beyond the knots, may not make a part of less than 0 or more than 1.
        above = np.clip(above, 0, 1)
        places[:, at], places[:, at + 1] = starts[j] + cell, starts[j] + cell + 1
        parts[:, at], parts[:, at + 1] = 1 - above, above
        at += 2


def kinds_of(
    values: Array | float, lower: Array, width: Array, kinds: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    """What each value is to be counted as."""
    # As in levels.h: NaN counts as the lower bound, so that the cast is in range.
    fraction = np.clip((values - lower) / width, 0, 1)
    position = np.where(np.isnan(fraction), 0.0, fraction) * (len(kinds) // 2)
    cell = position.astype(np.int64)
    return kinds[2 * cell + (position > cell)]


def _add(
    found: NDArray[np.uint8],
    columns: np.ndarray,
    counts: NDArray[np.int64],
    amounts: NDArray[np.int64] | None,
) -> None:
    places = found.astype(np.intp)
    if len(counts) > 1:
        places += counts.shape[1] * columns.astype(np.intp)
    if amounts is None:
        counts += np.bincount(places, minlength=counts.size).reshape(counts.shape)
    else:
        np.add.at(counts.reshape(-1), places, amounts)
