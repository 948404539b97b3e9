"""Hats: piecewise linear pieces of a feature, of which each record has two.

On knots t_0 < ... < t_m a value between t_c and t_{c+1} is (1 - f) of the hat c and f of the hat
c + 1; every function that is linear between knots is a sum of hats times its heights there. So a
record's part in any such function follows from two stored numbers per feature. Both are made of a
record's value and of public or released knots alone.
"""

import numpy as np
from numpy.typing import NDArray

from sparsedp._kernels import COMPILED
from sparsedp.data.storage import Array, Sparse, compressed

if COMPILED:
    from sparsedp._kernels.sums import levels as kernel
else:
    from sparsedp._kernels.sums import levels_reference as kernel


def hats(
    values: Array, knots: Array, starts: NDArray[np.int32], ends: Array
) -> tuple[NDArray[np.int32], Array]:
    """Where values (n, m) lie between the knots (m, q) of their columns.

    Parameters
    ----------
    values : ndarray of shape (n, m)
    knots : ndarray of shape (m, q)
        Ascending; not numbers for a column that is taken as it is.
    starts : ndarray of shape (m,)
        The number of the first hat of every column.
    ends : ndarray of shape (m,)
        What is taken off the values of a column that is taken as it is.

    Returns
    -------
    places : ndarray of shape (n, entries)
        Numbers of the hats that a value has a part of, two for a column, or one if it has no knots.
    parts : ndarray of shape (n, entries)
        These parts: in [0, 1], two of them adding up to 1; or the value less its end.
    """
    entries = int(np.where(np.isnan(knots[:, 0]), 1, 2).sum())
    places, parts = np.empty((len(values), entries), np.int32), np.empty((len(values), entries))
    values, knots = np.ascontiguousarray(values), np.ascontiguousarray(knots)
    kernel.hats(values, knots, starts, np.ascontiguousarray(ends), places, parts)
    return places, parts


def by_rows(places: NDArray[np.int32], parts: Array, width: int) -> Sparse:
    """Rows with as many entries each, in ascending order, as a sparse array without its zeros."""
    n, entries = places.shape
    kind = np.int32 if n * entries < 2**31 else np.int64
    pointers = np.arange(n + 1, dtype=kind) * entries
    numbers = places.astype(kind, copy=False).reshape(-1)
    rows = compressed((parts.reshape(-1), numbers, pointers), (n, width))
    rows.eliminate_zeros()
    return rows


def waves(n_knots: int, count: int) -> Array:
    """Heights of cosines at the knots, (n_knots, count): of 1, 2, ... half waves over all of them.

    The first knot is at 1, and every height lies in [-1, 1]. The knots count as evenly spaced: what
    places them decides where the waves are steep.
    """
    grid = np.linspace(0, 1, n_knots)
    return np.clip(np.cos(np.pi * np.outer(grid, np.arange(1, count + 1))), -1, 1)
