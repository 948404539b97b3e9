"""What Pursuit computes from a block of records: functions that are sent to where the records are.

Whatever is computed here is private until a curator releases the sum over all blocks. What a record
contributes depends on nothing but the record, and sums are nearly exact (summation.md).
"""

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol

import numpy as np
from scipy.linalg import block_diag

from sparsedp.data.columns.crossed import Crossed, Crossing
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.norms import together
from sparsedp.data.sums.products import Pair, column_sums, sums
from sparsedp.data.sums.weighed import counts, weighed
from sparsedp.losses import Loss
from sparsedp.losses.clip import clipped
from sparsedp.solvers.clipping import shrink
from sparsedp.solvers.pursuit.columns.levels import cell_counts, level_counts


class RecordLoss(Protocol):
    """A loss as the steps and selections of Pursuit see it, record by record."""

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Residuals at the margins, (n, n_outputs)."""
        ...

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """Residuals with at most this norm, for a selection; they may be changed in place."""
        ...

    def curvatures(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """What tells how long a step should be: one row per record, bounded."""
        ...


@dataclass(frozen=True)
class LabelLoss:
    """Labels: residuals are probabilities minus the label's."""

    loss: Loss

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Of every output."""
        return residual_table(self.loss, margins, target)

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """No record pulls harder than the norm; several outputs are shrunk as a whole."""
        if self.loss.n_outputs == 1:
            return clipped(residuals, norm)
        return shrink(residuals, np.ones(len(residuals)), norm)[0]

    def curvatures(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Curvatures p (1 - p) along every margin, between 0 and 1/4."""
        p = self._probabilities(residuals, target)
        return p * (1 - p)

    @property
    def longest(self) -> float:
        """No residual is longer."""
        return 1.0 if self.loss.n_outputs == 1 else math.sqrt(2)

    def _probabilities(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        if self.loss.n_outputs == 1:
            return residuals + target[:, None]
        p = residuals.copy()
        p[np.arange(len(p)), target] += 1
        return p


@dataclass(frozen=True)
class NumberLoss:
    """A numeric target.

    Parameters
    ----------
    loss : Loss
    scale : float
        Squares are cut off beyond that of this.
    offset : float
        Residuals are clipped about it.
    """

    loss: Loss
    scale: float
    offset: float

    def residuals(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Of the one output."""
        return residual_table(self.loss, margins, target)

    def clipped(self, residuals: np.ndarray, norm: float) -> np.ndarray:
        """Clipped about the offset."""
        return clipped(residuals - self.offset, norm)

    def curvatures(self, residuals: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Squares of the residuals."""
        return np.square(clipped(residuals.copy(), self.scale))


def residual_table(loss: Loss, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Residuals of shape (n, n_outputs), as the margins have it."""
    if loss.n_outputs == 1:
        return loss.residual(margins[:, 0], target)[:, None]
    return loss.residual(margins, target)


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets of a block, and how much its records count. Private."""

    values: np.ndarray
    weights: np.ndarray | None


def targets_of(block: Dataset) -> Targets:
    """Of a block."""
    return Targets(block.target, block.weights)


@dataclass(frozen=True, eq=False)
class Whitened:
    """Chosen features of a block of records, and what whitened coordinates make of them.

    The coordinates of a record are ``columns @ whitening``; only their norms are kept.
    """

    columns: ColumnSubset
    whitening: np.ndarray
    norms: np.ndarray
    target: np.ndarray

    def residuals(self, record_loss: RecordLoss, weights: np.ndarray) -> np.ndarray:
        """Residuals at weights in whitened coordinates."""
        return record_loss.residuals(self.columns.margins(self.whitening @ weights), self.target)

    def own_margins(self, weights: np.ndarray) -> np.ndarray:
        """Margins without an offset, which is not the model's: it is not moved or stretched."""
        return replace(self.columns, offset=None).margins(self.whitening @ weights)


def no_features(block: Dataset) -> ColumnSubset:
    """The chosen columns before any is chosen: a constant one, or none."""
    return ColumnSubset.of(block, np.zeros(0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class Widen:
    """Take in the columns of more features, which are straight."""

    features: np.ndarray

    def __call__(self, block: Dataset, columns: ColumnSubset) -> ColumnSubset:
        """The new ones last."""
        return ColumnSubset.of(block, self.features, columns)


@dataclass(frozen=True, eq=False)
class WidenShapes:
    """Take in the columns of more features, of which some bend or are mostly at one end."""

    features: np.ndarray
    knots: np.ndarray
    ends: np.ndarray
    basis: np.ndarray

    def __call__(self, block: Dataset, columns: ColumnSubset) -> ColumnSubset:
        """The new ones last."""
        made = self.knots, self.ends, self.basis
        return ColumnSubset.with_hats(block, self.features, *made, columns)


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
    turned: np.ndarray
    """The same coordinates but for a rotation, which leaves norms as they are: half are zero."""

    @classmethod
    def to(cls, whitening: np.ndarray) -> "Whiten":
        """Turn the coordinates such that column i has a part in the first i + 1 of them only."""
        return cls(whitening, np.asarray(np.linalg.qr(whitening.T, mode="r")).T)

    def __call__(self, columns: ColumnSubset, targets: Targets) -> Whitened:
        """The block in these coordinates."""
        return Whitened(columns, self.whitening, columns.lengths(self.turned), targets.values)


@dataclass(frozen=True, eq=False)
class Cross:
    """Take in products of features, with coordinates of their own after the others."""

    crossing: Crossing
    whitening: np.ndarray
    turned: np.ndarray

    @classmethod
    def to(cls, crossing: Crossing, whitening: np.ndarray) -> "Cross":
        """Turn the coordinates of products as `Whiten` does those of the other columns."""
        return cls(crossing, whitening, Whiten.to(whitening).turned)

    def __call__(self, block: Dataset, before: Whitened) -> Whitened:
        """The block with more coordinates."""
        crossed = Crossed.of(block, self.crossing)
        return replace(
            before,
            columns=replace(before.columns, crossed=crossed),
            whitening=np.asarray(block_diag(before.whitening, self.whitening)),
            norms=together(before.norms, crossed.lengths(self.turned)),
        )


def columns_of(block: Whitened) -> ColumnSubset:
    """Without coordinates."""
    return block.columns


@dataclass(frozen=True, eq=False)
class StepSums:
    """Gradient in whitened coordinates, records clipped to a norm, and sums of the curvatures."""

    record_loss: RecordLoss
    weights: np.ndarray
    norm: float

    def __call__(self, block: Whitened) -> tuple[np.ndarray, np.ndarray]:
        """Both from one look at the records, some of them at a time."""
        weights = block.whitening @ self.weights
        found = [self._of_part(block, weights, *part) for part in block.columns.parts()]
        gradients, curvatures = (reduce(Pair.plus, pairs) for pairs in zip(*found, strict=True))
        return block.columns.turned(gradients, block.whitening), curvatures.rounded()

    def _of_part(
        self, block: Whitened, weights: np.ndarray, columns: ColumnSubset, part: slice
    ) -> tuple[Pair, Pair]:
        target = block.target[part]
        residuals = self.record_loss.residuals(columns.margins(weights), target)
        curvatures = sums(weighed(self.record_loss.curvatures(residuals, target), columns.weights))
        clipped, _ = shrink(residuals, block.norms[part], self.norm)
        return columns.stored_sums(clipped), curvatures


@dataclass(frozen=True, eq=False)
class SelectionGradient:
    """Gradient over all features, residuals clipped to a norm."""

    record_loss: RecordLoss
    weights: np.ndarray
    norm: float

    def __call__(self, block: Dataset, chosen: Whitened) -> np.ndarray:
        """Sums over the block's records."""
        residuals = chosen.residuals(self.record_loss, self.weights)
        return block.rmatvec(self.record_loss.clipped(residuals, self.norm))[: block.n_features]


@dataclass(frozen=True, eq=False)
class LookSums:
    """Residuals of margins that are shifted and stretched about a center, and how they lean.

    The heights of a record are how far its margins are from the center, over a reach, with a norm
    of at most 1.
    """

    record_loss: "LabelLoss"
    weights: np.ndarray
    center: np.ndarray
    shift: np.ndarray
    factor: float
    reach: float

    def __call__(self, block: Whitened) -> np.ndarray:
        """Sums of residuals, and of products with heights."""
        loss, target, offset = self.record_loss, block.target, block.columns.offset
        away = block.own_margins(self.weights) - self.center
        margins = self.center + self.shift + self.factor * away
        if offset is not None:
            margins += offset[:, None]
        residuals = loss.clipped(loss.residuals(margins, target), loss.longest)
        heights = shrink(away / self.reach, np.ones(len(away)), 1.0)[0]
        table = np.column_stack([residuals, dot(residuals, heights)])
        return column_sums(weighed(table, block.columns.weights))


@dataclass(frozen=True, eq=False)
class MarginCells:
    """Cells of margins about a center, up to a distance; of several outputs levels of distances."""

    weights: np.ndarray
    center: np.ndarray
    most: float

    def __call__(self, block: Whitened) -> np.ndarray:
        """Counts over the block's records."""
        away, weights = block.own_margins(self.weights) - self.center, block.columns.weights
        if away.shape[1] > 1:
            return level_counts(dot(away, away), self.most**2, weights)
        return cell_counts(away[:, 0], self.most, weights)


def dot(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Products of rows, added up column by column: the same bits wherever a record stands."""
    return reduce(np.add, (left * right).T)


@dataclass(frozen=True, eq=False)
class ClippedSums:
    """Sum of clipped residuals over their clip, and the weight of those that were not clipped."""

    record_loss: RecordLoss
    weights: np.ndarray
    norm: float

    def __call__(self, block: Whitened) -> np.ndarray:
        """Two sums over the block's records."""
        clipped = self.record_loss.clipped(
            block.residuals(self.record_loss, self.weights), self.norm
        )
        weights = block.columns.weights
        inside = counts(np.abs(clipped[:, 0]) < self.norm, 2, weights)[1]
        return np.array([column_sums(weighed(clipped, weights))[0] / self.norm, inside])


@dataclass(frozen=True)
class ClassCounts:
    """Records of every class."""

    n_classes: int

    def __call__(self, targets: Targets) -> np.ndarray:
        """Counts."""
        return counts(targets.values, self.n_classes, targets.weights)


def total_target(targets: Targets) -> np.ndarray:
    """Sum of the targets."""
    return column_sums(weighed(targets.values[:, None], targets.weights))


@dataclass(frozen=True)
class ConstantSquares:
    """Squares of the residuals of a constant model, cut off beyond that of a bound."""

    loss: Loss
    margin: float
    bound: float

    def __call__(self, targets: Targets) -> np.ndarray:
        """Their sum."""
        squares = np.square(_of_constant(self.loss, self.margin, targets, self.bound))
        return column_sums(weighed(squares[:, None], targets.weights))


@dataclass(frozen=True)
class ConstantLevels:
    """Levels of the residuals of a constant model, over a bound."""

    loss: Loss
    margin: float
    bound: float

    def __call__(self, targets: Targets) -> np.ndarray:
        """Counts over the block's records."""
        residuals = _of_constant(self.loss, self.margin, targets, self.bound)
        return level_counts(np.abs(residuals), self.bound, targets.weights)


def _of_constant(loss: Loss, margin: float, targets: Targets, bound: float) -> np.ndarray:
    """Residuals of a constant model, cut off at a bound."""
    target = targets.values
    return clipped(loss.residual(np.full(len(target), margin), target), bound)
