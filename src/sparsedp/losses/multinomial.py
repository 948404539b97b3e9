"""Multinomial logistic loss: one joint model for more than two classes."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp, softmax

from sparsedp.data.dataset import Dataset


@dataclass(frozen=True)
class Multinomial:
    """Cross-entropy of the softmax; weights have one column per class."""

    n_classes: int

    def __post_init__(self) -> None:
        if self.n_classes < 2:
            raise ValueError(f"a multinomial model needs two or more classes, got {self.n_classes}")

    @property
    def n_outputs(self) -> int:
        """Columns of the weights."""
        return self.n_classes

    def derivative(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss in its margins: probabilities minus the label's."""
        derivative = softmax(margins, axis=1)
        derivative[np.arange(len(target)), target] -= 1
        return derivative

    def derivative_bound(self, weights: np.ndarray) -> float:
        """Largest absolute entry of any derivative over all records in the unit box.

        Two margins of a record differ by at most the L1 distance of their weight columns, which
        bounds every probability from below and above. Entry c is at most 1 - p_c (label c) or p_c
        (another label) in absolute value; one entry never exceeds 1, however many classes.
        """
        bound = 0.0
        for c in range(self.n_classes):
            distance = np.abs(weights - weights[:, [c]]).sum(axis=0)
            least = expit(-logsumexp(np.delete(distance, c)))
            most = expit(-logsumexp(-np.delete(distance, c)))
            bound = max(bound, float(1 - least), float(most))
        return bound

    def gradient(self, data: Dataset, weights: np.ndarray, bound: float) -> np.ndarray:
        """Sum of the records' gradients (private), derivatives scaled down to ``bound``.

        A record's derivative is shrunk as a whole: clipping entry by entry would leave it with a
        sum other than zero, that is, pulling all classes up or down together.
        """
        derivative = self.derivative(data.matvec(weights), data.target)
        largest = np.abs(derivative).max(axis=1, keepdims=True)
        derivative *= np.minimum(1, bound / np.maximum(largest, np.finfo(float).tiny))
        return data.rmatvec(np.clip(derivative, -bound, bound))

    def value(self, data: Dataset, weights: np.ndarray) -> float:
        """Mean loss (private): for non-private references and tests."""
        margins = data.matvec(weights)
        chosen = margins[np.arange(len(data.target)), data.target]
        return float(np.mean(logsumexp(margins, axis=1) - chosen))
