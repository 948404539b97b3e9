"""Declared labels and categories, and which of them a cell is: by value, each cell by itself.

1, 1.0, True, Decimal(1) and the text "1" are one label, whatever type a container chose for all of
its cells because of one of them. Declared classes that differ only so are refused.
"""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from numbers import Complex, Real

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.cells import is_missing, plain_text
from sparsedp.data.gate.containers import cells_of
from sparsedp.data.raw import Cells, Label, RawArray, RawColumn

EXACT_BITS = 53
"""A float of at least 2^53 may have been any of several integers, so it stands for none."""


class Labels:
    """Declared values, in the order of their codes.

    Parameters
    ----------
    values : sequence
        Distinct and hashable.
    """

    def __init__(self, values: Sequence[Label]) -> None:
        self.values = tuple(values)
        self._exact = {value: code for code, value in enumerate(self.values)}
        for code, value in enumerate(self.values):
            if isinstance(value, bytes):  # NumPy turns all bytes into text because of one cell
                self._exact.setdefault(value.decode(errors="replace"), code)
        self._by_number: dict[int | float, int] = {}
        texts = [isinstance(value, str) for value in self.values]
        numbers = [as_number(value) for value in self.values]
        shared = Counter(key for key, text in zip(numbers, texts, strict=True) if text)
        for code, key in enumerate(numbers):
            # A number that two texts share, such as "1" and "01", stands for neither.
            alone = shared[key] == 1 and key not in self._exact
            if key is not None and (not texts[code] or alone):
                self._by_number[key] = code

    def code(self, cell: object) -> int:
        """Which declared value a cell is; -1 if none."""
        try:
            plain = cell.item() if isinstance(cell, np.generic) else cell
            if isinstance(plain, bytes) and plain not in self._exact:
                plain = plain.decode()  # Arrow turns all text into bytes because of one cell
            found = self._exact.get(plain, self._exact.get(_stripped(plain)))
            if found is None:
                key = as_number(plain)
                found = -1 if key is None else self._by_number.get(key, -1)
            vague = isinstance(plain, float) and 2.0**EXACT_BITS <= abs(plain) < math.inf
            return -1 if vague and not isinstance(self.values[found], float) else found
        except Exception:
            return -1  # not hashable, or a type that cannot be compared

    def codes(self, cells: Cells) -> NDArray[np.int64]:
        """Codes of many cells, each by itself."""
        if not isinstance(cells, np.ndarray):
            return np.fromiter(map(self.code, cells), np.int64, len(cells))
        kind = cells.dtype.kind
        codes = np.full(cells.shape[0], -1, dtype=np.int64)
        dtype = {"b": np.int64, "f": np.float64}.get(kind, cells.dtype)
        with np.errstate(over="ignore"):  # extended precision may overflow to infinity
            cells = cells.astype(dtype, copy=False)
        for number, code in self._by_number.items():
            large = kind == "f" and 2**EXACT_BITS <= abs(number) < math.inf
            if not large or isinstance(self.values[code], float):
                codes[cells == (float(number) if kind == "f" else number)] = code
        return codes

    def too_fine_for(self, cells: Cells) -> bool:
        """Whether declared integers need more digits than the type of these cells has.

        A list counts as floats if it holds some as large, and no integer that is.
        """
        if isinstance(cells, np.ndarray):
            if cells.dtype.kind != "f":
                return False
            most = 2 ** min(EXACT_BITS, np.finfo(cells.dtype).nmant + 1)
        else:
            most = 2**EXACT_BITS
        if not any(isinstance(key, int) and abs(key) >= most for key in self._by_number):
            return False
        if isinstance(cells, np.ndarray):
            return True
        large = {type(cell) for cell in cells if _is_as_large(cell, most)}
        return bool(large) and all(issubclass(kind, float | complex) for kind in large)


def _is_as_large(cell: object, most: int) -> bool:
    try:
        return isinstance(cell, Complex) and bool(abs(cell) >= most)  # pyrefly: ignore
    except ArithmeticError:  # complex numbers may be too large for an absolute value
        return False


def as_number(value: object) -> int | float | None:
    """The number that a value is or reads as: an int where it is whole, exactly; else None.

    Infinity is one: programs read the label "INF" as a number, unless some cell is none.
    """
    if isinstance(value, str):
        text = plain_text(value)
        try:
            number = float(text)
            value = Decimal(text) if math.isfinite(number) else number
        except (ValueError, ArithmeticError):
            return None
    if isinstance(value, complex) and value.imag == 0:
        value = value.real
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if not isinstance(value, Real | Decimal):
        return None
    number = float(value)
    if not math.isfinite(number):
        return None if math.isnan(number) else number
    whole: int = math.trunc(value)  # pyrefly: ignore[bad-assignment]
    return whole if value == whole else float(value)


def declared_classes(classes: RawColumn) -> tuple[Label, ...]:
    """Check a public list of at least two distinct labels, in the order of their codes."""
    items = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    try:
        distinct = len(set(items)) == len(items) and all(item == item for item in items)
    except TypeError:
        distinct = False
    if not distinct or len(items) < 2:
        raise ValueError("classes must list at least two distinct labels, e.g. classes=(0, 1).")
    texts = {as_number(item) for item in items if isinstance(item, str)}
    if any(not isinstance(item, str) and as_number(item) in texts - {None} for item in items):
        # Where one cell is text, a container may write all of them as text.
        raise ValueError("classes has a number and a text that reads as the same: declare one.")
    return tuple(items)


def classes_in(y: RawColumn) -> tuple[Label, ...]:
    """The labels that occur, in order. Not private: whoever sees them learns who is there.

    Raises where no label set can be meant, by the kind of values alone.
    """
    cells = cells_of(y)
    found = np.unique(cells).tolist() if isinstance(cells, np.ndarray) else cells
    plain = [cell.item() if isinstance(cell, np.generic) else cell for cell in found]
    # The gate says what becomes of a record without a label.
    present = [cell for cell in plain if not is_missing(cell) and not _is_nan(cell)]
    if not all(map(_may_be_label, present)):
        raise ValueError(
            "Unknown label type: y holds continuous or other values, a classifier needs labels. "
            "Declare classes=..., or use SparseLinearRegression."
        )
    labels = set(present)
    return tuple(sorted(labels, key=_order))


def label_array(classes: Sequence[Label]) -> RawArray:
    """Labels as an array that keeps the type of each."""
    items = list(classes)
    array = np.array(items)
    kept = array.tolist() == items and [*map(type, array.tolist())] == [*map(type, items)]
    if not kept:
        array = np.empty(len(items), dtype=object)
        array[:] = items
    return array


def _is_nan(cell: object) -> bool:
    return isinstance(cell, float) and np.isnan(cell)


def _may_be_label(cell: object) -> bool:
    return isinstance(cell, str | bytes | int) or (isinstance(cell, float) and cell.is_integer())


def _order(label: Label) -> tuple[int, Label]:
    """Numbers first, then text."""
    return (2 if isinstance(label, bytes) else int(isinstance(label, str)), label)


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value
