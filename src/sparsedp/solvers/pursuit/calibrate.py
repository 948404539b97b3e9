"""The last step: how far to shift and to stretch margins, so that probabilities are honest.

Steps clip residuals, noise spreads margins, and short steps leave them too close together.
Residuals of calibrated predictions sum up to zero, and so do their products with any function of
the margins. A look at both sums tells how far margins are off; one before it has brought mean
predictions close to the base rates, where margins of a rare class are to be seen, and one after it
brings them back. All take a small share, and no rank changes. Proof: shapes.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sparsedp.solvers.pursuit.moments import Moments

SQUARE_WEIGHT = 0.5
"""Of squared heights beside residuals."""

OF_TWO_CLASSES = math.sqrt(2 + SQUARE_WEIGHT**2)
"""What one record moves a look by: its residual, the product of it with its height, and the
square of that. Where the residual is 1 the curvature is zero, and elsewhere both together are
less."""

OF_MORE_CLASSES = math.sqrt(2 + 2 + SQUARE_WEIGHT**2 + 2 / 4)
"""Residuals of several classes have a norm of at most the root of 2, and no curvature is more than
a half."""

REACH = 1.5
"""Heights end where margins are so many times their spread from the center."""

STRETCH_DOUBT = 0.3
"""Margins are too far apart or too close by about this part, beside what noise makes of them."""

LEFT_OVER = 1 / 3
"""Part of a move by which margins may be off after it, beside its noise: they do not all move the
mean by as much."""

LEAST_SQUARE = 0.05
"""Mean squares of heights are not believed to be less."""

LEAST_FACTOR = 0.05
"""Above zero, so that margins rank records as they did."""

LONGEST_FALL, LONGEST_RISE = 0.7, 1.4
"""Of a factor, as a part of it, in one look."""


_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(31)
_MASSES = _MASSES / _MASSES.sum()


@dataclass(frozen=True)
class Moved:
    """Margins about a center, shifted and stretched. Released."""

    shift: np.ndarray
    factor: float


@dataclass(frozen=True)
class Spread:
    """How far margins are from their center, root mean square, as far as releases tell."""

    whole: float
    by_noise: float
    left: float = 1.0
    """What steps have left of them: they were short, or pulled to zero."""
    doubt: float = STRETCH_DOUBT
    """Part by which they may be too far apart or too close."""

    @property
    def reach(self) -> float:
        """Heights end here."""
        return REACH * self.whole

    @property
    def likely_factor(self) -> float:
        """What margins are without noise, over margins with it (Wiener 1949)."""
        return max(1 - (self.by_noise / self.whole) ** 2, LEAST_FACTOR) / self.left


Looker = Callable[[Moved, float], np.ndarray]
"""Sums of `LookSums` at moved margins, for a reach; private."""


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
    growth *= spread.reach
    product = seen.product + trust * float(seen.slopes @ shift)
    first = spread.likely_factor
    away = min(max(-product / growth, -LONGEST_FALL * first), LONGEST_RISE * first)
    belief = Belief(np.array([first]), np.array([(spread.doubt * max(first, 1.0)) ** 2]))
    belief.see(np.array([away]), np.array([noise / growth]))
    return max(float(belief.value[0]), LEAST_FACTOR)


def level(rate: float, spread: float) -> float:
    """Where normal margins with this spread have their center, if two classes have this rate."""
    low, high = -60.0, 60.0
    for _ in range(32):
        middle = (low + high) / 2
        mean = float(_MASSES @ expit(middle + spread * _NODES))
        low, high = (middle, high) if mean < rate else (low, middle)
    return (low + high) / 2


@dataclass(frozen=True)
class Calibration:
    """Looks at predictions, with noise, and what follows from them.

    Parameters
    ----------
    moments : Moments
    share : float
        Of the Gaussian budget, for all looks.
    rates : ndarray of shape (n_outputs,)
        Base rates: of the second of two classes, or of all.
    n_records : float
    curvature : float
        The mean of all records.
    spread : Spread
    """

    moments: Moments
    share: float
    rates: np.ndarray
    n_records: float
    curvature: float
    spread: Spread

    def found(
        self,
        look: Looker,
        doubt: np.ndarray,
        toward: Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]],
    ) -> Moved:
        """How to move margins.

        Parameters
        ----------
        look : callable
        doubt : ndarray of shape (n_outputs,)
            Variances of what margins may be off by; zero where they may not be shifted.
        toward : callable
            Maps mean residuals and the noise in them to how far margins are off, and how far noise
            blurs that.
        """
        k, n, noiseless = len(self.rates), self.n_records, self.moments.curator.noiseless
        whole, short = (OF_TWO_CLASSES, 1.0) if k == 1 else (OF_MORE_CLASSES, math.sqrt(2))
        shift, factor = Belief(np.zeros(k), doubt), self.spread.likely_factor
        factor = 1.0 if noiseless else factor
        reach = self.spread.reach

        def to_rates() -> None:
            """Look at residuals alone."""
            exact = look(Moved(shift.value, factor), reach)[:k]  # private
            excess = self.moments.release(exact, short, self.share / 4) / n  # released
            shift.see(*toward(excess, self.moments.deviation(short, self.share / 4) / n))

        if not noiseless:
            self._keep_rate(shift, 1.0, factor)
        to_rates()
        noise = self.moments.deviation(whole, self.share / 2) / n
        exact = look(Moved(shift.value, factor), reach)  # private
        seen = Seen.of(self.moments.release(exact, whole, self.share / 2) / n, k)  # released
        moved = shift.see(*toward(seen.excess, noise))
        if not noiseless:
            before = factor
            factor = stretched(self.spread, seen, noise, moved, self.curvature)
            self._keep_rate(shift, before, factor)
        to_rates()
        return Moved(shift.value, factor)

    def _keep_rate(self, shift: Belief, before: float, after: float) -> None:
        """Margins of a rare class that are farther apart have a higher mean prediction."""
        whole = self.spread.whole
        change = np.array([0.5 * (after - before) * whole])
        if len(self.rates) == 1:
            rate = float(self.rates[0])
            change = np.array([level(rate, after * whole) - level(rate, before * whole)])
            shift.value = shift.value + np.where(shift.variance > 0, change, 0.0)
        shift.variance = np.where(shift.variance > 0, shift.variance + np.square(change), 0.0)
