"""Single cells of a table: what counts as a number. See gate.md.

Nothing here looks at more than one cell, so that no value can change how another is read.
"""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Literal

import numpy as np

from sparsedp.data.storage import Array

Invalid = Literal["raise", "replace"]
"""What becomes of a malformed record: an error, or a public value in its place."""

PYTHON_NUMBERS = frozenset([float, int, bool])
"""Types whose cells NumPy converts exactly as float() does."""

TRUTH = {"true": "1", "false": "0", "0j": "0"}
"""What containers and files write for some numbers where another cell is text or complex."""


class NotNumbers(TypeError, ValueError):
    """Cells that are no numbers where numbers are needed; names the column, never the cell."""


def number(cell: object) -> float | None:
    """A cell as a number: NaN if it is missing, None if it is no number.

    Numbers are real numbers of any type and text that Python reads as one; what is too large is
    infinite. Dates, complex numbers off the real line, containers and other text are none. Because
    of one cell a container may write all numbers as text, all text as bytes or all numbers as
    complex ones: they are still the same numbers.
    """
    if is_missing(cell):
        return np.nan
    if isinstance(cell, complex | np.complexfloating) and cell.imag == 0:
        cell = cell.real
    if not isinstance(cell, Real | Decimal | np.bool_ | str | bytes):
        return None
    try:
        if isinstance(cell, bytes):
            cell = cell.decode()
        if isinstance(cell, str):
            cell = plain_text(cell)
        with np.errstate(all="ignore"):  # extended precision may overflow to infinity
            return float(cell)
    except OverflowError:
        return np.inf if cell > 0 else -np.inf  # pyrefly: ignore[unsupported-operation]
    except Exception:
        return None  # text, or a type whose conversion fails in its own way


def plain_text(text: str) -> str:
    """A number in the usual form where a container wrote it in another, as for booleans."""
    text = text.strip()
    return text[1:-4] if text.endswith("+0j)") else TRUTH.get(text.lower(), text)


def is_missing(cell: object) -> bool:
    """Whether a cell says that there is no value: None, and what pandas writes for it."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def floats(cells: Sequence[object]) -> tuple[Array, bool]:
    """All cells as float64, each by itself; also whether some are no numbers, which are NaN."""
    values = np.empty(len(cells))
    if PYTHON_NUMBERS.issuperset(map(type, cells)):
        try:
            values[:] = np.fromiter(cells, np.float64, len(cells))  # float() of each
            return values, False
        except OverflowError:
            pass  # an integer beyond all floats
    found = [number(cell) for cell in cells]
    values[:] = [np.nan if value is None else value for value in found]
    return values, None in found
