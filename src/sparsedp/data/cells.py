"""Single cells of a table: what counts as a number. See gate.md.

Nothing here looks at more than one cell, so that no value can change how another is read.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = Any  # ndarray that its container typed, or a list of single cells

PLAIN = frozenset([float, int, bool])

TRUTH = {"true": "1", "false": "0", "0j": "0"}
"""What containers and files write for some numbers where another cell is text or complex."""


class NotNumbers(TypeError, ValueError):
    """Cells that are no numbers where numbers are needed; names the column, never the cell."""


def number(cell: Any) -> float | None:
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


def is_missing(cell: Any) -> bool:
    """Whether a cell says that there is no value: None, and what pandas writes for it."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def numbers(cells: Sequence[Any]) -> tuple[NDArray[np.float64], bool]:
    """All cells as float64, each by itself; also whether some are no numbers, which are NaN."""
    values = np.empty(len(cells))
    if PLAIN.issuperset(map(type, cells)):
        try:
            values[:] = np.fromiter(cells, np.float64, len(cells))  # float() of each
            return values, False
        except OverflowError:
            pass  # an integer beyond all floats
    found = [number(cell) for cell in cells]
    values[:] = [np.nan if value is None else value for value in found]
    return values, None in found


def cells_of(column: Any) -> Cells:
    """A column as an array of numbers if its container typed it so, else as a list of cells.

    What is no container of cells is refused by its type.
    """
    if isinstance(column, list | tuple):
        return list(column)
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.filled(column.astype(object), None).tolist()
    match type(column).__module__.partition(".")[0]:
        case "pyarrow":
            typed = _arrow_numbers(column)
        case "polars":
            dtype = column.dtype
            refuse(dtype, dtype.is_temporal() or dtype.is_nested())
            whole = dtype.is_integer() and column.null_count() == 0 and "128" not in str(dtype)
            typed = column.to_numpy() if dtype.is_float() or whole else column.to_list()
        case "pandas":
            dtype = column.dtype
            arrow = getattr(dtype, "pyarrow_dtype", None)
            refuse(dtype, arrow is not None and _no_cells(arrow))
            whose = getattr(dtype, "categories", None)  # of a categorical column, the type of these
            dtype = dtype if whose is None or whose.dtype.kind not in "fc" else whose.dtype
            typed = column.to_numpy() if isinstance(dtype, np.dtype) else column.tolist()
        case _:
            typed = column if isinstance(column, np.ndarray) else converted(column)
    if isinstance(typed, np.ndarray) and typed.dtype.kind not in "biufc":
        refuse(typed.dtype, typed.dtype.kind in "mMV")
        return typed.tolist()
    return typed


def refuse(kind: Any, wrong: bool) -> None:
    """Refuse types of columns that hold dates, whose numbers have a unit, or several values."""
    if wrong:
        raise ValueError(f"has dtype {kind}: convert it to numbers or to text first.")


def cells_list(cells: Cells) -> list[Any]:
    """Single cells of what `cells_of` gave."""
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def rows_of(X: Iterable[Any]) -> list[list[Any]]:
    """Rows of a nested sequence as lists of cells; raises where rows differ in length."""
    rows = [list(row) if isinstance(row, list | tuple) else cells_list(cells_of(row)) for row in X]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("Rows of X differ in length: give one cell per feature in every record.")
    return rows


NO_CELLS = (
    "timestamp",
    "date",
    "time",
    "duration",
    "struct",
    "list",
    "large_list",
    "fixed_size_list",
    "map",
)


def _no_cells(kind: Any) -> bool:
    """Whether an Arrow type holds dates or several values; Arrow may take numbers for dates."""
    plain = getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind
    return str(plain).startswith(NO_CELLS)


def _arrow_numbers(column: Any) -> Cells:
    kind = str(column.type)
    refuse(kind, _no_cells(column.type))
    whole = kind.removeprefix("u").startswith("int") and column.null_count == 0
    if not whole and kind not in ("float", "double", "halffloat"):
        return column.to_pylist()
    chunked = type(column).__name__ == "ChunkedArray"
    return column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)


def opened(values: Any) -> Any:
    """An array for what can turn itself into one and has no other form; the same otherwise.

    A plain sequence stays what it is: NumPy would choose one type for all of its cells.
    """
    if isinstance(values, np.ndarray | list | tuple) or getattr(values, "shape", None) is not None:
        return values
    names = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")
    if any(getattr(type(values), name, None) is not None for name in names) or _is_buffer(values):
        return np.asarray(values)
    return values


def converted(values: Any) -> Any:
    """An array or a list of what has a shape, or is a sequence; anything else is refused."""
    values = opened(values)
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable):
        raise ValueError(
            f"Cannot read cells from {type(values).__name__}: expected an array, a list or a data "
            "frame. Reshape your data."
        )
    return np.asarray(values) if getattr(values, "shape", None) is not None else list(values)


def _is_buffer(values: Any) -> bool:
    try:
        memoryview(values)
    except TypeError:
        return False
    return not isinstance(values, bytes)
