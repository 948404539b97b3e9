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

CENTER_DOUBT, LEVEL_DOUBT = 0.7, 0.5
"""A mean may be off by so much of the expected deviation, and that deviation by so many levels."""

FINEST_COUNT = 1e-3
"""Part of all records by which counts are off in any case, as no law is quite normal."""

ROUGH = 0.02
"""The same where no law was found, as it is with residuals of a constant and with distances."""

EXPECTED, SIZE_DOUBT = 0.25, 1.5
"""Of the largest size that there may be, most sizes are about this part, give or take so many
levels."""

FARTHEST_COUNT = 1e6
"""Counts are not believed to be off by more than so many deviations of their noise."""

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


def center_and_spread(
    noisy: np.ndarray, n_records: float, noise: float, expected: float, most: float
) -> tuple[float, float, float]:
    """Mean, how far it may be off, and deviation, of normal laws that explain counts of cells.

    Means over all laws, as likely as counts leave them (Bayes 1763): what noise hides is what was
    expected.

    Parameters
    ----------
    noisy : ndarray of shape (N_CELLS,)
        Released counts.
    n_records, noise : float
        Their sum, and the standard deviation of noise in each.
    expected : float
        The deviation, before anything was counted; the mean is zero then.
    most : float
        Where cells end.
    """
    means = np.linspace(-1, 1, 8 * N_CELLS + 1)
    levels = -np.arange(PER_LEVEL * 6 + 1) / PER_LEVEL
    edges = np.linspace(-1, 1, N_CELLS + 1)[1:-1]
    below = ndtr((edges - means[:, None, None]) / 2.0 ** levels[:, None])
    counted = n_records * np.diff(below, prepend=0.0, append=1.0)
    misfit = _misfit(noisy - counted, n_records, noise).sum(axis=-1)
    misfit += np.square(means / (CENTER_DOUBT * expected / most))[:, None]
    misfit += np.square((levels - math.log2(expected / most)) / LEVEL_DOUBT)
    likely = np.exp((misfit.min() - misfit) / 2)
    likely /= likely.sum()
    of_means, of_levels = likely.sum(axis=1), likely.sum(axis=0)
    mean = float(of_means @ means)
    doubt = math.sqrt(float(of_means @ np.square(means - mean)))
    return most * mean, most * doubt, most * 2.0 ** float(of_levels @ levels)


def likely_size(
    noisy: np.ndarray,
    n_records: float,
    noise: float,
    expected: float,
    doubt: float,
    most: float,
    law: Law,
) -> float:
    """The usual size of something, by counts of its levels.

    A mean over all sizes, as likely as counts leave them: what noise hides is what was expected.

    Parameters
    ----------
    noisy : ndarray of shape (N_LEVELS,)
        Released counts.
    n_records, noise : float
        Their sum, and the standard deviation of noise in each.
    expected, doubt : float
        The size before anything was counted, and by how many levels it may be off.
    most : float
        Where levels begin.
    law : callable
    """
    levels = -np.arange(PER_LEVEL * N_LEVELS + 1) / PER_LEVEL
    begins = 2.0 ** -np.arange(1.0, N_LEVELS)
    below = law(begins[:, None] / 2.0**levels)
    counted = n_records * -np.diff(below, axis=0, prepend=1.0, append=0.0)
    misfit = _misfit(noisy[:, None] - counted, n_records, noise).sum(axis=0)
    misfit += np.square((levels - math.log2(expected / most)) / doubt)
    likely = np.exp((misfit.min() - misfit) / 2)
    return most * 2.0 ** float(likely @ levels / likely.sum())


def usual(noisy: np.ndarray, n_records: float, noise: float, most: float, law: Law) -> float:
    """The usual size of something about which nothing else is known; see `likely_size`."""
    noise = max(noise, ROUGH * n_records)
    return likely_size(noisy, n_records, noise, EXPECTED * most, SIZE_DOUBT, most, law)


def _misfit(away: np.ndarray, n_records: float, noise: float) -> np.ndarray:
    """Squares of what counts are off by, over their noise."""
    noise = max(noise, FINEST_COUNT * n_records)
    # Squares of answers that are beyond all that noise does would be no numbers.
    return np.square(np.clip(np.nan_to_num(away / noise), -FARTHEST_COUNT, FARTHEST_COUNT))
