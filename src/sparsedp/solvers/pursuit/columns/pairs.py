"""Pairs: which products of two features to take in, and what released moments say of such products.

Nothing is released for them: their features are those that matter most in a fit without pairs, and
the metric of the steps along them is that of normal features with the released moments. Proof:
shapes.md.
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

STIFF, FLOOR = 2.0, 0.1
"""Mean squares of products count as so many times what normal features would have, and as no less
than this part of their mean: features are not normal, and steps must not be too long."""

PAIR_EVIDENCE = 6.0
"""A pair stays if it changes margins by more than so many times what noise and chance do."""

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
    inner = metric[1:, 1:] - np.outer(metric[0, 1:], metric[0, 1:]) / metric[0, 0]
    ends = np.cumsum(sizes)
    moves = np.empty(len(sizes))
    for j, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        own = slice(end - size, end)
        some = weights[1:][own]
        moves[j] = np.sum(some * (inner[own, own] @ some))
    count = int((1 + math.sqrt(1 + 8 * most)) / 2)
    return np.sort(np.argsort(-moves, kind="stable")[:count])


def within_reach(metric: np.ndarray) -> bool:
    """Whether moments are as those of features may be, so that products have a metric.

    Squares of larger ones beside others of usual size would leave it singular.
    """
    return bool(np.abs(metric).max() <= LARGEST_MOMENT * metric[0, 0])


@dataclass(frozen=True, eq=False)
class PairMetric:
    """Products of two columns as they would be if all columns were normal with given moments.

    Then the rest that products have beside the columns themselves, ``products + columns @ left``,
    has mean zero and no correlation with the columns, and its own mean products follow from those
    of the columns (Isserlis 1918).

    Parameters
    ----------
    left : ndarray of shape (1 + columns, pairs)
    roots : ndarray of shape (pairs,)
        Of the mean squares along the directions that steps go by.
    vectors : ndarray of shape (pairs, pairs)
        These directions.
    likely : ndarray of shape (pairs,)
        Mean squares, over those that steps go by.
    """

    left: np.ndarray
    roots: np.ndarray
    vectors: np.ndarray
    likely: np.ndarray

    @classmethod
    def of(
        cls, metric: np.ndarray, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> "PairMetric":
        """From mean products of columns, the constant one first, and the columns of each pair."""
        moments = metric / metric[0, 0]
        means = moments[0]
        covariance = moments - np.outer(means, means)
        pair = np.arange(len(first))
        left = np.zeros((len(metric), len(first)))
        left[first, pair] -= means[second]
        left[second, pair] -= means[first]
        left[0] = means[first] * means[second] - covariance[first, second]
        across = covariance[np.ix_(first, second)]
        products = covariance[np.ix_(first, first)] * covariance[np.ix_(second, second)]
        values, vectors = np.linalg.eigh(products + across * across.T)
        values = np.maximum(values, 0.0)
        raised = STIFF * np.maximum(values, max(FLOOR * float(values.mean()), 1e-6))
        return cls(left, np.sqrt(raised), vectors, values / raised)

    def extended(
        self, whitening: np.ndarray, unwhitening: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates of the columns, and after them those of the products; and what undoes it."""
        size, more = len(whitening), len(self.roots)
        turn = self.vectors / self.roots
        wide, back = np.zeros((size + more,) * 2), np.zeros((size + more,) * 2)
        wide[:size, :size], back[:size, :size] = whitening, unwhitening
        wide[:size, size:], back[:size, size:] = self.left @ turn, -unwhitening @ self.left
        wide[size:, size:], back[size:, size:] = turn, self.roots[:, None] * self.vectors.T
        return wide, back
