"""How numbers are written: decimal comma, thousands, percent, currency, parentheses."""

import math
import re
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import cached_property

import numpy as np

from sparsedp.data.gate.cells import TRUTH, number
from sparsedp.data.gate.table import check_type
from sparsedp.data.raw import Cells
from sparsedp.data.schema.kinds.cells import Remembered, kernel, says_nothing
from sparsedp.data.schema.kinds.checks import checked_flag, checked_texts
from sparsedp.data.storage import Array

BLANKS = " \u00a0\u2009\u202f"
"""Blank, no-break space, thin space, narrow no-break space."""

APOSTROPHES = "'’"
FLOATS = (float, np.floating, Decimal)
DOUBTED = (
    'holds floats, and "." is not declared as the decimal point: a program that reads 1.234 as a '
    "fraction would have changed the numbers. Read the column as text, or declare typed = true if "
    "its floats are right"
)
NUMERIC = frozenset("0123456789.,+-eE_ ")
SIGNS = {"+": 1.0, "-": -1.0, "−": -1.0}


@dataclass(frozen=True, kw_only=True)
class Writing:
    """How text cells write numbers; cells that are numbers already are taken as they are.

    Parameters
    ----------
    decimal : {".", ","}
        By default a point.
    thousands : str
        What stands between groups of three digits: ".", ",", " ", "'", "_", or nothing.
    currency : str or sequence of str
        Symbols that may stand before or after a number, e.g. "€".
    percent : bool
        Whether a number may end in %, which divides it by 100.
    parentheses : bool
        Whether (5) is minus five.
    typed : bool
        Whether floats are right where "." is no decimal point. By default they are refused: a
        program that does not know how numbers are written reads 1.234 as a fraction, unless some
        cell of the column is no number.
    """

    decimal: str | None = None
    thousands: str | None = None
    currency: tuple[str, ...] | None = None
    percent: bool | None = None
    parentheses: bool | None = None
    typed: bool | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError('decimal must be "." or ","')
        if self.thousands is not None and (
            not isinstance(self.thousands, str) or self.thousands not in ("", *".,'_", *BLANKS)
        ):
            raise ValueError('thousands must be ".", ",", " ", "\'", "_" or "" for none')
        if self.currency is not None:
            symbols = tuple(filter(None, checked_texts(self.currency, "currency")))
            object.__setattr__(self, "currency", symbols)
            if any(NUMERIC.issuperset(symbol) for symbol in symbols):
                raise ValueError("currency must not be part of a number, such as a digit")
        for name in ("percent", "parentheses", "typed"):
            if getattr(self, name) is not None:
                checked_flag(getattr(self, name), name)
        if (self.decimal or ".") == self.thousands and self.decimal is not None:
            raise ValueError("decimal and thousands must differ")

    def or_else(self, other: "Writing") -> "Writing":
        """The same, and what it leaves open as another says."""
        said = {key: value for key, value in vars(self).items() if value is not None}
        return replace(other, **{key: said[key] for key in said if key in FIELDS})

    @cached_property
    def _body(self) -> re.Pattern[str]:
        mark, point = self.thousands or "", self.decimal or "."
        groups = {" ": BLANKS, "'": APOSTROPHES}.get(mark, mark)
        grouped = rf"[0-9]{{1,3}}(?:[{re.escape(groups)}][0-9]{{3}})+|" if groups else ""
        return re.compile(rf"({grouped}[0-9]+)?(?:{re.escape(point)}([0-9]*))?([eE][+-]?[0-9]+)?")

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as Python writes them."""
        return self == PLAIN

    @property
    def doubts_floats(self) -> bool:
        """Whether a float may have been another number in the file that it comes from."""
        return (self.thousands == "." or self.decimal == ",") and not self.typed

    def number(self, cell: object) -> float:
        """A cell as a number; NaN if it is none, or missing."""
        if isinstance(cell, bytes):
            cell = cell.decode(errors="replace")
        if not isinstance(cell, str):
            found = None if self.doubts_floats and isinstance(cell, FLOATS) else number(cell)
            return math.nan if found is None else found
        return self._plain(cell) if self.is_plain else self._written(cell)

    def numbers(self, cells: Cells, remembered: Remembered) -> Array:
        """A column as float64, each cell by itself.

        `remembered` is one of `remember`, for this column.
        """
        if isinstance(cells, np.ndarray):
            check_type(cells.dtype, "the column")
            if self.doubts_floats and cells.dtype.kind == "f":
                raise ValueError(DOUBTED)
            with np.errstate(over="ignore"):  # extended precision may overflow to infinity
                return cells.astype(np.float64)
        out, left = np.empty(len(cells)), np.empty(len(cells), dtype=np.uint8)
        mark = self.thousands if self.thousands in (".", ",") else ""
        kernel.numbers(cells, out, left, self.decimal or ".", mark, not self.doubts_floats)
        remembered.read_left(cells, out, left, self.number)
        return out

    def remember(self) -> Remembered:
        """Numbers of texts that repeat."""
        return Remembered(self._plain if self.is_plain else self._written)

    @staticmethod
    def _plain(text: str) -> float:
        if says_nothing(text):
            return math.nan
        try:
            return float(text)
        except ValueError:
            found = number(text)
            return math.nan if found is None else found

    def _written(self, text: str) -> float:
        text = text.strip()
        truth = TRUTH.get(text.lower())
        if truth is not None:
            return float(truth)
        sign, text = self._sign(text)
        divisor = 1.0
        if self.percent and text.endswith("%"):
            divisor, text = 100.0, text[:-1].rstrip()
        match = self._body.fullmatch(text)
        if match is None or not (match[1] or match[2]):
            return math.nan
        whole = "".join(filter(str.isdigit, match[1] or "0"))
        return sign * float(f"{whole}.{match[2] or '0'}{match[3] or ''}") / divisor

    def _sign(self, text: str) -> tuple[float, str]:
        """The sign, and what is left without it, without a currency and without parentheses."""
        signs: list[float] = []
        if self.parentheses and text.startswith("(") and text.endswith(")"):
            signs, text = [-1.0], text[1:-1].strip()
        symbols = self.currency or ()
        while True:
            first = text[:1]
            symbol = next((s for s in symbols if text.startswith(s) or text.endswith(s)), None)
            if first in SIGNS and not signs:
                signs, text = [SIGNS[first]], text[1:].lstrip()
            elif symbol is not None:
                symbols = ()
                front = text.startswith(symbol)
                text = (text.removeprefix if front else text.removesuffix)(symbol).strip()
            else:
                return (signs or [1.0])[0], text


PLAIN = Writing(
    decimal=".", thousands="", currency=(), percent=False, parentheses=False, typed=False
)
"""As Python writes numbers."""

FIELDS = tuple(field.name for field in fields(Writing))
