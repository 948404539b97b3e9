"""Numbers: their range, their mean, and the spread that clips go by.

All that is kept here is released; what is computed from records is in records.py.
"""

import math

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.losses import Huber, Lipschitz, Loss, Squared
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.calibration.looks import Center, Looker, Moved, Spread
from sparsedp.solvers.pursuit.columns.levels import ONE_LEVEL, of_residuals, usual
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import (
    ClippedSums,
    ConstantLevels,
    ConstantSquares,
    NumberLoss,
    total_target,
)
from sparsedp.solvers.pursuit.targets.loudness import Loudness
from sparsedp.solvers.pursuit.targets.response import FEWEST, LEAST_CURVATURE, between
from sparsedp.solvers.pursuit.targets.span import TargetRange, narrowed
from sparsedp.solvers.total import ONE_RECORD

FEWEST_SIGNAL = 20.0
"""With fewer records, over the noise of a sum, a model of features is worse than none."""

LEAST_OF_COUNT = 0.5
"""A mean that is all there is counts as so far from zero at least, as a first look is noisy."""

BEND_SIGNAL = 0.05
"""What curvature is to classes, in the rule for the number of columns with a numeric target."""


class NumberResponse:
    """A numeric target in [-1, 1]; residuals are clipped to a few times their spread.

    The spread is released at every step, and may grow again: once it was taken too small, too
    much would be clipped for good.
    """

    def __init__(
        self,
        loss: Loss,
        data: Dataset,
        moments: Moments,
        share: float,
        range_share: float,
        selection_noise: float,
        noise: Loudness,
    ) -> None:
        self._moments, self.calibrated = moments, False
        self.bends_early = False
        self.centered = data.intercept
        n = moments.curator.public.total_weight
        n_sums = 4 if n is None else 3
        self._count: np.ndarray | None = None
        if n is None:
            count = np.array([data.total_weight])  # private
            self._count = moments.release(count, ONE_RECORD, share / n_sums)  # released
            n = max(float(self._count[0]), 2 * FEWEST)
        self.n_records = n = max(float(n), 1.0)
        found, self.unused = TargetRange(), range_share
        if data.intercept and range_share:  # without one a target cannot be moved
            found, self.unused = narrowed(loss, data, moments, self.n_records, range_share)
        self.back = found.back(loss)
        self.loss = loss = found.of(loss)
        targets = data.derive(found)  # private
        self.targets: Derived = targets
        # Without an intercept the best constant is zero, but asking all the same keeps one rule.
        total = targets.total(total_target)  # private
        total = moments.release(total, 1.0, share / n_sums)  # released
        self._total, self._total_share, self._movable = total, share / n_sums, data.intercept
        self.intercept = loss.link(total / n) if data.intercept else np.zeros(1)
        # Targets lie in [-1, 1], and so does the mean that the constant stands for.
        self._largest = 1 + abs(float(loss.mean(self.intercept)[0]))
        if isinstance(loss, Lipschitz):
            self._largest = min(self._largest, loss.lipschitz)
        constant = float(self.intercept[0])
        curvature = float(loss.curvature(self.intercept, loss.mean(self.intercept))[0])
        self.curvature = max(curvature, LEAST_CURVATURE)
        self.bend_curvature = BEND_SIGNAL
        share -= (n_sums - 2) * share / n_sums
        self.loud = noise.of_numbers(n)
        self.spread = (self._usual if self.loud else self._root_mean_square)(constant, share)
        # Margins of counts are logarithms.
        linear = isinstance(loss, Squared | Huber)
        self.margin_variance = (self.spread / self.curvature) ** 2 if linear else 1.0
        self._multiple = between(0.7, 0.7 * math.sqrt(0.05 * n / max(selection_noise, 1e-300)), 2.5)
        self._selection_clip = between(1e-3, self._multiple * self.spread, self._largest)
        self._offset = 0.0
        self.scale = self._largest

    def _root_mean_square(self, constant: float, share: float) -> float:
        """Of residuals of a constant; a bit more rather than less."""
        sensitivity = Sensitivity(add_remove=self._largest**2, replace_one=self._largest**2)
        sums = ConstantSquares(self.loss, constant, self._largest)
        squares = self.targets.total(sums)  # private
        noisy = self._moments.release(squares, sensitivity, share)[0]  # released
        noisy += self._moments.deviation(sensitivity, share)
        return math.sqrt(max(noisy, 0.0) / self.n_records)

    def _usual(self, constant: float, share: float) -> float:
        """What most residuals of a constant are within: noise would hide their squares."""
        sums = ConstantLevels(self.loss, constant, self._largest)
        levels = self.targets.total(sums)  # private
        noisy = self._moments.release(levels, ONE_LEVEL, share)  # released
        noise = self._moments.deviation(ONE_LEVEL, share)
        return usual(noisy, self.n_records, noise, self._largest, of_residuals)

    def hopeless(self, noise: float) -> bool:
        """Whether a mean is all that the budget can pay for.

        ``noise`` is that of a sum with the whole budget, where a record adds at most 1.
        """
        return self._movable and self.n_records < FEWEST_SIGNAL * noise

    def constant(self, data: Dataset, share: float) -> np.ndarray:
        """The best constant margins, for one more look at the sum of the targets and at the count.

        A first count is good enough for the length of steps, not for a mean. Noise in it moves a
        mean of m by |m| times as much as noise in the sum does.
        """
        n, known = self.n_records, self._total_share
        if self._count is not None:
            size = between(LEAST_OF_COUNT, abs(float(self._total[0])) / n, 1.0)
            of_count = share * size / (1 + size)
            share -= of_count
            again = np.array([data.total_weight])  # private
            count = self._moments.release(again, ONE_RECORD, of_count)  # released
            n = max(float(_both(self._count, known, count, of_count)[0]), 2 * FEWEST)
        total = self._moments.release(self.targets.total(total_target), 1.0, share)  # released
        mean = _both(self._total, known, total, share) / n
        factor, offset = self.back
        return factor * self.loss.link(mean) + offset

    @property
    def record_loss(self) -> NumberLoss:
        """With the scale and offset of now."""
        return NumberLoss(self.loss, self.scale, self._offset)

    def selection_norm(
        self, chosen: Derived, weights: np.ndarray, constant: np.ndarray, share: float
    ) -> float:
        """Near the spread of the residuals, about an offset that makes clipped ones sum up to zero.

        Close to the sign of the residuals where noise is loud: for Gaussian residuals that doubles
        the signal. A skewed target then needs the offset.
        """
        clip = self._selection_clip
        if self.centered:
            # A record adds (a, 1) with |a| < 1 or (1, 0) or (-1, 0); replaced, (-1, 0) becomes
            # (1, 1) at worst.
            sensitivity = Sensitivity(add_remove=math.sqrt(2), replace_one=math.sqrt(5))
            sums = chosen.total(ClippedSums(self.record_loss, weights, clip))  # private
            shift, weight = self._moments.release(sums, sensitivity, share)  # released
            shift /= max(weight, 0.1 * self.n_records)
            self._offset += float(np.clip(shift, -1, 1)) * clip
        return clip

    def calibration(self, look: Looker, spread: Spread, center: Center, share: float) -> Moved:
        """None: the steps have the intercept right."""
        return Moved(np.zeros(1), 1.0)

    def curvatures(self, sums: np.ndarray, share: float, unit_noise: float) -> float:
        """That of the constant model; what is released is the spread of the residuals."""
        sensitivity = Sensitivity(add_remove=self.scale**2, replace_one=self.scale**2)
        noisy = max(float(self._moments.release(sums, sensitivity, share)[0]), 0.0)  # released
        spread = math.sqrt((noisy + self._moments.deviation(sensitivity, share)) / self.n_records)
        multiple = between(2.5, 2.5 * math.sqrt(0.05 * self.n_records / unit_noise), 10.0)
        self.scale = between(self.scale / 2, multiple * spread, min(2 * self.scale, self._largest))
        self._selection_clip = min(self._multiple * self.scale / multiple, self._largest)
        return self.curvature


def _both(one: np.ndarray, its_share: float, other: np.ndarray, other_share: float) -> np.ndarray:
    """The mean of two releases of the same sum, weighted by precision."""
    return (one * its_share + other * other_share) / (its_share + other_share)
