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
    """

    whitening: np.ndarray
    unwhitening: np.ndarray
    likely: np.ndarray
    means: np.ndarray
    norm: float

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
