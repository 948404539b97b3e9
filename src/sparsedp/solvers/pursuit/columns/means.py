"""Where noise is loud: means of all columns, and how far most records are from them.

Nothing else is asked about the columns before the descent: a Gram matrix would be noise. Proof:
shapes.md.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.records import Derived
from sparsedp.data.sums import norms
from sparsedp.solvers.pursuit.columns.ball import Sums, about_zero, pulled_center
from sparsedp.solvers.pursuit.columns.gram import Alike
from sparsedp.solvers.pursuit.columns.levels import (
    ONE_LEVEL,
    level_counts,
    of_distances,
    usual,
)
from sparsedp.solvers.pursuit.moments import Moments

STIFF = 0.5
"""Mean square along a direction that steps go by, over that of all directions together: of few
tables one direction has more than twice as much, and momentum bears that."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Levels of squared distances from a center, every column times a factor."""

    center: np.ndarray
    factor: np.ndarray
    most: float

    def __call__(self, columns: ColumnSubset) -> np.ndarray:
        """Counts over the block's records."""
        total = level_counts(np.zeros(0), self.most, None)
        for table, weights in columns.dense():
            squares = norms.row_squares(table[:, 1:], self.factor, self.center)
            total = total + level_counts(squares, self.most, weights)
        return total


@dataclass
class Means:
    """Pays for means and distances; all columns come at once, after a constant one.

    Parameters
    ----------
    moments : Moments
    n_records : float
        Released.
    means_share, distances_share : float
        Of the Gaussian budget; the second for every look at distances.
    constant : float
        What the constant column counts in the coordinates of steps.
    """

    moments: Moments
    n_records: float
    means_share: float
    distances_share: float
    constant: float
    noise: float = field(default=0.0, init=False)
    left: float = field(default=0.0, init=False)
    alike: Alike | None = field(default=None, init=False)

    def block(self, columns: Derived, n_old: int, old: float, new: np.ndarray) -> np.ndarray:
        """Release means and distances, and make a Gram matrix of them; see `GramBudget`."""
        d, n, moments = len(new), self.n_records, self.moments
        length = float(np.linalg.norm(new))
        sums = columns.total(Sums(0.0, length**2))[:-1]  # private
        means = moments.release(sums, length, self.means_share) / n  # released
        blur = moments.deviation(length, self.means_share) / n
        center = pulled_center(means, new, d * blur**2)
        square = self._square(columns, center, new, np.ones(d))
        each = STIFF * square
        self.alike = Alike(center, each, square / d / each, np.ones(d), self.constant)
        return about_zero(np.concatenate([np.zeros((1, d)), n * each * np.eye(d)]), center, n)

    def reweigh(self, columns: Derived, limits: np.ndarray, weights: np.ndarray) -> None:
        """Let steps along some columns be longer; ``weights`` are those of squares, mean 1."""
        assert self.alike is not None
        alike, root = self.alike, np.sqrt(weights)
        square = self._square(columns, alike.center, limits, root)
        self.alike = replace(alike, lengths=root * np.sqrt(alike.each / (STIFF * square)))

    def _square(
        self, columns: Derived, center: np.ndarray, limits: np.ndarray, factor: np.ndarray
    ) -> float:
        """The usual squared distance from the center; released."""
        # Norms are rounded up, by less than this.
        most = 1.01 * float(np.sum(np.square((limits + np.abs(center)) * factor)))
        found = columns.total(Distances(center, factor, most))  # private
        noisy = self.moments.release(found, ONE_LEVEL, self.distances_share)  # released
        noise = self.moments.deviation(ONE_LEVEL, self.distances_share)
        return usual(noisy, self.n_records, noise, most, of_distances)
