"""How large something is in most records, by counts of powers of two: a record moves one count.

A sum of squares moves by the largest square that there may be, which hides what is usual where
noise is loud; counts of levels do not.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import erf, ndtr

from sparsedp.data.sums.weighed import counts
from sparsedp.privacy import Sensitivity

N_LEVELS = 12
"""The last one holds whatever is smaller."""

N_CELLS = 16
"""Of a histogram on both sides of zero."""

PER_LEVEL = 8
"""Sizes that are tried, for each level."""

ONE_LEVEL = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))
"""A record is in one level; a replaced one leaves it for another."""

Law = Callable[[np.ndarray], np.ndarray]
"""Part of the records with values below so many times their usual size."""


def of_residuals(ratio: np.ndarray) -> np.ndarray:
    """Absolute values of a normal law, of which the deviation is the usual size."""
    return np.asarray(erf(ratio / math.sqrt(2)))


def of_distances(ratio: np.ndarray) -> np.ndarray:
    """Squared distances, which are close together: most are within a level of the usual one."""
    return np.asarray(ndtr(np.log2(np.maximum(ratio, 1e-300)) / 0.7))


def level_counts(values: np.ndarray, most: float, weights: np.ndarray | None) -> np.ndarray:
    """Count values by level: the b-th begins at ``2**-(b + 1)`` of ``most``, the first has no end.

    Private. Only divisions and exponents, which are the same bits wherever a record stands.
    """
    _, exponents = np.frexp(values / most)
    levels = np.where(values > 0, np.clip(-exponents, 0, N_LEVELS - 1), N_LEVELS - 1)
    return counts(levels, N_LEVELS, weights)


def cell_counts(values: np.ndarray, most: float, weights: np.ndarray | None) -> np.ndarray:
    """Count values in cells between ``-most`` and ``most``; the outer ones have no end. Private."""
    places = np.clip(np.floor((values / most + 1) * (N_CELLS / 2)), 0, N_CELLS - 1)
    # What is not a number is in a cell too.
    return counts(np.where(places >= 0, places, 0), N_CELLS, weights)


def center_and_spread(noisy: np.ndarray, n_records: float, most: float) -> tuple[float, float]:
    """Mean and deviation of the normal law that explains released counts of cells best."""
    means = np.linspace(-1, 1, 8 * N_CELLS + 1)
    deviations = 2.0 ** -(np.arange(PER_LEVEL * 6 + 1) / PER_LEVEL)
    edges = np.linspace(-1, 1, N_CELLS + 1)[1:-1]
    below = ndtr((edges - means[:, None, None]) / deviations[:, None])
    expected = np.diff(below, prepend=0.0, append=1.0)
    misfit = np.square(noisy / n_records - expected).sum(axis=-1)
    mean, deviation = np.unravel_index(int(np.argmin(misfit)), misfit.shape)
    return most * float(means[mean]), most * float(deviations[deviation])


def usual(noisy: np.ndarray, n_records: float, most: float, law: Law) -> float:
    """The usual size that explains released counts of levels best, by least squares."""
    sizes = 2.0 ** -(np.arange(PER_LEVEL * (N_LEVELS + 1)) / PER_LEVEL)
    begins = 2.0 ** -np.arange(1.0, N_LEVELS)
    below = law(begins[:, None] / sizes)
    expected = -np.diff(below, axis=0, prepend=1.0, append=0.0)
    misfit = np.square(noisy[:, None] / n_records - expected).sum(axis=0)
    return most * float(sizes[int(np.argmin(misfit))])
