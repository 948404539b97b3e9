"""The gate: the only entrance to private data. See gate.md for what it promises and why.

Every function here treats records one by one, so that one record can change only itself.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsedp.data.bounds import Bounds
from sparsedp.data.picked import clip_entries

Invalid = Literal["raise", "replace"]
Storage = Any  # ndarray, csr_array or csc_array of float64: SciPy carries no types

NORM_SLACK = 1e-12  # a shrunken record stays within row_norm although its norm was rounded


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
    return names


def numbers(X: Any, invalid: Invalid) -> Storage:
    """Return an own float64 copy of X: an array, or CSR/CSC with duplicate entries summed."""
    if sparse.issparse(X):
        return _canonical(X)
    names = column_names(X)
    if names is not None:
        table = np.empty(X.shape, dtype=np.float64)
        for j, name in enumerate(names):
            table[:, j] = as_float64(X[name], f"column {name!r}", invalid)
        return table
    table = as_float64(X, "X", invalid)
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead. Reshape your data to one row "
            "per record and one column per feature."
        )
    return table


def _canonical(X: Any) -> Storage:
    if X.ndim != 2:
        raise ValueError("X must have two dimensions: one row per record, a column per feature.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {X.dtype}: Complex data not supported, nor other objects.")
    # Built anew from its arrays: SciPy remembers in flags whether entries are sorted and unique,
    # and a flag can be out of date. Cast first: small integers wrap around when summed.
    if X.format in ("csr", "csc"):
        kind = sparse.csr_array if X.format == "csr" else sparse.csc_array
        data = np.array(X.data, dtype=np.float64)
        clean = kind((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
    else:
        entries = X.tocoo()
        data = entries.data.astype(np.float64)
        clean = sparse.coo_array((data, (entries.row, entries.col)), shape=X.shape).tocsr()
    clean.check_format(full_check=True)
    clean.sum_duplicates()
    # Only now that no index is out of range: one that is could be in range after the cast.
    if max(*X.shape, clean.nnz) <= np.iinfo(np.int32).max:
        clean.indices = clean.indices.astype(np.int32, copy=False)
        clean.indptr = clean.indptr.astype(np.int32, copy=False)
    return clean


def clip_features(storage: Storage, bounds: Bounds, invalid: Invalid) -> None:
    """Clip every record to the bounds, then to the row norm, in place and in declared units."""
    values = storage if isinstance(storage, np.ndarray) else storage.data
    if invalid == "raise":
        check_finite(values, "X")
    lower, upper = bounds.arrays(storage.shape[1])
    if isinstance(storage, np.ndarray):
        # With a row norm zero is the neutral value: mid-box could take up all of the norm.
        missing = lower + (upper - lower) / 2 if bounds.row_norm is None else np.zeros_like(lower)
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
    """Return a float64 copy of an array; a cell that is no number raises or becomes NaN.

    The message names the kind of problem, never a value: it may travel further than the data.
    """
    if isinstance(values, list | tuple):
        # A list that NumPy types by itself turns all cells into text because of one of them.
        values = np.array(values, dtype=object)
    if isinstance(values, np.ma.MaskedArray):
        kind = np.float64 if values.dtype.kind in "biuf" else object
        values = np.ma.filled(values.astype(kind), np.nan)
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # extended precision may overflow to infinity
            return np.array(array, dtype=np.float64, order="C")
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    if array.dtype.kind not in "OUST":
        raise ValueError(f"{name} has dtype {array.dtype}: convert it to numbers first.")
    cells = array.astype(object)
    if invalid == "replace":
        return np.asarray(np.frompyfunc(_number_or_nan, 1, 1)(cells), dtype=np.float64)
    try:
        return cells.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass  # NumPy's message quotes the cell: raise outside, so that ours does not carry it
    raise ValueError(
        f"{name} holds cells that are not numbers: encode text as 0/1 columns of declared "
        'categories, drop it, or pass invalid="replace".'
    )


def _number_or_nan(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return np.inf if cell > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan


def check_finite(values: NDArray[np.float64], name: str) -> None:
    """Raise for NaN or infinity, naming the kind only."""
    for block in row_blocks(values):
        if not np.isfinite(block).all():
            kind = "NaN" if np.isnan(block).any() else "infinity"
            raise ValueError(
                f"Input {name} contains {kind}. Repair these records, or pass "
                'invalid="replace" to map them to public values.'
            )


def row_blocks(array: NDArray) -> list[NDArray]:
    """Views of some entries each, so that these and temporaries stay in the cache."""
    step = max(1, 2**15 // max(1, array[:1].size))
    return [array[start : start + step] for start in range(0, array.shape[0], step)]


def declared_classes(classes: Any) -> tuple[Any, ...]:
    """Check a public list of at least two distinct labels, in the order of their codes."""
    items = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
    items = [item.item() if isinstance(item, np.generic) else item for item in items]
    try:
        distinct = len(set(items)) == len(items) and all(item == item for item in items)
    except TypeError:
        distinct = False
    if not distinct or len(items) < 2:
        raise ValueError("classes must list at least two distinct labels, e.g. classes=(0, 1).")
    return tuple(items)


def encode_labels(y: Any, classes: tuple[Any, ...], invalid: Invalid) -> NDArray:
    """Map labels to 0.0/1.0 (two classes) or codes 0..K-1, each record by itself.

    The classes are declared, never collected from `y`: the label set of private data is private.
    """
    if isinstance(y, list | tuple):
        y = np.array(y, dtype=object)
    if isinstance(y, np.ma.MaskedArray):
        y = np.ma.filled(y.astype(object), None)
    labels = check_vector(np.asarray(y))
    codes = np.full(labels.shape[0], -1, dtype=np.int64)
    if labels.dtype.kind in "biufU":
        comparable = str if labels.dtype.kind == "U" else (bool, int, float)
        for code, label in enumerate(classes):
            if isinstance(label, comparable):
                codes[labels == label] = code
    else:
        code_of = {label: code for code, label in enumerate(classes)}
        codes[:] = [_lookup(code_of, label) for label in labels.astype(object)]
    if invalid == "raise" and (codes < 0).any():
        raise ValueError(
            "y contains labels that are missing (NaN) or not among the declared classes: declare "
            'all classes, repair these records, or pass invalid="replace".'
        )
    codes = np.maximum(codes, 0)
    return codes.astype(np.float64) if len(classes) == 2 else codes


def _lookup(code_of: Mapping[Any, int], label: Any) -> int:
    try:
        return code_of.get(label, -1)
    except TypeError:  # not hashable, so not a declared class
        return -1


def encode_target(y: Any, target_bounds: tuple[float, float], invalid: Invalid) -> NDArray:
    """Clip a numeric target to its bounds and map it to [-1, 1]."""
    lower, upper = target_bounds
    target = check_vector(as_float64(y, "y", invalid))
    if invalid == "raise":
        check_finite(target, "y")
    target[np.isnan(target)] = lower + (upper - lower) / 2
    return to_unit_box(np.clip(target, lower, upper), lower, upper)


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


def check_vector(y: NDArray) -> NDArray:
    """Insist on one target per record: (n, 1) would broadcast to n x n."""
    if y.ndim != 1:
        raise ValueError("y should be a 1d array with one entry per record: pass y.ravel().")
    return y
