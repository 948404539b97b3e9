"""Poisson loss for counts up to a declared limit."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp.losses.clip import clipped

if COMPILED:
    from sparsedp._kernels.sums import slopes as kernel
else:
    from sparsedp._kernels.sums import slopes_reference as kernel

LARGEST_LIMIT = 1e9
"""Counts beyond are better modelled as numbers; far below where doubles lose single ones."""

LEAST_PART = 1e-4
"""Of the limit: how far means stay from its ends as they are turned into margins."""


@dataclass(frozen=True)
class Poisson:
    """Half the deviance of a count with mean exp(margin), in units of half the limit.

    With y the count, L the limit and m the margin the loss is (2/L) (exp(m) - y m + y log y - y)
    as long as exp(m) <= L, and goes on as a straight line beyond: means are capped at L. Targets
    are t = 2 y / L - 1 in [-1, 1], as the gate maps [0, L], and means likewise.

    * The residual is 2 min(exp(m), L) / L - 1 - t, the difference of mean and target: between -2
      and 2, of either sign. So the loss is convex and 2-Lipschitz.
    * The curvature is 2 exp(m) / L up to the cap and 0 beyond: at most 2, so that residuals are
      2-Lipschitz.
    * The loss is least, and zero, at exp(m) = y <= L: never negative.

    Residual and curvature do not vanish together: no shape of the accountant covers it, so a
    perturbed minimum is refused. The cap makes it convex but not strongly so.

    Parameters
    ----------
    limit : float
        Largest count, at least 1. Public; counts beyond it are clipped.
    """

    limit: float

    task = "count"
    n_outputs = 1
    n_classes = None
    typical_curvature = 1.0  # of a mean of half the limit: such steps are stable up to the limit
    curvature_bound = 2.0
    margin_curvature_bound = 2.0
    residual_lipschitz = 2.0
    lipschitz = 2.0

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= LARGEST_LIMIT:  # written so that NaN is refused
            raise ValueError(
                f"the limit of a count must lie between 1 and {LARGEST_LIMIT:g}, got {self.limit!r}"
            )

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Half the deviance of each record (private), in units of half the limit."""
        farthest = math.log(self.limit)
        count = (1 + target) / 2  # over the limit
        least = count - np.where(count > 0, count * np.log(np.maximum(count, 1e-300)), 0.0)
        capped = self._part(margins) + np.maximum(margins - farthest, 0.0)
        return np.maximum(2 * (capped - count * (margins - farthest) - least), 0.0)

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Capped mean minus target (private)."""
        residual = 2 * self._part(margins) - 1 - target
        return np.where(margins == margins, residual, 0.0)

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Twice the mean over the limit, zero where it is capped (private)."""
        part = self._part(margins)
        return np.where(part < 1, 2 * part, 0.0)

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(residual, bound)

    def residual_bound(self, weights: np.ndarray) -> float:
        """Largest absolute residual over the unit box.

        With |m| <= a = ||w||_1 a mean lies between exp(-a) and min(exp(a), L), a count between 0
        and L.
        """
        a = float(np.abs(weights).sum())
        highest = 2 * math.exp(min(a - math.log(self.limit), 0.0))
        return max(highest, 2 - 2 * math.exp(-min(a, 700.0)) / self.limit)

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """Capped means as targets are: from -1 for none to 1 for the limit."""
        return 2 * self._part(margins) - 1

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """Logarithm of the count."""
        part = np.clip((np.asarray(mean) + 1) / 2, LEAST_PART, 1 - LEAST_PART)
        return np.log(part) + math.log(self.limit)

    def _part(self, margins: np.ndarray) -> np.ndarray:
        """Capped means over the limit, in [0, 1]; a function of the margin alone."""
        x = np.ascontiguousarray(margins - math.log(self.limit), dtype=np.float64)
        part = np.empty_like(x)
        kernel.exponential(x.reshape(-1), part.reshape(-1))
        return np.minimum(part, 1.0)
