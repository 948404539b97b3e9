"""Multinomial logistic loss: one joint model for more than two classes."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logsumexp, softmax

from sparsedp._kernels import COMPILED
from sparsedp.losses.loss import BallBounds

if COMPILED:
    from sparsedp._kernels.sums import slopes as kernel
else:
    from sparsedp._kernels.sums import slopes_reference as kernel

LEAST_SHARE = 1e-9
"""Of a class, where probabilities are turned into margins."""


@dataclass(frozen=True)
class Multinomial:
    """Cross-entropy of the softmax; weights have one column per class.

    With p the probabilities and e_y the label, the residual is p - e_y, whose squared norm
    ||p||^2 + 1 - 2 p_y is at most 2. The second derivative is H = diag(p) - pp'. Four bounds on it,
    each for another purpose:

    * along one margin it is p (1 - p) <= 1/4;
    * its largest eigenvalue is at most 1/2 (Gershgorin: p (1 - p) + p sum of the others);
    * where all margins are equal its non-zero eigenvalues are 1/K;
    * clipped residuals move by at most sqrt(1/2) times the margins: shrinking to the largest entry
      has a Jacobian of norm at most sqrt 2, and H one of at most 1/2.
    """

    n_classes: int

    task = "multinomial"
    curvature_bound = 0.5
    margin_curvature_bound = 0.25
    residual_lipschitz = math.sqrt(0.5)
    lipschitz = math.sqrt(2)
    shape = "multinomial"
    walk_name = "multinomial"

    def __post_init__(self) -> None:
        if self.n_classes < 2:
            raise ValueError(f"a multinomial model needs two or more classes, got {self.n_classes}")

    @property
    def n_outputs(self) -> int:
        """Columns of the weights."""
        return self.n_classes

    @property
    def typical_curvature(self) -> float:
        """That of equal probabilities."""
        return 1 / self.n_classes

    @property
    def code_slope(self) -> float:
        """About equal probabilities, where a code is predicted as p - 1/K and log p rises by K."""
        return float(self.n_classes)

    def codes(self, target: np.ndarray) -> np.ndarray:
        """The label's corner of the simplex, seen from its middle: of norm sqrt(1 - 1/K)."""
        return np.eye(self.n_classes)[target] - 1 / self.n_classes

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        return logsumexp(margins, axis=1) - margins[np.arange(len(target)), target]

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Probabilities minus the label's (private)."""
        margins = np.ascontiguousarray(margins, dtype=np.float64)
        residual = np.empty_like(margins)
        kernel.multinomial(margins, np.ascontiguousarray(target, dtype=np.int64), residual)
        return residual

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """diag(p) - pp' of each record (private)."""
        p = self.residual(margins, target)
        p[np.arange(len(p)), target] += 1
        hessian = -p[:, :, None] * p[:, None, :]
        k = np.arange(p.shape[1])
        hessian[:, k, k] += p
        return hessian

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals scaled down to ``bound``, in place.

        A record's residual is shrunk as a whole: clipping entry by entry would leave it with a
        sum other than zero, that is, pulling all classes up or down together. What is not a number
        becomes zero.
        """
        kernel.limit_whole(residual, bound)
        return residual

    def residual_bound(self, weights: np.ndarray) -> float:
        """Largest absolute entry of any residual over the unit box.

        Two margins of a record differ by at most the L1 distance of their weight columns, which
        bounds every probability from below and above. Entry c is at most 1 - p_c (label c) or p_c
        (another label) in absolute value; one entry never exceeds 1, however many classes.
        """
        distance = np.array([np.abs(weights.T - column).sum(axis=1) for column in weights.T])
        with np.errstate(over="ignore"):  # far apart a probability may be zero
            least = 1 / np.exp(distance).sum(axis=1)
        most = 1 / np.exp(-distance).sum(axis=1)
        return float(max((1 - least).max(), most.max()))

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """Probabilities of the classes."""
        return softmax(margins, axis=-1)

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """Logarithms of the probabilities, which add up to zero."""
        logs = np.log(np.maximum(mean, LEAST_SHARE))
        return logs - logs.mean(axis=-1, keepdims=True)

    def bounded(self, clip: float) -> "Multinomial":
        """Residuals are bounded already."""
        return self

    def over_ball(self, radius: float) -> BallBounds:
        """Bounds where the absolute margins of a record add up to at most the radius.

        The least probability is then that of one margin at -radius beside zeros.
        """
        least = float(expit(-radius - math.log(self.n_outputs - 1)))
        most = 1 - least
        return BallBounds(
            residual=most,
            product_range=(-radius * most, radius * most),
            gap_range=(-2 * radius * most, 2 * radius * most),
            stiffness=1 / (2 * math.sqrt(least)),
            stated_residual=most,
        )
