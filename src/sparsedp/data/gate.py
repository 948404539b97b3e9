"""The gate: the only entrance to private data. See gate.md for what it promises and why.

Every function here treats records one by one, so that one record can change only itself.
"""

import re
from collections.abc import Mapping, Sequence, Set, Sized
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsedp.data import cells
from sparsedp.data.bounds import Bounds
from sparsedp.data.columns.picked import clip_entries
from sparsedp.data.entries import canonical
from sparsedp.data.labels import Labels

Invalid = Literal["raise", "replace"]
Storage = Any  # ndarray, csr_array or csc_array of float64: SciPy carries no types

NORM_SLACK = 1e-12  # a shrunken record stays within row_norm although its norm was rounded

REPLACE = (
    'or pass invalid="replace" (--invalid replace), which puts a public value in its place: '
    "mid-range of the bounds, or zero for sparse data and with a row norm"
)
INDEX = re.compile(r"__index_level_\d+__")


def column_names(X: Any) -> list[Any] | None:
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


def shape_of(X: Any) -> tuple[int, int]:
    """Numbers of records and features, by the outer form of X alone: no cell is looked at."""
    shape = getattr(X, "shape", None)
    if shape is None:
        shape = _sizes(X)
        if len(shape) == 1 and shape[0]:
            shape += _sizes(next(iter(X)))
    if len(shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array instead. Reshape your data to one row per "
            "record and one column per feature."
        )
    return int(shape[0]), int(shape[1])


def _sizes(values: Any) -> tuple[int, ...]:
    """Length of a sequence; nothing where there are no cells inside."""
    shape = getattr(values, "shape", None)
    if shape is not None:
        return tuple(shape)
    if isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Sized):
        return ()
    return (len(values),)


def numbers(X: Any, invalid: Invalid, *, copy: bool = True) -> Storage:
    """Return X as float64, by default an own copy: an array, or CSR/CSC without duplicates.

    Cells are taken one by one wherever the type that a container has may depend on all of them.
    """
    if sparse.issparse(X):
        return canonical(X)
    X = cells.opened(X)
    n, d = shape_of(X)
    names = column_names(X)
    if names is not None:
        table = np.empty((n, d))
        for j, name in enumerate(names):
            table[:, j] = as_float64(X[name], f"column {name!r}", invalid)
        return table
    if not isinstance(X, np.ndarray | list | tuple):
        X = cells.converted(X)
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
    for i, row in enumerate(cells.rows_of(X)):
        table[i], foreign = cells.numbers(row)
        if foreign and invalid == "raise":
            wrong = [j for j, cell in enumerate(row) if cells.number(cell) is None]
            raise _not_numbers(_some_columns(wrong, None))
    return table


def _copied(X: NDArray) -> NDArray[np.float64]:
    """A copy as float64, some records at a time: Ctrl-C does not wait for gigabytes."""
    table = np.empty(X.shape)
    step = max(1, 2**22 // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        table[start : start + step] = X[start : start + step]
    return table


def clip_features(
    storage: Storage, bounds: Bounds, invalid: Invalid, names: Sequence[Any] | None = None
) -> None:
    """Clip every record to the bounds, then to the row norm, in place and in declared units."""
    values = storage if isinstance(storage, np.ndarray) else storage.data
    if invalid == "raise":
        check_finite(storage, names or bounds.features)
    lower, upper = bounds.arrays(storage.shape[1])
    if isinstance(storage, np.ndarray):
        missing = missing_values(lower, upper, bounds.row_norm)
        for block in row_blocks(storage):
            np.copyto(block, missing, where=np.isnan(block))
            np.clip(block, lower, upper, out=block)
    else:
        values[np.isnan(values)] = 0.0
        if isinstance(bounds.lower, tuple):
            clip_entries(storage, lower, upper)
        else:
            np.clip(values, bounds.lower, bounds.upper, out=values)
    if bounds.row_norm is not None:
        _shrink(storage, bounds.row_norm)


def missing_values(lower: NDArray, upper: NDArray, row_norm: float | None) -> NDArray:
    """What a missing feature becomes in dense records; in sparse ones it is zero.

    With a row norm zero is the neutral value: mid-box could take up all of the norm.
    """
    return lower + (upper - lower) / 2 if row_norm is None else np.zeros_like(lower)


def with_own_values(storage: Storage) -> Storage:
    """A copy whose values can be changed; where they are stands in the same arrays."""
    if isinstance(storage, np.ndarray):
        return storage.copy()
    parts = (storage.data.copy(), storage.indices, storage.indptr)
    return type(storage)(parts, shape=storage.shape)


def _row_of_entries(storage: Any) -> NDArray:
    """The row of every stored entry."""
    if storage.format == "csc":
        return storage.indices
    rows = np.arange(storage.shape[0], dtype=storage.indices.dtype)
    return np.repeat(rows, np.diff(storage.indptr))


def _shrink(storage: Storage, row_norm: float) -> None:
    """Multiply each record by min(1, row_norm / norm): always, so no branch asks the data.

    Norms are taken relative to the record's largest entry, so that squares neither overflow nor
    vanish.
    """
    if isinstance(storage, np.ndarray):
        for block in row_blocks(storage):
            largest = _positive(np.abs(block).max(axis=1))
            squares = np.square(block / largest[:, None]).sum(axis=1)
            block *= _factor(largest, squares, row_norm)[:, None]
        return
    n = storage.shape[0]
    rows = _row_of_entries(storage)
    largest = np.zeros(n)
    np.maximum.at(largest, rows, np.abs(storage.data))
    largest = _positive(largest)
    squares = np.bincount(rows, np.square(storage.data / largest[rows]), minlength=n)
    storage.data *= _factor(largest, squares, row_norm)[rows]


def _positive(largest: NDArray) -> NDArray:
    return np.where(largest > 0, largest, 1.0)


def _factor(largest: NDArray, squares: NDArray, row_norm: float) -> NDArray:
    with np.errstate(over="ignore"):  # a tiny record: infinity, so the factor is 1
        room = row_norm * (1 - NORM_SLACK) / largest
    # The largest entry alone contributes 1, so only the zero record meets the floor.
    return np.minimum(1.0, room / np.sqrt(np.maximum(squares, 1.0)))


def as_float64(values: Any, name: str, invalid: Invalid) -> NDArray[np.float64]:
    """Return a column as float64; a cell that is no number raises or becomes NaN.

    The message names the kind of problem, never a value: it may travel further than the data.
    """
    try:
        column = cells.cells_of(values)
    except ValueError as error:
        problem = str(error)  # about a type
    else:
        if not isinstance(column, np.ndarray):
            found, foreign = cells.numbers(column)
            if foreign and invalid == "raise":
                raise _not_numbers(name)
            return found
        check_type(column.dtype, name)
        with np.errstate(over="ignore"):  # extended precision may overflow to infinity
            return np.array(column, dtype=np.float64)
    raise ValueError(f"{name}: {problem}")


def check_type(dtype: np.dtype, name: str) -> None:
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


def check_finite(storage: Storage, names: Sequence[Any] | None = None) -> None:
    """Raise for NaN or infinity among features, naming the kind and the columns only."""
    values = storage if isinstance(storage, np.ndarray) else storage.data
    for block in row_blocks(values):
        if not np.isfinite(block).all():
            break
    else:
        return
    wrong = ~np.isfinite(values)
    if isinstance(storage, np.ndarray):
        columns = np.flatnonzero(wrong.any(axis=0))
    elif storage.format == "csr":
        columns = np.unique(storage.indices[wrong])
    else:
        places = np.searchsorted(storage.indptr, np.flatnonzero(wrong), side="right")
        columns = np.unique(places) - 1
    kind = "NaN (missing values)" if np.isnan(values).any() else "infinity"
    raise ValueError(
        f"Input X contains {kind} in {_some_columns(columns.tolist(), names)}. Repair these "
        "records by a rule that looks at one record at a time (an imputer fitted to records is not "
        f"private), {REPLACE}."
    )


def _some_columns(positions: Sequence[int], names: Sequence[Any] | None) -> str:
    shown = [f"{j}" if names is None else repr(names[j]) for j in positions[:5]]
    more = f" and {len(positions) - 5} more" if len(positions) > 5 else ""
    return ("column " if len(positions) == 1 else "columns ") + ", ".join(shown) + more


def row_blocks(array: NDArray) -> list[NDArray]:
    """Views of some entries each, so that these and temporaries stay in the cache."""
    step = max(1, 2**15 // max(1, array[:1].size))
    return [array[start : start + step] for start in range(0, array.shape[0], step)]


def encode_labels(y: Any, classes: tuple[Any, ...], invalid: Invalid) -> NDArray:
    """Map labels to 0.0/1.0 (two classes) or codes 0..K-1, each record by itself.

    The classes are declared, never collected from `y`: the label set of private data is private.
    """
    found, declared = vector(y), Labels(classes)
    if isinstance(found, np.ndarray):
        check_type(found.dtype, "y")
    if declared.too_fine_for(found):
        kind = found.dtype if isinstance(found, np.ndarray) else "float"
        raise ValueError(
            f"y has dtype {kind}, in which the declared classes cannot be told apart: keep "
            "such labels as whole numbers or as text (pandas turns whole numbers into floats where "
            "one is missing)."
        )
    codes = declared.codes(found)
    if invalid == "raise" and (codes < 0).any():
        raise ValueError(
            "y contains labels that are missing (NaN) or not among the declared classes: declare "
            'all classes, repair these records, or pass invalid="replace" (--invalid replace), '
            "which takes the first class."
        )
    codes = np.maximum(codes, 0)
    return codes.astype(np.float64) if len(classes) == 2 else codes


def encode_target(y: Any, target_bounds: tuple[float, float], invalid: Invalid) -> NDArray:
    """Clip a numeric target to its bounds and map it to [-1, 1]."""
    lower, upper = target_bounds
    target = target_numbers(y, target_bounds, invalid)
    return to_unit_box(np.clip(target, lower, upper), lower, upper)


def target_numbers(y: Any, target_bounds: tuple[float, float], invalid: Invalid) -> NDArray:
    """A numeric target, not clipped; what is missing or infinite raises or is a public value."""
    lower, upper = target_bounds
    target = as_float64(vector(y), "y", invalid)
    if invalid == "raise" and not np.isfinite(target).all():
        kind = "NaN (missing values)" if np.isnan(target).any() else "infinity"
        raise ValueError(
            f"Input y contains {kind}: repair these records, or pass "
            'invalid="replace" (--invalid replace), which takes the middle of target_bounds for '
            "what is missing and the nearer bound for what is infinite."
        )
    target[np.isnan(target)] = lower + (upper - lower) / 2
    return np.nan_to_num(target, copy=False, posinf=upper, neginf=lower)


def vector(y: Any) -> cells.Cells:
    """One cell per record: (n, 1) would broadcast to n x n."""
    y = cells.opened(y)
    if len(_sizes(y)) != 1:
        raise ValueError("y should be a 1d array with one entry per record: pass y.ravel().")
    return cells.cells_of(y)


def to_unit_box(values: NDArray[np.float64], lower: Any, upper: Any) -> NDArray[np.float64]:
    """Map clipped values to [-1, 1] in place.

    The offset goes first, while it is exact: (x - center) / half_width as a difference of large
    numbers would lose the box for bounds far from zero.
    """
    values -= lower
    values /= np.subtract(upper, lower)
    values *= 2
    values -= 1
    return np.clip(values, -1, 1, out=values)
