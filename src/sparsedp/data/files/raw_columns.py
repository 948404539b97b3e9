"""Columns of a file before the gate: single cells, or columns that the file itself types."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import overload

from sparsedp.data.raw import RawColumn

SEPARATOR = "\x1f"
"""Between cells that are packed; cells that hold it are not."""

SHORT = 64
"""Cells of at most this many characters, on average, are packed."""

NESTED = ()
"""Stands for a cell that holds several values: no number, no label and no text."""


@dataclass(frozen=True, eq=False, repr=False)
class RawColumns:
    """Some or all records of a file, by column, as they were written.

    Parameters
    ----------
    names : tuple of str
        Of the columns, in the order of the file. Public.
    columns : mapping of str to column
        A list of single cells (text from text files; text, numbers, dates or None from others), or
        an Arrow array where the file types its columns.
    n_rows : int

    Notes
    -----
    *Privacy.* Nothing here is clipped or private yet: hand it to a schema, do not print it. No cell
    was changed because of another one.
    """

    names: tuple[str, ...]
    columns: Mapping[str, RawColumn]
    n_rows: int

    @property
    def column_names(self) -> list[str]:
        """The names, as data frames say them."""
        return list(self.names)

    @property
    def shape(self) -> tuple[int, int]:
        """Records and columns."""
        return self.n_rows, len(self.names)

    def __getitem__(self, name: str) -> RawColumn:
        """One column."""
        return self.columns[name]

    def __len__(self) -> int:
        """Number of records, which is private."""
        return self.n_rows

    def __repr__(self) -> str:
        return f"RawColumns({len(self.names)} columns, records private)"

    @classmethod
    def of_rows(cls, names: Sequence[str], rows: Sequence[Sequence[object]]) -> "RawColumns":
        """From records that have one cell per name."""
        found = zip(*rows, strict=True) if rows else [()] * len(names)
        columns = [list(column) for column in found]
        return cls(tuple(names), dict(zip(names, columns, strict=True)), len(rows))


@dataclass(frozen=True, eq=False, repr=False)
class Packed(Sequence[object]):
    """Single cells in little memory: text of a block is one text, taken apart when it is used.

    Parameters
    ----------
    blocks : tuple of str or list
        All of one length but the last.
    lengths : tuple of int
    """

    blocks: tuple[str | list[object], ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, blocks: Sequence[list[object]]) -> "Packed":
        """Pack lists of cells."""
        return cls(tuple(map(_packed, blocks)), tuple(map(len, blocks)))

    def __len__(self) -> int:
        return sum(self.lengths)

    @overload
    def __getitem__(self, which: int) -> object: ...
    @overload
    def __getitem__(self, which: slice) -> list[object]: ...
    def __getitem__(self, which: int | slice) -> object:
        """A cell, or a list of some."""
        if isinstance(which, int):
            position = which + len(self) if which < 0 else which
            if not 0 <= position < len(self):
                raise IndexError(which)
            return self[position : position + 1][0]
        start, stop, step = which.indices(len(self))
        if step != 1:
            return list(self)[which]
        found: list[object] = []
        first = 0
        for block, length in zip(self.blocks, self.lengths, strict=True):
            if first < stop and start < first + length:
                found += _unpacked(block)[max(0, start - first) : stop - first]
            first += length
        return found

    def __iter__(self) -> Iterator[object]:
        for block, length in zip(self.blocks, self.lengths, strict=True):
            if length:
                yield from _unpacked(block)

    def __repr__(self) -> str:
        return "Packed(cells private)"


def _packed(cells: list[object]) -> str | list[object]:
    try:
        text = SEPARATOR.join(cells)  # pyrefly: ignore[no-matching-overload]
    except TypeError:
        return cells  # not all of them are text
    if not cells or len(text) > (SHORT + 1) * len(cells):
        return cells  # long texts gain nothing, and may be one text that is shared
    return text if text.count(SEPARATOR) == len(cells) - 1 else cells


def _unpacked(block: str | list[object]) -> list[object]:
    return list(block.split(SEPARATOR)) if isinstance(block, str) else block


def joined(names: Sequence[str], blocks: Sequence[RawColumns]) -> RawColumns:
    """Blocks of one file as one."""
    columns: dict[str, RawColumn] = {}
    for name in names:
        parts = [block[name] for block in blocks]
        if any(isinstance(part, list) for part in parts) or len({p.type for p in parts}) > 1:
            # Files of one folder may differ in a type: pandas writes whole numbers as floats where
            # one is missing.
            columns[name] = Packed.of([_single(part) for part in parts])
        else:
            columns[name] = _chained(parts)
    return RawColumns(tuple(names), columns, sum(block.n_rows for block in blocks))


def _single(part: RawColumn) -> list[object]:
    """Single cells, each as it is."""
    return part if isinstance(part, list) else [plain_cell(cell) for cell in part.to_pylist()]


def _chained(parts: Sequence[RawColumn]) -> RawColumn:
    """Arrow columns of one type, one after the other, without a copy."""
    import pyarrow as pa

    chunks = [chunk for part in parts for chunk in part.chunks]
    return pa.chunked_array(chunks, type=parts[0].type)


def plain_cell(cell: object) -> object:
    """A cell of a file whose cells have types: what holds several values is `NESTED`.

    Of other types (addresses, identifiers) a cell is the text that it would be declared by.
    """
    if cell is None or isinstance(cell, str | bytes | Real | Decimal | date | time | timedelta):
        return cell
    if isinstance(cell, memoryview | bytearray):
        return bytes(cell)
    return NESTED if isinstance(cell, Collection) else str(cell)
