"""Noisy gradients over all features, of which a later one need not forget an earlier one."""

import math
from dataclasses import dataclass

import numpy as np


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
