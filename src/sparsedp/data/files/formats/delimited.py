"""Delimited text, CSV or TSV: a header, then one record per line or quoted lines."""

import codecs
import csv
import itertools
import unicodedata
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from sparsedp.data.files.formats.how import How
from sparsedp.data.files.formats.spans import Span, spans
from sparsedp.data.files.limits import limits
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import LONGEST_LINE
from sparsedp.data.files.raw_columns import RawColumns

DELIMITERS = ",;\t|"
LONGEST_NAME = 256


def names(location: Location, how: How) -> list[str]:
    """The columns, by the header alone."""
    with location.opened() as handle:
        first = next(Records(decoded(handle, location, how), location), "")
    return [name for name in _header(location, how, first) if name]


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """All records, `rows` at a time; only the wanted columns are kept."""
    with location.opened(whole=True) as handle:
        records = Records(decoded(handle, location, how), location)
        first = next(records, "")
        how = replace(how, delimiter=_delimiter(how, first))
        pick = _Picked(_header(location, how, first), wanted)
        taken: list[Sequence[str]] = []
        for row in _rows(records, location, how, pick.width):
            taken.append(pick(row))
            if len(taken) == rows:
                yield RawColumns.of_rows(wanted, taken)
                taken = []
        yield RawColumns.of_rows(wanted, taken)


def parts(location: Location, how: How, wanted: Sequence[str], rows: int) -> "list[DelimitedPart]":
    """The same records in pieces that can each be read again."""
    with location.opened() as handle:
        first = next(Records(decoded(handle, location, how), location), "")
    how = replace(how, delimiter=_delimiter(how, first))
    header = tuple(_header(location, how, first))
    found = spans(location, rows, header=True, quotes=True)
    return [DelimitedPart(span, how, header, tuple(wanted)) for span in found]


@dataclass(frozen=True)
class DelimitedPart:
    """Some records of a text file."""

    span: Span
    how: How
    header: tuple[str, ...]
    wanted: tuple[str, ...]

    @property
    def label(self) -> str:
        """The file."""
        return str(self.span.location)

    def read(self) -> RawColumns:
        """These records."""
        location, line = self.span.location, self.span.line
        lines = decoded(self.span.lines(), location, self.how, line)
        pick = _Picked(self.header, self.wanted)
        rows = _rows(Records(lines, location, line), location, self.how, pick.width)
        return RawColumns.of_rows(self.wanted, [pick(row) for row in rows])


class _Picked:
    """Picks the wanted cells of a record."""

    def __init__(self, header: Sequence[str], wanted: Sequence[str]) -> None:
        self.width, self._all = len(header), list(header) == list(wanted)
        self._pick = itemgetter(*(header.index(name) for name in wanted), 0)  # always a tuple

    def __call__(self, row: Sequence[str]) -> Sequence[str]:
        if self._all:
            return row
        cells: tuple[str, ...] = self._pick(row)
        return cells[:-1]


def _rows(records: "Records", location: Location, how: How, width: int) -> Generator[list[str]]:
    """Cells of every record."""
    reader = csv.reader(records, delimiter=how.delimiter or ",", skipinitialspace=True)
    try:
        for n_read, row in enumerate(reader, start=1):
            if reader.line_num != n_read:
                raise ValueError(
                    f"{location}, line {records.line}: a quote does not end, or stands within a "
                    "cell."
                )
            if not row:
                continue
            if len(row) != width:
                raise ValueError(
                    f"{location}, line {records.line}: {len(row)} cells where the header has "
                    f"{width}; check the delimiter and quotes."
                )
            yield row
    except csv.Error:
        raise ValueError(
            f"{location}, line {records.line}: cannot be split into cells; check its quotes."
        ) from None


def decoded(handle: Iterable[bytes], location: Location, how: How, line: int = 0) -> Generator[str]:
    """Decode line by line: a text stream decodes ahead, and the header must not need records.

    `line` is the number of lines before these.
    """
    for number, raw in enumerate(handle, start=line + 1):
        if len(raw) > LONGEST_LINE:
            raise ValueError(f"{location}, line {number}: is longer than any record can be.")
        bare = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        try:
            text = bare.decode(how.encoding)
        except UnicodeDecodeError:
            text = None
        if text is None:  # raised here, it does not carry an error that holds the line
            raise ValueError(
                f"{location}, line {number}: not {how.encoding.upper()} text; save the file as "
                "UTF-8, or say how it is written by encoding= (--encoding latin-1 or cp1252)."
            )
        yield text


class Records:
    """Texts of records: lines, joined where a quote is open.

    Where a record ends must depend on its own quotes alone. A cell that only begins with one would
    else swallow all records up to the next quote, even in a column that is left out.
    """

    def __init__(self, lines: Iterator[str], location: Location, line: int = 0) -> None:
        self._lines, self._location = lines, location
        self.line = line

    def __iter__(self) -> "Records":
        return self

    def __next__(self) -> str:
        parts: list[str] = []
        closed, first = True, self.line + 1
        for text in self._lines:
            self.line += 1
            parts.append(text)
            closed ^= text.count('"') % 2 == 1
            if closed:
                return "".join(parts)
        if parts:
            # Counted over all lines: if one record has an odd number of quotes, so has the file.
            raise ValueError(f"{self._location}, from line {first} on: a quote does not end.")
        raise StopIteration


def _header(location: Location, how: How, first: str) -> list[str]:
    """All names in the header line; "" where a column has none, which is then never read."""
    delimiter = _delimiter(how, first)
    limits().check("columns", first.count(delimiter), str(location))
    reader = csv.reader([first], delimiter=delimiter, skipinitialspace=True)
    try:
        cells = next(reader, [""])
    except csv.Error:
        cells = [""]
    found = [_composed(name.strip()) for name in cells]
    if all(map(_is_number, found)):
        raise ValueError(f"{location}, line 1: needs a header line with the names of the columns.")
    return found


def _composed(name: str) -> str:
    """A name in NFC; not a long one, whose marks would be put in order in quadratic time."""
    return unicodedata.normalize("NFC", name) if len(name) <= LONGEST_NAME else name


def _delimiter(how: How, first: str) -> str:
    """The delimiter that is declared, or most frequent in the header outside of quotes."""
    bare = "".join(itertools.islice(first.split('"'), 0, None, 2))
    return how.delimiter or max(DELIMITERS, key=bare.count)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell == ""
    return True
