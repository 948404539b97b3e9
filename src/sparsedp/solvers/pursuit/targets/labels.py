"""Classes: base rates, curvatures, and probabilities that are right on average.

All that the classes keep is released; what they compute from records is in records.py.
"""

import math

import numpy as np
from scipy.special import expit, log_ndtr, logit, softmax

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.losses import Loss
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.calibrate import (
    Calibration,
    Looker,
    Moved,
    Spread,
)
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import ClassCounts, LabelLoss, targets_of
from sparsedp.solvers.pursuit.targets.loudness import Loudness
from sparsedp.solvers.pursuit.targets.response import FEWEST, LEAST_CURVATURE, between

ONE_HOT = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
"""Of counts by class: a record is in one, and a replaced one leaves it for another."""

RAREST = 0.002
"""Shares of classes are not believed to be smaller."""

LEAST_DOUBT = 0.2
"""Margins of a fit are off by about this, and by more with rare classes: the residuals of these are
the longest, so they are clipped most."""

CLASS_DOUBT = 0.5
"""Variance of what margins of several classes are off by."""

MARGIN_VARIANCE = 6.0
"""Of margins of a good model."""

LONGEST_SHIFT = 2.0
"""Of margins, toward the base rates."""


class TwoClassResponse:
    """Two classes, one output."""

    scale = 1.0
    centered, calibrated, bends_early = False, True, True
    unused, back = 0.0, (1.0, 0.0)
    margin_variance = MARGIN_VARIANCE

    def __init__(
        self, loss: Loss, data: Dataset, moments: Moments, share: float, noise: Loudness
    ) -> None:
        self.loss, self.record_loss, self._moments = loss, LabelLoss(loss), moments
        n = moments.curator.public.total_weight
        self.targets: Derived = data.derive(targets_of)  # private
        counts = self.targets.total(ClassCounts(2))  # private
        if n is None:
            one = ONE_HOT
            counts = moments.release(counts, one, share)  # released
        else:
            one = Sensitivity(add_remove=1.0, replace_one=1.0)
            ones = moments.release(counts[1:], one, share)[0]  # released
            counts = np.array([n - ones, ones])
        self.n_records = max(float(counts.sum()), 2 * FEWEST)
        blur = moments.deviation(one, share) / self.n_records
        self._rate = likely_share(counts[1] / self.n_records, blur)
        self._intercept = data.intercept
        self.intercept = np.array([logit(self._rate) if data.intercept else 0.0])
        self.curvature = self._mean_curvature = self._rate * (1 - self._rate)
        self.bend_curvature = self.curvature
        self.spread = math.sqrt(self.curvature)
        self.loud = noise.of_labels(self.n_records, self.curvature)

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
        self._mean_curvature = between(LEAST_CURVATURE, self._mean_curvature, 0.25)
        return self._mean_curvature

    def calibration(self, look: Looker, spread: Spread, share: float) -> Moved:
        """Toward the base rate, and as far apart as margins should be."""
        rates, curvature = np.array([self._rate]), self._mean_curvature
        looks = Calibration(self._moments, share, rates, self.n_records, curvature, spread)
        doubt = LEAST_DOUBT**2 + float(logit(self._rate)) ** 2 if self._intercept else 0.0
        return looks.found(look, np.array([doubt]), self._toward_rate)

    def _toward_rate(self, excess: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
        predicted = likely_share(self._rate + float(excess[0]), noise)
        # Between two rates a margin moves by their difference over a curvature in between.
        blur = noise / math.sqrt(predicted * (1 - predicted) * self.curvature)
        away = between(-LONGEST_SHIFT, logit(self._rate) - logit(predicted), LONGEST_SHIFT)
        return np.array([away]), np.array([blur])


class ManyClassResponse:
    """More than two classes: one joint model, residuals are probabilities minus the label's."""

    scale = 1.0
    centered, calibrated, bends_early = False, True, True
    unused, back = 0.0, (1.0, 0.0)
    margin_variance, loud = MARGIN_VARIANCE, False

    def __init__(
        self, loss: Loss, data: Dataset, moments: Moments, share: float, n_classes: int
    ) -> None:
        self.loss, self.record_loss, self._moments = loss, LabelLoss(loss), moments
        n = moments.curator.public.total_weight
        self.targets: Derived = data.derive(targets_of)  # private
        counts = self.targets.total(ClassCounts(n_classes))  # private
        counts = moments.release(counts, ONE_HOT, share)  # released
        known, fewest = (counts.sum(), n_classes * FEWEST) if n is None else (n, 1.0)
        self.n_records = max(float(known), fewest)
        noise = moments.deviation(ONE_HOT, share) / self.n_records
        p = np.array([likely_share(part, noise) for part in counts / self.n_records])
        self._rates = p = p / p.sum()
        self._intercept = data.intercept
        self.intercept = np.log(p) - np.log(p).mean() if data.intercept else np.zeros(n_classes)
        self._mean_curvatures = p * (1 - p)
        self.curvature = self.bend_curvature = float(np.sum(p * (1 - p)) / (n_classes - 1))
        self.spread = math.sqrt(float(np.sum(p * (1 - p))))

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

    def calibration(self, look: Looker, spread: Spread, share: float) -> Moved:
        """Toward the base rates, class by class, and as far apart as margins should be."""
        curvature = float(self._mean_curvatures.mean())
        looks = Calibration(self._moments, share, self._rates, self.n_records, curvature, spread)
        doubt = np.full(len(self._rates), CLASS_DOUBT if self._intercept else 0.0)
        return looks.found(look, doubt, self._toward_rates)

    def _toward_rates(self, excess: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
        predicted = np.clip(self._rates + excess, RAREST, 1 - RAREST)
        curvatures = predicted * (1 - predicted) * self._rates * (1 - self._rates)
        away = np.clip(np.log(self._rates / predicted), -LONGEST_SHIFT, LONGEST_SHIFT)
        return away, noise / np.sqrt(curvatures)


def likely_share(seen: float, noise: float) -> float:
    """Mean of what a share may be that noise of this deviation hides, all being equally likely.

    Of a rare class a noisy count may be negative; the mean over the shares that may have led to it
    is never absurd.
    """
    if noise == 0 or min(seen, 1 - seen) < RAREST - 1e4 * noise:  # the nearest share is as good
        return between(RAREST, seen, 1 - RAREST)
    if seen > 0.5:  # the tails of the normal law are exact below its mean only
        return 1 - likely_share(1 - seen, noise)
    low, high = (seen - RAREST) / noise, (seen - 1 + RAREST) / noise
    above, below = log_ndtr(low), log_ndtr(high)
    mass = above + math.log1p(-math.exp(below - above))
    edges = [math.exp(-(z**2) / 2 - 0.5 * math.log(2 * math.pi) - mass) for z in (low, high)]
    return between(RAREST, seen + noise * (edges[0] - edges[1]), 1 - RAREST)


def _trust(curvature: float | np.ndarray, noise: float) -> float | np.ndarray:
    """How far to believe a noisy curvature: all of it if noise is small against what it may move.

    Between two looks a curvature moves by a third or so; a noisy one believed in full would make
    some steps much too long.
    """
    spread = (curvature / 3) ** 2
    return spread / (spread + noise**2)
