"""Sums over a block of records that losses are asked for; sent to where the records are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class GradientSum:
    """Sum of the records' gradients, derivatives clipped to a bound (private)."""

    loss: Any
    weights: np.ndarray
    bound: float

    def __call__(self, block: Dataset) -> np.ndarray:
        """Over the records of a block."""
        derivative = self.loss.derivative(block.matvec(self.weights), block.target)
        return block.rmatvec(self.loss.clipped(derivative, self.bound))


@dataclass(frozen=True, eq=False)
class LossSum:
    """Sum of the records' losses (private)."""

    loss: Any
    weights: np.ndarray

    def __call__(self, block: Dataset) -> float:
        """Over the records of a block."""
        return self.loss.losses(block.matvec(self.weights), block.target).sum()
