"""Some columns of stored records, dense copies of them, and an index of where their entries are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp._kernels import COMPILED
from sparsedp.data.storage import Array, IndexArray, Sparse, Storage, compressed, no_entries
from sparsedp.data.sums.products import arrays

if COMPILED:
    from sparsedp._kernels.sums import entries as kernel
else:
    from sparsedp._kernels.sums import entries_reference as kernel

FEW = 8
"""Columns that are worth looking up one by one; for more of them all entries are looked at."""


@dataclass(frozen=True, eq=False)
class ColumnIndex:
    """Where the entries of each column stand among those of sparse rows. Private.

    Parameters
    ----------
    starts : ndarray of shape (d + 1,)
    positions : ndarray of shape (n_entries,)
        Those of column j are ``positions[starts[j] : starts[j + 1]]``, in order.
    """

    starts: IndexArray
    positions: IndexArray

    @classmethod
    def of(cls, storage: Sparse) -> "ColumnIndex":
        """Look once at all entries."""
        _, indices, _ = arrays(storage)
        starts = np.zeros(storage.shape[1] + 1, dtype=indices.dtype)
        positions = np.empty(len(indices), dtype=indices.dtype)
        kernel.by_column(indices, starts, positions)
        return cls(starts, positions)


def taken(storage: Storage, columns: NDArray[np.intp]) -> Storage:
    """Some columns in the given order, each at most once, in the storage's own form."""
    if isinstance(storage, np.ndarray):
        return np.ascontiguousarray(storage[:, columns])
    if storage.format == "csc":
        return storage[:, columns]
    nothing = no_entries((storage.shape[0], 0))
    return _appended(nothing, storage, columns) if len(columns) else nothing


def extended(
    before: Storage,
    storage: Storage,
    columns: NDArray[np.intp],
    more: NDArray[np.intp],
    known: ColumnIndex | None = None,
) -> Storage:
    """More columns of a storage, after the ``columns`` that were taken ``before``.

    Where entries stand is ``known`` or not: the same comes out, more slowly.
    """
    if isinstance(storage, np.ndarray) and isinstance(before, np.ndarray):
        if len(columns) == 0 and np.array_equal(more, np.arange(storage.shape[1])):
            return storage  # nobody writes to it
        wide = np.empty((len(storage), len(columns) + len(more)))
        wide[:, : len(columns)] = before
        wide[:, len(columns) :] = storage[:, more]
        return wide
    if isinstance(storage, np.ndarray) or isinstance(before, np.ndarray):
        raise TypeError("columns that were taken before are stored as the records are")
    if storage.format == "csc":
        return storage[:, np.concatenate([columns, more])]
    return _appended(before, storage, more, known)


def _appended(
    before: Sparse, storage: Sparse, columns: NDArray[np.intp], known: ColumnIndex | None = None
) -> Sparse:
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
    return compressed(parts, (n, width + len(columns)))


def dense(storage: Storage, first: int, shift: Array, scale: Array) -> Array:
    """A dense copy of the columns from ``first`` on, shifted and scaled; row by row in memory."""
    out = np.empty((storage.shape[0], storage.shape[1] - first))
    write(storage, first, shift, scale, out)
    return out


def write(storage: Storage, first: int, shift: Array, scale: Array, out: Array) -> None:
    """Write the columns from ``first`` on, shifted and scaled, to rows of an array.

    Entries of sparse rows must be in order, as they are behind the gate and after `taken`.
    """
    if isinstance(storage, np.ndarray) or storage.format == "csc":
        tail = storage[:, first:]
        tail = tail if isinstance(tail, np.ndarray) else tail.toarray(order="C")
        if (
            not shift.any() and (scale == 1).all()
        ):  # as records are that are seen as they are stored
            out[...] = tail
            return
        np.subtract(tail, shift, out=out)
        out /= scale
        return
    empty = (0.0 - shift) / scale
    kernel.spread(*arrays(storage), first, shift, scale, empty, out)
