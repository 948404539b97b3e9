"""The gate as a whole: raw features become clipped ones that a `Dataset` is made of. See gate.md.

Every step treats records one by one, so that one record can change only itself.
"""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.clip import clip_features, to_unit_box
from sparsedp.data.gate.table import column_names, numbers
from sparsedp.data.raw import RawTable
from sparsedp.data.records import Coordinates
from sparsedp.data.storage import Array, Storage, row_blocks
from sparsedp.data.sums.products import most_records


@dataclass(frozen=True, eq=False, repr=False)
class Features:
    """Features as float64, not clipped yet. Private but for the names."""

    storage: Storage
    names: list[str] | None

    @classmethod
    def read(cls, X: RawTable, invalid: Invalid, row_norm: float | None) -> "Features":
        """Copy the features, each cell by itself; too many records are refused."""
        columns = column_names(X)
        texts = [name for name in columns or () if isinstance(name, str)]
        # Unless all names are text, positions decide, as scikit-learn has it.
        names = None if columns is None or len(texts) < len(columns) else texts
        storage = numbers(X, invalid)
        n, d = storage.shape
        if d == 0:
            raise ValueError("X has no features.")
        most = most_records(d, row_norm)
        if n > most:
            raise ValueError(
                f"X has more than {most} records: beyond that it is not proven that rounding "
                "stays below what sensitivities allow for. Fit a sample"
                + ("." if row_norm is None else ", or take a unit with a smaller row_norm.")
            )
        return cls(storage, names)

    def clip_in_place(
        self, bounds: Bounds, *, intercept: bool, invalid: Invalid
    ) -> tuple[Bounds, UnitMap, Coordinates]:
        """Clip and map the features in place; returns the promises in force and what is stored."""
        storage, d = self.storage, self.storage.shape[1]
        bounds = bounds.aligned(d, self.names)
        if not isinstance(storage, np.ndarray):
            bounds = bounds.containing_zero()
        clip_features(storage, bounds, invalid, self.names)
        unit_map = bounds.unit_map(d, centered=intercept)
        if not isinstance(storage, np.ndarray) or bounds.row_norm is not None:
            # With a row norm the declared values stay, so that their norm keeps its bound exactly.
            # Zero is then in the box, and implicit centering cannot cancel.
            return bounds, unit_map, "declared"
        _to_unit(storage, bounds, unit_map, intercept)
        return bounds, unit_map, "unit"


def _to_unit(storage: Array, bounds: Bounds, unit_map: UnitMap, intercept: bool) -> None:
    lower, upper = bounds.arrays(storage.shape[1])
    for block in row_blocks(storage):
        if intercept:
            to_unit_box(block, lower, upper)
        else:
            block /= unit_map.half_width
