"""Pairs: which products of two features to take in, and what released moments say of such products.

Nothing is released for them: their features are those that matter most in a fit without pairs, and
the metric of the steps along them is that of normal features with the released moments, stretched
to what any features with these could have. Proof: shapes.md.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_PAIRS = 45
"""Steps take time in proportion."""

PER_SIGNAL, PER_RECORD = 0.04, 0.02
"""Pairs over the signal, and over the records: noise, or chance, would drown more of them."""

FEWEST_PAIRS = 3
"""For fewer the steps are not worth their noise."""

EVEN, ALIKE = 0.7, 0.8
"""Features pair if their means are no farther from the middle of their limits, and their
correlation is no larger: products of rare indicators, and of features that are nearly the same, are
far from what moments say."""

FLOOR = 0.1
"""Mean squares along products count as no less than this part of their mean."""

PAIR_EVIDENCE = 3.0
"""A pair stays if it changes margins by more than so many times what noise and chance do."""

PROMISING = 0.2
"""Halfway through the steps a pair goes on if it changes margins by so much."""

CLIPPED = 4.0
"""Noise in a pair's weight has so many times the variance, for classes, that it would have if no
residuals were clipped: steps then take less of it back."""

LARGEST_MOMENT = 2.0
"""Features are within [-1, 1]: where moments are larger, there is nothing but noise in them."""


def most_pairs(n_records: float, curvature: float, signal: float, n_outputs: int = 1) -> int:
    """How many pairs are of use. All numbers are released or public.

    Parameters
    ----------
    n_records : float
    curvature : float
        Of the loss: a class that is rare says less than one of two that are alike, of which it is
        1/4.
    signal : float
        Records times curvature, over the noise of a sum that had the whole budget.
    n_outputs : int
        A pair has as many weights.
    """
    telling = n_records * min(4 * curvature, 1.0) / n_outputs
    most = int(min(MOST_PAIRS, PER_SIGNAL * signal, PER_RECORD * telling))
    return most if most >= FEWEST_PAIRS else 0


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of chosen features. Released.

    Parameters
    ----------
    first, second : ndarray of int
        Positions among the chosen features, the lower one first.
    numbers : ndarray of int
        Which of all pairs that were taken in.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    numbers: NDArray[np.intp]

    @classmethod
    def among(cls, positions: NDArray[np.intp]) -> "Pairs":
        """All pairs of some features."""
        positions = np.sort(positions)
        first, second = np.triu_indices(len(positions), 1)
        return cls(positions[first], positions[second], np.arange(len(first)))

    def only(self, some: NDArray[np.intp]) -> "Pairs":
        """Some of them, in their order."""
        some = np.sort(some)
        return Pairs(self.first[some], self.second[some], self.numbers[some])

    def anew(self) -> "Pairs":
        """The same, with numbers from zero: these are taken in."""
        return Pairs(self.first, self.second, np.arange(len(self)))

    @classmethod
    def none(cls) -> "Pairs":
        """No pair."""
        return cls.among(np.zeros(0, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def features(self) -> NDArray[np.intp]:
        """Positions of the features that are in a pair."""
        return np.union1d(self.first, self.second)

    def entering(self, order: NDArray[np.intp], n_features: int) -> NDArray[np.intp]:
        """With which feature of an order each pair is complete: its number there, or more."""
        place = np.full(n_features, len(order))
        place[order] = np.arange(len(order))
        return np.maximum(place[self.first], place[self.second])


def strongest(
    metric: np.ndarray, weights: np.ndarray, sizes: NDArray[np.intp], most: int
) -> NDArray[np.intp]:
    """Positions of the features that move margins most, so many that their pairs are at most these.

    Parameters
    ----------
    metric : ndarray of shape (1 + columns, 1 + columns)
        Mean products of the columns, a constant one first.
    weights : ndarray of shape (1 + columns, n_outputs)
    sizes : ndarray of shape (d,)
        Columns of each feature, one after another.
    most : int
        Pairs.
    """
    means, covariance = moments_of(metric)
    ends = np.cumsum(sizes)
    moves = np.empty(len(sizes))
    for j, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        own = slice(1 + end - size, 1 + end)
        moves[j] = np.sum(weights[own] * (covariance[own, own] @ weights[own]))
    moves[np.abs(means[1 + ends - sizes]) > EVEN] = -np.inf
    count = min(int((1 + math.sqrt(1 + 8 * most)) / 2), int(np.isfinite(moves).sum()))
    return np.sort(np.argsort(-moves, kind="stable")[:count])


def moments_of(metric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances from mean products of columns, the constant one first."""
    moments = metric / metric[0, 0]
    return moments[0], moments - np.outer(moments[0], moments[0])


def apart(
    metric: np.ndarray, first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Numbers of those pairs of columns that are not nearly the same."""
    _, covariance = moments_of(metric)
    own = np.maximum(np.diag(covariance), 0.0)
    return np.flatnonzero(
        np.abs(covariance[first, second]) <= ALIKE * np.sqrt(own[first] * own[second])
    )


def within_reach(metric: np.ndarray) -> bool:
    """Whether moments are as those of features may be, so that products have a metric.

    Squares of larger ones beside others of usual size would leave it singular.
    """
    return bool(np.abs(metric).max() <= LARGEST_MOMENT and metric[0, 0] >= 1 / LARGEST_MOMENT)


@dataclass(frozen=True, eq=False)
class PairMetric:
    """Products of two columns as they would be if all columns were normal with given moments.

    What a product has beside the columns themselves is ``(u - mean u) * (v - mean v)`` less its
    mean: then it has no correlation with any column, and its own mean products follow from those of
    the columns (Isserlis 1918). So that is the column that steps go along. Features are not normal,
    and steps that are too long drive weights away: mean squares are stretched to the largest that
    features with these moments can have.

    Parameters
    ----------
    first, second : ndarray of int
        Columns of each pair, the constant one counted.
    centers : ndarray of shape (columns,)
        Means.
    levels : ndarray of shape (pairs,)
        Covariances.
    roots : ndarray of shape (pairs,)
        Of the mean squares along the directions that steps go by.
    vectors : ndarray of shape (pairs, pairs)
        These directions.
    likely : ndarray of shape (pairs,)
        Mean squares as they would be, over those that steps go by.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    centers: np.ndarray
    levels: np.ndarray
    roots: np.ndarray
    vectors: np.ndarray
    likely: np.ndarray

    @classmethod
    def of(
        cls, metric: np.ndarray, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> "PairMetric":
        """From mean products of columns, the constant one first, and the columns of each pair."""
        means, covariance = moments_of(metric)
        across = covariance[np.ix_(first, second)]
        products = covariance[np.ix_(first, first)] * covariance[np.ix_(second, second)]
        law = products + across * across.T
        # No feature within [-1, 1] is farther from its mean than 1 + |mean|.
        own, far = np.maximum(np.diag(covariance), 0.0), np.square(1 + np.abs(means))
        most = np.minimum(far[first] * own[second], far[second] * own[first])
        stretch = np.sqrt(most / np.maximum(np.diag(law), 1e-12))
        values, vectors = np.linalg.eigh(law * np.outer(stretch, stretch))
        values = np.maximum(values, 0.0)
        raised = np.maximum(values, max(FLOOR * float(values.mean()), 1e-6))
        expected = np.maximum(np.sum(vectors * (law @ vectors), axis=0), 0.0)
        levels = covariance[first, second]
        return cls(first, second, means, levels, np.sqrt(raised), vectors, expected / raised)

    @property
    def whitening(self) -> np.ndarray:
        """To coordinates in which their metric is the identity."""
        return self.vectors / self.roots

    @property
    def unwhitening(self) -> np.ndarray:
        """And back."""
        return self.roots[:, None] * self.vectors.T

    def plain(self, weights: np.ndarray) -> np.ndarray:
        """Weights of the columns and of plain products ``u * v``, the last ones, in their place.

        Parameters
        ----------
        weights : ndarray of shape (..., columns + pairs, n_outputs)
        """
        found = weights.copy()
        size, centers = len(self.centers), self.centers
        for pair, (u, v) in enumerate(zip(self.first, self.second, strict=True)):
            weight = weights[..., size + pair, :]
            found[..., u, :] -= centers[v] * weight
            found[..., v, :] -= centers[u] * weight
            found[..., 0, :] += (centers[u] * centers[v] - self.levels[pair]) * weight
        return found
