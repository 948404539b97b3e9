"""Classes: base rates, curvatures, and probabilities that are right on average.

All that the classes keep is released; what they compute from records is in records.py.
"""

import math

import numpy as np
from scipy.special import expit, logit, softmax

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.losses import Loss
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.calibration.looks import Calibration, Center, Looker, Moved, Spread
from sparsedp.solvers.pursuit.calibration.many_classes import ManyClassLaw
from sparsedp.solvers.pursuit.calibration.two_classes import TwoClassLaw, likely_share
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import ClassCounts, LabelLoss, targets_of
from sparsedp.solvers.pursuit.targets.loudness import Loudness
from sparsedp.solvers.pursuit.targets.response import FEWEST, LEAST_CURVATURE, between

ONE_HOT = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
"""Of counts by class: a record is in one, and a replaced one leaves it for another."""

MARGIN_VARIANCE = 6.0
"""Of margins of a good model."""


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
        self._counted = float(counts[1] / self.n_records)
        self._blur = moments.deviation(one, share) / self.n_records
        rate = likely_share(self._counted, self._blur)
        self._intercept = data.intercept
        self.intercept = np.array([logit(rate) if data.intercept else 0.0])
        self.curvature = self._mean_curvature = rate * (1 - rate)
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

    def calibration(self, look: Looker, spread: Spread, center: Center, share: float) -> Moved:
        """Toward the base rate, and as far apart as margins should be."""
        law = TwoClassLaw(self._counted, self._blur, center, spread, self._intercept)
        return Calibration(self._moments, share, 1, self.n_records).found(look, law)


class ManyClassResponse:
    """More than two classes: one joint model, residuals are probabilities minus the label's."""

    scale = 1.0
    centered, calibrated, bends_early = False, True, True
    unused, back = 0.0, (1.0, 0.0)
    margin_variance = MARGIN_VARIANCE

    def __init__(
        self,
        loss: Loss,
        data: Dataset,
        moments: Moments,
        share: float,
        n_classes: int,
        noise: Loudness,
    ) -> None:
        self.loss, self.record_loss, self._moments = loss, LabelLoss(loss), moments
        n = moments.curator.public.total_weight
        self.targets: Derived = data.derive(targets_of)  # private
        counts = self.targets.total(ClassCounts(n_classes))  # private
        counts = moments.release(counts, ONE_HOT, share)  # released
        known, fewest = (counts.sum(), n_classes * FEWEST) if n is None else (n, 1.0)
        self.n_records = max(float(known), fewest)
        blur = moments.deviation(ONE_HOT, share) / self.n_records
        p = np.array([likely_share(part, blur) for part in counts / self.n_records])
        self._rates = p = p / p.sum()
        self._intercept = data.intercept
        self.intercept = np.log(p) - np.log(p).mean() if data.intercept else np.zeros(n_classes)
        self._mean_curvatures = p * (1 - p)
        self.curvature = self.bend_curvature = float(np.sum(p * (1 - p)) / (n_classes - 1))
        self.spread = math.sqrt(float(np.sum(p * (1 - p))))
        self.loud = noise.of_labels(self.n_records, self.curvature)

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

    def calibration(self, look: Looker, spread: Spread, center: Center, share: float) -> Moved:
        """Toward the base rates, class by class, and as far apart as margins should be."""
        noiseless, k = self._moments.curator.noiseless, len(self._rates)
        law = ManyClassLaw(self._rates, spread, self._intercept, noiseless)
        return Calibration(self._moments, share, k, self.n_records).found(look, law)


def _trust(curvature: float | np.ndarray, noise: float) -> float | np.ndarray:
    """How far to believe a noisy curvature: all of it if noise is small against what it may move.

    Between two looks a curvature moves by a third or so; a noisy one believed in full would make
    some steps much too long.
    """
    spread = (curvature / 3) ** 2
    return spread / (spread + noise**2)
