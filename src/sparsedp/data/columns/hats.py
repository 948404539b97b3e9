"""Hats: piecewise linear pieces of a feature, of which each record has two.

On knots t_0 < ... < t_m a value between t_c and t_{c+1} is (1 - f) of the hat c and f of the hat
c + 1; every function that is linear between knots is a sum of hats times its heights there. So a
record's part in any such function follows from two stored numbers per feature. Both are made of a
record's value and of public or released knots alone.
"""

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.storage import Array, Sparse, compressed


def hats(values: Array, knots: Array) -> tuple[NDArray[np.int32], Array]:
    """Where values (n, m) lie between the knots (m, q) of their columns.

    Returns
    -------
    places : ndarray of shape (n, 2 * m)
        Numbers of the hats that a value has a part of, column after column: hat c of column j is
        number ``j * q + c``.
    parts : ndarray of shape (n, 2 * m)
        These parts: in [0, 1], two of them adding up to 1.
    """
    n, m = values.shape
    q = knots.shape[1]
    places, parts = np.empty((n, 2 * m), dtype=np.int32), np.empty((n, 2 * m))
    for j in range(m):
        column, at = values[:, j], knots[j]
        cell = np.searchsorted(at[1:-1], column, side="right")
        above = (column - at[cell]) / (at[cell + 1] - at[cell])
        # Rounding, or a value beyond the knots, may not make a part of less than 0 or more than 1.
        np.clip(above, 0, 1, out=above)
        places[:, 2 * j] = j * q + cell
        places[:, 2 * j + 1] = j * q + cell + 1
        parts[:, 2 * j] = 1 - above
        parts[:, 2 * j + 1] = above
    return places, parts


def by_rows(places: NDArray[np.int32], parts: Array, width: int) -> Sparse:
    """Rows that all have the same number of entries, in ascending order, as a sparse array."""
    n, entries = places.shape
    kind = np.int32 if n * entries < 2**31 else np.int64
    pointers = np.arange(n + 1, dtype=kind) * entries
    return compressed((parts.reshape(-1), places.astype(kind).reshape(-1), pointers), (n, width))


def waves(n_knots: int, count: int) -> Array:
    """Heights of cosines at the knots, (n_knots, count): of 1, 2, ... half waves over all of them.

    The first knot is at 1, and every height lies in [-1, 1]. The knots count as evenly spaced: what
    places them decides where the waves are steep.
    """
    grid = np.linspace(0, 1, n_knots)
    return np.clip(np.cos(np.pi * np.outer(grid, np.arange(1, count + 1))), -1, 1)
