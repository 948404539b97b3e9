"""AdaSSP (Wang 2018) and BoostedAdaSSP (Tang et al. 2024), in plain NumPy.

Rows have norm at most 1 and targets lie in [-1, 1]. Under add/remove a record moves

* the least eigenvalue of Z'Z by at most 1, by Weyl: the largest eigenvalue of zz' is |z|^2;
* the upper triangle of Z'Z by at most 1 in norm: it is part of zz', whose Frobenius norm is |z|^2;
* Z'r by at most 1, where residuals r are clipped to [-1, 1].

All are Gaussian, so (epsilon, delta) is one mu of Gaussian differential privacy (Dong et al. 2022),
and squares of what each release spends add up to mu^2. That is tighter than the papers' own
composition: it favors them.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr

CONFIDENCE = 0.05  # Wang's varrho: the noise of the Gram matrix is bounded with probability .95


def gaussian_mu(epsilon, delta):
    """The largest mu whose Gaussian mechanism is (epsilon, delta)-private."""

    def excess(mu):
        first = math.exp(log_ndtr(mu / 2 - epsilon / mu))
        return first - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)) - delta

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return brentq(excess, 1e-9, high, xtol=1e-12) * (1 - 1e-9)


def noise(epsilon, delta, rounds):
    """The same for all releases, as both papers do: eigenvalue, Gram matrix and rounds."""
    return math.sqrt(rounds + 2) / gaussian_mu(epsilon, delta)


def perturbed(gram, sigma, rng):
    """Noise in the upper triangle, mirrored: released is the triangle alone."""
    upper = np.triu(sigma * rng.standard_normal(gram.shape))
    return gram + upper + np.triu(upper, 1).T


def ada_ssp(Z, y, *, epsilon, delta, rng, rounds=1):
    """Weights by sufficient statistics; more than one round is BoostedAdaSSP.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Rows of norm at most 1, the constant included.
    y : ndarray
        In [-1, 1].
    rng : Generator
    rounds : int
        Regressions on clipped residuals that share one Gram matrix.
    """
    p = Z.shape[1]
    sigma = noise(epsilon, delta, rounds)
    gram = Z.T @ Z
    least = max(np.linalg.eigvalsh(gram)[0], 0) + sigma * rng.standard_normal()
    surely = max(least - sigma * 1.96, 0)
    spread = sigma * math.sqrt(p * math.log(2 * p**2 / CONFIDENCE))
    noisy = perturbed(gram, sigma, rng) + max(0, spread - surely) * np.eye(p)
    inverse = np.linalg.inv(noisy)
    w = np.zeros(p)
    for _ in range(rounds):
        residual = np.clip(y - Z @ w, -1, 1)
        w += inverse @ (Z.T @ residual + sigma * rng.standard_normal(p))
    return w
