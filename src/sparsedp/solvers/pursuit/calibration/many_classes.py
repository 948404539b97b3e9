"""What looks tell about more than two classes: how far margins are to be shifted and stretched."""

from dataclasses import dataclass

import numpy as np

from sparsedp.solvers.pursuit.calibration.looks import LEAST_FACTOR, SQUARE_WEIGHT, Moved, Spread
from sparsedp.solvers.pursuit.calibration.two_classes import RAREST

REACH = 1.5
"""Heights end where margins are so many times their spread from the center."""

CLASS_DOUBT = 0.5
"""Variance of what margins are off by."""

LEFT_OVER = 1 / 3
"""Part of a move by which margins may be off after it, beside its noise: they do not all move the
mean by as much."""

LEAST_SQUARE = 0.05
"""Mean squares of heights are not believed to be less."""

LONGEST_FALL, LONGEST_RISE = 0.7, 1.4
"""Of a factor, as a part of it, in one look."""

LONGEST_SHIFT = 2.0
"""Of margins, toward the base rates."""


@dataclass
class Belief:
    """What is believed of numbers that are looked at with noise (Kalman 1960)."""

    value: np.ndarray
    variance: np.ndarray

    def see(self, away: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Move by what a look says, as far as its noise lets it be believed; returns the move."""
        trust = self.variance / np.maximum(self.variance + np.square(noise), 1e-300)
        moved = trust * away
        self.value = self.value + moved
        self.variance = trust * np.square(noise) + np.square(LEFT_OVER * moved)
        return moved


class ManyClassLaw:
    """What is believed of margins of several classes; see `Law`.

    Parameters
    ----------
    rates : ndarray of shape (n_classes,)
        Base rates.
    curvature : float
        The mean of all records.
    spread : Spread
        Of margins before they are stretched.
    shifts : bool
        Whether margins may be shifted.
    noiseless : bool
        Margins are not stretched then.
    """

    def __init__(
        self, rates: np.ndarray, curvature: float, spread: Spread, shifts: bool, noiseless: bool
    ) -> None:
        k = len(rates)
        self._rates, self._curvature, self._spread = rates, curvature, spread
        self._noiseless = noiseless
        self.n_told, self.reach = 2 * k + 3, REACH * spread.whole
        self._shift = Belief(np.zeros(k), np.full(k, CLASS_DOUBT if shifts else 0.0))
        self._factor = 1.0
        self._stretch(1.0 if noiseless else spread.likely_factor)

    @property
    def moved(self) -> Moved:
        """How margins are to be moved."""
        return Moved(self._shift.value, self._factor)

    def see_residuals(self, means: np.ndarray, noise: float) -> None:
        """Shift toward the base rates."""
        self._shift.see(*self._toward_rates(means, noise))

    def see_all(self, means: np.ndarray, noise: float) -> None:
        """Shift and stretch."""
        seen = Seen.of(means, len(self._rates))
        moved = self._shift.see(*self._toward_rates(seen.excess, noise))
        if not self._noiseless:
            self._stretch(stretched(self._spread, seen, noise, moved, self._curvature))

    def _toward_rates(self, excess: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
        """How far margins are off, and how far noise blurs that."""
        predicted = np.clip(self._rates + excess, RAREST, 1 - RAREST)
        # Between two rates a margin moves by their difference over a curvature in between.
        curvatures = predicted * (1 - predicted) * self._rates * (1 - self._rates)
        away = np.clip(np.log(self._rates / predicted), -LONGEST_SHIFT, LONGEST_SHIFT)
        return away, noise / np.sqrt(curvatures)

    def _stretch(self, factor: float) -> None:
        """Margins of a rare class that are farther apart have a higher mean prediction."""
        change = 0.5 * (factor - self._factor) * self._spread.whole
        variance = self._shift.variance
        self._shift.variance = np.where(variance > 0, variance + change**2, 0.0)
        self._factor = factor


@dataclass(frozen=True)
class Seen:
    """A look, as it was released: means over records.

    Attributes
    ----------
    excess : ndarray of shape (n_outputs,)
        Residuals: predictions less labels.
    product : float
        Of residuals and heights.
    square : float
        Of heights.
    curvature : float
        By which the product grows when margins move by their heights.
    slopes : ndarray of shape (n_outputs,)
        By which the product grows with a shift.
    """

    excess: np.ndarray
    product: float
    square: float
    curvature: float
    slopes: np.ndarray

    @classmethod
    def of(cls, means: np.ndarray, n_outputs: int) -> "Seen":
        """In the order of `LookSums`."""
        product, square, curvature = (float(value) for value in means[n_outputs : n_outputs + 3])
        square /= SQUARE_WEIGHT
        return cls(means[:n_outputs], product, square, curvature, means[n_outputs + 3 :])


def stretched(
    spread: Spread, seen: Seen, noise: float, shift: np.ndarray, curvature: float
) -> float:
    """By which factor margins are to be stretched, after a look and a shift.

    Parameters
    ----------
    spread : Spread
    seen : Seen
    noise : float
        Of every number of the look.
    shift : ndarray of shape (n_outputs,)
        Of margins, after the look.
    curvature : float
        The mean of all records.
    """
    # Where noise hides how fast the product grows, mean curvature and squares stand for it.
    square = min(max(seen.square, LEAST_SQUARE), 1.0)
    guess = curvature * square
    trust = guess**2 / (guess**2 + 4 * noise**2)
    growth = guess + trust * (min(max(seen.curvature, 0.1 * guess), 4 * guess) - guess)
    growth *= REACH * spread.whole
    product = seen.product + trust * float(seen.slopes @ shift)
    first = spread.likely_factor
    away = min(max(-product / growth, -LONGEST_FALL * first), LONGEST_RISE * first)
    belief = Belief(np.array([first]), np.array([(spread.doubt * max(first, 1.0)) ** 2]))
    belief.see(np.array([away]), np.array([noise / growth]))
    return max(float(belief.value[0]), LEAST_FACTOR)
