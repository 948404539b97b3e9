"""Whose row is it? Ids of persons, cell by cell and exactly. See persons.md.

An id is a whole number or a text. What containers make of one id because of another's cell (1, 1.0,
True, "1", "1.0", b"1") is still one id; nothing else is: "007" and "7" are two.
"""

import math
import re
from collections.abc import Hashable, Iterable
from decimal import Decimal
from numbers import Rational, Real
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.cells import Invalid, is_missing
from sparsedp.data.gate.containers import cells_of, unwrapped
from sparsedp.data.gate.labels import EXACT_BITS
from sparsedp.data.gate.table import check_type, sizes
from sparsedp.data.raw import RawArray, RawColumn

NOBODY = -1
"""The code of a row without an id."""

WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0)?")
"""How containers write a whole number. Text such as "007" or "1e5" is an id of its own: read as
numbers, the ids of two persons (hexadecimal ones, say) might become one."""

NO_ID = frozenset(
    ["", "na", "n/a", "<na>", "nan", "-nan", "nat", "null", "none", "?", "inf", "-inf"]
)
"""What containers and files write where there is no id, in small letters: all who have none would
otherwise be one person."""


class VagueIds(ValueError):
    """Floats so large that each may have been several ids."""


def person_codes(groups: RawColumn, invalid: Invalid) -> NDArray[np.int64]:
    """A code for each row, equal where ids are; `NOBODY` where there is none.

    Raises
    ------
    ValueError
        For a missing or malformed id with ``invalid="raise"``; for ids that were turned into floats
        too large to be told apart always, as everybody's may have been by one missing cell.
    """
    codes, _ = person_keys(groups, invalid)
    return codes


def person_keys(groups: RawColumn, invalid: Invalid) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Codes as `person_codes` has them, and for each code the id that it stands for."""
    groups = unwrapped(groups)
    if len(sizes(groups)) != 1:
        raise ValueError("groups should be a 1d array with one id per row: pass groups.ravel().")
    try:
        cells = cells_of(groups)
    except ValueError as error:
        problem = str(error)  # about a type
    else:
        codes, keys = _typed(cells) if isinstance(cells, np.ndarray) else _coded(cells)
        if invalid == "raise" and (codes == NOBODY).any():
            raise ValueError(
                "groups contains ids that are missing or neither whole numbers nor text: repair "
                'these rows, or pass invalid="replace" (--invalid replace), which leaves them out.'
            )
        return codes, keys
    raise ValueError(f"groups {problem}")


def _typed(cells: RawArray) -> tuple[NDArray[np.int64], list[Hashable]]:
    check_type(cells.dtype, "groups")
    values, places = np.unique(cells, return_inverse=True)
    few, keys = _coded(values.tolist(), _exact_up_to(cells.dtype))
    return few[places.reshape(-1)], keys


def _exact_up_to(dtype: np.dtype[Any]) -> int:
    """From where on cells of this type may have been several whole numbers."""
    bits = EXACT_BITS if dtype.kind != "f" else int(np.finfo(dtype).nmant) + 1
    return 1 << min(bits, EXACT_BITS)


def _coded(
    cells: Iterable[object], most: int = 2**EXACT_BITS
) -> tuple[NDArray[np.int64], list[Hashable]]:
    """Codes in the order in which ids come first."""
    known: dict[Hashable, int] = {}
    texts: dict[str, int] = {}  # texts as they are written, so that each is read once

    def code(cell: object) -> int:
        if type(cell) is str and cell in texts:
            return texts[cell]
        key = id_of(cell, most)
        found = NOBODY if key is None else known.setdefault(key, len(known))
        if type(cell) is str:
            texts[cell] = found
        return found

    codes = np.fromiter(map(code, cells), np.int64)
    return codes, list(known)


def id_of(cell: object, most: int = 2**EXACT_BITS) -> int | float | str | bytes | None:
    """The id that a cell holds; None if it is missing or cannot be one.

    Parameters
    ----------
    cell : object
    most : int
        From here on a float may have been several whole numbers.
    """
    if isinstance(cell, np.generic):
        cell = cell.item()
    if is_missing(cell):
        return None
    if isinstance(cell, bytes):
        try:
            cell = cell.decode()  # Arrow turns all text into bytes because of one cell
        except UnicodeDecodeError:
            return cell
    if isinstance(cell, UUID):
        return str(cell)
    if isinstance(cell, str):
        text = cell.strip()  # but bytes that are a packed number may differ in nothing else
        return _read(text if text.isprintable() else cell, most)
    if isinstance(cell, complex) and cell.imag == 0:
        cell = cell.real
    if isinstance(cell, int):
        return int(cell)
    return _number(cell, most)


def _read(text: str, most: int) -> int | float | str | None:
    if text.lower() in NO_ID:
        return None
    whole = WHOLE.fullmatch(text)
    if whole and len(text) >= 1000:
        return text
    if whole:  # with a point it was a float, and may have been several ids
        return int(text) if whole[1] == text else _number(float(text), most)
    if text in ("True", "False"):
        return int(text == "True")
    try:
        number = float(text)
    except ValueError:
        return text
    # What Python and NumPy write for a float, and nothing else that reads as one.
    return _number(number, most) if repr(number) == text and math.isfinite(number) else text


def _number(cell: object, most: int) -> int | float | None:
    try:
        if not isinstance(cell, Real | Decimal) or not math.isfinite(cell):
            return None
        exact = isinstance(cell, Rational | Decimal)
        if not exact and abs(cell) >= most:  # pyrefly: ignore[unsupported-operation]
            raise VagueIds(
                "groups holds floats too large for whole numbers to be told apart: keep ids as "
                "whole numbers or as text (pandas turns whole numbers into floats where one is "
                "missing)."
            )
        whole: int = math.trunc(cell)  # pyrefly: ignore[bad-assignment]
        if cell == whole:
            return whole
        return None if exact else float(cell)
    except VagueIds:
        raise
    except Exception:
        return None  # a type whose conversion fails in its own way
