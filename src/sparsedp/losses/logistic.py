"""Logistic loss for two classes, labels 0 and 1."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, wrightomega

from sparsedp._kernels import COMPILED
from sparsedp.losses.clip import clipped
from sparsedp.losses.loss import BallBounds

if COMPILED:
    from sparsedp._kernels.sums import slopes as kernel
else:
    from sparsedp._kernels.sums import slopes_reference as kernel

LEAST_SHARE = 1e-9
"""Probabilities stay this far from 0 and 1 where they are turned into margins."""


@dataclass(frozen=True)
class Logistic:
    """log(1 + exp(-margin)) for label 1, log(1 + exp(margin)) for label 0.

    The residual is p - y with p = sigmoid(margin): below 1 in absolute value, of the sign that the
    label fixes. The curvature is p (1 - p) = |residual| (1 - |residual|), at most 1/4, which is
    also its value at zero.
    """

    task = "binary"
    n_outputs = 1
    n_classes = 2
    typical_curvature = 0.25
    curvature_bound = 0.25
    margin_curvature_bound = 0.25
    residual_lipschitz = 0.25  # clipping a number is 1-Lipschitz
    lipschitz = 1.0
    shape = "logistic"
    walk_name = "logistic"
    residual_tails = 1.0
    code_slope = 2.0
    """A code is predicted as 2p - 1; log(p / (1 - p)) is about twice that where p is near 1/2."""
    scaling_bound = 0.22390
    """The largest u sigmoid'(u) is 0.223896, at u = 1.5434."""

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        return np.logaddexp(0, margins) - target * margins

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Probability minus label (private)."""
        margins = np.ascontiguousarray(margins, dtype=np.float64)
        residual = np.empty_like(margins)
        labels = np.ascontiguousarray(target, dtype=np.float64)
        kernel.logistic(margins.reshape(-1), labels, residual.reshape(-1))
        return residual

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """P (1 - p) of each record (private), accurate also where p is close to 1."""
        nothing = np.zeros_like(target, dtype=np.float64)
        return self.residual(margins, nothing) * self.residual(-margins, nothing)

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(residual, bound)

    def residual_bound(self, weights: np.ndarray) -> float:
        """Largest absolute residual over the unit box.

        A margin is at most ||w||_1 in absolute value there, so no probability is further than
        sigmoid(||w||_1) from its label: one half at w = 0, not one.
        """
        return float(expit(np.abs(weights).sum()))

    def codes(self, target: np.ndarray) -> np.ndarray:
        """-1 and 1."""
        return 2.0 * target - 1.0

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """Probability of label 1."""
        return expit(margins)

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """Log-odds."""
        return logit(np.clip(mean, LEAST_SHARE, 1 - LEAST_SHARE))

    def bounded(self, clip: float) -> "Logistic":
        """Residuals are bounded already."""
        return self

    def over_ball(self, radius: float) -> BallBounds:
        """Bounds where no absolute margin exceeds the radius.

        For label 0 (label 1 mirrors it) the residual at -u is 1/(1 + exp(u)), and (u + a) times it
        is largest where exp(-u) = W(exp(a - 1)), with W Lambert's function: where the product of a
        margin, or of a distance of margins, with the residual is least.
        """
        most = float(expit(radius))
        at = min(-math.log(wrightomega(-1)), radius)
        at_gap = min(-math.log(wrightomega(radius - 1)), radius)
        return BallBounds(
            residual=most,
            product_range=(-at * float(expit(-at)), radius * most),
            gap_range=(-(at_gap + radius) * float(expit(-at_gap)), 2 * radius * most),
            stiffness=1 / (4 * math.sqrt(most * float(expit(-radius)))),
            stated_residual=most,
        )
