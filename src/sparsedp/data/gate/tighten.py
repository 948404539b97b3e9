"""Clip records behind the gate to tighter bounds, record by record as the gate does."""

import numpy as np

from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.gate.clip import clip_features, to_unit_box
from sparsedp.data.storage import Array, Storage, row_blocks, with_own_values


def clip_declared(storage: Storage, bounds: Bounds) -> Storage:
    """Records in declared units, clipped to tighter bounds: a copy."""
    tighter = with_own_values(storage)
    clip_features(tighter, bounds, "replace")
    return tighter


def clip_unit(
    storage: Array, bounds: Bounds, old: UnitMap, new: UnitMap, *, centered: bool
) -> Array:
    """Records in the unit box of one map, clipped to bounds within it and moved to another's box.

    Both boxes are centered at mid-range, or both at zero.
    """
    limits = bounds.arrays(storage.shape[1])
    lower, upper = ((limit - old.center) / old.half_width for limit in limits)
    tighter = np.empty_like(storage)
    for block, before in zip(row_blocks(tighter), row_blocks(storage), strict=True):
        np.minimum(np.maximum(before, lower, out=block), upper, out=block)
        if centered:
            to_unit_box(block, lower, upper)
        else:
            block *= old.half_width / new.half_width
            np.clip(block, -1, 1, out=block)
    return tighter
