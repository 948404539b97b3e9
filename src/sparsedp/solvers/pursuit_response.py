"""What Pursuit needs to know about each loss: where to start, what to clip, how far to step.

Residuals are derivatives of the loss in the margins, of shape (n, n_outputs), and private. What
the classes keep besides the targets is released.
"""

import math
from typing import Protocol

import numpy as np
from scipy.special import expit, softmax

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic, Loss, Multinomial, Squared
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit_moments import Moments

FEWEST = 5.0
"""Noisy counts of records are raised to this."""

LEAST_CURVATURE = 0.02
"""Of the classifiers' losses: a smaller one would let noise take long steps."""


class Response(Protocol):
    """The loss and what has been released about the targets."""

    n_records: float
    """Released, or public under replace-one."""
    intercept: np.ndarray
    """Best constant margins, of shape (n_outputs,)."""
    curvature: float
    """Typical second derivative of the loss at the best constant."""
    scale: float
    """Residuals up to this size are worth to be seen in full by a step."""
    centered: bool
    """Whether `for_selection` spends its share."""

    def residuals(self, margins: np.ndarray) -> np.ndarray:
        """Derivatives of the loss."""
        ...

    def for_selection(
        self, residuals: np.ndarray, constant: np.ndarray, share: float
    ) -> tuple[np.ndarray, float]:
        """Residuals clipped to a norm, and that norm, which is released.

        ``constant`` holds the margins at mid-box; ``share`` is what it may spend.
        """
        ...

    def curvatures(
        self, residuals: np.ndarray, share: float, unit_noise: float
    ) -> np.ndarray | float:
        """Mean second derivatives, released; ``unit_noise`` is that of the phase's budget."""
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
    match loss:
        case Logistic():
            return LogisticResponse(data, moments, share)
        case Squared():
            return SquaredResponse(data, moments, share, selection_noise)
        case Multinomial(n_classes):
            return MultinomialResponse(data, moments, share, n_classes)
    raise ValueError(f"Pursuit does not know the loss {type(loss).__name__}; use another solver")


class LogisticResponse:
    """Two classes."""

    scale = 1.0
    centered = False

    def __init__(self, data: Dataset, moments: Moments, share: float) -> None:
        self._target, self._moments = data.target[:, None], moments
        n = moments.curator.public.n_records
        positive = data.target.sum()  # private
        if n is None:
            negative = data.n_records - positive  # private
            counts = moments.release(np.array([negative, positive]), 1.0, share)  # released
        else:
            one = Sensitivity(add_remove=1.0, replace_one=1.0)
            ones = moments.release(np.array([positive]), one, share)[0]  # released
            counts = np.array([n - ones, ones])
        zeros, ones = np.maximum(counts, FEWEST)
        self.n_records = float(zeros + ones if n is None else n)
        self.intercept = np.array([math.log(ones / zeros) if data.intercept else 0.0])
        self.curvature = self._mean_curvature = float(zeros * ones / (zeros + ones) ** 2)

    def residuals(self, margins: np.ndarray) -> np.ndarray:
        """Probability minus label."""
        return expit(margins) - self._target

    def for_selection(
        self, residuals: np.ndarray, constant: np.ndarray, share: float
    ) -> tuple[np.ndarray, float]:
        """Clipped where residuals of a constant model end, so that no record pulls harder."""
        clip = float(expit(abs(constant[0])))
        return np.clip(residuals, -clip, clip), clip

    def curvatures(self, residuals: np.ndarray, share: float, unit_noise: float) -> float:
        """Mean of p (1 - p), a number between 0 and 1/4 for every record."""
        p = residuals + self._target
        quarter = Sensitivity(add_remove=0.25, replace_one=0.25)
        total = self._moments.release(np.sum(p * (1 - p), axis=0), quarter, share)  # released
        noise = self._moments.deviation(quarter, share) / self.n_records
        news = total[0] / self.n_records - self._mean_curvature
        self._mean_curvature += float(_trust(self._mean_curvature, noise) * news)
        self._mean_curvature = _between(LEAST_CURVATURE, self._mean_curvature, 0.25)
        return self._mean_curvature


class MultinomialResponse:
    """More than two classes: one joint model, residuals are probabilities minus the label's."""

    scale = 1.0
    centered = False

    def __init__(self, data: Dataset, moments: Moments, share: float, n_classes: int) -> None:
        self._target, self._moments = data.target, moments
        n = moments.curator.public.n_records
        counts = np.bincount(data.target, minlength=n_classes)  # private
        one = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
        counts = np.maximum(moments.release(counts, one, share), FEWEST)  # released
        p = counts / counts.sum()
        self.n_records = float(counts.sum() if n is None else n)
        self.intercept = np.log(p) - np.log(p).mean() if data.intercept else np.zeros(n_classes)
        self._mean_curvatures = p * (1 - p)
        self.curvature = float(np.sum(p * (1 - p)) / (n_classes - 1))

    def residuals(self, margins: np.ndarray) -> np.ndarray:
        """Probabilities minus the label's."""
        residuals = softmax(margins, axis=1)
        residuals[np.arange(len(residuals)), self._target] -= 1
        return residuals

    def for_selection(
        self, residuals: np.ndarray, constant: np.ndarray, share: float
    ) -> tuple[np.ndarray, float]:
        """Shrunk to the largest norm that residuals of a constant model have."""
        p = softmax(constant)
        clip = float(np.sqrt(np.sum(p**2) + 1 - 2 * p.min()))
        return shrunk(residuals, clip), clip

    def curvatures(self, residuals: np.ndarray, share: float, unit_noise: float) -> np.ndarray:
        """Twice the mean of p (1 - p) per class, which bounds the Hessian of any record."""
        p = residuals.copy()
        p[np.arange(len(p)), self._target] += 1
        reach = Sensitivity(add_remove=math.sqrt(4 / 27), replace_one=math.sqrt(8 / 27))
        total = self._moments.release(np.sum(p * (1 - p), axis=0), reach, share)  # released
        noise = self._moments.deviation(reach, share) / self.n_records
        news = total / self.n_records - self._mean_curvatures
        moved = self._mean_curvatures + _trust(self._mean_curvatures, noise) * news
        self._mean_curvatures = np.clip(moved, LEAST_CURVATURE / 2, 0.25)
        return 2 * self._mean_curvatures


class SquaredResponse:
    """A numeric target in [-1, 1]; residuals are clipped to a few times their spread.

    The spread is released at every step, and may grow again: once it was taken too small, too
    much would be clipped for good.
    """

    curvature = 1.0

    def __init__(
        self, data: Dataset, moments: Moments, share: float, selection_noise: float
    ) -> None:
        self._target, self._moments = data.target[:, None], moments
        self.centered = data.intercept
        n = moments.curator.public.n_records
        n_sums = 4 if n is None else 3
        if n is None:
            count = np.array([float(data.n_records)])  # private
            n = max(float(moments.release(count, 1.0, share / n_sums)[0]), 2 * FEWEST)  # released
        self.n_records = float(n)
        # Without an intercept the best constant is zero, but asking all the same keeps one rule.
        total = moments.release(data.target.sum(keepdims=True), 1.0, share / n_sums)  # released
        self.intercept = np.clip(total / n, -1, 1) if data.intercept else np.zeros(1)
        self._largest = 1 + abs(float(self.intercept[0]))
        share -= (n_sums - 2) * share / n_sums
        reach = Sensitivity(add_remove=self._largest**2, replace_one=self._largest**2)
        squares = np.square(self._target - self.intercept).sum(axis=0)  # private
        noisy = moments.release(squares, reach, share)[0]  # released
        variance = max(noisy + moments.deviation(reach, share), 0.0) / n
        self._multiple = _between(0.7, 0.7 * math.sqrt(0.05 * n / selection_noise), 2.5)
        self._selection_clip = _between(1e-3, self._multiple * math.sqrt(variance), self._largest)
        self._offset = 0.0
        self.scale = self._largest

    def residuals(self, margins: np.ndarray) -> np.ndarray:
        """Prediction minus target."""
        return margins - self._target

    def for_selection(
        self, residuals: np.ndarray, constant: np.ndarray, share: float
    ) -> tuple[np.ndarray, float]:
        """Clipped near their spread, about an offset that makes the clipped ones sum up to zero.

        Close to the sign of the residuals where noise is loud: for Gaussian residuals that doubles
        the signal. A skewed target then needs the offset.
        """
        clip = self._selection_clip
        clipped = np.clip(residuals - self._offset, -clip, clip)
        if self.centered:
            inside = np.abs(clipped) < clip
            # A record adds (a, 1) with |a| < 1 or (1, 0) or (-1, 0); replaced, (-1, 0) becomes
            # (1, 1) at worst.
            reach = Sensitivity(add_remove=math.sqrt(2), replace_one=math.sqrt(5))
            sums = np.array([clipped.sum() / clip, inside.sum()])  # private
            shift, weight = self._moments.release(sums, reach, share)  # released
            shift /= max(weight, 0.1 * self.n_records)
            self._offset += float(np.clip(shift, -1, 1)) * clip
            clipped = np.clip(residuals - self._offset, -clip, clip)
        return clipped, clip

    def curvatures(self, residuals: np.ndarray, share: float, unit_noise: float) -> float:
        """Always 1; what is released is the spread of the residuals."""
        reach = Sensitivity(add_remove=self.scale**2, replace_one=self.scale**2)
        squares = np.minimum(np.square(residuals), self.scale**2).sum(axis=0)  # private
        noisy = max(float(self._moments.release(squares, reach, share)[0]), 0.0)  # released
        spread = math.sqrt((noisy + self._moments.deviation(reach, share)) / self.n_records)
        multiple = _between(2.5, 2.5 * math.sqrt(0.05 * self.n_records / unit_noise), 10.0)
        self.scale = _between(self.scale / 2, multiple * spread, min(2 * self.scale, self._largest))
        self._selection_clip = min(self._multiple * self.scale / multiple, self._largest)
        return 1.0


def shrunk(residuals: np.ndarray, norm: float | np.ndarray) -> np.ndarray:
    """Scale each record's residuals down to a norm, one for all or one per record."""
    length = np.sqrt(np.einsum("ik,ik->i", residuals, residuals))
    return residuals * np.minimum(1, norm / np.maximum(length, 1e-300))[:, None]


def _trust(curvature: float | np.ndarray, noise: float) -> float | np.ndarray:
    """How far to believe a noisy curvature: all of it if noise is small against what it may move.

    Between two looks a curvature moves by a third or so; a noisy one believed in full would make
    some steps much too long.
    """
    spread = (curvature / 3) ** 2
    return spread / (spread + noise**2)


def _between(low: float, value: float, high: float) -> float:
    return min(max(value, low), high)
