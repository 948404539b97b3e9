"""Some columns of stored records, and dense copies of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsedp._kernels import COMPILED
from sparsedp.data.sums.products import arrays

if COMPILED:
    from sparsedp._kernels.sums import entries as kernel
else:
    from sparsedp._kernels.sums import entries_reference as kernel

Array = NDArray[np.float64]


FEW = 8
"""Columns that are worth looking up one by one; for more of them all entries are looked at."""


@dataclass(frozen=True, eq=False)
class ByColumn:
    """Where the entries of each column stand among those of sparse rows. Private.

    Parameters
    ----------
    starts : ndarray of shape (d + 1,)
    positions : ndarray of shape (n_entries,)
        Those of column j are ``positions[starts[j] : starts[j + 1]]``, in order.
    """

    starts: NDArray
    positions: NDArray

    @classmethod
    def of(cls, storage: Any) -> "ByColumn":
        """Look once at all entries."""
        _, indices, _ = arrays(storage)
        starts = np.zeros(storage.shape[1] + 1, dtype=indices.dtype)
        positions = np.empty(len(indices), dtype=indices.dtype)
        kernel.by_column(indices, starts, positions)
        return cls(starts, positions)


def picked(storage: Any, columns: NDArray[np.intp]) -> Any:
    """Some columns in the given order, each at most once, in the storage's own form."""
    if isinstance(storage, np.ndarray):
        return np.ascontiguousarray(storage[:, columns])
    if storage.format == "csc":
        return storage[:, columns]
    nothing = sparse.csr_array((storage.shape[0], 0))
    return _appended(nothing, storage, columns) if len(columns) else nothing


def widened(
    before: Any,
    storage: Any,
    columns: NDArray[np.intp],
    more: NDArray[np.intp],
    known: ByColumn | None = None,
) -> Any:
    """More columns of a storage, after the ``columns`` that were picked ``before``.

    Where entries stand is ``known`` or not: the same comes out, more slowly.
    """
    if isinstance(storage, np.ndarray):
        wide = np.empty((len(storage), len(columns) + len(more)))
        wide[:, : len(columns)] = before
        wide[:, len(columns) :] = storage[:, more]
        return wide
    if storage.format == "csc":
        return storage[:, np.concatenate([columns, more])]
    return _appended(before, storage, more, known)


def _appended(
    before: Any, storage: Any, columns: NDArray[np.intp], known: ByColumn | None = None
) -> Any:
    """Rows with the entries of more columns after those that were there before, in order."""
    indptr, indices, data = arrays(storage)
    kind = indices.dtype
    n, width = before.shape
    old = before.indptr.astype(kind, copy=False), before.indices.astype(kind, copy=False)
    heads = ends = np.zeros(0, dtype=kind)
    if known is not None:
        heads, ends = known.starts[columns], known.starts[columns + 1]
        room = before.nnz + int((ends - heads).sum())
    else:
        # Room for all that may come, and for one more, as entries are written before it is known
        # whether they stay; memory that is not written to is not taken.
        room = before.nnz + min(n * len(columns), storage.nnz) + 1
    new_indptr = np.empty(n + 1, dtype=kind)
    new_indices, new_data = np.empty(room, dtype=kind), np.empty(room)
    new = new_indptr, new_indices, new_data
    if known is not None:
        kernel.insert(*old, before.data, indptr, data, known.positions, heads, ends, width, *new)
    else:
        places = np.full(storage.shape[1], -1, dtype=kind)
        places[columns] = np.arange(width, width + len(columns))
        kernel.append(*old, before.data, indptr, indices, data, places, *new)
    count = int(new_indptr[-1])
    parts = (new_data[:count], new_indices[:count], new_indptr)
    return sparse.csr_array(parts, shape=(n, width + len(columns)))


def dense(storage: Any, first: int, shift: Array, scale: Array) -> Array:
    """A dense copy of the columns from ``first`` on, shifted and scaled; row by row in memory.

    Entries of sparse rows must be in order, as they are behind the gate and in `picked` columns.
    """
    if isinstance(storage, np.ndarray) or storage.format == "csc":
        tail = storage[:, first:]
        tail = tail.copy() if isinstance(tail, np.ndarray) else tail.toarray(order="C")
        tail -= shift
        tail /= scale
        return tail
    out = np.empty((storage.shape[0], storage.shape[1] - first))
    empty = (0.0 - shift) / scale
    kernel.spread(*arrays(storage), first, shift, scale, empty, out)
    return out


def clip_entries(storage: Any, lower: Array, upper: Array) -> None:
    """Clip the stored entries of sparse records to the bounds of their columns, in place."""
    columns = storage.indices
    if storage.format == "csc":
        columns = np.repeat(np.arange(len(lower), dtype=columns.dtype), np.diff(storage.indptr))
    lower, upper = (np.ascontiguousarray(limit, dtype=np.float64) for limit in (lower, upper))
    kernel.clip(storage.data, columns, lower, upper)
