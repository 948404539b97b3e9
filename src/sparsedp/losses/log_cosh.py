"""Squared loss for small residuals, linear for large ones, and smooth in between."""

from dataclasses import dataclass

import numpy as np

from sparsedp.losses.clip import clipped
from sparsedp.losses.logistic import Logistic


@dataclass(frozen=True)
class LogCosh:
    """clip^2 log cosh((margin - target) / clip): what `Squared` and `Huber` are to be perturbed as.

    Its residual clip tanh(r / clip) stays below the clip, its curvature 1 - (residual / clip)^2
    falls from 1 to 0 as the residual grows: the shape "log_cosh" of the accountant.

    Parameters
    ----------
    clip : float
        Largest absolute residual.
    """

    clip: float

    task = "linear"
    n_outputs = 1
    n_classes = None
    typical_curvature = 1.0
    curvature_bound = 1.0
    margin_curvature_bound = 1.0
    residual_lipschitz = 1.0
    shape = "log_cosh"

    @property
    def lipschitz(self) -> float:
        """The clip."""
        return self.clip

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private), up to a constant."""
        size = np.abs(margins - target) / self.clip  # log cosh without overflow
        return self.clip**2 * (size + np.log1p(np.exp(-2 * size)))

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss (private)."""
        return clipped(self.clip * _tanh((margins - target) / self.clip), self.clip)

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Second derivative of each record's loss (private)."""
        return 1 - _tanh((margins - target) / self.clip) ** 2

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(residual, bound)

    def residual_bound(self, weights: np.ndarray) -> float:
        """The clip, or what a residual of the squared loss cannot exceed."""
        return min(self.clip, float(1 + np.abs(weights).sum()))

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """The margin itself."""
        return margins

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """The mean itself."""
        return np.clip(mean, -1.0, 1.0)

    def bounded(self, clip: float) -> "LogCosh":
        """With the smaller clip."""
        return LogCosh(min(clip, self.clip))


def _tanh(x: np.ndarray) -> np.ndarray:
    """Hyperbolic tangent by the kernel's sigmoid: a library's may depend on a number's place."""
    return 2 * Logistic().residual(2 * x, np.full(len(x), 0.5))
