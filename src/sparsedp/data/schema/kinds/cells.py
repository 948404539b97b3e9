"""Single raw cells: which say that there is no value, and texts that repeat.

Nothing here looks at more than one cell.
"""

import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real

import numpy as np

from sparsedp.data.gate.cells import is_missing
from sparsedp.data.gate.labels import as_number
from sparsedp.data.storage import Array

MISSING = frozenset(["", "na", "n/a", "<na>", "nan", "-nan", "nat", "null", "none", "?"])
"""Text that says that a cell is empty, in capitals or not, unless it is a declared category."""

MOST_TEXTS = 1 << 14
"""Texts that are remembered per column; what one becomes does not depend on whether it was."""


def says_nothing(cell: object) -> bool:
    """Whether a cell is missing: None, NaN and what containers and files write for it."""
    if is_missing(cell):
        return True
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return bool(np.isnat(cell))
    if isinstance(cell, Decimal):
        return cell.is_nan()
    return isinstance(cell, Real | np.complexfloating | complex) and bool(cell != cell)


def number_read(cell: object) -> int | float | None:
    """The number that a cell is or reads as, an int where it is whole; None if there is none."""
    try:
        return as_number(cell.item() if isinstance(cell, np.generic) else cell)
    except Exception:
        return None  # a type whose conversion fails in its own way


def normalized(text: str, *, fold_case: bool = False) -> str:
    """A text without what editors and keyboards add: composed (NFC), no blanks around."""
    text = unicodedata.normalize("NFC", text).strip()
    return unicodedata.normalize("NFC", text.casefold()) if fold_case else text


class Remembered(dict[str, float]):
    """A function of a text, computed once for a text that repeats.

    Only texts are remembered: 1, 1.0 and True would be the same key. What is remembered goes with
    the object, which is made for one pass over one column.
    """

    def __init__(self, function: Callable[[str], float]) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, text: str) -> float:
        value = self.function(text)
        if len(self) < MOST_TEXTS:
            self[text] = value
        return value

    def of(self, cells: Sequence[object], other: Callable[[object], float]) -> Array:
        """The function's values, and `other`'s for cells that are no plain text."""
        if {str}.issuperset(map(type, cells)):
            return np.fromiter(map(self.__getitem__, cells), np.float64, len(cells))  # pyrefly: ignore
        found = [self[cell] if type(cell) is str else other(cell) for cell in cells]
        return np.array(found, dtype=np.float64)
