"""Where blocks of records come from: arrays, parts in NPZ files, row groups of Parquet files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from sparsedp.data.dataset import Dataset
from sparsedp.data.files.encode import ColumnPlan
from sparsedp.data.files.npz import NpzFile
from sparsedp.data.files.parquet import column_names, read_row_groups, row_group_sizes
from sparsedp.data.gate import Invalid
from sparsedp.data.sums.products import most_records


class LostBlock(RuntimeError):
    """Records could not be read again in the middle of a fit."""


class Piece(Protocol):
    """A block of records before the gate; can be read any number of times, and pickled."""

    @property
    def label(self) -> str:
        """Where the records come from, for messages."""
        ...

    def read(self, invalid: Invalid = "raise") -> tuple[Any, Any]:
        """Features and targets, as they are stored."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ArrayPiece:
    """Rows of an array or CSR matrix, which may be memory-mapped."""

    X: Any
    y: Any
    start: int
    stop: int

    @property
    def label(self) -> str:
        """Not which rows: that would tell how many there are."""
        return "some rows of the arrays"

    def read(self, invalid: Invalid = "raise") -> tuple[Any, Any]:
        """Slices of both."""
        return self.X[self.start : self.stop], self.y[self.start : self.stop]

    def __reduce__(self) -> Any:
        # To another process goes this piece, not the whole array.
        X, y = self.read()
        return ArrayPiece, (_own(X), _own(y), 0, self.stop - self.start)


@dataclass(frozen=True)
class NpzPiece:
    """An NPZ file: X and y, or CSR arrays data, indices, indptr, shape and y."""

    path: Path
    target: str

    @property
    def label(self) -> str:
        """The file."""
        return str(self.path)

    def read(self, invalid: Invalid = "raise") -> tuple[Any, Any]:
        """All of the file."""
        with NpzFile(self.path) as arrays:
            if self.target not in arrays.names:
                raise ValueError(f"no array {self.target!r} in this file")
            y = arrays.read(self.target)
            if "X" in arrays.names:
                return arrays.read("X"), y
            if not {"data", "indices", "indptr", "shape"} <= arrays.names:
                raise ValueError("save X, or data, indices, indptr and shape of a CSR array")
            parts = tuple(arrays.read(name) for name in ("data", "indices", "indptr"))
            return sparse.csr_array(parts, shape=tuple(arrays.read("shape"))), y

    def shape(self) -> tuple[int, bool, tuple[str, ...] | None]:
        """Number of features, whether they are sparse, and their names. Public."""
        with NpzFile(self.path) as arrays:
            names = None
            if "feature_names" in arrays.names:
                names = tuple(map(str, arrays.read("feature_names").tolist()))
            if "shape" in arrays.names:
                return int(arrays.read("shape")[1]), True, names
        return self.read()[0].shape[1], False, names


@dataclass(frozen=True)
class ParquetPiece:
    """Some row groups of a Parquet file."""

    path: Path
    groups: tuple[int, ...]
    plan: ColumnPlan

    @property
    def label(self) -> str:
        """The file."""
        return str(self.path)

    def read(self, invalid: Invalid = "raise") -> tuple[Any, Any]:
        """These row groups only."""
        return read_row_groups(self.path, self.plan, self.groups, invalid)


def parquet_pieces(
    paths: Sequence[Path],
    target: str,
    categories: Mapping[str, Sequence[Any]] | None,
    drop: Sequence[str],
    rows_per_block: int,
) -> tuple[tuple[ParquetPiece, ...], ColumnPlan]:
    """Cut files at row groups, small ones taken together."""
    pieces: list[ParquetPiece] = []
    first: ColumnPlan | None = None
    for path in paths:
        sizes = row_group_sizes(path)
        plan = ColumnPlan.of(column_names(path), target, categories, drop, str(path))
        first = plan if first is None else first
        if plan.feature_names != first.feature_names:
            raise ValueError(f"{path}: its columns differ from those of {paths[0]}")
        groups: list[int] = []
        for group, size in enumerate(sizes):
            if groups and sum(sizes[g] for g in groups) + size > rows_per_block:
                pieces.append(ParquetPiece(path, tuple(groups), plan))
                groups = []
            groups.append(group)
        if groups:
            pieces.append(ParquetPiece(path, tuple(groups), plan))
    if first is None or not pieces:
        raise ValueError("there are no records in these Parquet files")
    return tuple(pieces), first


@dataclass(frozen=True, kw_only=True, eq=False)
class Gate:
    """What every block passes when it is read: `Dataset.clip` with the same public promises."""

    n_features: int
    is_sparse: bool
    bounds: Any
    classes: Any
    target_bounds: tuple[float, float] | None
    intercept: bool
    invalid: Invalid
    feature_names: tuple[str, ...] | None

    def admit(self, X: Any, y: Any) -> Dataset:
        """Let one block through the gate."""
        if len(getattr(X, "shape", ())) != 2:
            raise ValueError("a block of X must have one row per record, one column per feature")
        if X.shape[1] != self.n_features:
            raise ValueError(f"a block has {X.shape[1]} features, the first has {self.n_features}")
        if sparse.issparse(X) != self.is_sparse:
            # Bounds of sparse data are stretched to contain zero, so kinds cannot be mixed.
            raise ValueError("some blocks are sparse and some are dense: store all in one way")
        data = Dataset.clip(
            X,
            y,
            self.bounds,
            classes=self.classes,
            target_bounds=self.target_bounds,
            intercept=self.intercept,
            invalid=self.invalid,
        )
        most = most_records(self.n_features, data.row_norm)
        return replace(data, feature_names=self.feature_names, most_together=most)

    def nobody(self) -> Dataset:
        """A block without records, which knows all that is public."""
        shape = (0, self.n_features)
        X = sparse.csr_array(shape) if self.is_sparse else np.zeros(shape)
        return self.admit(X, np.zeros(0))

    def read(self, piece: Piece) -> Dataset:
        """Read a block and let it through the gate."""
        return admitted(lambda: self.admit(*piece.read(self.invalid)), piece.label)


def admitted(read: Callable[[], Dataset], label: str) -> Dataset:
    """A block, or `LostBlock` with a reason that quotes no cell and holds no frame with records."""
    try:
        return read()
    except Exception as error:
        reason = _reason(error)
    raise LostBlock(f"{label}: {reason}")


def _reason(error: Exception) -> str:
    """Our own sentences, and those of the operating system; a library's may quote what it read."""
    ours = type(error).__module__.split(".")[0] == "sparsedp"
    if ours or type(error) in (ValueError, ImportError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"it could not be read ({type(error).__name__})"


def _own(array: Any) -> Any:
    """The array in memory, its mask with it."""
    if sparse.issparse(array):
        return array
    return array.copy() if isinstance(array, np.ma.MaskedArray) else np.array(array)
