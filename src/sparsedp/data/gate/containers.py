"""Columns and tables of users as typed arrays or single cells. See gate.md.

Cells are taken one by one wherever the type that a container has may depend on all of them.
"""

from collections.abc import Iterable, Mapping, Set

import numpy as np

from sparsedp.data.raw import Cells, RawArray, RawColumn, RawTable


def cells_of(column: RawColumn) -> Cells:
    """A column as an array of numbers if its container typed it so, else as a list of cells.

    What is no container of cells is refused by its type.
    """
    if isinstance(column, (list, tuple)):
        return list(column)
    if isinstance(column, np.ma.MaskedArray):
        return list(column.tolist())  # None where there is no cell
    typed: Cells
    match type(column).__module__.partition(".")[0]:
        case "pyarrow":
            typed = _arrow_numbers(column)
        case "polars":
            dtype = column.dtype
            refuse_type(dtype, dtype.is_temporal() or dtype.is_nested())
            whole = dtype.is_integer() and column.null_count() == 0 and "128" not in str(dtype)
            typed = column.to_numpy() if dtype.is_float() or whole else column.to_list()
        case "pandas":
            dtype = column.dtype
            arrow = getattr(dtype, "pyarrow_dtype", None)
            refuse_type(dtype, arrow is not None and _no_cells(arrow))
            whose = getattr(dtype, "categories", None)  # of a categorical column, the type of these
            dtype = dtype if whose is None or whose.dtype.kind not in "fc" else whose.dtype
            if isinstance(dtype, np.dtype):
                typed = column.to_numpy()
            elif getattr(dtype, "kind", "") == "f":  # of pandas' own or Arrow's, with NA
                typed = column.to_numpy(np.float64, na_value=np.nan)
            else:
                typed = column.tolist()
        case _:
            typed = column if isinstance(column, np.ndarray) else array_or_list(column)
    if isinstance(typed, np.ndarray) and typed.dtype.kind not in "biufc":
        refuse_type(typed.dtype, typed.dtype.kind in "mMV")
        return list(typed.tolist())
    return typed


def refuse_type(kind: object, wrong: bool) -> None:
    """Refuse types of columns that hold dates, whose numbers have a unit, or several values."""
    if wrong:
        raise ValueError(f"has dtype {kind}: convert it to numbers or to text first.")


def cells_list(cells: Cells) -> list[object]:
    """Single cells of what `cells_of` gave."""
    return cells.tolist() if isinstance(cells, np.ndarray) else cells


def rows_of(X: Iterable[RawColumn]) -> list[list[object]]:
    """Rows of a nested sequence as lists of cells; raises where rows differ in length."""
    rows = [list(row) if isinstance(row, (list, tuple)) else cells_list(cells_of(row)) for row in X]
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


def _no_cells(kind: object) -> bool:
    """Whether an Arrow type holds dates or several values; Arrow may take numbers for dates."""
    plain = getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind
    return str(plain).startswith(NO_CELLS)


def _arrow_numbers(column: RawColumn) -> Cells:
    kind = str(column.type)
    refuse_type(kind, _no_cells(column.type))
    whole = kind.removeprefix("u").startswith("int") and column.null_count == 0
    if not whole and kind not in ("float", "double", "halffloat"):
        return list(column.to_pylist())
    chunked = type(column).__name__ == "ChunkedArray"
    numbers: RawArray = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return numbers


def unwrapped(values: RawTable) -> RawTable:
    """An array for what can turn itself into one and has no other form; the same otherwise.

    A plain sequence stays what it is: NumPy would choose one type for all of its cells.
    """
    if isinstance(values, (np.ndarray, list, tuple)) or getattr(values, "shape", None) is not None:
        return values
    names = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")
    if any(getattr(type(values), name, None) is not None for name in names) or _is_buffer(values):
        return np.asarray(values)
    return values


def array_or_list(values: RawTable) -> Cells:
    """An array or a list of what has a shape, or is a sequence; anything else is refused."""
    values = unwrapped(values)
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise ValueError(
            f"Cannot read cells from {type(values).__name__}: expected an array, a list or a data "
            "frame. Reshape your data."
        )
    return np.asarray(values) if getattr(values, "shape", None) is not None else list(values)


def _is_buffer(values: RawTable) -> bool:
    try:
        memoryview(values)
    except TypeError:
        return False
    return not isinstance(values, bytes)
