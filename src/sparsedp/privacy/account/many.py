"""Many selections: blocks of them are no worse than Gaussian releases, and those simply add up.

The exact program for T selections takes T^1.5 operations. Beyond a few thousand that is too long,
and nothing is gained by it: the composition has long become Gaussian. ``accounting.md`` (section 5)
proves the bound and says what it loses.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from sparsedp.privacy.account.cost import Groups
from sparsedp.privacy.account.gaussian import gaussian_profile
from sparsedp.privacy.account.loss_distribution import composed_selections

MOST_DIRECT = 2_000
"""Up to this many selections go through the exact program; beyond it is slower, and looser too."""

BLOCK = 700
"""Selections of one block: more need a coarser lattice, fewer are further from a Gaussian."""

LARGEST_MU = 6.0
"""Blocks are not longer than this allows: beyond it profiles differ from 1 by rounding only."""

LEAST_GROUP = 200
"""Smaller groups are never replaced: the Gaussian above them would be loose."""

MARGIN = 1e-9
"""Relative; above the rounding errors of the Gaussian profile and of its tangents."""


class Reduced(NamedTuple):
    """Selections of which the large groups were replaced."""

    rest: Groups
    mu: float
    infinite: float


def reduced(groups: Groups, tail: float) -> Reduced:
    """Replace large groups by a Gaussian release that is no less of a cost, if there are many.

    Parameters
    ----------
    groups : tuple of (epsilon0, count)
        In order.
    tail : float
        About the mass that one block may count as infinite loss.
    """
    if sum(count for _, count in groups) <= MOST_DIRECT:
        return Reduced(groups, 0.0, 0.0)
    rest, mus, infinite = [], [0.0], 0.0
    for epsilon0, count in groups:
        if count < LEAST_GROUP:
            rest.append((epsilon0, count))
            continue
        longest = max(1, min(BLOCK, int((2 * LARGEST_MU / epsilon0) ** 2)))
        n_blocks = math.ceil(count / longest)
        mu, mass = dominating_mu(epsilon0, math.ceil(count / n_blocks), tail)
        mus.append(math.sqrt(n_blocks) * mu)
        infinite += n_blocks * mass
    return Reduced(tuple(rest), math.hypot(*mus) * (1 + 1e-14), infinite)


@lru_cache(maxsize=64)
def dominating_mu(epsilon0: float, count: int, tail: float) -> tuple[float, float]:
    """A mu, and a mass at infinity, above the profile of ``count`` selections everywhere."""
    values, step = composed_selections(((epsilon0, count),), tail)
    values *= 1 + MARGIN
    mass = tail + float(values[-1])
    low = math.sqrt(count) * epsilon0 / 2  # that of the same variance
    high = 1.01 * low
    while not _dominates(high, mass, values, step):
        low, high = high, 2 * high
        if high > 1e9:
            raise ArithmeticError(f"no Gaussian above {count} selections of {epsilon0}")
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        if _dominates(middle, mass, values, step):
            high = middle
        else:
            low = middle
    return high, mass


def _dominates(mu: float, mass: float, values: NDArray[np.floating], step: float) -> bool:
    """Whether the Gaussian profile plus ``mass`` lies above the chords through the values.

    Profiles are convex in x = exp(s), so between two nodes this one lies above both tangents, and
    a chord lies below those if it does so at the nodes and where the tangents cross. Right of the
    last node the values are constant and below ``mass``; left of zero both sides are reflected.
    """
    s = step * np.arange(values.size)
    above = gaussian_profile(s, mu) + mass
    # Minus the slope in x, times x: the profile's derivative in x is -Phi(-mu / 2 - s / mu).
    fall = np.exp(s + log_ndtr(-mu / 2 - s / mu))
    growth = math.expm1(step)
    left, right = above[:-1], above[1:]
    steep, flat = fall[:-1], fall[1:] * math.exp(-step)  # both in units of x at the left node
    apart = steep - flat
    crossing = np.divide(
        left - right - growth * flat, apart, out=np.zeros_like(apart), where=apart > 0
    )
    crossing = np.clip(crossing, 0.0, growth)
    tangents = np.maximum(left - crossing * steep, right + (growth - crossing) * flat)
    part = crossing / growth
    chords = (1 - part) * values[:-1] + part * values[1:]
    return bool(np.all(values <= above) and np.all(chords <= tangents))
