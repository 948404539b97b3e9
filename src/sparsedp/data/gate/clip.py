"""Clip records to the bounds, shrink them to the row norm, map them to the unit box. See gate.md.

Every cell is computed from itself and the promises, or, to shrink, from the cells of its row.
"""

from collections.abc import Sequence

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp.data.bounds import Bounds
from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.table import REPLACE, some_columns
from sparsedp.data.raw import Label
from sparsedp.data.storage import Array, Sparse, Storage, entry_columns, entry_rows, row_blocks

if COMPILED:
    from sparsedp._kernels.sums import entries as kernel
else:
    from sparsedp._kernels.sums import entries_reference as kernel

NORM_SLACK = 1e-12  # a shrunken record stays within row_norm although its norm was rounded


def clip_features(
    storage: Storage, bounds: Bounds, invalid: Invalid, names: Sequence[Label] | None = None
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


def missing_values(lower: Array, upper: Array, row_norm: float | None) -> Array:
    """What a missing feature becomes in dense records; in sparse ones it is zero.

    With a row norm zero is the neutral value: mid-box could take up all of the norm.
    """
    return lower + (upper - lower) / 2 if row_norm is None else np.zeros_like(lower)


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
    rows = entry_rows(storage)
    largest = np.zeros(n)
    np.maximum.at(largest, rows, np.abs(storage.data))
    largest = _positive(largest)
    squares = np.bincount(rows, np.square(storage.data / largest[rows]), minlength=n)
    storage.data *= _factor(largest, np.asarray(squares, np.float64), row_norm)[rows]


def _positive(largest: Array) -> Array:
    return np.where(largest > 0, largest, 1.0)


def _factor(largest: Array, squares: Array, row_norm: float) -> Array:
    with np.errstate(over="ignore"):  # a tiny record: infinity, so the factor is 1
        room = row_norm * (1 - NORM_SLACK) / largest
    # The largest entry alone contributes 1, so only the zero record meets the floor.
    return np.minimum(1.0, room / np.sqrt(np.maximum(squares, 1.0)))


def check_finite(storage: Storage, names: Sequence[Label] | None = None) -> None:
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
        f"Input X contains {kind} in {some_columns(columns.tolist(), names)}. Repair these "
        "records by a rule that looks at one record at a time (an imputer fitted to records is not "
        f"private), {REPLACE}."
    )


def to_unit_box(values: Array, lower: float | Array, upper: float | Array) -> Array:
    """Map clipped values to [-1, 1] in place.

    The offset goes first, while it is exact: (x - center) / half_width as a difference of large
    numbers would lose the box for bounds far from zero.
    """
    values -= lower
    values /= np.subtract(upper, lower)
    values *= 2
    values -= 1
    return np.clip(values, -1, 1, out=values)


def clip_entries(storage: Sparse, lower: Array, upper: Array) -> None:
    """Clip the stored entries of sparse records to the bounds of their columns, in place."""
    lower, upper = (np.ascontiguousarray(limit, dtype=np.float64) for limit in (lower, upper))
    kernel.clip(storage.data, entry_columns(storage), lower, upper)
