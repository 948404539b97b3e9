"""Squared loss, targets mapped to [-1, 1]."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses.clip import clipped
from sparsedp.losses.sums import GradientSum, LossSum


@dataclass(frozen=True)
class Squared:
    """Half the squared residual, in units of half the declared target range.

    Solvers clip residuals to a public bound, which makes it Huber's loss: without that one record
    could move the gradient without limit.
    """

    @property
    def n_outputs(self) -> int:
        """Columns of the weights."""
        return 1

    def derivative(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss in its prediction: the residual."""
        return margins - target

    def derivative_bound(self, weights: np.ndarray) -> float:
        """Largest absolute residual over all records in the unit box, at these weights.

        A prediction is at most ||w||_1 and a target at most 1 in absolute value.
        """
        return float(1 + np.abs(weights).sum())

    def clipped(self, derivative: np.ndarray, bound: float) -> np.ndarray:
        """Derivatives clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(derivative, bound)

    def gradient(self, data: Dataset, weights: np.ndarray, bound: float) -> np.ndarray:
        """Sum of the records' gradients (private), derivatives clipped to ``bound``."""
        return data.total(GradientSum(self, weights, bound))

    def losses(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        return (margins - target) ** 2 / 2

    def value(self, data: Dataset, weights: np.ndarray) -> float:
        """Mean loss (private): for non-private references and tests."""
        return float(data.total(LossSum(self, weights)) / data.n_records)
