"""What intervals need of a block of records: functions that are sent to where the records are.

A record's say is limited by its leverage, never by its residual alone: it is weighted by
min(1, C^2 / |t|^2), t being its whitened coordinates, so that a model that is right stays right.
One that released bounds would clip has none: about clipped features no model is right.
Proof of the bounds: inference.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.data.sums import products
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Loss
from sparsedp.losses.clip import clipped
from sparsedp.solvers.clipping import shortened
from sparsedp.solvers.pursuit.records import Whitened, residual_table

FEATURES_AT_ONCE = 32
"""Dense copies of so many columns are made at a time."""

ROUNDING = 1e-9
"""Of the width of declared bounds: so close to a limit nothing is clipped that matters."""


@dataclass(frozen=True, eq=False)
class Beyond:
    """Which records have a feature beyond released limits, given in the block's unit box."""

    features: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __call__(self, block: Dataset) -> np.ndarray:
        """A mask, each record by itself (private)."""
        found = np.zeros(block.n_records, dtype=bool)
        for start in range(0, len(self.features), FEATURES_AT_ONCE):
            some = slice(start, start + FEATURES_AT_ONCE)
            values = block.columns(self.features[some])
            inside = (values >= self.lower[some]) & (values <= self.upper[some])
            found |= ~inside.all(axis=1)
        return found


def left_out(block: Whitened, beyond: np.ndarray) -> Whitened:
    """The block with some records infinitely far away, where they count nothing (private)."""
    return replace(block, norms=np.where(beyond, np.inf, block.norms))


def within(data: Dataset, bounds: Bounds, records: Derived, features: np.ndarray) -> Derived:
    """Whitened records of ``data`` without those that tighter bounds (released) clip. Private."""
    limits = np.array([data.bounds.arrays(data.n_features), bounds.arrays(data.n_features)])
    if np.array_equal(limits[0][:, features], limits[1][:, features]):
        return records
    to = data.unit_map
    lower, upper = (limits[1][:, features] - to.center[features]) / to.half_width[features]
    beyond = data.derive(Beyond(features, lower - ROUNDING, upper + ROUNDING))
    return records.derive(left_out, beyond)


@dataclass(frozen=True, eq=False)
class Point:
    """Where sums are taken. Public or released.

    Parameters
    ----------
    loss : Loss
    weights : ndarray of shape (p,)
        In whitened coordinates.
    reach : float
        Leverage beyond which a record counts less, C.
    clip : float
        Residuals are clipped to this, R.
    """

    loss: Loss
    weights: np.ndarray
    reach: float
    clip: float

    def leverage_weights(self, block: Whitened) -> np.ndarray:
        """How much each record of a block counts, at most 1 (private)."""
        return shortened(np.square(block.norms), self.reach**2)

    def residuals(self, block: Whitened) -> tuple[np.ndarray, np.ndarray]:
        """Margins, and residuals clipped; each of shape (n,) (private)."""
        margins = block.columns.margins((block.whitening @ self.weights)[:, None])
        residuals = residual_table(self.loss, margins, block.target)[:, 0]
        return margins[:, 0], clipped(residuals, self.clip)

    def curvatures(self, block: Whitened, margins: np.ndarray, residuals: np.ndarray) -> np.ndarray:
        """Of the loss with clipped residuals: zero where one is clipped (private)."""
        found = self.loss.curvature(margins, block.target)
        inside = (np.abs(residuals) < self.clip) & (found >= 0)  # NaN is not
        return np.where(inside, np.minimum(found, self.loss.curvature_bound), 0.0)


@dataclass(frozen=True, eq=False)
class Score:
    """Sum of weight times clipped residual times coordinates."""

    at: Point

    def __call__(self, block: Whitened) -> np.ndarray:
        """Of shape (p,)."""
        _, residuals = self.at.residuals(block)
        some = residuals * self.at.leverage_weights(block)
        return block.columns.sums(some[:, None], block.whitening)[:, 0]


@dataclass(frozen=True, eq=False)
class Squares:
    """Sum of the squares of clipped residuals."""

    at: Point

    def __call__(self, block: Whitened) -> np.ndarray:
        """One number."""
        _, residuals = self.at.residuals(block)
        return products.column_sums(weighed(np.square(residuals)[:, None], block.columns.weights))


@dataclass(frozen=True, eq=False)
class Sums:
    """Score, Hessian of the weighted loss, and the sum of the squares of the score's terms.

    The third one is that of rows: for someone with several rows, whose terms are averaged, it is
    not less than the square of the average.
    """

    at: Point

    def __call__(self, block: Whitened) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of shapes (p,), (p, p) and (p, p)."""
        margins, residuals = self.at.residuals(block)
        weights = self.at.leverage_weights(block)
        curvatures = self.at.curvatures(block, margins, residuals)
        columns = block.columns
        coordinates = columns.margins(block.whitening)
        if columns.offset is not None:
            coordinates -= columns.offset[:, None]
        found = []
        for factors in (np.sqrt(weights * curvatures), weights * residuals):
            values = coordinates * factors[:, None]
            counted = weighed(values, columns.weights)
            total = products.GramSum(
                len(self.at.weights), max(len(values), columns.most_together or 0)
            )
            total.add(values, counted)
            found.append(total.rounded())
        some = (weights * residuals)[:, None]
        return columns.sums(some, block.whitening)[:, 0], found[0], found[1]
