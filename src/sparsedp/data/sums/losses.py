"""Sums of a loss over records: its gradient and its value (private); sent to where records are.

They are sums, not means: the number of records is private under add/remove.
"""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses.loss import Loss


def gradient_sum(data: Dataset, loss: Loss, weights: np.ndarray, bound: float) -> np.ndarray:
    """Sum of the records' gradients (private), residuals clipped to ``bound``.

    The clipping makes the bound true whatever the data and the rounding: a record in the unit box
    moves no entry by more than ``bound``.
    """
    return data.total(GradientSum(loss, weights, bound))


def residual_bound(data: Dataset, loss: Loss, weights: np.ndarray) -> float:
    """Largest absolute entry of a residual at these weights, whatever the record. Public.

    An offset counts like one more feature, in [-1, 1] and with its limit as the weight.
    """
    if data.offset_bounds is None:
        return loss.residual_bound(weights)
    return loss.residual_bound(np.append(weights, data.offset_limit))


def mean_loss(data: Dataset, loss: Loss, weights: np.ndarray) -> float:
    """Mean loss (private): for non-private references and tests; zero where nothing counts."""
    return float(data.total(LossSum(loss, weights)) / (data.total_weight or 1.0))


@dataclass(frozen=True, eq=False)
class GradientSum:
    """Sum of the records' gradients, residuals clipped to a bound (private)."""

    loss: Loss
    weights: np.ndarray
    bound: float

    def __call__(self, block: Dataset) -> np.ndarray:
        """Over the records of a block."""
        residual = self.loss.residual(block.margins(self.weights), block.target)
        return block.rmatvec(self.loss.clipped(residual, self.bound))


@dataclass(frozen=True, eq=False)
class LossSum:
    """Sum of the records' losses, by weight (private)."""

    loss: Loss
    weights: np.ndarray

    def __call__(self, block: Dataset) -> float:
        """Over the records of a block."""
        losses = self.loss.value(block.margins(self.weights), block.target)
        return float(weighed(losses, block.weights).sum())
