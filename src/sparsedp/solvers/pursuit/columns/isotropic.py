"""Without a Gram matrix: records spread in all directions alike, as far as anybody may know.

The Gram matrix of d columns has d (d + 1) / 2 entries, all of which need noise. Where features are
many and noise is loud, most of its directions are noise, and steps have to be kept short along all
of them. Means and mean square say as much then, for a third of the share; the steps get the rest.
Proof: shapes.md.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from sparsedp.data.records import Derived
from sparsedp.solvers.pursuit.columns.ball import MEANS_SHARE, Location, about_zero
from sparsedp.solvers.pursuit.columns.gram import Alike
from sparsedp.solvers.pursuit.moments import Moments

FEWEST_FEATURES = 48
"""Of fewer the Gram matrix has few entries, and is worth its noise."""

LOUD, QUIET = 10.0, 200.0
"""Of the quietness: below, means are too loud, and the Gram matrix is no more than a brake; above,
it can be seen, and steps along its directions lead further."""

STIFF = 0.5
"""Mean squares along every direction, over that of all together, times the root of the quietness:
the louder the noise, the shorter the steps, and the more directions are left as they began."""

SHORTEST = 0.05
"""The mean square distance from the center is not believed to be less than this part of the
largest."""


def quietness(n_records: float, noise: float, n_columns: int) -> float:
    """Records over the length of the noise in a sum of their columns that had the whole budget.

    Parameters
    ----------
    n_records : float
    noise : float
        Of a sum to which a record adds at most 1.
    n_columns : int
    """
    return n_records / max(noise * math.sqrt(n_columns), 1e-300)


@dataclass
class IsotropicGram:
    """Pays for means and mean square; all columns come at once, after a constant one.

    Parameters
    ----------
    moments : Moments
    share : float
        Of the Gaussian budget.
    n_records : float
        Released.
    quiet : float
        See `quietness`.
    """

    moments: Moments
    share: float
    n_records: float
    quiet: float
    noise: float = field(default=0.0, init=False)
    alike: Alike | None = field(default=None, init=False)

    @property
    def left(self) -> float:
        """The share that means and mean square do not need."""
        return (1 - MEANS_SHARE) * self.share

    def block(self, columns: Derived, n_old: int, old: float, new: np.ndarray) -> np.ndarray:
        """Release means and mean square, and make a Gram matrix of them; see `GramBudget`.

        About the center it is that of columns without correlation, of which each has far more than
        its part of the mean square: no direction of the records is to have more than twice as much.
        """
        d, n = len(new), self.n_records
        where = Location(self.moments, new, MEANS_SHARE * self.share, n)
        center, square = where.released(columns)
        square = min(max(square, SHORTEST * where.most), where.most)
        each = STIFF / math.sqrt(self.quiet) * square
        self.alike = Alike(center, each, square / d / each)
        alike = np.concatenate([np.zeros((1, d)), n * each * np.eye(d)])
        return about_zero(alike, center, n)
