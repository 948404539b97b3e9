"""Stored entries of sparse records, in NumPy: the oracle and the fallback of ``entries``.

Records are stored by rows. ``places`` holds a column's new number, or -1 if it is left out.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def append(
    old_indptr: np.ndarray,
    old_indices: np.ndarray,
    old_data: Array,
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    places: np.ndarray,
    new_indptr: np.ndarray,
    new_indices: np.ndarray,
    new_data: Array,
) -> None:
    """Rows with the entries of some columns after those that are there, in order.

    The new indices and data are longer than needed by one or more.
    """
    found = places[indices]
    kept = found >= 0
    rows = np.concatenate([_rows(old_indptr), _rows(indptr)[kept]])
    columns = np.concatenate([old_indices, found[kept]])
    order = np.lexsort((columns, rows))
    new_indptr[0] = 0
    np.cumsum(np.bincount(rows, minlength=len(indptr) - 1), out=new_indptr[1:])
    new_indices[: len(order)] = columns[order]
    new_data[: len(order)] = np.concatenate([old_data, data[kept]])[order]


def by_column(indices: np.ndarray, starts: np.ndarray, positions: np.ndarray) -> None:
    """Positions of the entries of each column, in order, from its start on.

    ``starts`` comes as zeros, one more than there are columns.
    """
    positions[:] = np.argsort(indices, kind="stable")
    np.cumsum(np.bincount(indices, minlength=len(starts) - 1), out=starts[1:])


def insert(
    old_indptr: np.ndarray,
    old_indices: np.ndarray,
    old_data: Array,
    indptr: np.ndarray,
    data: Array,
    positions: np.ndarray,
    heads: np.ndarray,
    ends: np.ndarray,
    first: int,
    new_indptr: np.ndarray,
    new_indices: np.ndarray,
    new_data: Array,
) -> None:
    """Rows with the entries of a few columns after those that are there; positions are known.

    Column ``first + c`` gets the entries at ``positions[heads[c] : ends[c]]``.
    """
    parts = [positions[head:end] for head, end in zip(heads, ends, strict=True)]
    found = np.concatenate(parts)
    numbers = np.repeat(np.arange(first, first + len(parts)), [len(part) for part in parts])
    rows = np.concatenate([_rows(old_indptr), np.searchsorted(indptr, found, side="right") - 1])
    order = np.lexsort((np.concatenate([old_indices, numbers]), rows))
    new_indptr[0] = 0
    np.cumsum(np.bincount(rows, minlength=len(indptr) - 1), out=new_indptr[1:])
    new_indices[: len(order)] = np.concatenate([old_indices, numbers])[order]
    new_data[: len(order)] = np.concatenate([old_data, data[found]])[order]


def spread(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    first: int,
    shift: Array,
    scale: Array,
    empty: Array,
    out: Array,
) -> None:
    """Dense columns from one on, shifted and scaled; the entries of a row are in order.

    ``empty`` is the row of a record that has no entries there.
    """
    out[:] = empty
    rows, columns = _rows(indptr), indices - first
    kept = columns >= 0
    rows, columns = rows[kept], columns[kept]
    out[rows, columns] = (data[kept] - shift[columns]) / scale[columns]


def clip(data: Array, columns: np.ndarray, lower: Array, upper: Array) -> None:
    """Clip entries in place, with the column of each given."""
    np.clip(data, lower[columns], upper[columns], out=data)


def _rows(indptr: np.ndarray) -> np.ndarray:
    """The row of every entry."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
