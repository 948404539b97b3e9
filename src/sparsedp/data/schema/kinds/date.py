"""Dates, and the parts of them that a model may use."""

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.labels import as_number
from sparsedp.data.gate.table import check_type
from sparsedp.data.raw import Cells
from sparsedp.data.schema.kinds.cells import Remembered, kernel, number_read, says_nothing
from sparsedp.data.schema.kinds.checks import checked_date, checked_source, checked_texts
from sparsedp.data.schema.kinds.cyclic import circle
from sparsedp.data.schema.kinds.kind import INDICATOR, Column, Mask, Writer, indicator
from sparsedp.data.storage import Array

PARTS = {"days": 1, "year": 1, "month": 12, "weekday": 7, "day_of_year": 2}
"""Parts of a date, with the number of columns of each."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAYS_PER_YEAR = 365.25

EPOCH = date(1970, 1, 1).toordinal()
FIRST, LAST = date.min.toordinal() - EPOCH, date.max.toordinal() - EPOCH

FORMAT = re.compile(r"([^%]|%[YmdHMSyjbBaApIfzZ%]){1,64}")
DIGITS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2, "%j": 3, "%y": 2}
"""Directives of a fixed number of digits."""


@dataclass(frozen=True, kw_only=True)
class Date:
    """A date, by its parts.

    Parameters
    ----------
    parts : sequence of str
        "days" since the lower limit and "year" are numbers; "month" (12) and "weekday" (7) are
        columns of zeros and ones; "day_of_year" is a point on a circle, two columns.
    lower, upper : date, optional
        Needed for days and year, which are clipped to them.
    format : str, optional
        How text cells write a date, as for ``strptime``: "%d.%m.%Y". By default as in ISO 8601,
        whose long form (2020-12-31) is always read where `format` does not fit.
        A time of day may be there and is not looked at.
    missing : "indicator" or a date, optional
    source : str, optional
        Where the declaration comes from (a code book, a law), for whoever must approve the model.
    """

    parts: tuple[str, ...] = ("days",)
    lower: date | None = None
    upper: date | None = None
    format: str | None = None
    missing: date | str | None = None
    kind: str = "date"
    source: str | None = None

    def __post_init__(self) -> None:
        checked_source(self.source)
        object.__setattr__(self, "parts", checked_texts(self.parts, "parts"))
        if (
            not self.parts
            or len(set(self.parts)) != len(self.parts)
            or not set(self.parts) <= set(PARTS)
        ):
            raise ValueError(f"parts must list some of {', '.join(PARTS)}, each once")
        for name in ("lower", "upper"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_date(getattr(self, name), name))
        if self.missing is not None and self.missing != INDICATOR:
            object.__setattr__(self, "missing", checked_date(self.missing, "missing"))
        if self.kind != "date":
            raise ValueError('kind must be "date"')
        if self.format is not None:
            self._check_format(self.format)
        if {"days", "year"} & set(self.parts):
            lower, upper = self.limits
            if not lower < upper or ("year" in self.parts and lower.year == upper.year):
                raise ValueError("lower must be before upper, for the part year in an earlier year")

    def _check_format(self, text: str) -> None:
        try:
            if not isinstance(text, str) or not FORMAT.fullmatch(text):
                raise ValueError(text)
            sample = datetime(2021, 11, 22, 13, 14, 15).strftime(text)
            datetime.strptime(sample, text)
        except (TypeError, ValueError, re.error):  # strptime makes a pattern of it
            raise ValueError('format must be as for strptime, e.g. "%d.%m.%Y"') from None
        if as_number(sample) is not None and self._n_digits is None:
            raise ValueError("format must not look like a number: programs would read it as one")

    @property
    def limits(self) -> tuple[date, date]:
        """Of days and years."""
        if self.lower is None or self.upper is None:
            raise ValueError("needs lower and upper as dates, known without looking at the records")
        return self.lower, self.upper

    @cached_property
    def _n_digits(self) -> int | None:
        """Length of a date that is written in digits alone; None if it is not."""
        if self.format is None:
            return 8
        pieces = [self.format[i : i + 2] for i in range(0, len(self.format), 2)]
        return sum(DIGITS[p] for p in pieces) if set(pieces) <= set(DIGITS) else None

    @property
    def holds_dates(self) -> bool:
        """Typed columns of dates are read as they are."""
        return True

    @property
    def expects(self) -> str:
        """For messages."""
        return 'dates: say how they are written by format, e.g. "%d.%m.%Y"'

    @property
    def width(self) -> int:
        """Columns of all parts."""
        return sum(PARTS[part] for part in self.parts)

    def columns(self, name: str) -> tuple[Column, ...]:
        """Columns of all parts, in their order."""
        return tuple(column for part in self.parts for column in self._part(name, part))

    def _part(self, name: str, part: str) -> list[Column]:
        if part == "month":
            return [indicator(f"{name} month={month}") for month in range(1, 13)]
        if part == "weekday":
            return [indicator(f"{name} weekday={day}") for day in WEEKDAYS]
        if part == "day_of_year":
            return [Column(f"{name} {f} of year", -1.0, 1.0) for f in ("sine", "cosine")]
        first, last = self.limits
        if part == "year":
            low, high = float(first.year), float(last.year)
        else:
            low, high = 0.0, float((last - first).days)
        return [Column(f"{name} {part}", low, high, neutral=low + (high - low) / 2)]

    def writer(self) -> Writer:
        """Reads cells as dates, by themselves."""
        remembered = Remembered(self._from_text)

        def write(cells: Cells, out: Array) -> Mask:
            days = self._days(cells, remembered)
            gaps = np.isnan(days)
            days[gaps] = 0.0
            self._expand(days.astype(np.int64), out)
            return gaps

        return write

    def filled(self) -> Array | None:
        """The row of the date that stands for a missing cell."""
        if not isinstance(self.missing, date):
            return None
        out = np.empty((1, self.width))
        self._expand(np.array([self.missing.toordinal() - EPOCH]), out)
        return out.reshape(-1)

    def _days(self, cells: Cells, remembered: Remembered) -> Array:
        """Days since 1970 of each cell; NaN where there is no date."""
        if not isinstance(cells, np.ndarray):
            return remembered.of(cells, self._from_cell)
        if cells.dtype.kind == "M":
            return _typed_days(cells)
        check_type(cells.dtype, "the column")
        distinct, positions = np.unique(cells, return_inverse=True)
        return np.array([self._from_cell(cell) for cell in distinct.tolist()])[positions]

    def _from_cell(self, cell: object) -> float:
        if isinstance(cell, bytes):
            cell = cell.decode(errors="replace")
        if says_nothing(cell):
            return math.nan
        if isinstance(cell, str):
            return self._from_text(cell)
        if isinstance(cell, np.datetime64):
            return float(_typed_days(np.array([cell]))[0])
        if isinstance(cell, date):  # a datetime with its own clock, whatever its zone
            return float(cell.toordinal() - EPOCH)
        return self._parsed(self._digits(cell) or "")

    def _from_text(self, text: str) -> float:
        text = text.strip()
        return self._parsed(self._digits(text) or text)

    def _digits(self, cell: object) -> str | None:
        """A whole number as a date in digits; None if it is none, or dates are written otherwise.

        A program may have read 20201231 as a number, and 01122020 as one without its zero.
        """
        number = None if self._n_digits is None else number_read(cell)
        if self._n_digits is None or not isinstance(number, int):
            return None
        return str(number).zfill(self._n_digits) if 0 <= number < 10**self._n_digits else None

    def _parsed(self, text: str) -> float:
        for read in (self._as_declared, _as_iso):
            try:
                return float(read(text).toordinal() - EPOCH)
            except (ValueError, OverflowError):
                continue
        return math.nan

    def _as_declared(self, text: str) -> datetime:
        if self.format is None:
            return datetime.fromisoformat(text)
        return datetime.strptime(text, self.format)

    def _expand(self, days: NDArray[np.int64], out: Array) -> None:
        dates = days.astype("datetime64[D]")
        calendar = {"year", "month"} & set(self.parts)
        months = dates.astype("datetime64[M]").astype(np.int64) if calendar else days
        slot = 0
        for part in self.parts:
            here = out[:, slot : slot + PARTS[part]]
            slot += PARTS[part]
            if part == "days":
                first, last = self.limits
                since = days - (first.toordinal() - EPOCH)
                here[:, 0] = np.clip(since, 0, (last - first).days)
            elif part == "year":
                first, last = self.limits
                here[:, 0] = np.clip(months // 12 + 1970, first.year, last.year)
            elif part == "day_of_year":
                start = dates.astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)
                circle((days - start).astype(np.float64), DAYS_PER_YEAR, here)
            else:
                # 1970-01-01 was a Thursday.
                codes = months % 12 if part == "month" else (days + 3) % 7
                kernel.one_hot(codes.astype(np.float64), np.arange(PARTS[part]), here)


def _as_iso(text: str) -> datetime:
    """What programs write for a typed date where another cell of the column is text."""
    if "-" not in text:
        raise ValueError("not the long form")
    return datetime.fromisoformat(text)


def _typed_days(cells: NDArray[np.datetime64]) -> Array:
    if np.datetime_data(cells.dtype)[0] == "generic":
        raise ValueError("has dates without a unit: convert them to text or to datetime64[D]")
    days = cells.astype("datetime64[D]").astype(np.int64)
    wrong = np.isnat(cells) | (days < FIRST) | (days > LAST)
    return np.where(wrong, np.nan, days.astype(np.float64))
