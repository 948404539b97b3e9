"""What looks tell about more than two classes: how far margins are to be shifted and stretched.

Shifts follow residuals as far as noise lets them be believed (Kalman 1960). Of the factor there is
a law (Bayes 1763): what products of residuals and heights should be for every factor follows from
margins that are drawn, not from records.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, softmax

from sparsedp.solvers.pursuit.calibration.looks import LEAST_FACTOR, Moved, Spread
from sparsedp.solvers.pursuit.calibration.two_classes import FINEST, LARGEST_NOISE, RAREST

REACH = 1.5
"""Heights end where margins are so many times their spread from the center."""

CLASS_DOUBT = 0.5
"""Variance of what margins are off by."""

LEFT_OVER = 1 / 3
"""Part of a move by which margins may be off after it, beside its noise: they do not all move the
mean by as much."""

LONGEST_SHIFT = 2.0
"""Of margins, toward the base rates."""

LEAST_SIGNAL = 0.5
"""Part of the squares of margins that is not believed to be noise, whatever weights say: noise in
many narrow directions of the records counts for less than they do."""

FACTOR_DOUBT, TAILS = 0.7, 2.0
"""A log factor is doubted by this part of the doubt about margins, in a Student law of so many
degrees of freedom: now and then steps leave a tenth of margins, and a look that says so is to be
believed."""

DRAWN_DOUBT = 0.2
"""Part to which products are told at best, as no records' margins are of a normal law."""

LOGS = tuple(0.25 * step for step in range(-14, 16))
"""Logarithms of factors that are tried."""

N_DRAWN, N_SHIFTS = 64, 4
"""Margins that are drawn, each with its opposite, and steps that bring them to the rates."""


@dataclass
class Belief:
    """What is believed of numbers that are looked at with noise (Kalman 1960)."""

    value: np.ndarray
    variance: np.ndarray

    def see(self, away: np.ndarray, noise: np.ndarray) -> None:
        """Move by what a look says, as far as its noise lets it be believed."""
        trust = self.variance / np.maximum(self.variance + np.square(noise), 1e-300)
        moved = trust * away
        self.value = self.value + moved
        self.variance = trust * np.square(noise) + np.square(LEFT_OVER * moved)


class ManyClassLaw:
    """What is believed of margins of several classes; see `Law`.

    Parameters
    ----------
    rates : ndarray of shape (n_classes,)
        Base rates.
    spread : Spread
        Of margins before they are stretched.
    shifts : bool
        Whether margins may be shifted.
    noiseless : bool
        Margins are not stretched then.
    """

    def __init__(self, rates: np.ndarray, spread: Spread, shifts: bool, noiseless: bool) -> None:
        k = len(rates)
        self._rates, self._spread, self._noiseless = rates, spread, noiseless
        self.reach = REACH * spread.whole
        self._shift = Belief(np.zeros(k), np.full(k, CLASS_DOUBT if shifts else 0.0))
        self._first, self._factor = spread.likely_factor(LEAST_SIGNAL), 1.0
        self._stretch(1.0 if noiseless else self._first)

    @property
    def moved(self) -> Moved:
        """How margins are to be moved."""
        return Moved(self._shift.value, self._factor)

    def see_residuals(self, means: np.ndarray, noise: float) -> None:
        """Shift toward the base rates."""
        self._shift.see(*self._toward_rates(means, noise))

    def see_all(self, means: np.ndarray, noise: float) -> None:
        """Shift and stretch."""
        excess, product = means[:-1], float(means[-1])
        self._shift.see(*self._toward_rates(excess, noise))
        if not self._noiseless:
            self._stretch(self._likely_factor(excess, product, noise))

    def _toward_rates(self, excess: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
        """How far margins are off, and how far noise blurs that."""
        predicted = self._predicted(excess)
        # Between two rates a margin moves by their difference over a curvature in between.
        curvatures = predicted * (1 - predicted) * self._rates * (1 - self._rates)
        away = np.clip(np.log(self._rates / predicted), -LONGEST_SHIFT, LONGEST_SHIFT)
        return away, min(noise, LARGEST_NOISE) / np.sqrt(curvatures)

    def _predicted(self, excess: np.ndarray) -> np.ndarray:
        """Mean predictions, as a look tells them."""
        return np.clip(self._rates + excess, RAREST, 1 - RAREST)

    def _likely_factor(self, excess: np.ndarray, product: float, noise: float) -> float:
        """After a look at margins that are stretched as believed so far.

        If a factor is honest, products are those of its predictions less those of the predictions
        that were looked at.
        """
        margins, predicted = self._spread.whole * drawn(len(self._rates)), self._predicted(excess)
        heights = margins / self.reach
        heights /= np.maximum(np.linalg.norm(heights, axis=1, keepdims=True), 1)
        now = leaning(np.array([self._factor]), margins, heights, predicted / predicted.sum())
        logs = np.array(LOGS)
        honest = leaning(np.exp(logs), margins, heights, self._rates)
        blur = np.hypot(max(noise, FINEST), DRAWN_DOUBT * np.maximum(honest, now))
        away = (product - now + honest) / blur
        doubt = (logs - math.log(self._first)) / (FACTOR_DOUBT * self._spread.doubt)
        misfit = np.square(away) + (TAILS + 1) * np.log1p(np.square(doubt) / TAILS)
        likely = np.exp((misfit.min() - misfit) / 2)
        return max(math.exp(float(likely @ logs / likely.sum())), LEAST_FACTOR)

    def _stretch(self, factor: float) -> None:
        """Margins of a rare class that are farther apart have a higher mean prediction."""
        change = min(0.5 * abs(factor - self._factor) * self._spread.whole, LONGEST_SHIFT)
        variance = self._shift.variance
        self._shift.variance = np.where(variance > 0, variance + change**2, 0.0)
        self._factor = factor


def drawn(n_classes: int) -> np.ndarray:
    """Margins of a normal law about zero, the same each time; their mean square is 1.

    Multiples of irrational numbers fill the box evenly (Weyl 1916); nothing here is random.
    """
    steps = np.sqrt(np.arange(n_classes) + 1.5)
    places = (0.5 + np.arange(1.0, N_DRAWN + 1)[:, None] * steps) % 1
    found = ndtri(np.maximum(places, 1e-9))
    found -= found.mean(axis=1, keepdims=True)
    found /= math.sqrt(float(np.square(found).sum(axis=1).mean()))
    return np.concatenate([found, -found])


def leaning(
    factors: np.ndarray, margins: np.ndarray, heights: np.ndarray, rates: np.ndarray
) -> np.ndarray:
    """Mean products of predictions and heights, where mean predictions are the rates.

    For every factor by which margins are stretched.
    """
    stretched, wanted = np.multiply.outer(factors, margins), np.log(rates)
    shift = np.broadcast_to(wanted, (len(factors), 1, len(rates)))
    for _ in range(N_SHIFTS):
        means = softmax(stretched + shift, axis=-1).mean(axis=1, keepdims=True)
        shift = shift + wanted - np.log(np.maximum(means, 1e-300))
    return (softmax(stretched + shift, axis=-1) * heights).sum(axis=-1).mean(axis=-1)
