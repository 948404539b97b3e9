"""The L1 ball: its 2d signed vertices, and steps toward them."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class L1Ball:
    """Weights whose absolute values sum to at most ``radius``.

    Vertices are numbered 0 .. 2d-1: ``j`` is +radius on entry j, ``d + j`` is -radius on entry j,
    entries of a weight matrix counted row by row.
    """

    radius: float

    def __post_init__(self) -> None:
        # Beyond these sums of products of weights leave the doubles; NaN is refused too.
        if not 1e-12 <= self.radius <= 1e12:
            raise ValueError(
                f"radius must be a positive number from 1e-12 to 1e12, got {self.radius!r}"
            )

    def scores(self, gradient: np.ndarray) -> np.ndarray:
        """How steeply the loss falls toward each positive vertex; a negative vertex has minus that.

        The radius scales every score alike and is left out: it cancels against the noise.
        """
        return -gradient.ravel()

    def step_toward(self, weights: np.ndarray, vertex: int, step: float) -> np.ndarray:
        """Move the part ``step`` of the way to a vertex; returns new weights."""
        moved = (1 - step) * weights
        entry, negative = vertex % weights.size, vertex >= weights.size
        moved.flat[entry] += step * (-self.radius if negative else self.radius)
        return moved

    def combination(
        self, vertices: np.ndarray, shares: np.ndarray, shape: tuple[int, ...]
    ) -> np.ndarray:
        """Sum of vertices, each times its share."""
        size = int(np.prod(shape))
        weights = np.zeros(size)
        signs = np.where(vertices < size, self.radius, -self.radius)
        np.add.at(weights, vertices % size, signs * shares)
        return weights.reshape(shape)

    def gap(self, weights: np.ndarray, gradient: np.ndarray) -> float:
        """Frank-Wolfe gap: the loss at ``weights`` is at most this above its least in the ball."""
        return float((weights * gradient).sum() + self.radius * np.abs(gradient).max())
