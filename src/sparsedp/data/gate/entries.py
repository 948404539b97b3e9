"""Sparse matrices of any format as CSR or CSC with each cell stored once.

A record's entry depends on what is stored for that cell alone: duplicates are summed exactly and
rounded once, so that their order, which SciPy changes for all rows at once, does not matter.
"""

import math
from fractions import Fraction

import numpy as np

from sparsedp.data.raw import RawArray, RawTable
from sparsedp.data.storage import Array, IndexArray, Sparse, compressed


def canonical(X: RawTable) -> Sparse:
    """An own float64 copy of a sparse matrix: sorted, without duplicates, its indices checked.

    CSC stays CSC, all other formats become CSR. Whatever the matrix says about itself (sorted,
    canonical) is not believed, and nothing but the shape and the type is in a message.
    """
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead. Reshape your data to one row per "
            "record and one column per feature."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {X.dtype}: Complex data not supported, nor other objects.")
    by_columns = X.format == "csc"
    if X.format in ("csr", "csc"):
        values, minor, starts = X.data, X.indices, X.indptr
    else:
        values, minor, starts = _by_rows(X)
    n_major, n_minor = X.shape[::-1] if by_columns else X.shape
    minor, starts = _checked(values, minor, starts, n_major, n_minor)
    with np.errstate(over="ignore"):  # extended precision may overflow to infinity
        # Cast before anything is summed: small integers would wrap around.
        values = np.array(values[: starts[-1]], dtype=np.float64)
    matrix = compressed((values, minor, starts), X.shape, by_columns=by_columns)
    matrix.sort_indices()  # within a row; what becomes of equal indices does not matter
    _sum_duplicates(matrix)
    return matrix


def _by_rows(X: RawTable) -> tuple[RawArray, IndexArray, IndexArray]:
    """Entries of another format by rows, duplicates kept."""
    entries = X.tocoo()
    rows, columns = (np.asarray(part) for part in (entries.row, entries.col))
    n = X.shape[0]
    if rows.size and (rows.min() < 0 or rows.max() >= n):
        raise ValueError(OUTSIDE)
    order = np.argsort(rows, kind="stable")
    starts = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=starts[1:])
    return entries.data[order], columns[order], starts


OUTSIDE = "A sparse index of X lies outside the matrix: its indices and pointers do not fit."


def _checked(
    values: RawArray, minor: IndexArray, starts: IndexArray, n_major: int, n_minor: int
) -> tuple[IndexArray, IndexArray]:
    """Own index arrays, 32 bits wide where these suffice; raises where an index is not valid."""
    minor, starts = np.asarray(minor), np.asarray(starts)
    shaped = values.ndim == minor.ndim == starts.ndim == 1 and starts.size == n_major + 1
    if not shaped or minor.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise ValueError(OUTSIDE)
    n_entries = int(starts[-1])
    grows = starts[0] == 0 and (starts[1:] >= starts[:-1]).all()
    if not grows or n_entries > min(values.size, minor.size):
        raise ValueError(OUTSIDE)
    minor = minor[:n_entries]
    if n_entries and (minor.min() < 0 or minor.max() >= n_minor):
        raise ValueError(OUTSIDE)
    # Only now that no index is out of range: one that is could be in range after the cast.
    narrow = max(n_major, n_minor, n_entries) <= np.iinfo(np.int32).max
    dtype = np.int32 if narrow else np.int64
    return minor.astype(dtype), starts.astype(dtype)


def _sum_duplicates(matrix: Sparse) -> None:
    """Sum equal neighbors among sorted entries, in place."""
    minor, starts, values = matrix.indices, matrix.indptr, matrix.data
    same = np.zeros(minor.size, dtype=bool)  # the same cell as the entry before
    same[1:] = minor[1:] == minor[:-1]
    inner = starts[1:-1]
    same[inner[inner < minor.size]] = False  # the first of a row
    if not same.any():
        return
    first = np.flatnonzero(~same)
    last = np.append(first[1:], minor.size)
    for group in np.flatnonzero(last - first > 1).tolist():
        values[first[group]] = exact_sum(values[first[group] : last[group]])
    kept = np.zeros(minor.size + 1, dtype=starts.dtype)
    np.cumsum(~same, out=kept[1:])
    matrix.data, matrix.indices, matrix.indptr = values[first], minor[first], kept[starts]
    matrix.has_canonical_format = True


def exact_sum(values: Array) -> float:
    """The sum of floats, rounded once: the same in any order, whatever overflows on the way."""
    wild = set(values[~np.isfinite(values)].tolist())
    if wild:
        return wild.pop() if len(wild) == 1 else math.nan  # infinities of both signs: NaN
    numbers = values.tolist()
    try:
        return math.fsum(numbers)
    except OverflowError:
        total = sum(map(Fraction, numbers))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf
