"""Values that are kept between passes: in less memory where they can be, and how large they are."""

from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from sparsedp.data.storage import Array, IndexArray, is_sparse

PROBED = 99
"""Records that tell which number is the usual one in a column."""


@dataclass(frozen=True, eq=False)
class Packed:
    """A matrix by columns that are mostly one number, as those of sparse records are."""

    shape: tuple[int, int]
    usual: Array
    rows: tuple[IndexArray, ...]
    others: tuple[Array, ...]


def packed(value: object) -> object:
    """The same value in less memory, if it is a matrix for which that can be done."""
    if not isinstance(value, np.ndarray) or value.ndim != 2 or not len(value):
        return value
    if not value.flags.f_contiguous:
        return value
    usual = np.median(value[:PROBED], axis=0)
    rows = [np.flatnonzero(column != u) for column, u in zip(value.T, usual, strict=True)]
    if 2 * sum(map(len, rows)) > value.size:
        return value
    short = np.min_scalar_type(len(value))
    others = tuple(column[kept] for column, kept in zip(value.T, rows, strict=True))
    return Packed(value.shape, usual, tuple(kept.astype(short) for kept in rows), others)


def unpacked(value: object) -> object:
    """What was packed."""
    if not isinstance(value, Packed):
        return value
    matrix = np.empty(value.shape, order="F")
    matrix[:] = value.usual
    for column, rows, others in zip(matrix.T, value.rows, value.others, strict=True):
        column[rows] = others
    return matrix


def size_of(value: object) -> int:
    """Bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_sparse(value):
        return value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
    if isinstance(value, (tuple, list)):
        return sum(map(size_of, value))
    if is_dataclass(value):
        return sum(size_of(getattr(value, field.name)) for field in fields(value))
    return 0
