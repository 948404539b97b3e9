"""Where noise is so loud that a descent of all features is the way: by n^ and public facts."""

import math
from dataclasses import dataclass

from sparsedp.solvers.pursuit.columns.isotropic import quietness

LOUD_NUMBERS = 150.0
"""Below this quietness numbers are fitted by a descent: above it a Gram matrix and bends pay."""

LOUD_LABELS = 4.5
"""Below this quietness times curvature classes are."""

FEWEST_SEEN = 20.0
"""With fewer records, over the noise of a sum, neither means nor distances are to be seen: numbers
are then a constant (numbers.py), and classes go the way that is taken where noise is low."""


@dataclass(frozen=True)
class Loudness:
    """What noise does to a sum over all features.

    Parameters
    ----------
    noise : float
        Of a sum that had the whole budget, where a record adds at most 1. Public.
    n_features : int
    able : bool
        Whether all features are fitted at once, with an intercept.
    """

    noise: float
    n_features: int
    able: bool

    def of_numbers(self, n_records: float) -> bool:
        """Whether it drowns numbers."""
        return self._quiet(n_records) < LOUD_NUMBERS

    def of_labels(self, n_records: float, curvature: float) -> bool:
        """Whether it drowns classes."""
        return curvature * self._quiet(n_records) < LOUD_LABELS

    def _quiet(self, n_records: float) -> float:
        """Quietness, or beyond all numbers where there is no descent in any case."""
        if not self.able or n_records < FEWEST_SEEN * self.noise:
            return math.inf
        return quietness(n_records, self.noise, self.n_features)


NEVER_LOUD = Loudness(0.0, 1, able=False)
"""Where there is no other way than the usual one."""
