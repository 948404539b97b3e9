"""Loops over raw cells in Python: oracle and fallback of ``cells``.

Cells that a loop cannot read are marked in ``left``, for the longer way that reads any cell; a loop
must give what that way gives, to the last bit. What a cell becomes is a function of this cell.
"""

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Marks = NDArray[np.uint8]

MOST = 2**53
"""Whole numbers up to here are doubles, and so are the powers of ten below 10^23."""

LONGEST = 18


def numbers(
    cells: list[object], out: Array, left: Marks, decimal: str, thousands: str, floats: bool
) -> None:
    """Numbers of texts in plain digits, as they are; NaN of None and of blanks.

    Parameters
    ----------
    cells : list
    out, left : arrays of shape (n,)
    decimal, thousands : str
        One ASCII character each; thousands may be empty.
    floats : bool
        Whether cells that are floats are numbers.
    """
    mark, point = re.escape(thousands), re.escape(decimal)
    grouped = rf"[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|" if thousands else ""
    pattern = re.compile(rf" *([+-]?)({grouped}[0-9]*)(?:{point}([0-9]*))? *")
    for i, cell in enumerate(cells):
        left[i] = 0
        match = pattern.fullmatch(cell) if type(cell) is str else None
        if cell is None or (type(cell) is str and not cell.strip(" ")):
            out[i] = math.nan
        elif type(cell) is float and floats:
            out[i] = cell
        elif match is None:
            left[i] = 1
        else:
            rest = match[3] or ""
            digits = match[2].replace(thousands or " ", "") + rest
            left[i] = not digits or len(digits) > LONGEST or int(digits) > MOST
            if not left[i]:
                value = int(digits) / 10.0 ** len(rest)
                out[i] = -value if match[1] == "-" else value


def seen(cells: list[object], table: Mapping[str, float], out: Array, left: Marks) -> None:
    """Values of texts that the table has; NaN of None and of NaN."""
    for i, cell in enumerate(cells):
        found = table.get(cell) if type(cell) is str else None
        gap = cell is None or (type(cell) is float and cell != cell)
        left[i] = found is None and not gap
        out[i] = math.nan if found is None else found


PLAIN = re.compile(r"[a-df-ik-zA-DF-IK-Z]")
"""A letter that no number has."""

WORD = re.compile(r"\w+", re.ASCII)
SHORTEST, LONGEST_WORD = 6, 256


def count_words(cells: list[object], slots: Mapping[str, int], counts: Array, left: Marks) -> None:
    """Add one to the column of each word of plain ASCII texts, in lower case.

    Plain are texts that can be neither a number nor a word for a missing cell or a truth value.
    """
    for i, cell in enumerate(cells):
        left[i] = 1
        if type(cell) is not str or not cell.isascii():
            continue
        if len(cell.strip()) < SHORTEST or not PLAIN.search(cell):
            continue
        words = WORD.findall(cell.lower())
        if all(len(word) < LONGEST_WORD for word in words):
            left[i] = 0
            for word in words:
                counts[i, slots[word]] += 1


def one_hot(codes: Array, slots: NDArray[np.int64], out: Array) -> None:
    """A one in the column of each code, if it has one, and zeros elsewhere."""
    out[:] = 0.0
    columns = slots[codes.astype(np.int64)]
    rows = np.flatnonzero(columns >= 0)
    out[rows, columns[rows]] = 1.0


def circle(values: Array, period: float, out: Array) -> None:
    """Sine and cosine of finite numbers, one at a time."""
    turn = 2 * math.pi
    for i, value in enumerate(values.tolist()):
        angle = turn * (math.fmod(value, period) / period)
        out[i, 0], out[i, 1] = math.sin(angle), math.cos(angle)


def log1p(values: Array, out: Array) -> None:
    """Logarithms of numbers above -1, plus one, one at a time."""
    for i, value in enumerate(values.tolist()):
        out[i] = math.log1p(value)
