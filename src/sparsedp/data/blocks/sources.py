"""Where blocks of records come from: arrays, parts in NPZ files, row groups of Parquet files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from sparsedp.data.files.encode import ColumnPlan
from sparsedp.data.files.npz import NpzFile
from sparsedp.data.files.open_raw import Part, RawReader
from sparsedp.data.files.parquet import column_names, read_row_groups, row_group_sizes
from sparsedp.data.gate import Invalid
from sparsedp.data.raw import Label, RawColumn, RawTable
from sparsedp.data.schema import Schema
from sparsedp.data.storage import compressed, is_sparse


class RawBlock(NamedTuple):
    """What is read of a block, before the gate. Private."""

    X: RawTable
    y: RawColumn
    groups: RawColumn = None
    sample_weight: RawColumn = None


class Source(Protocol):
    """A block of records before the gate; can be read any number of times, and pickled."""

    @property
    def label(self) -> str:
        """Where the records come from, for messages."""
        ...

    def read(self, invalid: Invalid = "raise") -> RawBlock:
        """Features and targets, as they are stored; ids of persons and weights, if there are."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ArraySource:
    """Rows of an array or CSR matrix, which may be memory-mapped."""

    X: RawTable
    y: RawColumn
    start: int
    stop: int
    groups: RawColumn = None
    sample_weight: RawColumn = None

    @property
    def label(self) -> str:
        """Not which rows: that would tell how many there are."""
        return "some rows of the arrays"

    def read(self, invalid: Invalid = "raise") -> RawBlock:
        """Slices of all."""
        part = slice(self.start, self.stop)
        columns = (self.y, self.groups, self.sample_weight)
        return RawBlock(self.X[part], *(None if each is None else each[part] for each in columns))

    def __reduce__(self) -> tuple[type, tuple[RawTable, RawColumn, int, int, RawColumn, RawColumn]]:
        # To another process goes this block, not the whole array.
        X, y, *units = self.read()
        groups, weights = (None if each is None else _own(each) for each in units)
        return ArraySource, (_own(X), _own(y), 0, self.stop - self.start, groups, weights)


@dataclass(frozen=True)
class NpzSource:
    """An NPZ file: X and y, or CSR arrays data, indices, indptr, shape and y."""

    path: Path
    target: str
    groups: str | None = None
    weight: str | None = None

    @property
    def label(self) -> str:
        """The file."""
        return str(self.path)

    def read(self, invalid: Invalid = "raise") -> RawBlock:
        """All of the file."""
        with NpzFile(self.path) as arrays:
            if self.target not in arrays.names:
                raise ValueError(f"no array {self.target!r} in this file")
            y = arrays.read(self.target)
            units = [arrays.read(each) if each else None for each in (self.groups, self.weight)]
            if "X" in arrays.names:
                return RawBlock(arrays.read("X"), y, *units)
            if not {"data", "indices", "indptr", "shape"} <= arrays.names:
                raise ValueError("save X, or data, indices, indptr and shape of a CSR array")
            values, indices, indptr = map(arrays.read, ("data", "indices", "indptr"))
            X = compressed((values, indices, indptr), tuple(arrays.read("shape")))
            return RawBlock(X, y, *units)

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
class ParquetSource:
    """Some row groups of a Parquet file."""

    path: Path
    groups: tuple[int, ...]
    plan: ColumnPlan

    @property
    def label(self) -> str:
        """The file."""
        return str(self.path)

    def read(self, invalid: Invalid = "raise") -> RawBlock:
        """These row groups only."""
        return RawBlock(*read_row_groups(self.path, self.plan, self.groups, invalid))


def parquet_sources(
    paths: Sequence[Path],
    target: str,
    categories: Mapping[str, Sequence[Label]] | None,
    drop: Sequence[str],
    rows_per_block: int,
) -> tuple[tuple[ParquetSource, ...], ColumnPlan]:
    """Cut files at row groups, small ones taken together."""
    sources: list[ParquetSource] = []
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
                sources.append(ParquetSource(path, tuple(groups), plan))
                groups = []
            groups.append(group)
        if groups:
            sources.append(ParquetSource(path, tuple(groups), plan))
    if first is None or not sources:
        raise ValueError("there are no records in these Parquet files")
    return tuple(sources), first


@dataclass(frozen=True)
class TableSource:
    """Some records of a raw table, encoded by its schema when they are read."""

    part: Part
    schema: Schema

    @property
    def label(self) -> str:
        """The file."""
        return self.part.label

    def read(self, invalid: Invalid = "raise") -> RawBlock:
        """These records only."""
        records, schema = self.part.read(), self.schema
        groups = None if schema.person is None else schema.groups(records)
        weights = None if schema.weight is None else schema.weights(records)
        X, y = schema.encode(records, invalid), schema.target_cells(records)
        return RawBlock(X, y, groups, weights)


def table_sources(reader: RawReader, schema: Schema) -> tuple[TableSource, ...]:
    """Cut a table where its format can be cut."""
    if schema.offset is not None:
        raise ValueError("records in blocks take no offset yet: read the table at once")
    roles = (schema.target, schema.person, schema.weight)
    wanted = dict.fromkeys([*schema.columns, *(role.column for role in roles if role is not None)])
    parts = reader.of(list(wanted)).parts()
    if not parts:
        raise ValueError(f"{reader.location}: there are no records")
    return tuple(TableSource(part, schema) for part in parts)


def _own(array: RawTable) -> RawTable:
    """The array in memory, its mask with it."""
    if is_sparse(array):
        return array
    return array.copy() if isinstance(array, np.ma.MaskedArray) else np.array(array)
