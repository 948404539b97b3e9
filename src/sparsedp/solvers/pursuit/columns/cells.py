"""Cells and hats of a block's features: what shapes are made from, record by record."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.columns import hats
from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Sparse
from sparsedp.data.sums import products
from sparsedp.data.sums.histogram import cell_counts
from sparsedp.data.sums.weighed import weighed
from sparsedp.solvers.pursuit.records import RecordLoss, Whitened

FEATURES_AT_ONCE = 32
"""Dense copies of so many columns are made at a time."""


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Records in each of some cells of the same width between the bounds of features."""

    features: np.ndarray
    n_cells: int

    def __call__(self, block: Dataset) -> np.ndarray:
        """Counts of shape (features, cells): every record is in one cell of each feature."""
        found = np.empty((len(self.features), self.n_cells))
        for start in range(0, len(self.features), FEATURES_AT_ONCE):
            some = slice(start, start + FEATURES_AT_ONCE)
            values = block.columns(self.features[some])
            found[some] = cell_counts(values, self.n_cells, block.weights)
        return found


@dataclass(frozen=True, eq=False)
class Hats:
    """Hats of all features that bend, to be used in every selection."""

    features: np.ndarray
    knots: np.ndarray

    def __call__(self, block: Dataset) -> Sparse:
        """At most two entries per record and feature."""
        places, parts = [], []
        q = self.knots.shape[1]
        for start in range(0, len(self.features), FEATURES_AT_ONCE):
            some = slice(start, start + FEATURES_AT_ONCE)
            values = block.columns(self.features[some])
            starts = q * np.arange(start, start + values.shape[1], dtype=np.int32)
            nothing = np.zeros(values.shape[1])
            place, part = hats.hats(values, self.knots[some], starts, nothing)
            places.append(place)
            parts.append(part)
        return hats.by_rows(np.hstack(places), np.hstack(parts), len(self.features) * q)


@dataclass(frozen=True, eq=False)
class WaveGradient:
    """Gradient over the cosines of all features that bend, residuals clipped to a norm."""

    record_loss: RecordLoss
    weights: np.ndarray
    norm: float
    heights: np.ndarray

    def __call__(self, block: Dataset, chosen: Whitened, stored: Sparse) -> np.ndarray:
        """Sums over the block's records, (features, waves, outputs)."""
        residuals = chosen.residuals(self.record_loss, self.weights)
        clipped = weighed(self.record_loss.clipped(residuals, self.norm), block.weights)
        q, n_waves = self.heights.shape
        n_outputs = clipped.shape[1]
        # A record's parts of hats are not negative and add up to 1, and heights lie in [-1, 1].
        pair = products.weighted_sums(
            stored, clipped, spread=1.0, most_together=block.most_together
        )
        high, low = (
            part.reshape(-1, q, n_outputs).transpose(1, 0, 2).reshape(q, -1) for part in pair
        )
        sums = products.mapped(self.heights, products.Pair(high, low)).rounded()
        return sums.reshape(n_waves, -1, n_outputs).transpose(1, 0, 2)
