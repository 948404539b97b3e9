"""Pieces of text files by their bytes, so that each can be read again by itself."""

from collections.abc import Generator
from dataclasses import dataclass

from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import COMPRESSED, LONGEST_LINE, BadFile


@dataclass(frozen=True)
class Span:
    """Some records of a text file.

    Parameters
    ----------
    location : Location
    start, stop : int
        Bytes from the beginning of the file.
    line : int
        Lines before them.
    """

    location: Location
    start: int
    stop: int
    line: int

    def lines(self) -> Generator[bytes]:
        """The lines, read anew."""
        assert self.location.path is not None
        if self.location.size < 0:
            raise BadFile(f"{self.location} is not a regular file")
        with open(self.location.path, "rb") as file:
            file.seek(self.start)
            left = self.stop - self.start
            while left > 0:
                line = file.readline(left)
                if not line:
                    raise BadFile(f"{self.location} is shorter than it was")
                left -= len(line)
                yield line


def spans(location: Location, rows: int, *, header: bool, quotes: bool) -> list[Span]:
    """Cut a file after every `rows` records; a record ends where its own quotes do.

    Parameters
    ----------
    location : Location
    rows : int
    header : bool
        Whether the first record is none.
    quotes : bool
        Whether line ends within quotes belong to a record.
    """
    if location.path is None or location.path.suffix.lower() in COMPRESSED:
        raise ValueError(f"{location}: to be read in blocks it must be a file, and unpacked.")
    found: list[Span] = []
    start = place = line = first_line = n_records = 0
    closed, in_header = True, header
    with location.opened() as handle:
        for text in handle:
            if len(text) > LONGEST_LINE:
                raise BadFile(f"{location}, line {line + 1}: is longer than any record can be.")
            place += len(text)
            line += 1
            closed ^= quotes and text.count(b'"') % 2 == 1
            if not closed:
                continue
            n_records += not in_header
            if in_header or n_records == rows:
                if not in_header:
                    found.append(Span(location, start, place, first_line))
                start, first_line, n_records, in_header = place, line, 0, False
    if not closed:
        raise BadFile(f"{location}, from line {first_line + 1} on: a quote does not end.")
    if place > start or not found:
        found.append(Span(location, start, place, first_line))
    return found
