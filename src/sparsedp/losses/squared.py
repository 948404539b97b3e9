"""Squared loss, targets mapped to [-1, 1]."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.losses.clip import clipped
from sparsedp.losses.log_cosh import LogCosh
from sparsedp.losses.loss import BallBounds


@dataclass(frozen=True)
class Squared:
    """Half the squared residual, in units of half the declared target range.

    The residual is margin - target: not bounded where margins are not, so the loss is not
    `Lipschitz`. Solvers clip residuals to a public bound, which makes it Huber's loss: without that
    one record could move the gradient without limit. The curvature is 1 everywhere.
    """

    task = "linear"
    n_outputs = 1
    n_classes = None
    typical_curvature = 1.0
    curvature_bound = 1.0
    margin_curvature_bound = 1.0
    residual_lipschitz = 1.0
    shape = "log_cosh"  # what `bounded` makes of it
    walk_name = "squared"
    residual_tails = 4.0
    code_slope = 1.0

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        return (margins - target) ** 2 / 2

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Prediction minus target (private)."""
        return margins - target

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """One."""
        return np.ones_like(margins)

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(residual, bound)

    def residual_bound(self, weights: np.ndarray) -> float:
        """Largest absolute residual over the unit box.

        A prediction is at most ||w||_1 and a target at most 1 in absolute value.
        """
        return float(1 + np.abs(weights).sum())

    def codes(self, target: np.ndarray) -> np.ndarray:
        """The target itself, in [-1, 1]."""
        return target

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """The margin itself."""
        return margins

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """The mean itself."""
        return np.clip(mean, -1.0, 1.0)

    def bounded(self, clip: float) -> "Squared | LogCosh":
        """A loss that is squared for small residuals and linear for large ones.

        Itself for an infinite clip, where nothing has to be bounded.
        """
        return self if math.isinf(clip) else LogCosh(clip)

    def over_ball(self, radius: float) -> BallBounds:
        """Bounds where no absolute margin exceeds the radius.

        u (u - y) is least for y = 1 at u = 1/2 and (u - v)(u - y) for v = -radius, y = 1 at
        u = (1 - radius)/2, or at the end of the range; largest at opposite ends.
        """
        most = radius + 1.0
        at, at_gap = min(0.5, radius), min((1 - radius) / 2, radius)
        return BallBounds(
            residual=most,
            product_range=(at * (at - 1), radius * most),
            gap_range=((at_gap + radius) * (at_gap - 1), 2 * radius * most),
            stiffness=1.0,
            stated_residual=radius,  # the target is left out there
        )
