"""Tables of users as float64, each cell by itself. See gate.md."""

import re
from collections.abc import Mapping, Sequence, Set, Sized

import numpy as np

from sparsedp.data.gate import cells, containers
from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.entries import canonical
from sparsedp.data.raw import Label, RawArray, RawColumn, RawTable
from sparsedp.data.storage import Array, Storage, is_sparse

REPLACE = (
    'or pass invalid="replace" (--invalid replace), which puts a public value in its place: '
    "mid-range of the bounds, or zero for sparse data and with a row norm"
)
INDEX = re.compile(r"__index_level_\d+__")


def column_names(X: RawTable) -> list[Label] | None:
    """Return the names of a data frame's columns, which are public; None if X has no names.

    Looked up on the type, because a data frame may answer with a column of that name.
    """
    if getattr(type(X), "column_names", None) is not None:  # pyarrow
        names = list(X.column_names)
    elif getattr(type(X), "columns", None) is not None:  # pandas, polars
        names = list(X.columns)
    else:
        return None
    if len(set(names)) != len(names):
        raise ValueError("Two columns of X share a name: rename or drop one.")
    if any(INDEX.fullmatch(str(name)) for name in names):
        raise ValueError("X has a column that holds the index of a pandas table: drop it.")
    return names


def shape_of(X: RawTable) -> tuple[int, int]:
    """Numbers of records and features, by the outer form of X alone: no cell is looked at."""
    shape = getattr(X, "shape", None)
    if shape is None:
        shape = sizes(X)
        if len(shape) == 1 and shape[0]:
            shape += sizes(next(iter(X)))
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array instead. Reshape your data to one row per "
            "record and one column per feature."
        )
    return int(shape[0]), int(shape[1])


def sizes(values: RawTable) -> tuple[int, ...]:
    """Length of a sequence; nothing where there are no cells inside."""
    shape = getattr(values, "shape", None)
    if shape is not None:
        return tuple(shape)
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Sized):
        return ()
    return (len(values),)


def numbers(X: RawTable, invalid: Invalid, *, copy: bool = True) -> Storage:
    """Return X as float64, by default an own copy: an array, or CSR/CSC without duplicates.

    Cells are taken one by one wherever the type that a container has may depend on all of them.
    """
    if is_sparse(X):
        return canonical(X)
    X = containers.unwrapped(X)
    n, d = shape_of(X)
    names = column_names(X)
    if names is not None:
        table = np.empty((n, d))
        for j, name in enumerate(names):
            table[:, j] = as_float64(X[name], f"column {name!r}", invalid)
        return table
    if not isinstance(X, (np.ndarray, list, tuple)):
        X = containers.array_or_list(X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64 if X.dtype.kind in "biuf" else object), np.nan)
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "biuf":
            with np.errstate(over="ignore"):  # extended precision may overflow to infinity
                return _copied(X) if copy else np.asarray(X, np.float64)
        check_type(X.dtype, "X")
        if X.dtype.kind in "US":  # 0.1 in half precision is written "0.1", but is not 0.1
            raise ValueError(
                "X is an array of text, which NumPy makes of all cells where one is: pass a list, "
                "an object array or a data frame, whose cells are read one by one."
            )
        X = X.tolist()
    table = np.empty((n, d))
    for i, row in enumerate(containers.rows_of(X)):
        table[i], foreign = cells.floats(row)
        if foreign and invalid == "raise":
            wrong = [j for j, cell in enumerate(row) if cells.number(cell) is None]
            raise _not_numbers(some_columns(wrong, None))
    return table


def _copied(X: RawArray) -> Array:
    """A copy as float64, some records at a time: Ctrl-C does not wait for gigabytes."""
    table = np.empty(X.shape)
    step = max(1, 2**22 // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        table[start : start + step] = X[start : start + step]
    return table


def as_float64(values: RawColumn, name: str, invalid: Invalid) -> Array:
    """Return a column as float64; a cell that is no number raises or becomes NaN.

    The message names the kind of problem, never a value: it may travel further than the data.
    """
    try:
        column = containers.cells_of(values)
    except ValueError as error:
        problem = str(error)  # about a type
    else:
        if not isinstance(column, np.ndarray):
            found, foreign = cells.floats(column)
            if foreign and invalid == "raise":
                raise _not_numbers(name)
            return found
        check_type(column.dtype, name)
        with np.errstate(over="ignore"):  # extended precision may overflow to infinity
            return np.array(column, dtype=np.float64)
    raise ValueError(f"{name}: {problem}")


def check_type(dtype: np.dtype[np.generic], name: str) -> None:
    """Refuse types that hold no real numbers, by the type alone."""
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    if dtype.kind in "mMV":
        raise ValueError(f"{name} has dtype {dtype}: convert it to numbers first.")


def _not_numbers(where: str) -> cells.NotNumbers:
    return cells.NotNumbers(
        f"{where} holds cells that are not numbers: each argument must be a string that reads as a "
        f"number or a real number. Encode text as 0/1 columns of declared categories, drop it, "
        f"{REPLACE}."
    )


def some_columns(positions: Sequence[int], names: Sequence[Label] | None) -> str:
    shown = [f"{j}" if names is None else repr(names[j]) for j in positions[:5]]
    more = f" and {len(positions) - 5} more" if len(positions) > 5 else ""
    return ("column " if len(positions) == 1 else "columns ") + ", ".join(shown) + more
