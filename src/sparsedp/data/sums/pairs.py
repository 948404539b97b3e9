"""Sums over pairs of records: how far two columns put them in the same order."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.storage import Array

FEW = 16
"""A column with at most so many values is gone through value by value."""

Ranks = NDArray[np.int64]


def dense_ranks(values: ArrayLike) -> Ranks:
    """Rank of each value among those that differ, from 0 on: of values only their order stays."""
    found = np.unique(np.asarray(values), return_inverse=True)[1]
    return np.asarray(found, dtype=np.int64).reshape(-1)


def rank_agreement(first: Ranks, second: Ranks, weights: Array | None) -> float:
    """Pairs that two columns order alike, less those that they order differently. Private.

    The numerator of Kendall's tau; pairs that are tied in a column count nothing. Each pair counts
    the product of its records' weights.
    """
    if not len(first):
        return 0.0
    amounts = np.ones(len(first)) if weights is None else weights
    if first.max() > second.max():  # the sum is the same both ways
        first, second = second, first
    if first.max() < FEW:
        return _value_by_value(first, second, amounts)
    return _bit_by_bit(first, second, amounts)


def _value_by_value(few: Ranks, other: Ranks, amounts: Array) -> float:
    """Go up the few values, with what lies below them counted by the other column's ranks."""
    total, n_ranks = 0.0, int(other.max()) + 1
    below = np.zeros(n_ranks)
    for value in range(int(few.max()) + 1):
        here = np.bincount(other, np.where(few == value, amounts, 0.0), minlength=n_ranks)
        up_to = np.cumsum(below)
        lower, higher = up_to - below, up_to[-1] - up_to
        total += float((here * (lower - higher)).sum())
        below += here
    return total


def _bit_by_bit(first: Ranks, second: Ranks, amounts: Array) -> float:
    """Put records in the order of the first column and count ascents of the second.

    Records with the same first rank stand in falling order of the second, so no ascent is between
    them. A pair ascends at the highest bit where its second ranks differ. With A the ascents,
    pairs that differ in the second rank are A, the descents between first ranks, and the descents
    T within them: what is asked for is A less the descents between, 2 A - all + T.
    """
    order = np.lexsort((-second, first))
    ranks, counted = second[order], amounts[order]
    ascents = 0.0
    for bit in range(int(second.max()).bit_length() - 1, -1, -1):
        group, is_high = ranks >> (bit + 1), (ranks >> bit) & 1 == 1
        low = np.cumsum(np.where(is_high, 0.0, counted))
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        before = np.where(starts > 0, low[starts - 1], 0.0)
        lengths = np.diff(starts, append=len(group))
        ascents += float(((low - np.repeat(before, lengths)) * counted)[is_high].sum())
        again = np.argsort(ranks >> bit, kind="stable")
        ranks, counted = ranks[again], counted[again]
    both = first * (int(second.max()) + 1) + second
    within = _squares(first, amounts) - _squares(dense_ranks(both), amounts)
    every = float(amounts.sum()) ** 2 - _squares(second, amounts)
    return 2 * ascents - every / 2 + within / 2


def _squares(ranks: Ranks, amounts: Array) -> float:
    """Sum over ranks of the squares of what has them."""
    return float(np.square(np.bincount(ranks, amounts)).sum())
