"""Norms of records, never too short (summation.md); local, as products with weights are."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp._kernels import COMPILED
from sparsedp.data.storage import Array, Storage
from sparsedp.data.sums.products import UNIT, arrays, column_sums, contiguous

if COMPILED:
    from sparsedp._kernels.sums import norms as kernel
else:
    from sparsedp._kernels.sums import norms_reference as kernel

TILE = 8
"""Coordinates that are computed together."""

MOST_CANCELED = 2.0**10
"""The terms of a record's coordinates may be longer than these by this factor; see `never_less`."""

MOST_TURNED = 16
"""A matrix whose coordinates were turned is off by this times its size, in roundings, at most."""

SHORTEST = 2.0**-500
"""Far more than what squares that vanish can take from a length, and far less than any that counts.
"""

VANISHING = float(np.finfo(np.float64).smallest_subnormal)
"""More than a product can lose by underflow."""


def row_squares(storage: Storage, factor: ArrayLike, shift: ArrayLike | None = None) -> Array:
    """Squared L2 norm of the rows of ``(storage - shift) * factor``, or a bit more: never less."""
    n, d = storage.shape
    factor = np.ascontiguousarray(factor, dtype=np.float64)
    offset = np.zeros(d) if shift is None else np.ascontiguousarray(shift, dtype=np.float64)
    if isinstance(storage, np.ndarray):
        squares = np.empty(n)
        for rows, block in contiguous(storage):
            kernel.dense_squares(rows, factor, offset, squares[block])
        return squares * _growth(d) + d * VANISHING
    change, size = np.zeros(n), np.zeros(n)
    center = offset * factor
    if storage.format == "csr":
        kernel.csr_squares(*arrays(storage), factor, center, change, size)
        n_entries = np.diff(storage.indptr)
    else:
        kernel.csc_squares(*arrays(storage), factor, center, change, size)
        n_entries = np.bincount(storage.indices, minlength=n)
    # |x - c|^2 = |c|^2 + sum over entries of x (x - 2c): what cancels leaves an error of the size
    # of rounding in the terms.
    base = float(column_sums(np.square(center)))
    allowance = 4 * UNIT * (n_entries + 8) * (size + base) + 4 * (n_entries + d) * VANISHING
    return np.maximum(base + change, 0) + allowance


def into_ball(rows: Array, center: Array, radius: float) -> None:
    """Subtract a center from dense rows, and shorten those beyond a radius, in place.

    A length is the root of what `row_squares` says, so that no row is longer than the radius but
    for the rounding of one product.
    """
    d = rows.shape[1]
    kernel.into_ball(rows, np.ascontiguousarray(center), radius, _growth(d), d * VANISHING)


def _growth(d: int) -> float:
    """What the rounding of d squares and of their sum can take from it, and more."""
    return 1 + (d + 16) * UNIT


def mapped_squares(storage: Storage, matrix: Array, start: Array) -> tuple[Array, Array]:
    """Squared L2 norm of the rows of ``start + storage @ matrix``, and the size of its terms.

    The size of the terms of a record is the sum of |x| times the norm of the matrix's row.
    """
    n, n_outputs = storage.shape[0], len(start)
    # Whole tiles of coordinates: what is added is zero.
    n_tiles = -(-n_outputs // TILE)
    table, first = np.zeros((len(matrix), n_tiles * TILE)), np.zeros(n_tiles * TILE)
    table[:, :n_outputs], first[:n_outputs] = matrix, start
    norms = np.sqrt(np.square(table).sum(axis=1))
    tiles = np.ascontiguousarray(table.reshape(len(table), n_tiles, TILE).transpose(1, 0, 2))
    used: NDArray[np.bool_] = np.any(tiles, axis=2)
    firsts = np.where(np.any(used, axis=1), used.argmax(axis=1), len(table)) if len(table) else None
    if firsts is not None:
        # What a sparse record passes over in one tile it does not see in those after it.
        firsts = np.ascontiguousarray(np.minimum.accumulate(firsts[::-1])[::-1])
    squares, sizes = np.empty(n), np.empty(n)
    if firsts is None:  # no column but a constant one
        squares[:], sizes[:] = np.square(first).sum(), 0.0
    elif isinstance(storage, np.ndarray):
        for rows, block in contiguous(storage):
            kernel.dense_mapped(rows, tiles, firsts, first, norms, squares[block], sizes[block])
    else:
        kernel.csr_mapped(*arrays(storage.tocsr()), table, firsts, first, norms, squares, sizes)
    return squares, sizes


def never_less(squares: Array, sizes: Array, shape: tuple[int, int]) -> Array:
    """L2 norms from what `mapped_squares` says of a matrix of this shape, or a bit more.

    A record whose coordinates are what is left when much longer terms cancel counts as a longer
    one, so that these terms are bounded too. Both arrays are changed in place.
    """
    entries = math.prod(shape)
    slack = (sum(shape) + 32 + MOST_TURNED * entries) * UNIT
    lengths: Array = np.sqrt(squares, out=squares)
    lengths += slack * sizes
    lengths += math.sqrt(entries + 32) * SHORTEST
    sizes /= MOST_CANCELED
    np.maximum(lengths, sizes, out=lengths)
    return lengths


def together(first: Array, second: Array) -> Array:
    """Norms of records from those of two parts of their coordinates, never too short."""
    squares = np.square(first) + np.square(second)
    return np.asarray(np.sqrt(squares) * (1 + 8 * UNIT))
