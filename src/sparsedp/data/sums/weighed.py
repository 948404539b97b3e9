"""Sums over records that count by their weights (data/gate/persons.md).

Weights are whole multiples of 2**-30, so that counts stay exact: a count is a whole number of these
units until it is divided, once.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.gate.units import ONE, as_whole
from sparsedp.data.storage import Array

HALF = 15
"""Bits of the lower part of a weight: sums of either part are exact in double precision."""


def weighed(values: Array, weights: Array | None) -> Array:
    """Values (n,) or (n, K), each row multiplied by its weight; as they are where all count 1."""
    if weights is None:
        return values
    return values * weights.reshape(-1, *[1] * (values.ndim - 1))


def total(weights: Array | None, n: int) -> float:
    """The sum of all weights, or the number of records where all count 1. Private."""
    return float(n) if weights is None else int(as_whole(weights).sum()) / ONE


def counts(codes: ArrayLike, n_codes: int, weights: Array | None) -> NDArray[np.float64]:
    """How many records have each code, by weight; correctly rounded. Private."""
    places = np.asarray(codes).astype(np.intp)
    if weights is None:
        return np.bincount(places, minlength=n_codes).astype(np.float64)
    whole = as_whole(weights)
    low = np.bincount(places, whole & (2**HALF - 1), minlength=n_codes)
    high = np.bincount(places, whole >> HALF, minlength=n_codes)
    # Each part is below 2**43 for 2**28 records.
    found = (high.astype(np.int64) << HALF) + low.astype(np.int64)
    return np.asarray(found / ONE, dtype=np.float64)


def mean(values: Array, weights: Array | None) -> float:
    """Of values (n,) or (n, K), by weight; zero where nothing counts. Private."""
    if weights is None:
        return float(np.mean(values))
    return float(weighed(values, weights).sum() / (weights.sum() * values[:1].size or 1.0))


def length(values: Array, weights: Array | None) -> float:
    """L2 norm of values (n,) or (n, K) over records: the root of the weighted sum of squares."""
    if weights is None:
        return float(np.linalg.norm(values))
    return math.sqrt(float(weighed(np.square(values), weights).sum()))
