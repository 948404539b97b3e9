"""Excel workbooks (.xlsx): a sheet whose first row has the names; needs openpyxl."""

import io
import itertools
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter

from sparsedp.data.files.formats.counted import Counted
from sparsedp.data.files.formats.how import How
from sparsedp.data.files.limits import limits
from sparsedp.data.files.location import Location
from sparsedp.data.files.opened import TOO_MUCH, BadFile, parsing
from sparsedp.data.files.raw_columns import RawColumns, plain_cell
from sparsedp.data.raw import Module

MOST_COLUMNS = 16_384
"""Of a sheet, by the format."""

AT_ONCE = 100_000
"""Cells that are read before the next look at the limit."""

CELLS, PICTURES = ("xl/worksheets/", "xl/sharedStrings"), "xl/media/"
MOST_OTHER = 4 * 2**20
"""Bytes of other parts: openpyxl makes objects of all styles and names, in minutes for some KB."""

CELL = 8
"""Bytes that a cell is counted as: rows that a file only claims cost it nothing."""


def names(location: Location, how: How) -> list[str]:
    """The columns: texts in the first row, up to the first empty cell."""
    with _sheet(location, how) as sheet:
        return _header(location, sheet)


def blocks(location: Location, how: How, wanted: Sequence[str], rows: int) -> Generator[RawColumns]:
    """All records, `rows` at a time. Cells are numbers, text, dates, true or false, or None.

    Rows without any value are no records: sheets end in rows that were only formatted.
    """
    counted = Counted(location)
    with _sheet(location, how) as sheet:
        header = _header(location, sheet)
        pick = itemgetter(*(header.index(name) for name in wanted), 0)  # with 0: always a tuple
        taken: list[list[object]] = []
        for row in _rows(location, sheet, len(header)):
            counted.add(CELL * (len(header) + 1))
            if any(cell is not None for cell in row):
                taken.append([plain_cell(cell) for cell in pick(row)[:-1]])
            if len(taken) == rows:
                yield RawColumns.of_rows(wanted, taken)
                taken = []
        yield RawColumns.of_rows(wanted, taken)


def _rows(location: Location, sheet: Module, width: int) -> Iterator[tuple[object, ...]]:
    """Rows of cells, some at a time."""
    rows = sheet.iter_rows(min_row=2, max_col=width, values_only=True)
    while True:
        with parsing(location, "an Excel file"):
            some = list(itertools.islice(rows, max(1, AT_ONCE // width)))
        if not some:
            return
        for row in some:
            yield (*row, *(None,) * (width - len(row)))


def _header(location: Location, sheet: Module) -> list[str]:
    with parsing(location, "an Excel file"):
        first = next(sheet.iter_rows(max_row=1, max_col=MOST_COLUMNS, values_only=True), ())
    found = []
    for cell in first:
        if cell is None:
            break
        found.append(str(cell).strip())
    if not found or not any(isinstance(cell, str) for cell in first):
        raise ValueError(f"{location}, row 1: needs the names of the columns.")
    limits().check("columns", len(found), str(location))
    return found


@contextmanager
def _sheet(location: Location, how: How) -> Generator[Module]:
    """The sheet; what the archive says that it unpacks to is checked before anything is."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError(
            'Excel files need openpyxl: python -m pip install "sparsedp[excel]"'
        ) from None
    with location.opened() as handle:
        source = io.BytesIO(handle.read())  # archives are read from their end
    with parsing(location, "an Excel file"), zipfile.ZipFile(source) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    other = sum(size for name, size in sizes.items() if not name.startswith((*CELLS, PICTURES)))
    most = limits()
    if sum(sizes.values()) > most.of(location.size) or other > (most.bytes or MOST_OTHER):
        raise BadFile(TOO_MUCH.format(path=location))
    with parsing(location, "an Excel file"):
        book = load_workbook(source, read_only=True, data_only=True, keep_links=False)
    try:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if not sheets or (how.sheet is not None and how.sheet not in sheets):
            raise ValueError(f"{location}: has no sheet {how.sheet or ''!r}.")
        sheet = next(iter(sheets.values())) if how.sheet is None else sheets[how.sheet]
        sheet.reset_dimensions()  # as the file states them they may be anything
        yield sheet
    finally:
        book.close()
