"""The exact cost of Gaussian releases."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import root_scalar
from scipy.special import erfcx, ndtr

SMALL_MU = 0.05
"""Below this the difference of two Mills ratios cancels and is expanded instead."""


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Exact delta(epsilon) of Gaussian releases (Balle and Wang 2018).

    Parameters
    ----------
    epsilon : float
        Any real number.
    mu : float
        Root of the sum of (sensitivity / sigma)^2; zero means that nothing was released.

    Returns
    -------
    float
    """
    return float(gaussian_profile(epsilon, mu))


def gaussian_profile(epsilon: ArrayLike, mu: float) -> NDArray[np.float64]:
    """``gaussian_delta`` for an array of epsilons, with a relative error below 1e-11.

    With R the Mills ratio, z = |epsilon| / mu and y = z - mu / 2, delta is
    phi(y) (R(y) - R(y + mu)), which keeps its relative precision far out in the tail; negative
    epsilon by the reflection delta(epsilon) = 1 - exp(epsilon) + exp(epsilon) delta(-epsilon).
    """
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if mu == 0:
        return -np.expm1(np.minimum(epsilon, 0.0))
    size = np.abs(epsilon)
    z = size / mu
    y = z - mu / 2
    # Beyond 1e3 the density is zero; the cut avoids overflow on the way there.
    density = np.exp(-(np.minimum(y, 1e3) ** 2) / 2) / math.sqrt(2 * math.pi)
    if mu < SMALL_MU:
        delta = density * _mills_difference(np.minimum(z, 100.0), mu)
    else:
        above = density * (_mills(np.maximum(y, 0.0)) - _mills(y + mu))
        delta = np.where(y >= 0, above, ndtr(-y) - density * _mills(y + mu))
    return np.where(epsilon >= 0, delta, -np.expm1(-size) + np.exp(-size) * delta)


def _mills(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Upper tail of the normal distribution over its density."""
    return math.sqrt(math.pi / 2) * erfcx(y / math.sqrt(2))


def _mills_difference(z: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """R(z - mu / 2) - R(z + mu / 2) for small mu, from the odd derivatives of R at z."""
    derivatives = [_mills(z)]
    derivatives.append(z * derivatives[0] - 1)
    for order in range(4):
        derivatives.append((order + 1) * derivatives[order] + z * derivatives[order + 1])
    return -mu * (derivatives[1] + mu**2 / 24 * derivatives[3] + mu**4 / 1920 * derivatives[5])


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest mu whose Gaussian releases are (epsilon, delta)-differentially private.

    Parameters
    ----------
    epsilon : float
        At least zero.
    delta : float
        Between 0 (at least 1e-300) and 1.

    Returns
    -------
    float
        ``gaussian_delta(epsilon, gaussian_mu(epsilon, delta)) <= delta`` holds in floating point.
    """
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise ValueError(f"epsilon must be a finite number of at least 0, got {epsilon!r}")
    check_delta(delta)

    def excess(log_mu: float) -> float:
        return math.log(max(gaussian_delta(epsilon, math.exp(log_mu)), 1e-305)) - math.log(delta)

    low, high = -1.0, 1.0
    while excess(low) > 0:
        low -= 2.0
    while excess(high) < 0:
        high += 1.0
    mu = math.exp(root_scalar(excess, bracket=(low, high), xtol=1e-14, rtol=1e-14).root)
    shrink = 1e-15
    while gaussian_delta(epsilon, mu) > delta:
        mu *= 1 - shrink
        shrink *= 2
    return mu


def check_delta(delta: float) -> None:
    """Raise unless ``delta`` is one that can be computed with."""
    if not 1e-300 <= delta < 1:
        raise ValueError(f"delta must lie between 0 (at least 1e-300) and 1, got {delta!r}")
