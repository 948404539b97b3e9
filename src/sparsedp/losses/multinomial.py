"""Multinomial logistic loss: one joint model for more than two classes."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from sparsedp._kernels import COMPILED
from sparsedp.data.dataset import Dataset
from sparsedp.losses.sums import GradientSum, LossSum

if COMPILED:
    from sparsedp._kernels.sums import slopes as kernel
else:
    from sparsedp._kernels.sums import slopes_reference as kernel


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
        """Derivative of each record's loss in its margins: probabilities minus the label's.

        A function of the record alone, to the last bit, and the same whatever the machine.
        """
        margins = np.ascontiguousarray(margins, dtype=np.float64)
        derivative = np.empty_like(margins)
        kernel.multinomial(margins, np.ascontiguousarray(target, dtype=np.int64), derivative)
        return derivative

    def derivative_bound(self, weights: np.ndarray) -> float:
        """Largest absolute entry of any derivative over all records in the unit box.

        Two margins of a record differ by at most the L1 distance of their weight columns, which
        bounds every probability from below and above. Entry c is at most 1 - p_c (label c) or p_c
        (another label) in absolute value; one entry never exceeds 1, however many classes.
        """
        distance = np.array([np.abs(weights.T - column).sum(axis=1) for column in weights.T])
        with np.errstate(over="ignore"):  # far apart a probability may be zero
            least = 1 / np.exp(distance).sum(axis=1)
        most = 1 / np.exp(-distance).sum(axis=1)
        return float(max((1 - least).max(), most.max()))

    def clipped(self, derivative: np.ndarray, bound: float) -> np.ndarray:
        """Derivatives scaled down to ``bound``, in place.

        A record's derivative is shrunk as a whole: clipping entry by entry would leave it with a
        sum other than zero, that is, pulling all classes up or down together. What is not a number
        becomes zero.
        """
        kernel.limit_whole(derivative, bound)
        return derivative

    def gradient(self, data: Dataset, weights: np.ndarray, bound: float) -> np.ndarray:
        """Sum of the records' gradients (private), derivatives scaled down to ``bound``."""
        return data.total(GradientSum(self, weights, bound))

    def losses(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        return logsumexp(margins, axis=1) - margins[np.arange(len(target)), target]

    def value(self, data: Dataset, weights: np.ndarray) -> float:
        """Mean loss (private): for non-private references and tests."""
        return float(data.total(LossSum(self, weights)) / data.n_records)
