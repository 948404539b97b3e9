"""Products with records, and sums over records, as exact as sensitivities need (summation.md).

Products with weights are local: a record's result depends on nothing but the record, not even in
its last bit. Sums over records are a `Pair` until they are rounded, once.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp._kernels import COMPILED
from sparsedp.data.storage import Array, IndexArray, Sparse, Storage

if COMPILED:
    from sparsedp._kernels.sums import products as kernel
else:
    from sparsedp._kernels.sums import products_reference as kernel

MOST_RECORDS = 2**28
"""Up to here rounding in sums is proven to stay below the factor that sensitivities carry."""

MOST_SPREAD = 2.0**68
"""Likewise, for the square of the number of records times the largest norm of a record."""

UNIT = 2.0**-53
"""Relative error of one rounding."""


PLAIN_ADDITIONS = 2.0**31
"""Records are added up in runs of plain additions. The number of records, times their spread, times
one less than the length of a run, must not exceed this."""


LONGEST_RUN = 2048
"""Records whose products are added up by BLAS before they meet the pair, at most."""


class Pair(NamedTuple):
    """A sum over records in twice the precision: ``high + low``. Private."""

    high: Array
    low: Array

    def plus(self, other: "Pair") -> "Pair":
        """Add the sums over other records."""
        new = self.high + other.high
        part = new - self.high
        error = (self.high - (new - part)) + (other.high - part)
        low = error + (self.low + other.low)
        high = new + low
        return Pair(high, low - (high - new))

    def rounded(self) -> Array:
        """The nearest doubles."""
        return self.high + self.low

    def only(self, rows: slice) -> "Pair":
        """Some of the sums."""
        return Pair(self.high[rows], self.low[rows])

    def above(self, other: "Pair") -> "Pair":
        """These sums, and then others."""
        high, low = (np.concatenate(parts) for parts in zip(self, other, strict=True))
        return Pair(high, low)


def most_records(n_features: int, row_norm: float | None) -> int:
    """How many records the proof in summation.md covers. Public."""
    spread = max(math.sqrt(n_features), row_norm or 0.0)
    return min(MOST_RECORDS, int(math.sqrt(MOST_SPREAD / spread)))


def times_in_parts(
    storage: Sparse, weights: Array, start: Array, step: int
) -> Iterator[tuple[Array, slice]]:
    """Multiply records stored by rows by weights (d, K) as `times` does, so many at a time.

    All parts are written to the same memory, one after the other.
    """
    indptr, indices, data = arrays(storage)
    n, (begins, ends) = storage.shape[0], _ends(weights)
    room = np.empty((min(step, n), weights.shape[1]))
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        out, pointers = room[: part.stop - first], indptr[first : part.stop + 1]
        kernel.csr_times(pointers, indices, data, weights, begins, ends, start, out)
        yield out, part


def times(storage: Storage, weights: ArrayLike, start: ArrayLike = 0.0) -> Array:
    """Multiply records (n, d) by weights (d,) or (d, K), and add ``start`` to every row."""
    weights = np.asarray(weights, dtype=np.float64)
    n, n_outputs = storage.shape[0], math.prod(weights.shape[1:])
    table = weights.reshape(len(weights), n_outputs)
    first = np.empty(n_outputs)
    first[:] = start
    out = np.empty((n, n_outputs))
    if isinstance(storage, np.ndarray):
        columns = np.ascontiguousarray(table.T)
        for rows, block in contiguous(storage):
            kernel.dense_times(rows, columns, first, out[block])
    elif storage.format == "csr":
        table = np.ascontiguousarray(table)
        kernel.csr_times(*arrays(storage), table, *_ends(table), first, out)
    else:
        kernel.csc_times(*arrays(storage), np.ascontiguousarray(table), first, out)
    return out.reshape(n, *weights.shape[1:])


def _ends(table: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the entries of each row that are not zero begin, and where they end."""
    found, width = table != 0, table.shape[1]
    if width <= 1:
        return np.zeros(len(table), dtype=np.intp), np.full(len(table), width, dtype=np.intp)
    some = found.any(axis=1)
    begins = np.where(some, found.argmax(axis=1), 0)
    return begins, np.where(some, width - found[:, ::-1].argmax(axis=1), 0)


def weighted_sums(
    storage: Storage,
    residuals: ArrayLike,
    shift: ArrayLike | None = None,
    *,
    total: Pair | None = None,
    spread: float | None = None,
    most_together: int | None = None,
) -> Pair:
    """Multiply the transpose of records (n, d), minus a shift (d,), by residuals (n,) or (n, K).

    Dense records are shifted one by one; for sparse ones the shift is taken from the sums, while
    these still have twice the precision, and ``total`` may hold the sums of the residuals.

    ``spread`` bounds the norm of a record's terms over that of what it contributes to the result.
    Where it allows for their error, sums of some records are plain before they meet the pair. If
    these records are one block of several, ``most_together`` says how many there may be in all.
    """
    residuals = np.asarray(residuals, dtype=np.float64)
    n, d = storage.shape
    shape = (d, *residuals.shape[1:])
    table = np.ascontiguousarray(residuals.reshape(n, residuals[:1].size if n else 1))
    if n == 0:
        return Pair(np.zeros(shape), np.zeros(shape))
    offset = None if shift is None else np.ascontiguousarray(shift, dtype=np.float64)
    n_together = n if most_together is None else max(n, most_together)
    if isinstance(storage, np.ndarray):
        pair = np.zeros((2, table.shape[1], d))
        offset = np.zeros(d) if offset is None else offset
        run = plain_run(n_together, 1.0 if spread is None else spread)
        for rows, block in contiguous(storage):
            kernel.dense_transposed(rows, table[block], offset, run, *pair)
        high, low = pair[0].T, pair[1].T
    else:
        pairs = np.zeros((d, 2, table.shape[1]))
        if storage.format == "csr":
            run = 1 if spread is None else plain_run(n_together, spread)
            # Worth it if there are many more entries in a run than columns.
            run = run if min(run, n) * storage.nnz >= 2 * n * d else 1
            kernel.csr_transposed(*arrays(storage), table, run, pairs)
        else:
            kernel.csc_transposed(*arrays(storage), table, pairs)
        high, low = pairs[:, 0], pairs[:, 1]
        if offset is not None:
            total = sums(residuals) if total is None else total
            kernel.center(high, low, offset, *(part.reshape(-1) for part in total))
    return Pair(high.reshape(shape), low.reshape(shape))


def plain_run(n: int, spread: float) -> int:
    """How many records may be added up plainly: an error of at most 2^-22 contributions in all."""
    return 1 + int(min(PLAIN_ADDITIONS / (n * spread), n))


def sums(values: ArrayLike) -> Pair:
    """Sum values (n,) or (n, K) over records: shape () or (K,)."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    shape = values.shape[1:]
    n_outputs = math.prod(shape)
    high, low = np.zeros(n_outputs), np.zeros(n_outputs)
    kernel.sums(values.reshape(len(values), n_outputs), high, low)
    return Pair(high.reshape(shape), low.reshape(shape))


def column_sums(values: ArrayLike) -> Array:
    """Sum values (n,) or (n, K) over records, correctly rounded but for a hair."""
    return sums(values).rounded()


def inner(first: Storage, second: ArrayLike) -> Array:
    """Products of columns, ``first.T @ second``, for any storage of the first."""
    return weighted_sums(first, second).rounded()


class GramSum:
    """Products of columns of records that come in parts, added up by BLAS in short runs.

    Of a run of m records BLAS is off by at most m roundings of the sum of absolute products
    (summation.md, plain runs).

    Parameters
    ----------
    width : int
        Number of columns.
    most : int
        Of records in all, at most.
    """

    def __init__(self, width: int, most: int) -> None:
        self._run = max(1, min(LONGEST_RUN, int(PLAIN_ADDITIONS / max(most, 1))))
        self._plain, self._n_plain = np.zeros((width, width)), 0
        self._total = Pair(np.zeros((width, width)), np.zeros((width, width)))

    def add(self, values: Array, counted: Array) -> None:
        """Take in some records, and the same multiplied by their weights."""
        start = 0
        while start < len(values):
            part = slice(start, start + self._run - self._n_plain)
            self._plain += values[part].T @ counted[part]
            self._n_plain += len(values[part])
            start = part.stop
            if self._n_plain == self._run:
                self._carry()

    def _carry(self) -> None:
        self._total = self._total.plus(Pair(self._plain, np.zeros_like(self._plain)))
        self._plain, self._n_plain = np.zeros_like(self._plain), 0

    def rounded(self) -> Array:
        """The sums over all records so far."""
        self._carry()
        return self._total.rounded()


def mapped(matrix: Array, pair: Pair) -> Pair:
    """Multiply the transpose of a matrix (d, q) by sums (d, K)."""
    found = np.zeros((2, pair.high.shape[1], matrix.shape[1]))
    high, low = np.ascontiguousarray(pair.high), np.ascontiguousarray(pair.low)
    kernel.map_pairs(np.ascontiguousarray(matrix), high, low, *found)
    return Pair(found[0].T, found[1].T)


def arrays(storage: Sparse) -> tuple[IndexArray, IndexArray, Array]:
    """Row (or column) pointers, indices and values of a sparse array."""
    indptr, indices = storage.indptr, storage.indices
    if indptr.dtype != indices.dtype:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    return indptr, indices, storage.data


def contiguous(storage: Array) -> Iterator[tuple[Array, slice]]:
    """The records, row by row in memory, some at a time: as they are, else copied.

    Between two of these calls Ctrl-C is heard, so also what is in memory already comes in parts.
    """
    n, d = storage.shape
    as_it_is = storage.strides[1] == storage.itemsize or d == 1
    step = max(8, 2 ** (25 if as_it_is else 17) // max(1, d) // 8 * 8)
    for start in range(0, max(n, 1), step):
        block = slice(start, min(start + step, n))
        yield storage[block] if as_it_is else np.ascontiguousarray(storage[block]), block
