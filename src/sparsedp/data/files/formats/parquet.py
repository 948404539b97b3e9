"""Parquet files, a file or a folder of files; needs pyarrow, which is loaded when first used."""

import io
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparsedp.data.files.folder import files_of
from sparsedp.data.files.formats.arrow import kept, pyarrow, typed_columns
from sparsedp.data.files.formats.how import How
from sparsedp.data.files.limits import limits
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import TOO_MUCH, BadFile, parsing
from sparsedp.data.files.raw_columns import RawColumns
from sparsedp.data.raw import Module

KIND = "a Parquet file"


def files(location: Location) -> list[Location]:
    """The files of a folder, or the file itself."""
    if location.path is None or not location.path.is_dir():
        return [location]
    return [Location("file", path) for path in files_of(location.path, ".parquet")]


def names(location: Location, how: How) -> list[str]:
    """The columns, which all files have in common; without the index of a pandas table."""
    first, *others = files(location)
    found = _names(first)
    for other in others:
        if set(_names(other)) != set(found):
            raise ValueError(f"{other}: its columns differ from those of {first}.")
    return found


def _names(location: Location) -> list[str]:
    with parsing(location, KIND):
        found = pyarrow("pyarrow.parquet").read_schema(_source(location)).names
    return kept(found, location)


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """Row groups one by one, cut to `rows`."""
    for part in files(location):
        n_groups = len(row_group_sizes(part))
        with parsing(part, KIND):
            metadata = pyarrow("pyarrow.parquet").read_metadata(_source(part))
            _check_size(part, metadata, len(wanted), range(n_groups))  # of all groups together
        for group in range(n_groups):
            table = read_groups(part, [group], wanted)
            for start in range(0, max(1, table.num_rows), rows):
                yield typed_columns(table.slice(start, rows), wanted, part)


def parts(location: Location, how: How, wanted: Sequence[str], rows: int) -> "list[ParquetPart]":
    """The same records in pieces that can each be read again: row groups, small ones together."""
    found: list[ParquetPart] = []
    for part in files(location):
        sizes = row_group_sizes(part)
        groups: list[int] = []
        for group, size in enumerate(sizes):
            if groups and sum(sizes[g] for g in groups) + size > rows:
                found.append(ParquetPart(part, tuple(groups), tuple(wanted)))
                groups = []
            groups.append(group)
        if groups:
            found.append(ParquetPart(part, tuple(groups), tuple(wanted)))
    return found


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a file."""

    location: Location
    groups: tuple[int, ...]
    wanted: tuple[str, ...]

    @property
    def label(self) -> str:
        """The file."""
        return str(self.location)

    def read(self) -> RawColumns:
        """These records."""
        table = read_groups(self.location, self.groups, self.wanted)
        return typed_columns(table, self.wanted, self.location)


def row_group_sizes(location: Location) -> list[int]:
    """Numbers of records in the row groups of a file."""
    with parsing(location, KIND):
        metadata = pyarrow("pyarrow.parquet").read_metadata(_source(location))
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def read_groups(location: Location, groups: Sequence[int], wanted: Sequence[str]) -> Module:
    """An Arrow table of some row groups."""
    arrow, parquet = pyarrow("pyarrow"), pyarrow("pyarrow.parquet")
    source = _source(location)
    with parsing(location, KIND):
        schema = parquet.read_schema(source)
        # A long text that a million records repeat is stored once, and so it stays.
        texts = [name for name in wanted if arrow.types.is_string(schema.field(name).type)]
        with parquet.ParquetFile(source, read_dictionary=texts) as file:
            _check_size(location, file.metadata, len(wanted), groups)
            # One thread: blocks are what is read at the same time, if anything.
            return file.read_row_groups(list(groups), columns=list(wanted), use_threads=False)


def _source(location: Location) -> Path | io.BytesIO:
    """What Arrow opens; `size` refuses what is no regular file."""
    if location.path is None:
        return io.BytesIO(location.content or b"")
    return location.path if location.size >= 0 else Path()


def _check_size(
    location: Location, metadata: Module, n_columns: int, groups: Sequence[int]
) -> None:
    """Refuse to unpack what would be out of proportion; repeated values cost a file nothing."""
    found = [metadata.row_group(group) for group in groups]
    unpacked = sum(max(part.total_byte_size, 8 * part.num_rows * (n_columns + 1)) for part in found)
    if unpacked > limits().of_cells(location.size):
        raise BadFile(TOO_MUCH.format(path=location))
