"""Whitened coordinates as released, and the Hessian that is to be expected there."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

NODES, MASSES = np.polynomial.hermite_e.hermegauss(15)
MASSES = MASSES / MASSES.sum()
"""For means over a normal law."""

LEAST_LIKELY = 0.005
"""Mean squares of whitened coordinates are not believed to be smaller."""

BETWEEN, DOUBTED = 0.2, 2.0
"""Over what two values at its ends have: a feature with less between them counts as one of two
values, also if so many deviations of noise may explain what is more."""

LEAST_SPREAD = 0.02
"""Variances of features of two values are not believed to be smaller."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """What was released about records in whitened coordinates.

    Parameters
    ----------
    whitening, unwhitening : ndarray of shape (p, p)
        Weights of columns are ``whitening @ weights`` of coordinates.
    likely : ndarray of shape (p,)
        Mean squares of the coordinates, noise taken out.
    means : ndarray of shape (p,)
    norm : float
        Root mean square norm of a record.
    gram : ndarray of shape (p, p)
        Mean products of columns in [-1, 1], of which the first is the constant.
    deviation : float
        Of the noise in its entries.
    """

    whitening: np.ndarray
    unwhitening: np.ndarray
    likely: np.ndarray
    means: np.ndarray
    norm: float
    gram: np.ndarray
    deviation: float

    def two_valued(self) -> np.ndarray:
        """Which columns seem to be at their ends only, the constant first, which is not asked.

        A feature x has E[1 - x^2] = 0 there and, with most of its values at one end but some
        anywhere, about 1 - E[x]^2.
        """
        between = 1 - np.diag(self.gram)
        spread = np.maximum(1 - np.square(self.gram[0]), 0.0)
        found = between <= BETWEEN * spread + DOUBTED * self.deviation
        found[0] = False
        return found

    def farthest(self, weights: np.ndarray) -> np.ndarray:
        """Mean margin of those with one value of a feature of two, on the side it pulls them to.

        The larger one of both values, for every column. Means of other columns are linear in one
        of two values, so that nothing is approximate but for noise.

        Parameters
        ----------
        weights : ndarray of shape (p,)
            In these coordinates.
        """
        weights, mean = self.whitening @ weights, self.gram[0]
        products = self.gram - np.outer(mean, mean)
        others = weights @ products - weights * np.diag(products)
        slopes = weights + others / np.maximum(1 - np.square(mean), LEAST_SPREAD)
        ends = [weights @ mean + (end - mean) * slopes for end in (1, -1)]
        return np.maximum(ends[0] * np.sign(weights), -ends[1] * np.sign(weights))

    def expected_hessian(self, weights: np.ndarray, *, logistic: bool) -> np.ndarray:
        """Mean Hessian if coordinates were normal with the released moments.

        Parameters
        ----------
        weights : ndarray of shape (p,)
            In these coordinates.
        logistic : bool
            Else curvatures are 1.
        """
        squares = np.diag(np.maximum(self.likely, LEAST_LIKELY))
        if not logistic:
            return squares
        mean = self.means
        values, vectors = np.linalg.eigh(squares - np.outer(mean, mean))
        spread = vectors * np.maximum(values, 0.0) @ vectors.T
        center, length = float(mean @ weights), float(weights @ spread @ weights)
        length = math.sqrt(max(length, 1e-12))
        along = spread @ weights / length
        rates = expit(center + length * NODES)
        parts = rates * (1 - rates) * MASSES
        none, once, twice = (float(parts @ NODES**i) for i in range(3))
        mixed = np.outer(mean, along)
        inner = np.outer(along, along)
        rest = np.outer(mean, mean) + spread - inner
        return none * rest + once * (mixed + mixed.T) + twice * inner
