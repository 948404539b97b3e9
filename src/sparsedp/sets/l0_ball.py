"""The L0 ball: models that use at most k features."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class L0Ball:
    """Weights that use at most ``n_nonzero`` of the first ``n_features`` rows.

    Rows after ``n_features`` (the intercept) are free. For several outputs a feature counts once,
    ranked by the sum of its absolute weights: what a deployment saves is the feature.
    """

    n_nonzero: int
    n_features: int

    def __post_init__(self) -> None:
        if not self.n_nonzero >= 0:
            raise ValueError(f"n_nonzero must not be negative, got {self.n_nonzero}")

    def threshold(self, weights: np.ndarray) -> np.ndarray:
        """Keep the heaviest features, set the others to zero; returns new weights."""
        heaviness = np.abs(weights[: self.n_features])
        if heaviness.ndim == 2:
            heaviness = heaviness.sum(axis=1)
        kept = weights.copy()
        n_dropped = self.n_features - self.n_nonzero
        if n_dropped > 0:
            kept[np.argpartition(heaviness, n_dropped - 1)[:n_dropped]] = 0
        return kept


def n_features_used(weights: np.ndarray, n_features: int) -> int:
    """How many features have a non-zero weight."""
    used = weights[:n_features] != 0
    return int(np.count_nonzero(used if used.ndim == 1 else used.any(axis=1)))
