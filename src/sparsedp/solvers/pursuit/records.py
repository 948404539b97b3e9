"""What Pursuit computes from a block of records: functions that are sent to where the records are.

Whatever is computed here is private until a curator releases the sum over all blocks. What a record
contributes depends on nothing but the record, and sums are nearly exact (summation.md).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.products import column_sums
from sparsedp.losses import Logistic, Multinomial
from sparsedp.losses.clip import clipped
from sparsedp.solvers.clipping import shrink


class Slopes(Protocol):
    """A loss, record by record; residuals are its derivatives in the margins, (n, n_outputs)."""

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivatives of the loss."""
        ...

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """Residuals with at most this norm, for a selection; they may be changed in place."""
        ...

    def bends(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """What tells how long a step should be: one row per record, bounded."""
        ...


@dataclass(frozen=True)
class LogisticSlopes:
    """Two classes."""

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Probability minus label."""
        return Logistic().derivative(margins, target)

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """No record pulls harder than the norm."""
        return clipped(residuals, norm)

    def bends(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Second derivatives p (1 - p), between 0 and 1/4."""
        p = residuals + target[:, None]
        return p * (1 - p)


@dataclass(frozen=True)
class MultinomialSlopes:
    """More than two classes."""

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Probabilities minus the label's."""
        return Multinomial(margins.shape[1]).derivative(margins, target)

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """Shrunk as a whole."""
        return shrink(residuals, np.ones(len(residuals)), norm)[0]

    def bends(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Products p (1 - p) of every class."""
        p = residuals.copy()
        p[np.arange(len(p)), target] += 1
        return p * (1 - p)


@dataclass(frozen=True)
class SquaredSlopes:
    """A numeric target.

    Parameters
    ----------
    scale : float
        Squares are cut off beyond that of this.
    offset : float
        Residuals are clipped about it.
    """

    scale: float
    offset: float

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Prediction minus target."""
        return margins - target[:, None]

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """Clipped about the offset."""
        return clipped(residuals - self.offset, norm)

    def bends(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Squares of the residuals."""
        return np.square(clipped(residuals.copy(), self.scale))


@dataclass(frozen=True, eq=False)
class Whitened:
    """Chosen features of a block of records, and what whitened coordinates make of them.

    The coordinates of a record are ``columns @ whitening``; only their norms are kept.
    """

    columns: ColumnSubset
    whitening: np.ndarray
    norms: np.ndarray
    target: np.ndarray

    def residuals(self, slopes: Slopes, weights: np.ndarray) -> np.ndarray:
        """Derivatives of the loss, at weights in whitened coordinates."""
        return slopes.residuals(self.columns.margins(self.whitening @ weights), self.target)


def no_features(block: Dataset) -> ColumnSubset:
    """The chosen columns before any is chosen: a constant one, or none."""
    return ColumnSubset.of(block, np.zeros(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class Widen:
    """Take in the columns of more features."""

    features: np.ndarray

    def __call__(self, block: Dataset, columns: ColumnSubset) -> ColumnSubset:
        """The new ones last."""
        return ColumnSubset.of(block, self.features, columns)


@dataclass(frozen=True)
class GramColumns:
    """Products of the columns that were taken in last with all columns."""

    n_old: int

    def __call__(self, columns: ColumnSubset) -> np.ndarray:
        """Sums over the block's records."""
        return columns.gram(self.n_old)


@dataclass(frozen=True, eq=False)
class Whiten:
    """Change to coordinates in which the noisy Gram matrix is the identity."""

    whitening: np.ndarray

    def __call__(self, columns: ColumnSubset, target: np.ndarray) -> Whitened:
        """The block in these coordinates."""
        return Whitened(columns, self.whitening, columns.lengths(self.whitening), target)


@dataclass(frozen=True, eq=False)
class StepSums:
    """Gradient in whitened coordinates, records clipped to a norm, and sums of the bends."""

    slopes: Slopes
    weights: np.ndarray
    norm: float

    def __call__(self, block: Whitened) -> tuple[np.ndarray, np.ndarray]:
        """Both from one look at the records."""
        residuals = block.residuals(self.slopes, self.weights)
        bends = self.slopes.bends(residuals, block.target)
        clipped, _ = shrink(residuals, block.norms, self.norm)
        return block.columns.sums(clipped, block.whitening), column_sums(bends)


@dataclass(frozen=True, eq=False)
class SelectionGradient:
    """Gradient over all features, residuals clipped to a norm."""

    slopes: Slopes
    weights: np.ndarray
    norm: float

    def __call__(self, block: Dataset, chosen: Whitened) -> np.ndarray:
        """Sums over the block's records."""
        residuals = chosen.residuals(self.slopes, self.weights)
        return block.rmatvec(self.slopes.clipped(residuals, self.norm))[: block.n_features]


@dataclass(frozen=True, eq=False)
class ClippedSums:
    """Sum of clipped residuals over their clip, and the number of those that were not clipped."""

    slopes: Slopes
    weights: np.ndarray
    norm: float

    def __call__(self, block: Whitened) -> np.ndarray:
        """Two sums over the block's records."""
        clipped = self.slopes.clipped(block.residuals(self.slopes, self.weights), self.norm)
        inside = np.count_nonzero(np.abs(clipped) < self.norm)
        return np.array([column_sums(clipped)[0] / self.norm, float(inside)])


def target_of(block: Dataset) -> np.ndarray:
    """Targets of a block."""
    return block.target


@dataclass(frozen=True)
class ClassCounts:
    """Records of every class."""

    n_classes: int

    def __call__(self, target: np.ndarray) -> np.ndarray:
        """Counts."""
        return np.bincount(target.astype(np.intp), minlength=self.n_classes)


def total_target(target: np.ndarray) -> np.ndarray:
    """Sum of the targets."""
    return column_sums(target[:, None])


@dataclass(frozen=True)
class SquaresAbout:
    """Squares of the targets' distances from a point."""

    point: float

    def __call__(self, target: np.ndarray) -> np.ndarray:
        """Their sum."""
        return column_sums(np.square(target - self.point)[:, None])
