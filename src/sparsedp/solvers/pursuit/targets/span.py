"""A tighter range for a numeric target: declared bounds must hold for the largest of all records.

Noise in a mean grows with the range, and a few records far out decide what all others pay.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.histogram import dyadic_counts
from sparsedp.losses import Huber, Loss, Poisson, Squared
from sparsedp.losses.huber import LARGEST_THRESHOLD
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import Targets

N_LEVELS = 10
"""The range shrinks to 2**-10 of its width at most."""

TAIL = 0.003
"""Part of the records that may be clipped at one end."""

LOUDEST = 0.03
"""A count of records is of use if its noise is below this part of all records."""

ONE_RANGE = Sensitivity(add_remove=math.sqrt(3), replace_one=math.sqrt(6))
"""A record is in one level of each of three rows; a replaced one leaves it for another."""


@dataclass(frozen=True)
class TargetRange:
    """Targets are clipped to ``center +- half_width``, which becomes [-1, 1]. Released."""

    center: float = 0.0
    half_width: float = 1.0

    def __call__(self, block: Dataset) -> Targets:
        """Of a block."""
        values = (block.target - self.center) / self.half_width
        return Targets(np.clip(values, -1, 1), block.weights)

    def of(self, loss: Loss) -> Loss:
        """The loss for targets in the new range."""
        match loss:
            case Huber():
                return replace(
                    loss, threshold=min(loss.threshold / self.half_width, LARGEST_THRESHOLD)
                )
            case Poisson():
                # A limit times its inverse may be a hair less than 1, which is no limit of a count.
                return replace(loss, limit=max(loss.limit * self.half_width, 1.0))
            case _:
                return loss

    def back(self, loss: Loss) -> tuple[float, float]:
        """Factor and offset that carry margins back: none where margins are logarithms."""
        return (1.0, 0.0) if isinstance(loss, Poisson) else (self.half_width, self.center)


@dataclass(frozen=True)
class TargetCounts:
    """Targets by their distance from either end and from the middle of [-1, 1]."""

    def __call__(self, block: Dataset) -> np.ndarray:
        """Counts of shape (3, levels)."""
        ends = np.array([-1.0]), np.array([1.0])
        column = np.ascontiguousarray(block.target, dtype=np.float64)[:, None]
        return np.asarray(dyadic_counts(column, *ends, N_LEVELS, block.weights)[0], dtype=float)


def narrowed(
    loss: Loss, data: Dataset, moments: Moments, n_records: float, share: float
) -> tuple[TargetRange, float]:
    """Release a histogram of the target and the range that it shows.

    Returns
    -------
    found : TargetRange
    unused : float
        The share that is left: all of it where noise would hide the counts.
    """
    deviation = moments.deviation(ONE_RANGE, share)
    if not isinstance(loss, Squared | Huber | Poisson) or deviation > LOUDEST * n_records:
        return TargetRange(), share
    counts = data.total(TargetCounts())  # private
    noisy = moments.release(counts, ONE_RANGE, share)  # released
    factors = np.ones(3)
    for b in range(1, N_LEVELS + 1):
        spread = deviation * math.sqrt(b)
        if spread <= LOUDEST * n_records:
            few = noisy[:, :b].sum(axis=1) <= TAIL * n_records + spread
            factors[few] = 2.0**-b
    if isinstance(loss, Poisson):  # counts begin at zero
        factors[1:] = 1.0
        factors[0] = max(factors[0], min(1.0, 1 / loss.limit))
    place = int(np.argmin(factors))
    half = float(factors[place])
    center = (-(1 - half), 1 - half, 0.0)[place]
    return TargetRange(center, half), 0.0
