"""Exact laws of the releases that are attacked: nothing is sampled here."""

import math

import numpy as np
from scipy.optimize import root_scalar

from sparsedp.audit.likelihood import noisy_max_probability
from sparsedp.audit.lower_bound import Binomial
from sparsedp.privacy.account.gaussian import gaussian_delta


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The exact epsilon at delta of Gaussian noise on two values that lie mu deviations apart."""
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    high = 1.0
    while gaussian_delta(high, mu) > delta:
        high *= 2
    return root_scalar(lambda e: gaussian_delta(e, mu) - delta, bracket=(0.0, high)).root


def discrete_epsilon(p: np.ndarray, q: np.ndarray, delta: float) -> float:
    """The exact epsilon at delta of a choice with these probabilities on two neighbors."""
    return max(_one_way(p, q, delta), _one_way(q, p, delta))


def laplace_choice(scores: np.ndarray, scale: float) -> np.ndarray:
    """Probabilities of the candidates where Laplace noise is added and the largest is taken."""
    points = tuple((np.asarray(scores) / scale).tolist())
    return np.array([noisy_max_probability(points, k) for k in range(len(points))])


def tied_vertices(scale: float, steps: int) -> Binomial:
    """Picks among the vertices of a square whose scores a record moves from -1 to +1 or back.

    Two of the four rise, two fall, and which half a pick lies in is all that it tells.
    """
    law = laplace_choice(np.array([1.0, 1.0, -1.0, -1.0]), scale)
    odds = math.log(law[:2].sum() / law[2:].sum())
    return Binomial(odds, -odds, steps)


def _one_way(p: np.ndarray, q: np.ndarray, delta: float) -> float:
    """The best event of each size, and the epsilon that it shows."""
    ratios = np.divide(p, q, out=np.full_like(p, math.inf), where=q > 0)
    above, below, best = 0.0, 0.0, 0.0
    for k in np.argsort(-ratios):
        above, below = above + p[k], below + q[k]
        if above > delta:
            best = math.inf if below == 0 else max(best, math.log((above - delta) / below))
    return best
