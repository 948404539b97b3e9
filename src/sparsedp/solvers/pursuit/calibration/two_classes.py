"""What looks tell about two classes: where predictions belong, and how far apart they are to be.

Three things are unknown: the rate of the second class, of which a noisy count tells; where margins
are, as far as a normal law about their center does not say it; and the factor that makes them
honest. Looks at residuals tell mean predictions less the rate, products with heights tell the
factor. What all of them leave likely is a law (Bayes 1763), and log loss is least, as far as can
be expected, where mean prediction and rate are the same on average over that law.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, log_ndtr, logit

from sparsedp.solvers.pursuit.calibration.looks import (
    LARGEST_MEAN,
    LEAST_FACTOR,
    Center,
    Moved,
    Spread,
)

RAREST = 0.002
"""Shares of classes are not believed to be smaller."""

REACH = 1.0
"""Heights end where margins are so many times their spread from the center."""

LEAST_DOUBT, SPREAD_DOUBT = 0.1, 0.25
"""A normal law is wrong about mean predictions as if margins were off by so much, and by so much of
their spread ..."""

FREEDOM = 2.0
"""... at least: now and then by far more (Student 1908; degrees of freedom) ..."""

FARTHEST = 10.0
"""... but not by more than this."""

LEFT_OVER = 1 / 3
"""Part of a move of margins by which a normal law may be wrong about what the move does."""

FACTOR_DOUBT = 0.15
"""A normal law is wrong about what products tell of a factor, as if it were off by so much."""

FINEST = 1e-7
"""Noise is not believed to be less: where there is none, sums are rounded."""

FARTHEST_LEVEL = 60.0
"""Centers of margins are not believed to be farther from zero."""

LARGEST_NOISE = 1e3
"""Of a mean of numbers between -1 and 1; more hides no more, and costs digits."""

_NODES, _MASSES = np.polynomial.hermite_e.hermegauss(31)
_MASSES = _MASSES / _MASSES.sum()

_N_PLACES, _N_ZOOMS, _WIDTH = 65, 16, 5.0
"""Places at which a law is told, how often they are drawn together, and how far from its mean they
then reach, in deviations."""

_CENTERS = np.linspace(-FARTHEST_LEVEL, FARTHEST_LEVEL, 1201)
"""At which mean predictions are told, to find the center of a rate."""

_FACTORS = np.linspace(-4, 4, 81)
"""Logs of factors that are tried, in units of doubt."""


def likely_shares(seen: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean of what shares may be that noise hides, and the log of how likely what was seen is.

    Beforehand all shares are equally likely. Of a rare class a noisy count may be negative; the
    mean over the shares that may have led to it is never absurd.
    """
    many = seen > 0.5  # the tails of the normal law are exact below its mean only
    below_half = np.where(many, 1 - seen, seen)
    low, high = (below_half - RAREST) / noise, (below_half - 1 + RAREST) / noise
    above, below = log_ndtr(low), log_ndtr(high)
    mass = above + np.log1p(-np.exp(below - above))
    # Far beyond all shares the nearest one is as good, and the tail has no more digits.
    far = low < -1e4
    near = np.where(far, 0.0, low)
    logs = [-(z**2) / 2 - 0.5 * math.log(2 * math.pi) - mass for z in (near, high)]
    edges = [np.exp(np.where(far, 0.0, log)) for log in logs]
    means = np.where(far, RAREST, below_half + noise * (edges[0] - edges[1]))
    means = np.clip(means, RAREST, 1 - RAREST)
    return np.where(many, 1 - means, means), mass


def likely_share(seen: float, noise: float) -> float:
    """See `likely_shares`; without noise what was seen is true."""
    if noise == 0:
        return min(max(seen, RAREST), 1 - RAREST)
    noise = min(max(noise, FINEST), LARGEST_NOISE)
    return float(likely_shares(np.array([_within(seen, LARGEST_MEAN)]), noise)[0][0])


def mean_prediction(center: np.ndarray, spread: float) -> np.ndarray:
    """Of normal margins about each of some centers."""
    return expit(center[:, None] + spread * _NODES) @ _MASSES


def level(rate: float, margins: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """By how much each row of margins is to be moved, that its mean prediction be the rate.

    Newton's steps between ends that come closer, or to the middle of them where these lead out.
    """
    low, high = np.full(len(margins), -FARTHEST_LEVEL), np.full(len(margins), FARTHEST_LEVEL)
    found = np.clip(logit(rate) - margins @ masses, low, high)
    for _ in range(60):
        predicted = expit(found[:, None] + margins)
        away = predicted @ masses - rate
        if (np.abs(away) <= 1e-9 * rate).all():
            break
        low, high = np.where(away < 0, found, low), np.where(away < 0, high, found)
        slopes = np.maximum((predicted * (1 - predicted)) @ masses, 1e-300)
        step = found - np.clip(away / slopes, -FARTHEST_LEVEL, FARTHEST_LEVEL)
        found = np.where((step > low) & (step < high), step, (low + high) / 2)
    return found


def _within(value: float, limit: float) -> float:
    """The value if it is one, or the end that it lies beyond."""
    return min(max(value, -limit), limit) if math.isfinite(value) else 0.0


@dataclass(frozen=True)
class Look:
    """At mean residuals of margins that were moved. Released."""

    shift: float
    factor: float
    excess: float
    noise: float


@dataclass
class TwoClassLaw:
    """What is believed of margins of two classes; see `Law`.

    Parameters
    ----------
    counted : float
        Part of the records in the second class, as it was released.
    blur : float
        Standard deviation of the noise in it; zero without noise, when margins are not stretched.
    center : Center
        Of margins before they are moved.
    spread : Spread
        Of margins before they are stretched.
    shifts : bool
        Whether margins may be shifted.
    """

    counted: float
    blur: float
    center: Center
    spread: Spread
    shifts: bool
    looks: list[Look] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Answers that overflow end in a poor model, and not in none.
        self._center = _within(float(self.center.value[0]), FARTHEST_LEVEL)
        self.counted, self.blur = _within(self.counted, LARGEST_MEAN), min(self.blur, LARGEST_NOISE)
        doubt = LEAST_DOUBT + SPREAD_DOUBT * self.spread.whole
        self._doubt = math.hypot(doubt, min(self.center.doubt, FARTHEST))
        # Margins turn out to be too far apart rather than too close, the more so the less is known.
        self._first = self.spread.likely_factor() * math.exp(-self.spread.doubt / 2)
        self.reach, self._factor = REACH * self.spread.whole, 1.0
        if self.blur > 0:
            self._factor = self._first * math.exp(self.spread.doubt**2 / 2)
        self._predictions = mean_prediction(_CENTERS, self.spread.whole)
        self._law = self._offsets()
        self._shift = self._best_shift()

    @property
    def moved(self) -> Moved:
        """How margins are to be moved."""
        return Moved(np.array([self._shift]), self._factor)

    def see_residuals(self, means: np.ndarray, noise: float) -> None:
        """Learn where predictions belong."""
        self._remember(means[0], noise)
        self._shift = self._best_shift()

    def see_all(self, means: np.ndarray, noise: float) -> None:
        """Learn also how far apart they are to be."""
        self._remember(means[0], noise)
        if self.blur > 0:
            product = _within(float(means[1]), LARGEST_MEAN)
            self._factor = self._best_factor(product, max(noise, FINEST))
        self._shift = self._best_shift()

    def _remember(self, excess: float, noise: float) -> None:
        seen = _within(float(excess), LARGEST_MEAN), min(max(noise, FINEST), LARGEST_NOISE)
        self.looks.append(Look(self._shift, self._factor, *seen))
        self._law = self._offsets()

    def _best_shift(self) -> float:
        if not self.shifts:
            return 0.0
        offsets, masses, rates = self._law
        margins = self._center + self._factor * (offsets[:, None] + self.spread.whole * _NODES)
        both = np.outer(masses, _MASSES).ravel()
        return float(level(float(masses @ rates), margins.reshape(1, -1), both)[0])

    def _best_factor(self, product: float, noise: float) -> float:
        """Mean of the factors that may have led to a product of residuals and heights."""
        offsets, masses, rates = self._law
        margins = self.spread.whole * _NODES
        away = float(masses @ offsets) + margins
        predicted = expit(self._center + self._shift + self._factor * away)
        factors = self._first * np.exp(self.spread.doubt * _FACTORS)
        tried = factors[:, None] * margins
        honest = expit(level(float(masses @ rates), tried, _MASSES)[:, None] + tried)
        heights = np.clip(away / self.reach, -1, 1)
        told = (predicted - honest) @ (heights * _MASSES)
        growth = self.reach * float(predicted * (1 - predicted) * np.square(heights) @ _MASSES)
        noise = math.hypot(noise, FACTOR_DOUBT * growth)
        misfit = np.square((told - product) / noise) + np.square(_FACTORS)
        likely = np.exp((misfit.min() - misfit) / 2)
        return max(float(likely @ factors / likely.sum()), LEAST_FACTOR)

    def _offsets(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a normal law may be off by, how likely that is, and the mean rate if it is so."""
        high = math.asinh(FARTHEST / self._doubt)
        low = -high
        for _ in range(_N_ZOOMS):
            places = np.linspace(low, high, _N_PLACES)
            offsets = self._doubt * np.sinh(places)
            log_masses, rates = self._told(offsets)
            log_masses += np.log(np.cosh(places))
            masses = np.exp(log_masses - log_masses.max())
            masses /= masses.sum()
            mean, gap = float(masses @ places), float(places[1] - places[0])
            width = _WIDTH * max(math.sqrt(float(masses @ np.square(places - mean))), gap)
            if width > (high - low) / 4:
                break
            low, high = max(low, mean - width), min(high, mean + width)
        return offsets, masses, rates

    def _told(self, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logs of how likely offsets are, and the mean rate for each.

        If an offset is true, every look is one more noisy count of the second class.
        """
        counts, variances = [np.full(len(offsets), self.counted)], [max(self.blur, FINEST) ** 2]
        rate, whole = min(max(self.counted, RAREST), 1 - RAREST), self.spread.whole
        for look in self.looks:
            last = self.looks[-1]
            away = abs(look.shift - last.shift) + whole * abs(look.factor - last.factor)
            unsure = LEFT_OVER * rate * (1 - rate) * away
            at = self._center + look.shift + look.factor * offsets
            counts.append(mean_prediction(at, look.factor * whole) - look.excess)
            variances.append(look.noise**2 + unsure**2)
        trusts, table = 1 / np.array(variances), np.array(counts)
        middle = trusts @ table / trusts.sum()
        misfit = trusts @ np.square(table - middle)
        rates, mass = likely_shares(middle, 1 / math.sqrt(trusts.sum()))
        tails = (FREEDOM + 1) / 2 * np.log1p(np.square(offsets / self._doubt) / FREEDOM)
        # Where a fit has its margins, mean predictions are about the rate.
        fitted = np.interp(rates, self._predictions, _CENTERS) - self._center
        fit = np.square((offsets - fitted) / self.center.fit_doubt) / 2
        return mass - misfit / 2 - tails - fit, rates
