"""Offsets: known parts of a record's margin, clipped to public limits, each cell by itself."""

import numpy as np

from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.containers import unwrapped
from sparsedp.data.gate.table import as_float64, sizes
from sparsedp.data.raw import RawColumn
from sparsedp.data.storage import Array

LARGEST = 100.0
"""Offsets are logarithms or log-odds; beyond, another unit was meant."""


def checked_limits(limits: object) -> tuple[float, float]:
    """Public limits of an offset: two numbers of ordinary size."""
    how = "give offset_bounds=(low, high), such as (-5, 5) for the logarithm of an exposure"
    try:
        low, high = (float(limit) for limit in limits)  # pyrefly: ignore[not-iterable]
    except (TypeError, ValueError):
        raise ValueError(f"an offset needs public limits: {how}") from None
    if not -LARGEST <= low < high <= LARGEST:  # written so that NaN is refused
        raise ValueError(
            f"limits of an offset must lie between {-LARGEST:g} and {LARGEST:g}, the lower one "
            f"below the upper one: {how}"
        )
    return low, high


def read_offset(offset: RawColumn, limits: tuple[float, float], invalid: Invalid) -> Array:
    """Clip offsets to their limits; a missing one raises, or is the nearest to zero of these.

    Notes
    -----
    *Privacy.* A record's offset depends on its own cell and the limits alone.
    """
    low, high = limits
    offset = unwrapped(offset)
    if len(sizes(offset)) != 1:
        raise ValueError("offset must be one-dimensional: give one number per row.")
    found = as_float64(offset, "offset", invalid)
    if invalid == "raise" and not np.isfinite(found).all():
        raise ValueError(
            "offset contains NaN (missing values) or infinity: repair these records one at a time, "
            'or pass invalid="replace" (--invalid replace), which takes 0, or the limit next to it.'
        )
    return np.clip(np.where(np.isnan(found), 0.0, found), low, high)


def with_offset(margins: Array, offset: RawColumn, limits: object, invalid: Invalid) -> Array:
    """Margins of shape (n, n_outputs) with an offset for each record, for predictions."""
    if offset is None:
        return margins
    if limits is None:
        raise ValueError("this model was fitted without an offset, and takes none")
    found = read_offset(offset, checked_limits(limits), invalid)
    if len(found) != len(margins):
        raise ValueError("X and offset have different numbers of rows: give one per row.")
    return margins + found[:, None]
