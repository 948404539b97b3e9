"""The Gram matrix of records in a ball about their mean: far less noise where records are close.

In the box of d columns a record may be sqrt(d) long, but most are not nearly as far from their
mean. Where all features are used at once, their means and mean square are released first; records
are then shrunk to a ball about the means, and the Gram matrix is that of the shrunk ones. Proof:
shapes.md.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.records import Derived
from sparsedp.data.sums import norms, products
from sparsedp.data.sums.weighed import weighed
from sparsedp.privacy import Neighbors
from sparsedp.solvers.pursuit.columns.gram import Alike, BlockGram, block_gram, row_gram
from sparsedp.solvers.pursuit.moments import Moments

MEANS_SHARE = 1 / 3
"""Of the share for the Gram matrix, for where the ball is."""

SQUARE_WEIGHT = 0.3
"""Of the sum of squares beside the sums, both over what they are at most."""

LOUDEST = 0.25
"""Means are of use if their noise, all squared, is below this part of the largest square."""

RADIUS = 1.2
"""Of the ball, over the root mean square distance of records from its center."""

SHORTEST = 0.02
"""The mean square distance is not believed to be less than this part of the largest."""


@dataclass(frozen=True)
class Sums:
    """Sums of the columns, and of the squares of all of them."""

    weight: float
    most: float
    """No sum of squares is larger."""

    def __call__(self, columns: ColumnSubset) -> np.ndarray:
        """The sum of squares last, times the weight."""
        if columns.basis is None:
            return self._straight(columns)
        width = columns.width
        total = products.sums(np.zeros((0, 1 + width)))
        for table, weights in columns.dense():
            squares = norms.row_squares(table[:, 1:], np.ones(width))
            # In the place of the constant column.
            table[:, 0] = self.weight * np.minimum(squares, self.most)
            total = total.plus(products.sums(weighed(table, weights)))
        return np.roll(total.rounded(), -1)

    def _straight(self, columns: ColumnSubset) -> np.ndarray:
        """Columns that are stored as they are need not be written down."""
        storage, weights = columns.storage, columns.weights
        squares = norms.row_squares(storage, 1 / columns.scale, columns.shift)
        squares = self.weight * np.minimum(squares, self.most)
        each = weighed(np.ones(len(squares)), weights)
        sums = products.weighted_sums(
            storage, each, columns.shift, most_together=columns.most_together
        )
        total = products.column_sums(weighed(squares, weights))
        return np.append(sums.rounded() / columns.scale, total)


@dataclass(frozen=True)
class Location:
    """Releases where records are: their means, and their mean square.

    Parameters
    ----------
    moments : Moments
    limits : ndarray
        Of the columns.
    share : float
        Of the Gaussian budget.
    n_records : float
        Released.
    """

    moments: Moments
    limits: np.ndarray
    share: float
    n_records: float

    @property
    def most(self) -> float:
        """No sum of squares of a record is larger."""
        return float(np.sum(self.limits**2))

    @property
    def sensitivity(self) -> float:
        """The sums move by the root of `most`, that of squares by `most`."""
        return math.sqrt(self.most * (1 + SQUARE_WEIGHT**2))

    @property
    def deviation(self) -> float:
        """Of the noise in a mean."""
        return self.moments.deviation(self.sensitivity, self.share) / self.n_records

    @property
    def error(self) -> float:
        """Mean square of the noise in all means together."""
        return len(self.limits) * self.deviation**2

    def released(self, columns: Derived) -> tuple[np.ndarray, float]:
        """A center, pulled to zero as far as noise may explain it, and the mean square about it."""
        n, weight = self.n_records, SQUARE_WEIGHT / math.sqrt(self.most)
        sums = columns.total(Sums(weight, self.most))  # private
        means = self.moments.release(sums, self.sensitivity, self.share)  # released
        center = pulled_center(means[:-1] / n, self.limits, self.error)
        return center, means[-1] / (weight * n) - float(center @ center)


def pulled_center(means: np.ndarray, limits: np.ndarray, error: float) -> np.ndarray:
    """Released means, pulled to zero as far as noise may explain them.

    ``error`` is the mean square of the noise in all of them together.
    """
    center = np.clip(means, -limits, limits)
    return center * max(0.0, 1 - error / max(float(center @ center), 1e-300))


@dataclass(frozen=True, eq=False)
class BallSums:
    """Sums of records in a ball about a center, and of their products."""

    center: np.ndarray
    radius: float

    def __call__(self, columns: ColumnSubset) -> np.ndarray:
        """Of shape (1 + columns, columns): the sums first."""
        width, n = columns.width, columns.storage.shape[0]
        found = products.GramSum(1 + width, max(n, columns.most_together or 0))
        for table, weights in columns.dense():
            norms.into_ball(table[:, 1:], self.center, self.radius)
            # Products with the constant column are sums.
            found.add(table, weighed(table, weights))
        return found.rounded()[:, 1:]


@dataclass
class BallGram:
    """Pays for means, and for the Gram matrix of records near them; all columns come at once.

    Parameters
    ----------
    moments : Moments
    share : float
        Of the Gaussian budget.
    n_records : float
        Released.
    neighbors : str
    """

    moments: Moments
    share: float
    n_records: float
    neighbors: Neighbors
    noise: float = field(default=0.0, init=False)
    left: float = field(default=0.0, init=False)
    alike: Alike | None = field(default=None, init=False)

    def block(self, columns: Derived, n_old: int, old: float, new: np.ndarray) -> np.ndarray:
        """Release the ball and the Gram matrix of the records in it; see `GramBudget`."""
        d, n, share = len(new), self.n_records, self.share
        where = Location(self.moments, new, MEANS_SHARE * share, n)
        most, box = where.most, block_gram(old, new)
        if where.error > LOUDEST * most:
            return self._in_box(columns, n_old, old, new, share)
        center, square = where.released(columns)
        error = where.error if center.any() else 0.0
        square = min(max(square, SHORTEST * most) + error, most)
        radius = RADIUS * math.sqrt(square)
        ball, left = row_gram(radius, True), (1 - MEANS_SHARE) * share
        if ball.under(self.neighbors) >= box.under(self.neighbors):
            return self._in_box(columns, n_old, old, new, left)
        self.noise = self.moments.deviation(ball, left)
        exact = columns.total(BallSums(center, radius))  # private
        upper = np.arange(d + 1)[:, None] <= np.arange(1, d + 1)
        found = np.zeros((d + 1, d))
        found[upper] = self.moments.release(exact[upper], ball, left)  # released
        return about_zero(found, center, n)

    def _in_box(
        self, columns: Derived, n_old: int, old: float, new: np.ndarray, share: float
    ) -> np.ndarray:
        """As if there were no ball: records may lie anywhere in the box."""
        whole = BlockGram(self.moments, share, block_gram(old, new), self.neighbors)
        self.noise = whole.noise
        return whole.block(columns, n_old, old, new)


def about_zero(found: np.ndarray, center: np.ndarray, n_records: float) -> np.ndarray:
    """Products about a center, the sums first, as products about zero: entries above the diagonal.

    With z = c + q: sums of z are n c + those of q, and sums of z z' have the terms of both.
    """
    first, inner = found[0], np.triu(found[1:])
    inner = inner + np.triu(inner, 1).T
    moved = inner + np.outer(center, first) + np.outer(first, center)
    moved += n_records * np.outer(center, center)
    sums = first + n_records * center
    return np.concatenate([sums[None], np.triu(moved)])
