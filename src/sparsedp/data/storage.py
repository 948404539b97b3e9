"""How records are stored behind the gate: a dense array, or a SciPy array by rows or columns."""

from typing import Any, Literal, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

IndexArray = NDArray[Any]
"""Whole numbers of 32 or 64 bits, as many as the storage needs."""

Target = NDArray[Any]
"""0.0/1.0 for two classes, whole numbers for more, else numbers in [-1, 1]."""


class Sparse(Protocol):
    """A SciPy array by rows ("csr") or by columns ("csc"), as far as it is used here.

    Written down because SciPy carries no types.
    """

    data: Array
    indices: IndexArray
    indptr: IndexArray
    has_canonical_format: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of records and of columns."""
        ...

    @property
    def format(self) -> str:
        """Either "csr" or "csc"."""
        ...

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        ...

    def __getitem__(self, key: object, /) -> "Sparse":
        """Some rows or columns."""
        ...

    def toarray(self, order: Literal["C", "F"] | None = None) -> Array:
        """A dense copy."""
        ...

    def tocsr(self) -> "Sparse":
        """The same by rows."""
        ...

    def tocsc(self, copy: bool = False) -> "Sparse":
        """The same by columns."""
        ...

    def eliminate_zeros(self) -> None:
        """Drop entries that are zero, in place."""
        ...

    def sort_indices(self) -> None:
        """Sort entries within each row or column, in place."""
        ...


Storage = Array | Sparse


def is_sparse(table: object) -> TypeGuard[Sparse]:
    """Whether a table is a SciPy sparse array or matrix."""
    return bool(sparse.issparse(table))


def compressed(
    parts: tuple[Array, IndexArray, IndexArray], shape: tuple[int, int], *, by_columns: bool = False
) -> Sparse:
    """A sparse array of values, indices and pointers, by rows or by columns."""
    kind = sparse.csc_array if by_columns else sparse.csr_array
    return cast(Sparse, kind(parts, shape=shape))


def no_entries(shape: tuple[int, int]) -> Sparse:
    """A sparse array by rows that holds zeros only."""
    return cast(Sparse, sparse.csr_array(shape))


def entry_rows(storage: Sparse) -> IndexArray:
    """The row of every stored entry."""
    return storage.indices if storage.format == "csc" else _major(storage, storage.shape[0])


def entry_columns(storage: Sparse) -> IndexArray:
    """The column of every stored entry."""
    return storage.indices if storage.format == "csr" else _major(storage, storage.shape[1])


def _major(storage: Sparse, size: int) -> IndexArray:
    return np.repeat(np.arange(size, dtype=storage.indices.dtype), np.diff(storage.indptr))


def with_own_values(storage: Storage) -> Storage:
    """A copy whose values can be changed; where they are stands in the same arrays."""
    if isinstance(storage, np.ndarray):
        return storage.copy()
    parts = (storage.data.copy(), storage.indices, storage.indptr)
    return compressed(parts, storage.shape, by_columns=storage.format == "csc")


def freeze(storage: Storage, *others: Target | None) -> None:
    """Forbid writing: after the gate nothing may move a record out of its box."""
    for array in (storage if isinstance(storage, np.ndarray) else storage.data, *others):
        if array is not None:
            array.flags.writeable = False


def row_blocks(array: Array) -> list[Array]:
    """Views of some entries each, so that these and temporaries stay in the cache."""
    step = max(1, 2**15 // max(1, array[:1].size))
    return [array[start : start + step] for start in range(0, array.shape[0], step)]
