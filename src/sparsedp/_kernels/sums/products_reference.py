"""Products with a matrix of records, in NumPy: the oracle and the fallback of ``products``.

*Times weights.* ``out[i, k] = start[k] + sum over j of rows[i, j] * weights[j, k]``. The result for
a record depends on nothing but the record: not on its neighbors, not on where it stands. (A product
by BLAS may, in the last place.)

*Sums over records* are pairs (high, low) of doubles, added to what is there: the sum is high + low,
with an error far below that of rounding it to a double (summation.md beside the data). Here every
term is cut into slices on so coarse a grid that a plain sum of the slices is exact, whatever the
order (Rump et al. 2008); the compiled loops catch the rounding error of every addition instead.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

SLICES = 3
"""Each takes at least 23 bits of the largest term, for up to 2**28 terms."""

BLOCK = 2**20
"""Entries of a dense matrix at a time."""


def csr_times(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    weights: Array,
    begins: np.ndarray,
    ends: np.ndarray,
    start: Array,
    out: Array,
) -> None:
    """Records by rows, times weights; a row of these is zero but from its begin to its end."""
    # Of some of the rows there are only the pointers.
    some = slice(int(indptr[0]), int(indptr[-1]))
    parts = data[some], indices[some], indptr - indptr[0]
    rows = sparse.csr_array(parts, shape=(len(out), len(weights)))
    out[...] = rows @ weights + start


def csc_times(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    weights: Array,
    start: Array,
    out: Array,
) -> None:
    """Records by columns, times weights."""
    rows = sparse.csc_array((data, indices, indptr), shape=(len(out), len(weights)))
    out[...] = rows @ weights + start


def dense_times(rows: Array, weights: Array, start: Array, out: Array) -> None:
    """Dense records times weights, which come transposed: one row per output."""
    for block in _blocks(rows):
        for k, column in enumerate(weights):
            out[block, k] = (rows[block] * column).sum(axis=1) + start[k]


def csr_transposed(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    residuals: Array,
    run: int,
    pairs: Array,
) -> None:
    """Columns of records stored by rows, times residuals; a pair per column and output.

    As many records as a run may be summed plainly before they meet the pairs.
    """

    def entries(block: slice) -> tuple[np.ndarray, np.ndarray]:
        return _major(indptr, block), indices[block]

    _add_entries(data, entries, residuals, pairs)


def csc_transposed(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: Array,
    residuals: Array,
    pairs: Array,
) -> None:
    """Columns of records stored by columns, times residuals; a pair per column and output."""

    def entries(block: slice) -> tuple[np.ndarray, np.ndarray]:
        return indices[block], _major(indptr, block)

    _add_entries(data, entries, residuals, pairs)


def dense_transposed(
    rows: Array, residuals: Array, shift: Array, run: int, high: Array, low: Array
) -> None:
    """Columns of dense records minus a shift, times residuals; a row of pairs per output.

    As many records as a run may be summed plainly before they meet the pairs.
    """
    for block in _blocks(rows):
        for k in range(residuals.shape[1]):
            terms = (rows[block] - shift) * residuals[block, k, None]
            for part in _slices(terms, len(terms)):
                _merge(high[k], low[k], part.sum(axis=0), 0.0)


def sums(values: Array, high: Array, low: Array) -> None:
    """Column sums."""
    for part in _slices(values, len(values)):
        _merge(high, low, part.sum(axis=0), 0.0)


def center(high: Array, low: Array, shift: Array, total: Array, rest: Array) -> None:
    """Subtract shift times total from sums of columns, all of them pairs."""
    product, error = _exact_product(shift[:, None], total)
    _merge(high, low, -product, -(error + shift[:, None] * rest))


def map_pairs(matrix: Array, high: Array, low: Array, new_high: Array, new_low: Array) -> None:
    """The transpose of a matrix times pairs, as pairs: a row for each output; products are exact.

    The new pairs come as zeros.
    """
    for k in range(high.shape[1]):
        product, error = _exact_product(matrix, high[:, k, None])
        sums(np.ascontiguousarray(product), new_high[k], new_low[k])
        _merge(new_high[k], new_low[k], (error + matrix * low[:, k, None]).sum(axis=0), 0.0)


def _add_entries(
    data: Array,
    entries: Callable[[slice], tuple[np.ndarray, np.ndarray]],
    residuals: Array,
    pairs: Array,
) -> None:
    """Add up entries times residuals; ``entries`` tells the rows and columns of some of them."""
    step = max(2**11, len(data) // 256)  # temporary arrays stay small beside the data
    blocks = [slice(start, start + step) for start in range(0, len(data), step)]
    for k, residual in enumerate(residuals.T):
        largest = 0.0
        for block in blocks:
            terms = data[block] * residual[entries(block)[0]]
            largest = max(largest, float(np.abs(terms).max()))
        totals = np.zeros((SLICES + 1, len(pairs)))
        for block in blocks if largest else []:
            rows, columns = entries(block)
            parts = _slices(data[block] * residual[rows], len(residuals), largest)
            for total, part in zip(totals, parts, strict=True):
                total += np.bincount(columns, weights=part, minlength=len(pairs))
        for total in totals:
            _merge(pairs[:, 0, k], pairs[:, 1, k], total, 0.0)


def _major(indptr: np.ndarray, block: slice) -> np.ndarray:
    """Row (or column) of each of some entries that are stored row by row (column by column)."""
    places = np.arange(block.start, min(block.stop, int(indptr[-1])))
    return np.searchsorted(indptr, places, side="right") - 1


def _slices(terms: Array, count: int, largest: float | None = None) -> list[Array]:
    """Cut terms into parts on grids so coarse that a sum of ``count`` of one part is exact.

    The grids follow from the largest term, of these or of all that will be added.
    """
    largest = float(np.abs(terms).max(initial=0.0)) if largest is None else largest
    if largest == 0.0:
        return []
    parts = []
    for _ in range(SLICES):
        # Above twice the sum of all: adding and subtracting it leaves multiples of its last place.
        coarse = 2.0 ** (np.frexp(largest)[1] + max(count, 1).bit_length() + 1)
        part = (coarse + terms) - coarse
        terms = terms - part
        parts.append(part)
        largest = coarse * 2.0**-53
    return [*parts, terms]


def _merge(high: Array, low: Array, other: Array, rest: Array | float) -> None:
    """Add another pair, in place."""
    new = high + other
    part = new - high
    left = low + (((high - (new - part)) + (other - part)) + rest)
    high[...] = new + left
    low[...] = left - (high - new)


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product of doubles as a pair (Dekker 1971), scaled so that nothing overflows."""
    (a, m), (b, n) = np.frexp(a), np.frexp(b)
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    error = ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
    return np.ldexp(product, m + n), np.ldexp(error, m + n)


def _halves(a: Array) -> tuple[Array, Array]:
    large = 134217729.0 * a  # 2**27 + 1
    first = large - (large - a)
    return first, a - first


def _blocks(rows: Array) -> list[slice]:
    step = max(1, BLOCK // max(1, rows.shape[1]))
    return [slice(start, start + step) for start in range(0, len(rows), step)]
