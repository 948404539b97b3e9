"""The listing in appendix B of Khanna et al. (2024), with its sign corrected: the yardstick.

Laplace noise on every vertex's score in every step, all scores from two sparse products. The paper
takes the largest where its scores call for the least; everything else is as printed.
"""

import math

import numpy as np


def appendix_b(X, y, *, radius, n_steps, epsilon, delta, rng, n_run=None):
    """Private LASSO logistic regression.

    Parameters
    ----------
    X : sparse matrix or ndarray of shape (n, d)
        Within [-1, 1].
    y : ndarray of shape (n,)
        0 and 1.
    radius, n_steps, epsilon, delta
        As in the paper.
    rng : numpy.random.Generator
    n_run : int, optional
        Stop after so many of the steps: for timing.

    Returns
    -------
    ndarray of shape (d,)
    """
    n, d = X.shape
    scale = radius * math.sqrt(8 * n_steps * math.log(1 / delta)) / (n * epsilon)
    w = np.zeros(d)
    for t in range(1, (n_steps if n_run is None else n_run) + 1):
        probability = 1 / (1 + np.exp(-(X @ w)))
        gradient = X.T @ (probability - y) / n
        scores = radius * np.concatenate([gradient, -gradient])
        vertex = np.argmin(scores + rng.laplace(scale=scale, size=2 * d))
        step = 2 / (t + 2)
        w *= 1 - step
        w[vertex % d] += step * (radius if vertex < d else -radius)
    return w
