"""Delimited text, CSV or TSV: a header, then one record per line or quoted lines."""

import codecs
import csv
import itertools
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np

from sparsedp.data.files.encode import ColumnPlan, labels_from_text
from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import LONGEST_LINE, opened
from sparsedp.data.files.table import Table
from sparsedp.data.gate import Invalid
from sparsedp.data.raw import Label


class Rows(Protocol):
    """What ``csv.reader`` gives: cells row by row, and how many lines it has taken."""

    @property
    def line_num(self) -> int:
        """Lines so far."""
        ...

    def __iter__(self) -> Iterator[list[str]]:
        """Cells of every row."""
        ...


def column_names(path: Path, kind: str) -> list[str]:
    """The columns of a file, which are public, by its header alone."""
    with opened(path) as handle:
        return _header(path, kind, _Records(_decoded(handle, path), path))[0]


def _decoded(handle: Iterable[bytes], path: Path) -> Generator[str]:
    """Decode line by line: a text stream decodes ahead, and the header must not need records."""
    for number, raw in enumerate(handle, start=1):
        if len(raw) > LONGEST_LINE:
            raise ValueError(f"{path}, line {number}: is longer than any record can be.")
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        text = line.decode("utf-8", errors="replace")
        if "\ufffd" in text and text.encode() != line:
            raise ValueError(f"{path}, line {number}: not UTF-8 text; save the file as UTF-8.")
        yield text


class _Records:
    """Texts of records: lines, joined where a quote is open.

    Where a record ends must depend on its own quotes alone. A cell that only begins with one would
    else swallow all records up to the next quote, even in a column that is left out.
    """

    def __init__(self, lines: Iterator[str], path: Path) -> None:
        self._lines, self._path = lines, path
        self.line = 0

    def __iter__(self) -> "_Records":
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
            raise ValueError(f"{self._path}, from line {first} on: a quote does not end.")
        raise StopIteration


def _header(path: Path, kind: str, lines: Iterator[str]) -> tuple[list[str], Rows]:
    """Read the header line; return the names and the reader of what follows."""
    first = next(lines, "")
    delimiter = "\t" if kind == "tsv" else max(",;\t|", key=first.count)
    limits().check("columns", first.count(delimiter), str(path))
    reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter, skipinitialspace=True)
    names = [name.strip() for name in next(reader, [])]
    if not names or all(_is_number(name) for name in names):
        raise ValueError(f"{path}, line 1: needs a header line with the names of the columns.")
    return names, reader


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell == ""
    return True


def read_delimited(
    path: Path,
    kind: str,
    target: str | None,
    categories: Mapping[str, Sequence[Label]] | None,
    drop: Sequence[str],
    invalid: Invalid,
) -> Table:
    """Read all records of a text file, cell by cell."""
    with opened(path, whole=True) as handle:
        records = _Records(_decoded(handle, path), path)
        names, reader = _header(path, kind, records)
        plan = ColumnPlan.of(names, target, categories, drop, str(path))
        pick = itemgetter(*plan.numeric, 0) if plan.numeric else None  # with 0: always a tuple
        width, numeric = len(names), array("d")
        codes: list[list[int]] = [[] for _ in plan.categorical]
        labels: list[str] = []
        n = 0
        try:
            for n_read, row in enumerate(reader, start=2):
                where = f"{path}, line {records.line}"
                if reader.line_num != n_read:
                    raise ValueError(f"{where}: a quote does not end, or stands within a cell.")
                if not row:
                    continue
                if len(row) != width:
                    raise ValueError(
                        f"{where}: {len(row)} cells where the header has "
                        f"{width}; check the delimiter and quotes."
                    )
                n += 1
                if pick is not None:
                    values = _floats(pick(row)[:-1])
                    if values is None:  # raised here, an error would carry one that quotes a cell
                        values = [plan.number(row[p], p, invalid, where) for p in plan.numeric]
                    numeric.extend(values)
                for column, (position, _) in enumerate(plan.categorical):
                    codes[column].append(plan.category(row[position], column, invalid, where))
                if plan.target is not None:
                    labels.append(row[plan.target])
        except csv.Error:
            raise ValueError(
                f"{path}, line {records.line}: cannot be split into cells; check its quotes."
            ) from None
    X = plan.assemble(np.frombuffer(numeric).reshape(n, len(plan.numeric)), codes)
    y = None if plan.target is None else labels_from_text(labels)
    return Table(X, y, plan.feature_names, target)


def _floats(cells: Sequence[str]) -> list[float] | None:
    """All cells of a record, if all are numbers: the usual case, and the fast one."""
    try:
        return list(map(float, cells))
    except ValueError:
        return None
