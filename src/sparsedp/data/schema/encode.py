"""From a table to bounded columns, some records at a time, straight into the result."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.gate.cells import Invalid
from sparsedp.data.raw import Cells
from sparsedp.data.schema.frame import Coded, Frame
from sparsedp.data.schema.kinds.cells import says_nothing
from sparsedp.data.schema.kinds.kind import INDICATOR, Column, Kind, Mask, Writer, indicator
from sparsedp.data.storage import Array

ROWS = 1 << 13
"""Records at a time: their columns stay in the processor's cache."""

CELLS = 1 << 22
"""Cells at a time: a schema may declare a million columns in a line."""

MOST_ENTRIES = 1 << 20
"""Of a table of what different cells become."""

REPLACE = 'or pass invalid="replace" (--invalid replace), which puts a public value in its place'


@dataclass(frozen=True, eq=False)
class Part:
    """A raw column, and where its bounded columns stand in the result.

    Parameters
    ----------
    name : str
        Of the raw column.
    kind : Kind
        With all defaults filled in.
    first : int
        Position of its first column in the result.
    zero_is_neutral : bool
        Whether zero stands for what has no value, as with a row norm.
    """

    name: str
    kind: Kind
    first: int
    zero_is_neutral: bool

    @property
    def has_indicator(self) -> bool:
        """Whether missing cells have a column of their own, after the others."""
        return isinstance(self.kind.missing, str) and self.kind.missing == INDICATOR

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.kind.width + self.has_indicator

    @property
    def columns(self) -> tuple[Column, ...]:
        """The bounded columns."""
        own = self.kind.columns(self.name)
        return (*own, indicator(f"{self.name} missing")) if self.has_indicator else own

    @property
    def admits_missing(self) -> bool:
        """Whether a missing cell is as valid as any other."""
        return self.kind.missing is not None or self.kind.kind == "text"

    def is_among(self, slots: Collection[int]) -> bool:
        """Whether some of these columns are its own."""
        return any(self.first <= slot < self.first + self.width for slot in slots)

    def fill(self) -> Array:
        """The public row of a cell without a value."""
        filled = self.kind.filled()
        if filled is None:
            neutral = [column.neutral for column in self.kind.columns(self.name)]
            filled = np.array([0.0] * len(neutral) if self.zero_is_neutral else neutral)
        return np.append(filled, 1.0) if self.has_indicator else filled


@dataclass(frozen=True, eq=False)
class Reading:
    """A part while a table is read.

    Parameters
    ----------
    part, writer, fill, invalid
    coded : Coded or None
        The column by its different cells.
    rows : ndarray of shape (n_distinct, width) or None
        What each of these becomes.
    """

    part: Part
    writer: Writer
    fill: Array
    invalid: Invalid
    coded: Coded | None = None
    rows: Array | None = None

    @classmethod
    def of(cls, part: Part, invalid: Invalid, coded: Coded | None = None) -> "Reading":
        """Begin with a new table."""
        plain = cls(part, part.kind.writer(), part.fill(), invalid)
        if coded is None or len(coded.distinct) * part.width > MOST_ENTRIES:
            return plain
        rows = np.empty((len(coded.distinct), part.width))
        # None is there whether a cell is missing or not: what is wrong with one is for its record.
        replace(plain, invalid="replace").write(coded.distinct, rows)
        if invalid == "raise":
            used = np.flatnonzero(np.bincount(coded.codes)).tolist()
            plain.write([coded.distinct[code] for code in used], np.empty((len(used), part.width)))
        return replace(plain, coded=coded, rows=rows)

    def write_records(self, frame: Frame, start: int, stop: int, out: Array) -> None:
        """Write the columns of some records of a table."""
        if self.coded is not None and self.rows is not None:
            out[:] = self.rows[self.coded.codes[start:stop]]
            return
        part = self.part
        cells = frame.block(part.name, start, stop, dates=part.kind.holds_dates)
        if len(cells) != len(out):
            raise ValueError("The columns of the table differ in length.")
        self.write(cells, out)

    def write(self, cells: Cells, out: Array) -> None:
        """Write the columns of these cells; a cell without a value raises or is a public row."""
        gaps = self.gaps(cells, out[:, : self.part.kind.width])
        if self.part.has_indicator:
            out[:, -1] = 0.0
        if gaps.any():
            if self.invalid == "raise":
                self._refuse(cells, gaps)
            out[gaps] = self.fill

    def gaps(self, cells: Cells, out: Array) -> Mask:
        """Write what has a value, and say where none is."""
        try:
            return self.writer(cells, out)
        except ValueError as error:
            problem = str(error)  # about a type
        raise ValueError(f"column {self.part.name!r}: {problem}")

    def _refuse(self, cells: Cells, gaps: Mask) -> None:
        empty = missing_among(cells, gaps)
        name, kind = self.part.name, self.part.kind
        if len(empty) and not empty.all():
            raise ValueError(
                f"column {name!r} has cells that are not {kind.expects}; repair them, {REPLACE}."
            )
        if not self.part.admits_missing:
            raise ValueError(
                f'column {name!r} has missing cells: declare missing = "indicator" or missing = a '
                f"value for it, {REPLACE}. (A value that is computed from the records, such as "
                "their mean, would not be private.)"
            )


def missing_among(cells: Cells, gaps: Mask) -> Mask:
    """Which of the cells without a value are missing; the others say something else."""
    where = np.flatnonzero(gaps)
    if isinstance(cells, np.ndarray):
        found = cells[where]
        return np.isnat(found) if found.dtype.kind == "M" else found != found
    return np.array([says_nothing(cells[i]) for i in where.tolist()], dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Product:
    """The products of all columns of two raw columns, each on a scale from 0 to 1.

    Parameters
    ----------
    left, right : slice
        Where the columns stand in the result.
    first : int
        Position of the first product.
    lower, width : ndarray of shape (n_columns,)
        Of all columns of the result: limits and their differences.
    """

    left: slice
    right: slice
    first: int
    lower: Array
    width: Array

    @property
    def needs(self) -> list[int]:
        """The columns that are multiplied."""
        return [j for which in (self.left, self.right) for j in range(which.start, which.stop)]

    def is_among(self, slots: Collection[int]) -> bool:
        """Whether some of these columns are products of it."""
        n_left, n_right = (which.stop - which.start for which in (self.left, self.right))
        return any(self.first <= slot < self.first + n_left * n_right for slot in slots)

    def write(self, out: Array) -> None:
        """Multiply the columns of some records."""
        a, b = self._unit(out, self.left), self._unit(out, self.right)
        products = a[:, :, None] * b[:, None, :]
        n_products = a.shape[1] * b.shape[1]
        out[:, self.first : self.first + n_products] = products.reshape(len(out), n_products)

    def _unit(self, out: Array, which: slice) -> Array:
        """(x - lower) / (upper - lower): rounding is monotone, so it lies in [0, 1]."""
        return (out[:, which] - self.lower[which]) / self.width[which]


def rows_at_once(n_columns: int) -> int:
    """How many records are encoded at a time."""
    return max(1, min(ROWS, CELLS // n_columns))


def encoded(
    frame: Frame,
    parts: Sequence[Part],
    products: Sequence[Product],
    n_columns: int,
    invalid: Invalid,
    wanted: Sequence[int] | None = None,
) -> Array:
    """The bounded columns of a table: row i is a function of record i and of the schema.

    With `wanted` only these columns, side by side in memory as NumPy picks columns from an array;
    `parts` and `products` are those that they need.
    """
    n = frame.n_rows
    readings = [Reading.of(part, invalid, frame.coded(part.name)) for part in parts]
    if wanted is None:
        result = np.empty((n, n_columns))
    else:
        result = np.empty((n, len(wanted)), order="F")
    step = rows_at_once(n_columns)
    for start in range(0, n, step):
        stop = min(start + step, n)
        block = result[start:stop] if wanted is None else np.zeros((stop - start, n_columns))
        for reading in readings:
            first = reading.part.first
            place = block[:, first : first + reading.part.width]
            reading.write_records(frame, start, stop, place)
        for product in products:
            product.write(block)
        if wanted is not None:
            result[start:stop] = block[:, wanted]
    return result
