"""What descents compute from a block of records: functions that are sent to where the records are.

Whatever is computed here is private until a curator releases the sum over all blocks.
"""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.products import column_sums
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Loss
from sparsedp.losses.clip import clipped
from sparsedp.solvers.clipping import shortened, shrink


@dataclass(frozen=True, eq=False)
class Lengths:
    """L2 norms of centered records, the constant column included; never too short."""

    center: np.ndarray | None

    def __call__(self, block: Dataset) -> np.ndarray:
        """One for each record of the block."""
        return block.row_norms(self.center)


@dataclass(frozen=True)
class MomentSums:
    """Sums of the features, if these are to be centered, and of squared lengths up to a bound."""

    bound: float
    centered: bool

    def __call__(self, block: Dataset) -> tuple[np.ndarray, np.ndarray]:
        """Over the records of a block."""
        squares = clipped(block.row_norms() ** 2 - block.intercept, self.bound**2)
        sums = np.zeros(0)
        if self.centered:
            sums = block.rmatvec(np.ones(block.n_records))[: block.n_features]
        return sums, column_sums(weighed(squares, block.weights))


@dataclass(frozen=True, eq=False)
class ClippedGradient:
    """Sum of the gradients of centered records, each clipped to a norm.

    The second sum is that of squares of the part of the norm that each record uses, in [0, 1].
    """

    loss: Loss
    weights: np.ndarray
    center: np.ndarray | None
    norm: float

    def __call__(self, block: Dataset, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Over the records of a block."""
        margins = block.margins(self.weights, self.center)
        residual = self.loss.residual(margins, block.target)
        residual, squares = shrink(residual, lengths, self.norm)
        used = column_sums(weighed(squares, block.weights))
        return block.rmatvec(residual, self.center), used


@dataclass(frozen=True, eq=False)
class PeelingSums:
    """Sums for one step of peeling: gradients, residuals, and squares of what records use.

    In the unit box no entry of a record's gradient exceeds its residual; for several classes a
    feature's heaviness sums over them, so absolute residuals are summed and clipped too.
    """

    loss: Loss
    weights: np.ndarray
    center: np.ndarray | None
    norm: float

    def __call__(self, block: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Over the records of a block."""
        margins = block.matvec(self.weights, self.center)
        residual = self.loss.residual(margins, block.target)
        sizes = np.zeros(block.n_records)
        # In the order of the classes, so that a record's sum depends on it alone.
        for column in residual.reshape(block.n_records, self.loss.n_outputs).T:
            sizes += np.abs(column)
        residual = (residual.T * shortened(sizes, self.norm)).T
        sums = block.rmatvec(residual)[: block.n_features]
        used = np.square(clipped(sizes / self.norm, 1.0))
        residual, used = weighed(residual, block.weights), weighed(used, block.weights)
        return sums, column_sums(residual), column_sums(used)
