"""From what was seen to what is certain: lower bounds on epsilon and delta.

Each bound holds with probability ``1 - error``, for any number of runs: no asymptotics.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import expit, log_expit, logit, ndtri
from scipy.stats import beta, binom

N_THRESHOLDS = 200
"""Candidates for the threshold of an event, for each direction."""


def clopper_pearson(
    hits: np.ndarray | int, runs: int, error: float
) -> tuple[np.ndarray, np.ndarray]:
    """Exact bounds on a probability, each wrong with probability at most ``error``."""
    hits = np.asarray(hits)
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, beta.ppf(error, hits, runs - hits + 1), 0.0)
        high = np.where(hits < runs, beta.isf(error, hits + 1, runs - hits), 1.0)
    return low, high


@dataclass(frozen=True)
class Event:
    """A statistic beyond a threshold, and how often it happened on each of two neighbors.

    Parameters
    ----------
    hits : tuple of int
        On the neighbor where it is likely, and on the other one.
    runs : tuple of int
        Independent runs on each. The event must not have been chosen by looking at them.
    """

    hits: tuple[int, int]
    runs: tuple[int, int]

    def probabilities(self, error: float) -> tuple[float, float]:
        """Lower bound on the one, upper bound on the other; both hold together."""
        low, _ = clopper_pearson(self.hits[0], self.runs[0], error / 2)
        _, high = clopper_pearson(self.hits[1], self.runs[1], error / 2)
        return float(low), float(high)

    def epsilon(self, delta: float, error: float) -> float:
        """No smaller epsilon is true at this delta, since p <= exp(epsilon) q + delta."""
        low, high = self.probabilities(error)
        return math.log((low - delta) / high) if low - delta > high else 0.0

    def delta(self, epsilon: float, error: float) -> float:
        """No smaller delta is true at this epsilon."""
        low, high = self.probabilities(error)
        return max(0.0, low - math.exp(epsilon) * high)

    def mu(self, error: float) -> float:
        """No smaller mu is true in Gaussian differential privacy."""
        low, high = self.probabilities(error)
        return float(ndtri(low) - ndtri(high)) if low > high else 0.0

    def rho(self, error: float) -> float:
        """No smaller rho is true in zero-concentrated differential privacy.

        Which bounds the Kullback-Leibler divergence of the outputs, hence that of any event.
        """
        low, high = self.probabilities(error)
        if low <= high:
            return 0.0
        rest = (1 - low) * math.log((1 - low) / (1 - high)) if high < 1 and low < 1 else 0.0
        return low * math.log(low / high) + rest


def best_event(one: np.ndarray, other: np.ndarray, delta: float, error: float) -> Event:
    """Choose an event on half of the runs, count it on the other half.

    Parameters
    ----------
    one, other : ndarray of float
        A statistic of independent runs on either neighbor, large or small where they differ.
    delta, error : float
        The event that gives the largest epsilon at these is chosen.

    Returns
    -------
    Event
        Counted on runs that had no say in the choice, so nothing has to be corrected.
    """
    middle = len(one) // 2, len(other) // 2
    sides = (one[: middle[0]], other[: middle[1]]), (one[middle[0] :], other[middle[1] :])
    best, chosen = -math.inf, (1.0, 0.0, False)
    for direction in (1.0, -1.0):
        signed = [np.sort(direction * side) for side in sides[0]]
        pooled = np.sort(np.concatenate(signed))
        steps = np.linspace(0, pooled.size - 1, min(N_THRESHOLDS, pooled.size)).astype(int)
        thresholds = np.unique(pooled[steps])
        hits = [side.size - np.searchsorted(side, thresholds, side="left") for side in signed]
        for swapped in (False, True):
            first, second = (1, 0) if swapped else (0, 1)
            low, _ = clopper_pearson(hits[first], signed[first].size, error / 2)
            _, high = clopper_pearson(hits[second], signed[second].size, error / 2)
            worth = np.log(np.maximum(low - delta, 1e-300) / high)
            if worth.max() > best:
                best = float(worth.max())
                chosen = direction, float(thresholds[np.argmax(worth)]), swapped
    direction, threshold, swapped = chosen
    counted = [int(np.count_nonzero(direction * side >= threshold)) for side in sides[1]]
    runs = [len(side) for side in sides[1]]
    if swapped:
        counted.reverse()
        runs.reverse()
    return Event((counted[0], counted[1]), (runs[0], runs[1]))


def mean_lower_bound(values: np.ndarray, error: float, guess: float) -> float:
    """Lower bound on the mean of independent values in [0, 1].

    Bets against every candidate mean, with stakes that depend on earlier values only; a true mean
    lets nobody become rich (Waudby-Smith and Ramdas 2024). Sharp when the variance is small.

    Parameters
    ----------
    values : ndarray
    error : float
        Probability that the mean is smaller after all.
    guess : float
        Where the mean is expected: makes the bound sharper, never wrong.
    """
    values = np.asarray(values, dtype=float)
    n = values.size
    if n == 0 or values.max() <= 0:
        return 0.0
    seen = np.arange(1, n + 1)
    means = (guess + np.cumsum(values)) / (1 + seen)
    squares = (guess + np.cumsum((values - means) ** 2)) / (1 + seen)
    before = np.concatenate([[guess], squares[:-1]])
    stakes = np.sqrt(2 * math.log(1 / error) / (n * np.maximum(before, 1e-12)))

    def wealth(mean: float) -> float:
        return float(np.log1p(np.minimum(stakes, 0.75 / mean) * (values - mean)).sum())

    goal = math.log(1 / error)
    if wealth(1e-12) <= goal:
        return 0.0
    return root_scalar(lambda mean: wealth(mean) - goal, bracket=(1e-12, 1.0), xtol=1e-12).root


def delta_from_losses(losses: np.ndarray, epsilon: float, error: float, guess: float) -> float:
    """Lower bound on delta at epsilon from exact privacy losses, since delta = E(1 - e^(eps-L))+.

    Parameters
    ----------
    losses : ndarray
        log(p/q) of independent outputs drawn from p; infinite where q cannot give the output.
    epsilon, error, guess : float
        As above; the claimed delta is a good guess.
    """
    return mean_lower_bound(-np.expm1(np.minimum(epsilon - losses, 0.0)), error, guess)


def epsilon_from_losses(losses: np.ndarray, delta: float, error: float) -> float:
    """Lower bound on epsilon at delta from exact privacy losses.

    The bound on delta falls as epsilon grows, and at the true epsilon it exceeds delta with
    probability ``error`` only; where it crosses delta is therefore a bound on epsilon.
    """

    def excess(epsilon: float) -> float:
        return delta_from_losses(losses, epsilon, error, delta) - delta

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
        if high > 1e4:
            return math.inf
    return root_scalar(excess, bracket=(0.0, high), xtol=1e-6).root


@dataclass(frozen=True)
class Binomial:
    """Exactly: ``count`` independent releases with two outcomes.

    Parameters
    ----------
    odds, other_odds : float
        Logarithms of the odds of the first outcome on either neighbor: a probability next to one
        would have lost what it lacks.
    count : int
    """

    odds: float
    other_odds: float
    count: int

    @classmethod
    def of(cls, p: float, q: float, count: int) -> "Binomial":
        """Where the first outcome has these probabilities, neither of them next to one."""
        return cls(float(logit(p)), float(logit(q)), count)

    def delta(self, epsilon: float) -> float:
        """The exact delta at epsilon of this pair of neighbors, in the worse direction."""
        one, other = self.odds, self.other_odds
        return max(self._delta(one, other, epsilon), self._delta(other, one, epsilon))

    def epsilon(self, delta: float) -> float:
        """The exact epsilon at delta of this pair of neighbors."""
        if self.delta(0.0) <= delta:
            return 0.0
        high = 1.0
        while self.delta(high) > delta:
            high *= 2

        def excess(epsilon: float) -> float:
            return self.delta(epsilon) - delta

        return root_scalar(excess, bracket=(0.0, high), xtol=1e-9).root

    def _delta(self, odds: float, other: float, epsilon: float) -> float:
        k = np.arange(self.count + 1)
        ups = log_expit(odds) - log_expit(other)
        downs = log_expit(-odds) - log_expit(-other)
        losses = k * ups + (self.count - k) * downs
        gain = -np.expm1(np.minimum(epsilon - losses, 0.0))
        return float(binom.pmf(k, self.count, expit(odds)) @ gain)
