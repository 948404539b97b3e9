"""What Pursuit needs to know about a loss: where to start, what to clip, how far to step.

labels.py has the answer for classes, numbers.py for numbers.
"""

from typing import Protocol

import numpy as np

from sparsedp.data.records import Derived
from sparsedp.losses import Loss
from sparsedp.solvers.pursuit.calibration.looks import Center, Looker, Moved, Spread
from sparsedp.solvers.pursuit.records import RecordLoss

FEWEST = 5.0
"""Noisy counts of records are raised to this."""

LEAST_CURVATURE = 0.02
"""A smaller one would let noise take long steps."""


class Response(Protocol):
    """The loss and what has been released about the targets."""

    n_records: float
    """Total weight of the records: released, or public."""
    intercept: np.ndarray
    """Best constant margins, of shape (n_outputs,)."""
    curvature: float
    """Typical curvature of the loss at the best constant."""
    spread: float
    """Usual size of a residual at the best constant."""
    margin_variance: float
    """Of the margins of a good model, as far as anybody expects it."""
    loud: bool
    """Whether noise is so loud, for so many features, that a descent is the way."""
    bend_curvature: float
    """The same for the number of columns that noise leaves room for."""
    bends_early: bool
    """Whether a few waves pay before noise leaves room for many: so it is with classes."""
    scale: float
    """Residuals up to this size are worth to be seen in full by a step."""
    centered: bool
    """Whether `selection_norm` spends its share."""
    calibrated: bool
    """Whether `calibration` spends its share."""
    loss: Loss
    """For targets as they are seen here."""
    targets: Derived
    """As they are seen here. Private."""
    back: tuple[float, float]
    """Factor and offset that carry margins to those of the targets as they were."""
    unused: float
    """The share that was meant for the range of the target, or nothing."""

    @property
    def record_loss(self) -> RecordLoss:
        """The loss, record by record."""
        ...

    def selection_norm(
        self, chosen: Derived, weights: np.ndarray, constant: np.ndarray, share: float
    ) -> float:
        """Norm to which a selection clips residuals; released.

        Residuals are those of the ``chosen`` features with these weights (private), ``constant``
        holds the margins at mid-box, and ``share`` is what this may spend.
        """
        ...

    def curvatures(self, sums: np.ndarray, share: float, unit_noise: float) -> np.ndarray | float:
        """Mean curvatures, released; ``unit_noise`` is that of the phase's budget.

        ``sums`` holds the sums of `RecordLoss.curvatures` over all records (private).
        """
        ...

    def calibration(self, look: Looker, spread: Spread, center: Center, share: float) -> Moved:
        """How to move margins so that predictions are honest; released."""
        ...


def between(low: float, value: float, high: float) -> float:
    """The value, or the end that it lies beyond."""
    return min(max(value, low), high)
