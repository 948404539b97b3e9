"""Noisy gradients: a later one need not forget an earlier one, and two of them show curvature."""

import math
from dataclasses import dataclass

import numpy as np

FADING = 0.8
"""What is left after a step of the factor by which curvatures are raised."""


@dataclass(frozen=True)
class ReleasedGradient:
    """A gradient over all features, as released.

    Parameters
    ----------
    values : ndarray of shape (n_features, n_outputs)
    noise : float
        Standard deviation of what sets an entry apart from the gradient at the current weights.
    """

    values: np.ndarray
    noise: float

    def after(
        self, older: "ReleasedGradient | None", excluded: np.ndarray, count: int
    ) -> "ReleasedGradient":
        """Average with a gradient at earlier weights, as far as it still holds.

        Each is weighted by its precision; what the steps between them changed counts as noise of
        the older one. That change is estimated on the features that matter here, the ``2 * count``
        heaviest of the average that takes no change for granted: its noise is independent of that
        of the difference, so noise alone does not make them look changed. What has no noise is at
        the current weights.
        """
        if older is None or self.noise == 0:
            return self
        old, new = older.noise**2, self.noise**2
        difference = self.values - older.values
        average = older.values + difference * (old / (old + new))
        candidates = heaviest(np.linalg.norm(average, axis=1), excluded, 2 * count)
        changed = max(float(np.mean(difference[candidates] ** 2)) - old - new, 0.0)
        old += changed
        values = older.values + difference * (old / (old + new))
        return ReleasedGradient(values, math.sqrt(old * new / (old + new)))


def heaviest(heights: np.ndarray, excluded: np.ndarray, count: int) -> np.ndarray:
    """Features with the largest heights, largest first, but for those that are excluded."""
    heights = heights.copy()
    heights[excluded] = -np.inf
    return np.argsort(-heights, kind="stable")[:count]


@dataclass
class Steepness:
    """How much steeper the way was than mean curvatures said, by released gradients alone.

    Of a rare class the records that a step moves have more curvature than the mean of all, and
    steps by the mean go too far, the farther the better they are seen. Two gradients and the step
    between them show the curvature along it.
    """

    factor: float = 1.0
    _last: tuple[np.ndarray, np.ndarray, float] | None = None

    def look(self, gradient: np.ndarray, noise: float, n_records: float, curvature: float) -> float:
        """The factor by which curvatures are to be raised, at least 1.

        Parameters
        ----------
        gradient : ndarray
            Where the last step has led, in whitened coordinates.
        noise : float
            Of its entries.
        n_records : float
        curvature : float
            The mean of all records.
        """
        seen = 1.0
        if self._last is not None:
            step, before, old = self._last
            length = max(float(np.linalg.norm(step)), 1e-150)
            bent = float(np.sum(step * (before - gradient))) / length
            seen = (bent - math.hypot(noise, old)) / (length * n_records * curvature)
        self.factor = max(1.0, seen, FADING * self.factor)
        return self.factor

    def stepped(self, step: np.ndarray, gradient: np.ndarray, noise: float) -> None:
        """Keep what the next look needs: the step against the gradient, and where it began."""
        self._last = step, gradient, noise
