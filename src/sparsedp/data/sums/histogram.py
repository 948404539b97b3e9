"""Histograms of where values lie between their bounds, finer toward either bound or the middle."""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums.levels_reference import kinds_of
from sparsedp.data.gate.units import ONE, as_whole
from sparsedp.data.records import Counts
from sparsedp.data.storage import Array, Storage, entry_columns, entry_rows
from sparsedp.data.sums.products import contiguous

if COMPILED:
    from sparsedp._kernels.sums import levels as kernel
else:
    from sparsedp._kernels.sums import levels_reference as kernel


MOST_ENTRIES = 2**24
"""Entries that are counted in one call: between two Ctrl-C is heard."""


def dyadic_counts(
    storage: Storage,
    lower: ArrayLike,
    upper: ArrayLike,
    n_levels: int,
    weights: Array | None = None,
) -> Counts:
    """Count values by column, side and level.

    Parameters
    ----------
    storage : ndarray, csr_array or csc_array of shape (n, d)
        Within the bounds of the columns.
    lower, upper : ndarray of shape (d,)
        The bounds.
    n_levels : int
        Values closer than ``2**-n_levels`` are not counted.
    weights : ndarray of shape (n,) or None
        What each record counts, in whole multiples of 2**-30; None for 1.

    Returns
    -------
    ndarray of shape (d, 3, n_levels)
        Entry [j, 0, b] counts values of column j at a fraction in ``(2**-(b+1), 2**-b]`` of the
        width from the lower bound, entry [j, 1, b] likewise from the upper bound, and entry
        [j, 2, b] at such a fraction of half the width from the middle.
    """
    kinds, meaning = _kinds(n_levels)
    if weights is None:
        # By floating point, which is exact for numbers of records and quick.
        counts = _counted(storage, lower, upper, kinds, meaning, None).astype(np.float64)
        found: NDArray[np.int64] = np.rint(counts @ meaning).astype(np.int64)
        return found.reshape(-1, 3, n_levels)
    # Exact in whole numbers: rounding sums of fractions would not be local (persons.md).
    whole, levels = as_whole(weights), meaning.astype(np.int64)
    counts = _counted(storage, lower, upper, kinds, meaning, whole)
    return ((counts @ levels) / ONE).reshape(-1, 3, n_levels)


def cell_counts(values: Array, n_cells: int, weights: Array | None) -> NDArray[np.float64]:
    """Count records by cells of the same width between -1 and 1, a row for every column. Private.

    Every record is in one cell of each column; the number of cells is a power of two.
    """
    d = values.shape[1]
    # Both ends and the inside of a cell: the last end belongs to the last cell.
    kinds = np.minimum(np.arange(2 * n_cells + 1) // 2, n_cells - 1).astype(np.uint8)
    whole = None if weights is None else as_whole(weights)
    counts = _counted(values, np.full(d, -1.0), np.ones(d), kinds, np.eye(n_cells), whole)
    return counts / (1 if weights is None else ONE)


def _counted(
    storage: Storage,
    lower: ArrayLike,
    upper: ArrayLike,
    kinds: NDArray[np.uint8],
    meaning: NDArray[np.float64],
    amounts: NDArray[np.int64] | None,
) -> NDArray[np.int64]:
    """Values by column and kind, each as often as its record's amount says."""
    n, d = storage.shape
    lower = np.ascontiguousarray(lower, dtype=np.float64)
    width = np.asarray(upper, dtype=np.float64) - lower
    counts = np.zeros((d, len(meaning)), dtype=np.int64)
    if isinstance(storage, np.ndarray):
        for rows, block in contiguous(storage):
            some = () if amounts is None else (amounts[block],)
            kernel.count_rows(rows, lower, width, kinds, counts, *some)
        return counts
    columns = entry_columns(storage)
    # All records are at zero, whose place is public, until an entry tells otherwise.
    zeros = kinds_of(0.0, lower, width, kinds)
    counts[np.arange(d), zeros] = n if amounts is None else int(amounts.sum())
    each = None if amounts is None else amounts[entry_rows(storage)]
    for start in range(0, storage.nnz, MOST_ENTRIES):
        part = slice(start, start + MOST_ENTRIES)
        some = () if each is None else (each[part],)
        kernel.count_entries(
            storage.data[part], columns[part], lower, width, kinds, zeros, counts, *some
        )
    return counts


@cache
def _kinds(n_levels: int) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """What a place between the bounds counts for: its kind, and a row of levels for each kind.

    All levels begin and end where cells of half the smallest level do. So every cell without its
    lower end, and every such end, is on one level of each side; places alike in that share a kind.
    """
    places = np.arange(2 ** (n_levels + 2) + 1) / 2 ** (n_levels + 2)
    levels = []
    for distance in (places, 1 - places, np.abs(2 * places - 1)):
        mantissa, exponent = np.frexp(distance)
        # distance = mantissa * 2**exponent with a mantissa in [1/2, 1); level b has its upper
        # edge 2**-b, that is a mantissa of 1/2 and the exponent 1 - b.
        level = (mantissa == 0.5) - exponent
        levels.append(np.where((mantissa == 0) | (level > n_levels), n_levels, level))
    rows, kinds = np.unique(np.stack(levels, axis=1), axis=0, return_inverse=True)
    # One column more for what is too close to be counted.
    meaning = np.eye(n_levels + 1)[rows][:, :, :n_levels].reshape(len(rows), 3 * n_levels)
    found = kinds.reshape(-1).astype(np.uint8)
    for shared in (found, meaning):
        shared.flags.writeable = False  # the same arrays are given to every caller
    return found, meaning
