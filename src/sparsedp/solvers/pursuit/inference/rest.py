"""Which weights have come to rest: where one has no best value, what is seen is where steps ended.

Computed from releases alone. What the rules were measured on: inference.md.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.solvers.pursuit.inference.coordinates import Coordinates

LONGEST_LAST = 0.25
"""Of log-odds, from one end of a feature to the other: a longer last step, noise apart, does not
end where it seems to."""

FAR, HIDDEN = 2.0, 2.0
"""Log-odds between two values that may be infinitely far apart, and of those who have one of them;
and how many deviations of noise must not hide that they are."""

FLATTER = 0.85
"""Of the curvature expected where scores are released. With less where they lead, as of a rare
class that the start took for a frequent one, errors are not those of a straight line."""


@dataclass(frozen=True, eq=False)
class Rest:
    """Where the steps of a model for two classes ended, in whitened coordinates.

    Parameters
    ----------
    coordinates : Coordinates
    weights : ndarray of shape (p,)
        The estimate.
    last : ndarray of shape (p,)
        The last step ...
    noise : ndarray of shape (p, p)
        ... and the covariance of what noise made of it.
    """

    coordinates: Coordinates
    weights: np.ndarray
    last: np.ndarray
    noise: np.ndarray

    def moving(self, declared: np.ndarray) -> np.ndarray:
        """Columns whose weights may have no best value, the constant first.

        Parameters
        ----------
        declared : ndarray of shape (p - 1,)
            Features that have two values by declaration.
        """
        back = self.coordinates.whitening
        # Where a weight has no best value every step is as long as the one before: the margins of
        # those whom a feature tells apart from all others move by 1 or more.
        noise = np.sqrt(np.diag(back @ self.noise @ back.T))
        step, effect = 2 * (back @ self.last), 2 * (back @ self.weights)
        moving = np.abs(step) > LONGEST_LAST + 6 * noise
        # Of two values one may be told apart from all else, if those who have it are far out. The
        # first step is then 1, and the second, by the same Hessian, 1 / e; noise must not hide it.
        two = np.append(False, declared) | self.coordinates.two_valued()
        far = (np.abs(effect) > FAR) & (self.coordinates.farthest(self.weights) > FAR)
        shortest = math.exp(-1) - HIDDEN * 2 * noise
        return moving | (two & far & (step * np.sign(effect) > shortest))

    def bent(self, start: np.ndarray, reached: np.ndarray) -> bool:
        """Whether curvatures fell so far on the way that a line is no picture of the score."""
        before, after = (
            float(np.trace(self.coordinates.expected_hessian(weights, logistic=True)))
            for weights in (start, reached)
        )
        return after < FLATTER * before
