"""Losses: derivative, gradient, and bounds on both.

Every loss acts on margins (records times weights) in unit coordinates, and sums over records:
the number of records is private under add/remove, so nothing divides by it.
"""

from typing import Protocol

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses.logistic import Logistic
from sparsedp.losses.multinomial import Multinomial
from sparsedp.losses.squared import Squared

__all__ = ["Logistic", "Loss", "Multinomial", "Squared"]


class Loss(Protocol):
    """What a solver asks of a loss."""

    @property
    def n_outputs(self) -> int:
        """Columns of the weights: 1, or one per class."""
        ...

    def derivative(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss in its margins (private)."""
        ...

    def derivative_bound(self, weights: np.ndarray) -> float:
        """Largest absolute derivative over the unit box at these (released) weights: public."""
        ...

    def clipped(self, derivative: np.ndarray, bound: float) -> np.ndarray:
        """Derivatives with no entry beyond ``bound``, in place (private)."""
        ...

    def losses(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        ...

    def gradient(self, data: Dataset, weights: np.ndarray, bound: float) -> np.ndarray:
        """Sum of the records' gradients (private), derivatives clipped to ``bound``.

        The clipping makes the bound true whatever the data and the rounding: a record in the unit
        box moves no entry by more than ``bound``.
        """
        ...

    def value(self, data: Dataset, weights: np.ndarray) -> float:
        """Mean loss (private)."""
        ...
