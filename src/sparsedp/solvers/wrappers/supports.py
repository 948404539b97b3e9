"""Sets of features: all of one size, those that released sums speak for, and what each explains.

Proof and reasons: best_subset.md.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

RIDGE = 1.0
"""In units of one record at its bounds: the same for all records and supports, for conditioning."""

SOME_SUPPORTS = 4096
"""That are gone through at a time."""

HALVINGS = 60
"""Of the interval where the multiplier lies: what is left is far below rounding."""

SWAPS = 20
"""Supports, at most, of which all neighbors are looked at when some are proposed."""


@dataclass(frozen=True)
class Statistics:
    """Sums that least squares needs, of all columns; private, or released with noise.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
    products : ndarray of shape (p, q)
        Of the columns with the codes.
    n_features : int
        The first columns; a constant may follow, which is in every support.
    """

    gram: np.ndarray
    products: np.ndarray
    n_features: int

    def parts(self, supports: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gram matrices (N, m, m) and products (N, m, q) of supports (N, k)."""
        constant = np.arange(self.n_features, len(self.gram))
        columns = np.hstack([supports, np.tile(constant, (len(supports), 1))])
        return self.gram[columns[:, :, None], columns[:, None, :]], self.products[columns]


def every_support(n_features: int, size: int) -> np.ndarray:
    """All supports of this size, (N, size): known without data."""
    found = list(itertools.combinations(range(n_features), size))
    return np.array(found, dtype=np.intp).reshape(len(found), size)


def squares_explained(statistics: Statistics, supports: np.ndarray, radius: float) -> np.ndarray:
    """What weights of norm at most the radius take off the sum of squares, for each support.

    The exact optimum, ridge included: eigenvalues turn it into one equation for the multiplier of
    the ball, whose dual value is the optimum.
    """
    found = [
        _most_in_ball(*statistics.parts(supports[start : start + SOME_SUPPORTS]), radius)
        for start in range(0, len(supports), SOME_SUPPORTS)
    ]
    return np.concatenate(found)


def _most_in_ball(grams: np.ndarray, products: np.ndarray, radius: float) -> np.ndarray:
    """Maximum of 2 b'w - w'Gw - RIDGE |w|^2 over the ball, for a stack of G and b."""
    values, vectors = np.linalg.eigh(grams)
    values = np.maximum(values, 0.0) + RIDGE
    along = np.square(np.swapaxes(vectors, 1, 2) @ products).sum(axis=2)
    low, high = np.zeros(len(grams)), np.sqrt(along.sum(axis=1)) / radius
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        outside = (along / np.square(values + middle[:, None])).sum(axis=1) > radius**2
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    inside = (along / np.square(values)).sum(axis=1) <= radius**2
    multiplier = np.where(inside, 0.0, high)
    explained = (along / (values + multiplier[:, None])).sum(axis=1)
    return explained + multiplier * radius**2


def proposed_supports(released: Statistics, ridge: float, size: int, n_supports: int) -> np.ndarray:
    """The best supports that a search by swaps finds in released sums: (at most n_supports, size).

    A heuristic; it sees releases and nothing else, so whatever it finds is released as well.
    """
    values, vectors = np.linalg.eigh(released.gram)
    gram = (vectors * np.maximum(values, 0.0)) @ vectors.T + ridge * np.eye(len(values))
    known = Statistics(gram, released.products, released.n_features)
    start: tuple[int, ...] = ()
    for _ in range(size):
        grown: list[tuple[int, ...]] = [
            (*start, j) for j in range(known.n_features) if j not in start
        ]
        start = grown[int(np.argmax(_explained(known, grown)))]
    first = tuple(sorted(start))
    scores = {first: float(_explained(known, [first])[0])}
    seen: set[tuple[int, ...]] = set()
    neighbors = max(size * (known.n_features - size), 1)
    for _ in range(min(SWAPS, math.ceil(10 * n_supports / neighbors))):
        left = [support for support in scores if support not in seen]
        if not left:
            break
        best = max(left, key=scores.__getitem__)
        seen.add(best)
        others = [j for j in range(known.n_features) if j not in best]
        swapped = {
            tuple(sorted((*best[:i], *best[i + 1 :], j))) for i in range(size) for j in others
        }
        new = sorted(swapped - scores.keys())
        if new:
            scores.update(zip(new, _explained(known, new).tolist(), strict=True))
    ranked = sorted(scores, key=lambda support: (-scores[support], support))[:n_supports]
    return np.array(ranked, dtype=np.intp)


def _explained(known: Statistics, supports: list[tuple[int, ...]]) -> np.ndarray:
    """Squares that a regression on each support explains."""
    found = []
    for start in range(0, len(supports), SOME_SUPPORTS):
        grams, products = known.parts(np.array(supports[start : start + SOME_SUPPORTS]))
        found.append((products * np.linalg.solve(grams, products)).sum(axis=(1, 2)))
    return np.concatenate(found)
