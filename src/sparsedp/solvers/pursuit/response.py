"""What Pursuit needs to know about each loss: where to start, what to clip, how far to step.

All that the classes keep is released; what they compute from records is in records.py.
"""

import math
from typing import Protocol

import numpy as np
from scipy.special import expit, softmax

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.losses import Lipschitz, Loss
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import (
    ClassCounts,
    ClippedSums,
    ConstantSquares,
    LabelLoss,
    NumberLoss,
    RecordLoss,
    targets_of,
    total_target,
)
from sparsedp.solvers.total import ONE_RECORD

ONE_HOT = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
"""Of counts by class: a record is in one, and a replaced one leaves it for another."""

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
    scale: float
    """Residuals up to this size are worth to be seen in full by a step."""
    centered: bool
    """Whether `selection_norm` spends its share."""

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


def response_to(
    loss: Loss, data: Dataset, moments: Moments, share: float, selection_noise: float
) -> Response:
    """Release what is needed to start.

    Parameters
    ----------
    loss : Loss
    data : Dataset
        Private.
    moments : Moments
    share : float
        Of the Gaussian budget.
    selection_noise : float
        Noise of all selections, if one sum of sensitivity 1 had their budget.
    """
    if loss.n_classes is None:
        return NumberResponse(loss, data, moments, share, selection_noise)
    if loss.n_outputs == 1:
        return TwoClassResponse(loss, data, moments, share)
    return ManyClassResponse(loss, data, moments, share, loss.n_classes)


class TwoClassResponse:
    """Two classes, one output."""

    scale = 1.0
    centered = False

    def __init__(self, loss: Loss, data: Dataset, moments: Moments, share: float) -> None:
        self.record_loss, self._moments = LabelLoss(loss), moments
        n = moments.curator.public.total_weight
        counts = data.derive(targets_of).total(ClassCounts(2))  # private
        if n is None:
            counts = moments.release(counts, ONE_HOT, share)  # released
        else:
            one = Sensitivity(add_remove=1.0, replace_one=1.0)
            ones = moments.release(counts[1:], one, share)[0]  # released
            counts = np.array([n - ones, ones])
        zeros, ones = np.maximum(counts, FEWEST)
        self.n_records = float(zeros + ones if n is None else n)
        self.intercept = np.array([math.log(ones / zeros) if data.intercept else 0.0])
        self.curvature = self._mean_curvature = float(zeros * ones / (zeros + ones) ** 2)

    def selection_norm(
        self, chosen: Derived, weights: np.ndarray, constant: np.ndarray, share: float
    ) -> float:
        """Where residuals of a constant model end."""
        return float(expit(abs(constant[0])))

    def curvatures(self, sums: np.ndarray, share: float, unit_noise: float) -> float:
        """Mean of p (1 - p), a number between 0 and 1/4 for every record."""
        quarter = Sensitivity(add_remove=0.25, replace_one=0.25)
        total = self._moments.release(sums, quarter, share)  # released
        noise = self._moments.deviation(quarter, share) / self.n_records
        news = total[0] / self.n_records - self._mean_curvature
        self._mean_curvature += float(_trust(self._mean_curvature, noise) * news)
        self._mean_curvature = _between(LEAST_CURVATURE, self._mean_curvature, 0.25)
        return self._mean_curvature


class ManyClassResponse:
    """More than two classes: one joint model, residuals are probabilities minus the label's."""

    scale = 1.0
    centered = False

    def __init__(
        self, loss: Loss, data: Dataset, moments: Moments, share: float, n_classes: int
    ) -> None:
        self.record_loss, self._moments = LabelLoss(loss), moments
        n = moments.curator.public.total_weight
        counts = data.derive(targets_of).total(ClassCounts(n_classes))  # private
        counts = np.maximum(moments.release(counts, ONE_HOT, share), FEWEST)  # released
        p = counts / counts.sum()
        self.n_records = float(counts.sum() if n is None else n)
        self.intercept = np.log(p) - np.log(p).mean() if data.intercept else np.zeros(n_classes)
        self._mean_curvatures = p * (1 - p)
        self.curvature = float(np.sum(p * (1 - p)) / (n_classes - 1))

    def selection_norm(
        self, chosen: Derived, weights: np.ndarray, constant: np.ndarray, share: float
    ) -> float:
        """The largest norm that residuals of a constant model have."""
        p = softmax(constant)
        return float(np.sqrt(np.sum(p**2) + 1 - 2 * p.min()))

    def curvatures(self, sums: np.ndarray, share: float, unit_noise: float) -> np.ndarray:
        """Twice the mean of p (1 - p) per class, which bounds the Hessian of any record."""
        sensitivity = Sensitivity(add_remove=math.sqrt(4 / 27), replace_one=math.sqrt(8 / 27))
        total = self._moments.release(sums, sensitivity, share)  # released
        noise = self._moments.deviation(sensitivity, share) / self.n_records
        news = total / self.n_records - self._mean_curvatures
        moved = self._mean_curvatures + _trust(self._mean_curvatures, noise) * news
        self._mean_curvatures = np.clip(moved, LEAST_CURVATURE / 2, 0.25)
        return 2 * self._mean_curvatures


class NumberResponse:
    """A numeric target in [-1, 1]; residuals are clipped to a few times their spread.

    The spread is released at every step, and may grow again: once it was taken too small, too
    much would be clipped for good.
    """

    def __init__(
        self, loss: Loss, data: Dataset, moments: Moments, share: float, selection_noise: float
    ) -> None:
        self._loss, self._moments = loss, moments
        targets = data.derive(targets_of)
        self.centered = data.intercept
        n = moments.curator.public.total_weight
        n_sums = 4 if n is None else 3
        if n is None:
            count = np.array([data.total_weight])  # private
            count = moments.release(count, ONE_RECORD, share / n_sums)  # released
            n = max(float(count[0]), 2 * FEWEST)
        self.n_records = float(n)
        # Without an intercept the best constant is zero, but asking all the same keeps one rule.
        total = targets.total(total_target)  # private
        total = moments.release(total, 1.0, share / n_sums)  # released
        self.intercept = loss.link(total / n) if data.intercept else np.zeros(1)
        # Targets lie in [-1, 1], and so does the mean that the constant stands for.
        self._largest = 1 + abs(float(loss.mean(self.intercept)[0]))
        if isinstance(loss, Lipschitz):
            self._largest = min(self._largest, loss.lipschitz)
        constant = float(self.intercept[0])
        curvature = float(loss.curvature(self.intercept, loss.mean(self.intercept))[0])
        self.curvature = max(curvature, LEAST_CURVATURE)
        share -= (n_sums - 2) * share / n_sums
        sensitivity = Sensitivity(add_remove=self._largest**2, replace_one=self._largest**2)
        squares = targets.total(ConstantSquares(loss, constant, self._largest))  # private
        noisy = moments.release(squares, sensitivity, share)[0]  # released
        variance = max(noisy + moments.deviation(sensitivity, share), 0.0) / n
        self._multiple = _between(0.7, 0.7 * math.sqrt(0.05 * n / selection_noise), 2.5)
        self._selection_clip = _between(1e-3, self._multiple * math.sqrt(variance), self._largest)
        self._offset = 0.0
        self.scale = self._largest

    @property
    def record_loss(self) -> NumberLoss:
        """With the scale and offset of now."""
        return NumberLoss(self._loss, self.scale, self._offset)

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

    def curvatures(self, sums: np.ndarray, share: float, unit_noise: float) -> float:
        """That of the constant model; what is released is the spread of the residuals."""
        sensitivity = Sensitivity(add_remove=self.scale**2, replace_one=self.scale**2)
        noisy = max(float(self._moments.release(sums, sensitivity, share)[0]), 0.0)  # released
        spread = math.sqrt((noisy + self._moments.deviation(sensitivity, share)) / self.n_records)
        multiple = _between(2.5, 2.5 * math.sqrt(0.05 * self.n_records / unit_noise), 10.0)
        self.scale = _between(self.scale / 2, multiple * spread, min(2 * self.scale, self._largest))
        self._selection_clip = min(self._multiple * self.scale / multiple, self._largest)
        return self.curvature


def _trust(curvature: float | np.ndarray, noise: float) -> float | np.ndarray:
    """How far to believe a noisy curvature: all of it if noise is small against what it may move.

    Between two looks a curvature moves by a third or so; a noisy one believed in full would make
    some steps much too long.
    """
    spread = (curvature / 3) ** 2
    return spread / (spread + noise**2)


def _between(low: float, value: float, high: float) -> float:
    return min(max(value, low), high)
