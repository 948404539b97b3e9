"""Open a table of any format: the names of its columns first, then its records in blocks."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from sparsedp.data.files.formats import (
    arrow,
    delimited,
    excel,
    json_lines,
    parquet,
    postgresql,
    sqlite,
)
from sparsedp.data.files.formats.how import Encoding, How
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import COMPRESSED, reading
from sparsedp.data.files.raw_columns import RawColumns, joined

ROWS_PER_BLOCK = 8192
"""As many as a schema encodes at a time."""


class Format(Protocol):
    """What a file of formats/ has."""

    def names(self, location: Location, how: How) -> list[str] | None:
        """Names of the columns without reading a record; None if only records have them."""
        ...

    def blocks(
        self, location: Location, how: How, wanted: Sequence[str], rows: int
    ) -> Iterator[RawColumns]:
        """Records, at most `rows` at a time; one block at least."""
        ...


class Part(Protocol):
    """Some records of a file; can be read any number of times, and pickled."""

    @property
    def label(self) -> str:
        """Where the records come from, for messages."""
        ...

    def read(self) -> RawColumns:
        """These records."""
        ...


class InParts(Protocol):
    """What a file of formats/ has that can be read in pieces."""

    def parts(
        self, location: Location, how: How, wanted: Sequence[str], rows: int
    ) -> Sequence[Part]:
        """Pieces of at most `rows` records, or as small as the format lets them be."""
        ...


FORMATS: dict[str, Format] = {
    "csv": delimited,
    "tsv": delimited,
    "parquet": parquet,
    "arrow": arrow,
    "excel": excel,
    "jsonl": json_lines,
    "sqlite": sqlite,
    "postgresql": postgresql,
}
IN_PARTS: dict[str, InParts] = {
    "csv": delimited,
    "tsv": delimited,
    "parquet": parquet,
    "jsonl": json_lines,
}
SUFFIXES = {
    **dict.fromkeys((".csv",), "csv"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
}
INSTEAD = {
    ".json": "write one object per line (JSON lines) and give --format jsonl",
    **dict.fromkeys((".xls", ".ods", ".xlsb"), "save it as .xlsx or .csv"),
    **dict.fromkeys(
        (".db", ".sqlite", ".sqlite3"), "give sqlite:///FILE?query=SELECT ... in its place"
    ),
}
PACKS_ITSELF = ("parquet", "arrow", "excel")


@dataclass(frozen=True, repr=False)
class RawReader:
    """A table that is open: its names are known, none of its records has been looked at.

    Parameters
    ----------
    location : Location
    format : str
    names : tuple of str
        All columns. Public.
    columns : tuple of str
        Those that are read.
    rows_per_block : int
    how : How
    """

    location: Location
    format: str
    names: tuple[str, ...]
    columns: tuple[str, ...]
    rows_per_block: int
    how: How

    def blocks(self) -> Generator[RawColumns]:
        """Records in blocks, from the beginning; at least one block, which may be empty."""
        with reading(self.location):
            yield from FORMATS[self.format].blocks(
                self.location, self.how, self.columns, self.rows_per_block
            )

    def parts(self) -> list[Part]:
        """The records in pieces that can each be read again, any number of times."""
        if self.format not in IN_PARTS:
            raise ValueError(
                f"{self.location}: only Parquet, CSV and JSON lines can be read in blocks; write "
                "the records in one of these."
            )
        with reading(self.location):
            return list(
                IN_PARTS[self.format].parts(
                    self.location, self.how, self.columns, self.rows_per_block
                )
            )

    def read(self) -> RawColumns:
        """All records."""
        return joined(self.columns, list(self.blocks()))

    def of(self, columns: Sequence[str]) -> "RawReader":
        """The same table with other columns, which must be there."""
        missing = [name for name in columns if name not in self.names]
        if missing:
            raise ValueError(
                f"{self.location}: no column {some(missing)}. The columns are {some(self.names)}."
            )
        return replace(self, columns=tuple(columns))

    def __repr__(self) -> str:
        return f"RawReader({self.location.name!r}, {len(self.columns)} columns, records private)"


def open_raw(
    source: str | Path | Location,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    rows_per_block: int | None = None,
    *,
    delimiter: str | None = None,
    encoding: Encoding = "utf-8",
    sheet: str | None = None,
) -> RawReader:
    """Open a table of records, each cell of which stays as it is.

    Parameters
    ----------
    source : str or Path
        A .csv, .tsv, .parquet (or a folder of these), .arrow, .feather, .xlsx or .jsonl file, of
        which text may be compressed as .gz, .bz2 or .xz; "-" for standard input; or a URL with a
        query: ``sqlite:///people.db?query=...``, ``postgresql://host/database?query=...``.
    format : {"csv", "tsv", "parquet", "arrow", "excel", "jsonl"}, optional
        Taken from the name if not given; standard input is CSV unless something else is said.
    columns : sequence of str, optional
        Those to read, all by default. JSON lines have no header and need them.
    rows_per_block : int, optional
    delimiter : str, optional
        Of CSV; by default the one of ``, ; tab |`` that is most frequent in the header.
    encoding : {"utf-8", "latin-1", "cp1252"}
        Of text.
    sheet : str, optional
        Of an Excel file; by default the first.

    Notes
    -----
    *Privacy.* Names are public and are read without looking at a record. No cell is changed because
    of another, and no message quotes one, nor the address of a server.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError("a delimiter is a single character such as ; or a tab")
    location = Location.of(source).loaded()
    kind = format_of(location, format)
    how = How(delimiter, encoding, sheet)
    with reading(location):
        found = FORMATS[kind].names(location, how)
    if found is None:
        if columns is None:
            raise ValueError(f"{location}: JSON lines have no header: say which columns are there.")
        found = list(columns)
    if len(set(found)) != len(found):
        raise ValueError(f"{location}: two columns share a name; rename one in the header.")
    rows = ROWS_PER_BLOCK if rows_per_block is None else rows_per_block
    reader = RawReader(location, kind, tuple(found), tuple(found), rows, how)
    return reader if columns is None else reader.of(columns)


def format_of(location: Location, given: str | None) -> str:
    """The format that is given, or that the name tells: that of people.csv.gz is csv."""
    if location.kind in FORMATS:
        return location.kind
    if location.path is None:
        kind = given or "csv"
    else:
        suffixes = [suffix.lower() for suffix in location.path.suffixes]
        packed = bool(suffixes) and suffixes[-1] in COMPRESSED
        last = "".join(suffixes[-2:-1] if packed else suffixes[-1:])
        if given is None and last in INSTEAD:
            raise ValueError(f"{location}: {INSTEAD[last]}.")
        folder = "parquet" if location.path.is_dir() else None
        kind = given or SUFFIXES.get(last) or folder or ""
        if packed and kind in PACKS_ITSELF:
            raise ValueError(
                f"{location}: this format compresses by itself; unpack the file first."
            )
    if kind not in FORMATS or kind in ("sqlite", "postgresql"):
        choices = ", ".join(sorted(set(SUFFIXES.values())))
        raise ValueError(f"{location}: unknown format; say which by format= (--format): {choices}.")
    return kind


def some(names: Sequence[str]) -> str:
    """The first of many names, which are public."""
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
