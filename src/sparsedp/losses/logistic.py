"""Logistic loss for two classes, labels 0 and 1."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sparsedp._kernels import COMPILED
from sparsedp.data.dataset import Dataset
from sparsedp.losses.clip import clipped
from sparsedp.losses.sums import GradientSum, LossSum

if COMPILED:
    from sparsedp._kernels.sums import slopes as kernel
else:
    from sparsedp._kernels.sums import slopes_reference as kernel


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-margin)) for label 1, log(1 + exp(margin)) for label 0."""

    @property
    def n_outputs(self) -> int:
        """Columns of the weights."""
        return 1

    def derivative(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss in its margin: probability minus label.

        A function of the record alone, to the last bit, and the same whatever the machine.
        """
        margins = np.ascontiguousarray(margins, dtype=np.float64)
        derivative = np.empty_like(margins)
        labels = np.ascontiguousarray(target, dtype=np.float64)
        kernel.logistic(margins.reshape(-1), labels, derivative.reshape(-1))
        return derivative

    def derivative_bound(self, weights: np.ndarray) -> float:
        """Largest absolute derivative over all records in the unit box, at these weights.

        A margin is at most ||w||_1 in absolute value there, so no probability is further than
        sigmoid(||w||_1) from its label: one half at w = 0, not one.
        """
        return float(expit(np.abs(weights).sum()))

    def clipped(self, derivative: np.ndarray, bound: float) -> np.ndarray:
        """Derivatives clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(derivative, bound)

    def gradient(self, data: Dataset, weights: np.ndarray, bound: float) -> np.ndarray:
        """Sum of the records' gradients (private), derivatives clipped to ``bound``."""
        return data.total(GradientSum(self, weights, bound))

    def losses(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        return np.logaddexp(0, margins) - target * margins

    def value(self, data: Dataset, weights: np.ndarray) -> float:
        """Mean loss (private): for non-private references and tests."""
        return float(data.total(LossSum(self, weights)) / data.n_records)
