"""Logistic loss for two classes, labels 0 and 1."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sparsedp.data.dataset import Dataset


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-margin)) for label 1, log(1 + exp(margin)) for label 0."""

    @property
    def n_outputs(self) -> int:
        """Columns of the weights."""
        return 1

    def derivative(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss in its margin: probability minus label."""
        return expit(margins) - target

    def derivative_bound(self, weights: np.ndarray) -> float:
        """Largest absolute derivative over all records in the unit box, at these weights.

        A margin is at most ||w||_1 in absolute value there, so no probability is further than
        sigmoid(||w||_1) from its label: one half at w = 0, not one.
        """
        return float(expit(np.abs(weights).sum()))

    def gradient(self, data: Dataset, weights: np.ndarray, bound: float) -> np.ndarray:
        """Sum of the records' gradients (private), derivatives clipped to ``bound``."""
        derivative = self.derivative(data.matvec(weights), data.target)
        return data.rmatvec(np.clip(derivative, -bound, bound))

    def value(self, data: Dataset, weights: np.ndarray) -> float:
        """Mean loss (private): for non-private references and tests."""
        margins = data.matvec(weights)
        return float(np.mean(np.logaddexp(0, margins) - data.target * margins))
