"""The records by columns in whole numbers: prepared once, shared by every walk on them."""

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csc_array, csr_array

from sparsedp._kernels import COMPILED
from sparsedp._kernels.walk.records import ONE, WHOLE_WEIGHT, Records
from sparsedp.data.dataset import Dataset

if COMPILED:
    from sparsedp._kernels.walk import kernel
else:
    from sparsedp._kernels.walk import reference as kernel

_FILLED = 6  # columns that have an entry in one of so many records are stored in full
_PIECE = 1 << 21  # entries that are converted at a time: no second copy in double precision


@dataclass(frozen=True)
class CompactColumns:
    """Private. One column after the other, entries as whole numbers of 2**-14.

    Each record is rounded by itself and stays in the unit box, so sensitivities hold as before.
    Columns are stored in the order of their caps; ``columns.order`` says which feature each is.
    """

    columns: Records
    _starts: dict[tuple[str, int, float], np.ndarray] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """Memory of the copy."""
        return self.columns.n_bytes

    def start(self, loss: str, n_outputs: int, bound: float) -> np.ndarray:
        """Scores at weights zero, where every walk begins."""
        key = loss, n_outputs, bound
        if key not in self._starts:
            self._starts[key] = kernel.scores_at_zero(self.columns, loss, n_outputs, bound)
        return self._starts[key]


def compact_columns(data: Dataset) -> CompactColumns | None:
    """The compact copy of the records, made at the first call; None where there is no such form."""
    if type(data) is not Dataset or data.n_records == 0:
        return None
    if not isinstance(data.storage, np.ndarray | csr_array | csc_array):
        return None
    return data.once(_prepared)


def _prepared(data: Dataset) -> CompactColumns:
    weights = None if data.weights is None else whole_weights(data.weights)
    dense = isinstance(data.storage, np.ndarray)
    return CompactColumns(_dense(data, weights) if dense else _sparse(data, weights))


def whole_units(values: np.ndarray) -> np.ndarray:
    """Values in units of 2**-14: clipped to [-1, 1] first, NaN as zero."""
    return np.rint(np.clip(np.nan_to_num(values), -1, 1) * ONE).astype(np.int16)


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Weights in units of 2**-30: clipped to [0, 1] first, rounded down, NaN as zero."""
    return (np.clip(np.nan_to_num(weights), 0, 1) * WHOLE_WEIGHT).astype(np.int32)


def _largest_residuals(weights: np.ndarray | None, n: int) -> np.ndarray:
    """What the residual of each record is at most, in its units: see weighed() in units.h."""
    if weights is None:
        return np.full(n, ONE, dtype=np.int16)
    return (weights.astype(np.int64) * ONE // WHOLE_WEIGHT).astype(np.int16)


def _dense(data: Dataset, weights: np.ndarray | None) -> Records:
    n, d = data.storage.shape
    x = np.empty((data.n_columns, n), dtype=np.int16)
    if data.intercept:
        x[d] = ONE
    shift, scale = data.shift, data.scale
    for start in range(0, d, 64):
        part = slice(start, min(start + 64, d))
        block = np.asarray(data.storage[:, part]).T.astype(np.float64)
        if shift is not None:
            block -= shift[part, None]
        if scale is not None:
            block /= scale[part, None]
        x[part] = whole_units(block)
    cap, squares = np.empty(len(x), dtype=np.int64), np.empty(len(x), dtype=np.int64)
    largest = _largest_residuals(weights, n).astype(np.int64)
    for k, column in enumerate(x):
        wide = column.astype(np.int64)
        cap[k], squares[k] = np.abs(wide) @ largest, wide @ wide
    order = _by_size(cap)
    return Records(
        n_records=n,
        x=x[order].reshape(-1),
        indptr=np.arange(len(x) + 1, dtype=np.int64) * n,
        rows=np.zeros(1, dtype=np.uint16),
        base=np.zeros(len(x), dtype=np.int16),
        target=_target(data),
        order=order,
        cap=cap[order].astype(np.float64),
        l2=_rounded_up(squares[order]),
        weights=weights,
    )


def _sparse(data: Dataset, weights: np.ndarray | None) -> Records:
    """Entries that are not stored are whatever zero is in unit coordinates, the column's base."""
    n, d = data.n_records, data.n_columns
    storage = csr_array(data.storage)
    if not storage.has_canonical_format:  # clipping comes after duplicates have been summed
        storage = storage.copy()
        storage.sum_duplicates()
    scale = np.ones(data.n_features) if data.scale is None else data.scale
    offset = np.zeros(data.n_features) if data.shift is None else data.shift / scale
    base = np.full(d, ONE, dtype=np.int16)  # the constant column stores nothing
    base[: data.n_features] = whole_units(-offset)
    x = np.empty(storage.nnz, dtype=np.int16)
    largest, size = _largest_residuals(weights, n), np.abs(base.astype(np.int64))
    at_most = np.repeat(largest, np.diff(storage.indptr))  # of the record of each entry
    counts, squares = np.zeros(d, dtype=np.int64), np.zeros(d)
    cap = size * largest.sum(dtype=np.int64)  # if no entry were stored
    for start in range(0, storage.nnz, _PIECE):
        part = slice(start, start + _PIECE)
        column = storage.indices[part]
        x[part] = whole_units(storage.data[part] / scale[column] - offset[column])
        wide = np.abs(x[part]).astype(np.float64)
        counts += np.bincount(column, minlength=d)
        more = (wide - size[column]) * at_most[part]
        cap += np.bincount(column, more, minlength=d).astype(np.int64)  # below 2**53: exact
        squares += np.bincount(column, wide * wide, minlength=d)  # here they may be rounded
    squares += ((n - counts) * size * size).astype(np.float64)
    order = _by_size(cap)
    rank = np.empty(d, dtype=np.int32)
    rank[order] = np.arange(d, dtype=np.int32)
    shape = n, d
    by_column = csr_array((x, rank[storage.indices], storage.indptr), shape=shape).tocsc()
    indptr, rows, entries = _filled(by_column, base[order], n)
    return Records(
        n_records=n,
        x=entries if entries.size else np.zeros(1, dtype=np.int16),
        indptr=indptr,
        rows=rows if rows.size else np.zeros(1, dtype=np.uint16),
        base=base[order],
        target=_target(data),
        order=order,
        cap=cap[order].astype(np.float64),
        l2=_rounded_up(squares[order]),
        weights=weights,
    )


def _filled(
    by_column: csc_array, base: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns with many entries get all of them: sums over these need no numbers of records."""
    before, counts = by_column.indptr.astype(np.int64), np.diff(by_column.indptr)
    kind = np.uint16 if n <= 2**16 else np.int32
    frequent = np.flatnonzero((_FILLED * counts.astype(np.int64) >= n) & (counts < n))
    sizes = counts.astype(np.int64)
    sizes[frequent] = n
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    rows, x = np.zeros(indptr[-1], dtype=kind), np.empty(indptr[-1], dtype=np.int16)
    start = 0  # runs of other columns are copied as they are
    for k in [*frequent.tolist(), len(counts)]:
        source, to = slice(before[start], before[k]), slice(indptr[start], indptr[k])
        rows[to], x[to] = by_column.indices[source], by_column.data[source]
        if k < len(counts):
            whole = x[indptr[k] : indptr[k + 1]]
            whole[:] = base[k]
            whole[by_column.indices[before[k] : before[k + 1]]] = by_column.data[
                before[k] : before[k + 1]
            ]
        start = k + 1
    return indptr, rows, x


def _target(data: Dataset) -> np.ndarray:
    return np.ascontiguousarray(data.target, dtype=np.float32)


def _by_size(cap: np.ndarray) -> np.ndarray:
    """Columns in the order of their caps, so that those computed anew lie together."""
    return np.argsort(cap, kind="stable").astype(np.int64)


def _rounded_up(squares: np.ndarray) -> np.ndarray:
    """Square roots, and certainly not less: whole numbers summed in doubles err by far less."""
    return np.sqrt(squares.astype(np.float64)) * (1 + 1e-9)
