"""Tighter bounds from private histograms: most declared bounds are far wider than the data."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.bounds_check import NARROWEST
from sparsedp.data.dataset import Dataset
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.moments import Moments

N_LEVELS = 10
"""Bounds shrink to 2**-10 of their width at most, about the middle ..."""

N_END_LEVELS = 7
"""... and to 2**-7 from one end: a few records far out may be what matters (cpusmall)."""

TAIL = 0.02
"""Part of the records that may be clipped on one side of a feature, where noise is low ..."""

FIRST_MIDDLE_LEVEL = 2
"""About the middle bounds shrink to a quarter or not at all: data that fill half of them have
little to gain, and noise would cut off the tails of too many."""

LOUDEST = 0.05
"""... and where it is not. A count of records is of use if its noise is below this part."""

_SLACK = 2.0
"""Deviations of noise by which a count may be above the part that may be clipped. Where records
beyond the bounds are lost and not clipped, ..."""

_SLACK_SEEN, _SLACK_UNSEEN, _SEEN = 0.0, -2.0, 6.0
"""... where a count within the new bounds is above noise by so many deviations, and where none is:
the feature may be a 0/1 one that few records have, and would lose all that is known about it."""


@dataclass(frozen=True, eq=False)
class Tightened:
    """Records in tighter bounds, and what was seen on the way.

    Parameters
    ----------
    data : Dataset
        Clipped to bounds that are released, and mapped to their unit box. Private.
    unused : float
        The share that is left.
    away : ndarray of shape (n_features, 2)
        Part of the records that are not at a feature's lower and upper bound. Released; one half
        where that is not known.
    """

    data: Dataset
    unused: float
    away: np.ndarray


def tightened(
    data: Dataset, moments: Moments, n_records: float, share: float, *, lossy: bool = False
) -> Tightened:
    """Clip to privately released bounds.

    Parameters
    ----------
    data : Dataset
        In unit coordinates. Private.
    moments : Moments
        Where releases come from.
    n_records : float
        Released.
    share : float
        Of the Gaussian budget; half of it is left over where features are too many for histograms
        of their own and one shape for all of them must do.
    lossy : bool
        Whether records beyond the bounds will not count at all, so that more evidence is asked for.
    """
    between = _between(data)
    d, away = between.size, np.full((data.n_features, 2), 0.5)
    if d == 0:
        return Tightened(data, share, away)
    looked_at = data if d == data.n_features else data.features(between)
    # A record is in at most one level of each of the 3d histograms; a replaced one leaves it for
    # another.
    sensitivity = Sensitivity(add_remove=math.sqrt(3 * d), replace_one=math.sqrt(6 * d))
    unused = 0.0
    if moments.deviation(sensitivity, share) > LOUDEST * n_records:
        # What all features have in common is seen for less.
        share = unused = share / 2
    deviation = moments.deviation(sensitivity, share)
    counts = looked_at.dyadic_counts(N_LEVELS)  # private
    noisy = moments.release(counts, sensitivity, share)  # released
    factors = np.ones((data.n_features, 3))
    factors[between] = _factors(noisy, deviation, n_records, lossy=lossy)
    if deviation * math.sqrt(N_LEVELS) <= LOUDEST * n_records:
        away[between] = noisy[:, :2].sum(axis=2) / n_records
    return Tightened(data.tightened(_shrunk(data, factors)), unused, away)


def _between(data: Dataset) -> np.ndarray:
    """Features that may lie between their bounds: all but those declared to hold only these two.

    A 0/1 feature is -1 or 1 in the unit box of any bounds, so tightening would change nothing but
    the unit of its coefficient. Where rows are shrunk to a norm it too may lie anywhere.
    """
    if data.row_norm is not None:
        return np.arange(data.n_features)
    return np.flatnonzero(~data.bounds.binary_features(data.n_features))


def _factors(noisy: np.ndarray, deviation: float, n_records: float, *, lossy: bool) -> np.ndarray:
    """Fractions of the width to keep, from either bound or about the middle: (features, 3).

    The smallest 2**-b beyond which few records lie, as far as noise lets us see it. Where noise
    hides that of a feature, the mean of all features speaks for it, unless the feature has shown
    that it is wider, or its own word is asked for as records may be lost.
    """
    mean, d = noisy.mean(axis=0, keepdims=True), len(noisy)
    factors, wider = np.ones(noisy.shape[:2]), np.zeros(noisy.shape[:2], dtype=bool)
    looked = False
    for b in range(1, N_LEVELS + 1):
        own, common = deviation * math.sqrt(b), deviation * math.sqrt(b / d)
        if own <= LOUDEST * n_records:
            few = _few(noisy, b, own, n_records, lossy=lossy)
            wider, looked = ~few, True
        elif common <= LOUDEST * n_records and not (lossy and looked):
            few = _few(mean, b, common, n_records, lossy=lossy) & ~wider
        else:
            break
        few[:, :2] &= b <= N_END_LEVELS
        few[:, 2] &= b >= FIRST_MIDDLE_LEVEL
        factors[few] = 2.0**-b
    # Records cannot crowd at two places: believe the strongest claim.
    strongest = np.argmin(factors, axis=1)[:, None] == np.arange(3)
    return np.where(strongest, factors, 1.0)


def _few(noisy: np.ndarray, b: int, spread: float, n_records: float, *, lossy: bool) -> np.ndarray:
    """Whether few records lie beyond 2**-b of the width."""
    slack: float | np.ndarray = _SLACK
    if lossy:
        seen = (noisy[..., b:] > _SEEN * spread / math.sqrt(b)).any(axis=-1)
        slack = np.where(seen, _SLACK_SEEN, _SLACK_UNSEEN)
    most = np.minimum(TAIL * n_records + slack * spread, LOUDEST * n_records + spread)
    return noisy[..., :b].sum(axis=-1) <= most


def _shrunk(data: Dataset, factors: np.ndarray) -> Bounds:
    """The bounds in force, shrunk: a function of released and public numbers."""
    lower, upper = data.bounds.arrays(data.n_features)
    width = upper - lower
    from_below, from_above, about_middle = factors.T
    cut = (1 - about_middle) / 2 * width
    new_lower = np.where(from_above < 1, upper - from_above * width, lower + cut)
    new_upper = np.where(from_below < 1, lower + from_below * width, upper - cut)
    # Bounds far from zero and close together are not to be told apart when they shrink; nor may any
    # become narrower than bounds can be.
    least = np.maximum(1e-9 * np.maximum(np.abs(lower), np.abs(upper)), NARROWEST)
    blurred = ~(new_upper - new_lower >= least)
    new_lower, new_upper = np.where(blurred, lower, new_lower), np.where(blurred, upper, new_upper)
    if data.has_implicit_zeros or data.row_norm is not None:
        new_lower, new_upper = np.minimum(new_lower, 0), np.maximum(new_upper, 0)
    return data.bounds.with_limits(new_lower, new_upper)
