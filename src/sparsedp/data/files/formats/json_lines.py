"""JSON lines: one object per line, a record each. There is no header: names are asked for."""

import json
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from sparsedp.data.files.formats.delimited import decoded
from sparsedp.data.files.formats.how import How
from sparsedp.data.files.formats.spans import Span, spans
from sparsedp.data.files.location import Location
from sparsedp.data.files.raw_columns import RawColumns, plain_cell
from sparsedp.data.raw import Unchecked

LONGEST = 4 * 2**20
"""Characters of a line: nested brackets take a hundred times as much memory."""

DIGITS = 300
"""A whole number with more of them is read as a float, which is infinite."""


def names(location: Location, how: How) -> None:
    """None are known: the names in a line are part of a record."""
    return


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """All records, `rows` at a time; a name that a record does not have is missing there."""
    with location.opened(whole=True) as handle:
        taken: list[list[object]] = []
        for record in _records(decoded(handle, location, how), location, wanted):
            taken.append(record)
            if len(taken) == rows:
                yield RawColumns.of_rows(wanted, taken)
                taken = []
        yield RawColumns.of_rows(wanted, taken)


def parts(location: Location, how: How, wanted: Sequence[str], rows: int) -> "list[JsonLinesPart]":
    """The same records in pieces that can each be read again."""
    found = spans(location, rows, header=False, quotes=False)
    return [JsonLinesPart(span, how, tuple(wanted)) for span in found]


@dataclass(frozen=True)
class JsonLinesPart:
    """Some lines of a file."""

    span: Span
    how: How
    wanted: tuple[str, ...]

    @property
    def label(self) -> str:
        """The file."""
        return str(self.span.location)

    def read(self) -> RawColumns:
        """These records."""
        location, line = self.span.location, self.span.line
        lines = decoded(self.span.lines(), location, self.how, line)
        return RawColumns.of_rows(self.wanted, list(_records(lines, location, self.wanted, line)))


def _records(
    lines: Iterable[str], location: Location, wanted: Sequence[str], line: int = 0
) -> Generator[list[object]]:
    """The wanted cells of every record."""
    for number, text in enumerate(lines, start=line + 1):
        if not text.isspace():
            record = parsed(text, f"{location}, line {number}")
            yield [plain_cell(record.get(name)) for name in wanted]


def parsed(line: str, where: str) -> dict[str, Unchecked]:
    """The object in a line; the message says nothing about what it holds."""
    if len(line) > LONGEST:
        raise ValueError(f"{where}: is longer than any record can be.")
    try:
        record = json.loads(line, parse_int=_whole, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise ValueError(
            f"{where}: is not a JSON object in which every name stands once, such as "
            '{"age": 52, "smoker": true}.'
        )
    return record


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < DIGITS else float(digits)


def _once(pairs: list[tuple[str, Unchecked]]) -> dict[str, Unchecked]:
    """Programs differ in which of two equal names they believe."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found
