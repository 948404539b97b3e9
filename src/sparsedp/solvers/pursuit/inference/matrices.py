"""Symmetric matrices with noise: their release, and how far to believe them.

After a release everything here is computed from releases alone.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.moments import Moments


@dataclass(frozen=True, eq=False)
class Noisy:
    """A symmetric matrix with noise of this deviation on the diagonal, 1 / sqrt 2 of it beside."""

    values: np.ndarray
    deviation: float


def released(matrix: np.ndarray, largest: float, moments: Moments, share: float) -> Noisy:
    """Release a sum over records of positive matrices of at most this Frobenius norm.

    As the vector of diagonal entries and sqrt 2 times the others, whose length is that norm: two
    positive matrices of norms a and b are at most sqrt(a^2 + b^2) apart.
    """
    sensitivity = Sensitivity(add_remove=largest, replace_one=math.sqrt(2) * largest)
    upper = np.triu_indices(len(matrix))
    lengths = np.where(upper[0] == upper[1], 1.0, math.sqrt(2))
    noisy = moments.release(matrix[upper] * lengths, sensitivity, share)  # released
    found = np.zeros_like(matrix)
    found[upper] = noisy / lengths
    found.T[upper] = noisy / lengths
    return Noisy(found, moments.deviation(sensitivity, share))


def shrunk(noisy: Noisy, expected: np.ndarray) -> Noisy:
    """Pull a noisy matrix toward what was expected, as far as noise explains the difference.

    What is expected is scaled to the same trace. The excess of the spread over that of noise, plus
    one standard deviation of it, is what is believed to be real (empirical Bayes).
    """
    matrix, deviation = noisy.values, noisy.deviation
    if deviation == 0:
        return noisy
    p = len(matrix)
    if np.trace(matrix) > 0:
        expected = expected * (np.trace(matrix) / np.trace(expected))
    away = matrix - expected
    entries = p * (p + 1) / 2
    wobble = deviation**2 * math.sqrt(2 * entries)
    excess = float(np.sum(away**2)) - (entries - 1) * deviation**2
    real = max(excess + wobble, wobble / 2) / entries
    trust = real / (real + deviation**2)
    return Noisy(expected + trust * away, math.sqrt(trust) * deviation)
