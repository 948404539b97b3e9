"""How well weights are known, as a solver says it: in unit coordinates, from releases alone."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Method = Literal["same", "split"]
"""Whether the records that chose and started a model also say how well it is known."""


@dataclass(frozen=True, eq=False)
class Estimand:
    """What the weights are estimates of: the fit to a population, each record weighted.

    A record z = (1, features), in unit coordinates, counts min(1, (reach / |z whitening|)^2), and
    residuals count up to ``clip``. One with a feature beyond the released bounds counts nothing.
    Released.
    """

    whitening: np.ndarray
    reach: float
    clip: float


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Covariance of released weights. All matrices have the intercept last.

    Parameters
    ----------
    features : ndarray of shape (k,)
        Features of the model.
    covariance : ndarray of shape (k + 1, k + 1)
        Of sampling and of privacy noise.
    sampling : ndarray of shape (k + 1, k + 1)
        The part of sampling.
    weak : ndarray of shape (k + 1, k + 1)
        The part of directions about which next to nothing is known: a weight of which that is most
        of the variance has no interval.
    moving : ndarray of shape (k + 1,)
        Weights that have not come to rest: they may have no best value, and have no interval.
    method : {"same", "split"}
    estimand : Estimand
    """

    features: np.ndarray
    covariance: np.ndarray
    sampling: np.ndarray
    weak: np.ndarray
    moving: np.ndarray
    method: Method
    estimand: Estimand
