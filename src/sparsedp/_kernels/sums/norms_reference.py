"""Norms of records, in NumPy: the oracle and the fallback of ``norms``.

A record's norm depends on nothing but the record: not on its neighbors, not on where it stands.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

BLOCK = 2**20
"""Entries of a dense matrix at a time."""


def into_ball(rows: Array, center: Array, radius: float, growth: float, least: float) -> None:
    """Rows minus a center, shortened to a radius, in place.

    The square of a length is taken times the growth, and the least more. A row of unknown length
    becomes zero, or is not a number as it was.
    """
    for block in _blocks(rows):
        some = rows[block]
        some -= center
        with np.errstate(over="ignore"):  # a length beyond all numbers: the factor is zero
            lengths = np.sqrt(np.square(some).sum(axis=1) * growth + least)
        factors = np.ones(len(some))
        np.divide(radius, lengths, out=factors, where=~(lengths <= radius))
        np.copyto(factors, 0.0, where=np.isnan(factors))
        some *= factors[:, None]


def csr_mapped(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    matrix: Array,
    firsts: np.ndarray,
    start: Array,
    lengths: Array,
    squares: Array,
    sizes: Array,
) -> None:
    """Squared norm of every row times a matrix, plus a start, and the size of the terms.

    In each tile of eight columns the rows of the matrix before ``firsts`` are zero; no tile begins
    before the one to its left. With one length for each row of the matrix, the size is the sum of
    |x| times length.
    """
    rows = sparse.csr_array((data, indices, indptr), shape=(len(squares), len(matrix)))
    step = max(1, BLOCK // max(1, len(start)))
    for first in range(0, len(squares), step):
        block = slice(first, first + step)
        squares[block] = np.square(sparse.csr_array(rows[block]) @ matrix + start).sum(axis=1)
    sizes[:] = abs(rows) @ lengths


def dense_mapped(
    rows: Array,
    tiles: Array,
    firsts: np.ndarray,
    start: Array,
    lengths: Array,
    squares: Array,
    sizes: Array,
) -> None:
    """As ``csr_mapped``, for dense records and a matrix in tiles of columns, (tiles, rows, 8)."""
    matrix = tiles.transpose(1, 0, 2).reshape(rows.shape[1], len(start))
    step = max(1, BLOCK // max(1, len(start), rows.shape[1]))
    for first in range(0, len(rows), step):
        block = slice(first, first + step)
        # Not by BLAS, whose rounding may depend on where a record stands.
        mapped = np.einsum("ij,jk->ik", rows[block], matrix) + start
        squares[block] = np.square(mapped).sum(axis=1)
        sizes[block] = (np.abs(rows[block]) * lengths).sum(axis=1)


def csr_squares(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    factor: Array,
    center: Array,
    change: Array,
    size: Array,
) -> None:
    """What the stored entries of each row add to the squared norm, and the size of the terms.

    With x an entry times its factor, and c its center: x (x - 2c), and x^2 + 2 |x c|.
    """
    rows = np.repeat(np.arange(len(change)), np.diff(indptr))
    _add_squares(data, rows, indices, factor, center, change, size)


def csc_squares(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    factor: Array,
    center: Array,
    change: Array,
    size: Array,
) -> None:
    """As ``csr_squares``, with records stored by columns."""
    columns = np.repeat(np.arange(len(factor)), np.diff(indptr))
    _add_squares(data, indices, columns, factor, center, change, size)


def dense_squares(rows: Array, factor: Array, shift: Array, out: Array) -> None:
    """Squared norm of every row, after shift and scale."""
    for block in _blocks(rows):
        out[block] = np.square((rows[block] - shift) * factor).sum(axis=1)


def _add_squares(
    data: Array,
    rows: np.ndarray,
    columns: np.ndarray,
    factor: Array,
    center: Array,
    change: Array,
    size: Array,
) -> None:
    x, c, n = data * factor[columns], 2 * center[columns], len(change)
    change += np.bincount(rows, weights=x * (x - c), minlength=n)
    size += np.bincount(rows, weights=x * x + np.abs(x * c), minlength=n)


def _blocks(rows: Array) -> list[slice]:
    step = max(1, BLOCK // max(1, rows.shape[1]))
    return [slice(start, start + step) for start in range(0, len(rows), step)]
