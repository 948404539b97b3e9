"""Single raw cells: which say that there is no value, and texts that repeat.

Nothing here looks at more than one cell.
"""

import unicodedata
from collections.abc import Callable
from decimal import Decimal
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from sparsedp._kernels.schema import COMPILED
from sparsedp.data.gate.cells import is_missing
from sparsedp.data.gate.labels import as_number
from sparsedp.data.storage import Array

if COMPILED:
    from sparsedp._kernels.schema import cells as kernel
else:
    from sparsedp._kernels.schema import cells_reference as kernel

Marks = NDArray[np.uint8]

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


LONGEST = 256
"""Characters that are composed at once: marks are put in order in time quadratic in their number,
and a single cell of them would take hours."""


def normalized(text: str, *, fold_case: bool = False) -> str:
    """A text without what editors and keyboards add: composed (NFC), no blanks around.

    A text of more than `LONGEST` characters stays as it is, but for the blanks.
    """
    text = text.strip()
    if len(text) > LONGEST:
        return text
    text = unicodedata.normalize("NFC", text).strip()
    return unicodedata.normalize("NFC", text.casefold()) if fold_case else text


class Remembered:
    """A function of a text, computed once for a text that repeats.

    Only texts are remembered: 1, 1.0 and True would be the same key. What is remembered goes with
    the object, which is made for one pass over one column.
    """

    def __init__(self, function: Callable[[str], float]) -> None:
        self._function = function
        self._table: dict[str, float] = {}

    def of(self, cells: list[object], other: Callable[[object], float]) -> Array:
        """The function's values, NaN of None and NaN, and `other`'s for cells that are no text."""
        out, left = np.empty(len(cells)), np.empty(len(cells), dtype=np.uint8)
        kernel.seen(cells, self._table, out, left)
        self.read_left(cells, out, left, other)
        return out

    def read_left(
        self, cells: list[object], out: Array, left: Marks, other: Callable[[object], float]
    ) -> None:
        """The longer way, for cells that are marked."""
        table = self._table
        for i in np.flatnonzero(left).tolist():
            cell = cells[i]
            if type(cell) is not str:
                out[i] = other(cell)
                continue
            value = table.get(cell)
            if value is None:
                value = self._function(cell)
                if len(table) < MOST_TEXTS:
                    table[cell] = value
            out[i] = value
