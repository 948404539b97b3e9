"""The records by columns, in the least memory: prepared once, shared by every walk on them."""

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from sparsedp._kernels import COMPILED
from sparsedp.data.dataset import Dataset

if COMPILED:
    from sparsedp._kernels import lazy as kernel

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class CompactColumns:
    """Private. One column after the other, as single-precision numbers within [-1, 1].

    Rounding to single precision is a map of each record by itself, so what holds for every record
    in the unit box still holds. Zero-one data need no values, the constant column needs nothing.
    Columns lie in the order of their norms; what is released are numbers of features all the same.
    """

    columns: Any
    n_bytes: int
    """Memory of the copy."""
    _starts: dict[tuple[str, int, float], np.ndarray] = field(default_factory=dict)

    def start(self, loss: str, n_outputs: int, bound: float) -> np.ndarray:
        """Sums of derivatives times entries at weights zero, where every walk begins."""
        key = loss, n_outputs, bound
        if key not in self._starts:
            self._starts[key] = self.columns.sums_at_zero(loss, n_outputs, bound)
        return self._starts[key]


_PREPARED: WeakKeyDictionary[Dataset, CompactColumns] = WeakKeyDictionary()


def compact_columns(data: Dataset) -> CompactColumns | None:
    """The compact copy of the records, made at the first call; None where there is no such form."""
    if not COMPILED or type(data) is not Dataset or data.n_records == 0:
        return None
    if not isinstance(data.storage, np.ndarray | csr_array | csc_array):
        return None
    found = _PREPARED.get(data)
    if found is None:
        found = _PREPARED[data] = _prepare(data)
    return found


def _prepare(data: Dataset) -> CompactColumns:
    n, d = data.n_records, data.n_features
    if isinstance(data.storage, np.ndarray):
        arrays = _dense(data)
    else:
        arrays = _sparse(data)
    order, indptr, rows, values, dense, offsets, sums, norms = arrays
    if data.intercept:  # the last: no bound on a norm is higher, or its own is raised
        one, two = _rounded_up(np.array([n, np.sqrt(n)]))
        sums, norms = np.append(sums, max(one, sums[-1])), np.append(norms, two)
        order = np.append(order, np.int32(d))
    coarse = () if dense is None else coarse_copy(dense, n)
    target = np.ascontiguousarray(data.target, dtype=np.float64)
    held = (indptr, rows, values, dense, offsets, target, sums, norms, order, *coarse)
    columns = kernel.Columns(n, d, data.n_columns, *held)
    return CompactColumns(columns, sum(array.nbytes for array in held if array is not None))


def _dense(data: Dataset) -> tuple[Any, ...]:
    n, d = data.storage.shape
    dense = np.empty((d, n), dtype=np.float32)
    sums, squares = np.empty(d), np.empty(d)
    shift, scale = data.shift, data.scale
    for start in range(0, d, 64):  # in pieces: no second copy in double precision
        part = slice(start, start + 64)
        block = data.storage[:, part].T.astype(np.float64)
        if shift is not None:
            block -= shift[part, None]
        if scale is not None:
            block /= scale[part, None]
        dense[part] = np.clip(block, -1, 1)
        sums[part] = np.abs(dense[part]).sum(axis=1, dtype=np.float64)
        squares[part] = np.square(dense[part], dtype=np.float64).sum(axis=1)
    order = _by_norm(sums)
    kernel.reorder(dense, order)
    sums, norms = _rounded_up(sums[order]), _rounded_up(np.sqrt(squares[order]))
    return order, None, None, None, dense.reshape(-1), None, sums, norms


def _sparse(data: Dataset) -> tuple[Any, ...]:
    n, d = data.storage.shape
    storage, shift = data.storage, data.shift
    scale = np.ones(d) if data.scale is None else np.ascontiguousarray(data.scale)
    starts, indices = storage.indptr.astype(np.int64), storage.indices.astype(np.int32, copy=False)
    by_row = isinstance(storage, csr_array)
    column = indices if by_row else np.repeat(np.arange(d, dtype=np.int32), np.diff(starts))
    counts, sums, squares = kernel.column_norms(column, storage.data, scale)
    offsets = None if shift is None else shift / scale
    if offsets is not None:  # entries left out are minus the offset
        sums += n * np.abs(offsets)
    order = _by_norm(sums)
    sums, norms = _rounded_up(sums[order]), _rounded_up(np.sqrt(squares[order]))
    indptr = np.zeros(d + 1, dtype=np.int64)
    np.cumsum(counts[order], out=indptr[1:])
    del squares, counts  # there can be as many columns as entries
    places = np.empty(d, dtype=np.int64)
    places[order] = indptr[:-1]
    rows = np.empty(storage.nnz, dtype=np.uint16 if n <= 2**16 else np.int32)
    values = np.empty(storage.nnz, dtype=np.float32)
    if by_row:
        kernel.compact_rows(starts, indices, storage.data, scale, places, rows, values)
    else:
        to = np.repeat(places - starts[:-1], np.diff(starts)) + np.arange(storage.nnz)
        rows[to], values[to] = indices, storage.data / scale[column]
    if offsets is None:
        np.clip(values, -1, 1, out=values)
        if (values == 1).all():
            values = None
        return order, indptr, rows, values, None, None, sums, norms
    # All entries lie in the box: no norm exceeds its corner.
    offsets = np.ascontiguousarray(offsets[order])
    each = np.repeat(offsets, np.diff(indptr))
    values = _within(values, each - 1, each + 1)
    norms = np.full(d, _rounded_up(np.sqrt(n)))
    return order, indptr, rows, values, None, offsets, sums, norms


def _by_norm(sums: np.ndarray) -> np.ndarray:
    """Columns in the order of their L1 norms, so that those computed anew lie together."""
    return np.argsort(sums, kind="stable").astype(np.int32)


def coarse_copy(dense: Floats, n_records: int) -> tuple[np.ndarray, ...]:
    """Columns in bytes: the bytes, what one stands for, and the norm of what they leave out."""
    numbers, steps, rests = kernel.coarse_columns(dense, n_records)
    return numbers, steps, _rounded_up(rests)


def _within(values: Floats, lower: np.ndarray, upper: np.ndarray) -> Floats:
    """The values, rounded inward where single precision carried them out of their bounds."""
    one = np.float32(np.inf)
    values = np.where(values > upper, np.nextafter(values, -one), values)
    return np.where(values < lower, np.nextafter(values, one), values)


def _rounded_up(numbers: np.ndarray) -> Floats:
    """In single precision, and certainly not less: sums of positive numbers err by far less."""
    return np.nextafter((numbers * (1 + 1e-6)).astype(np.float32), np.float32(np.inf))
