"""Histograms of where values lie between their bounds, finer toward either bound or the middle."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp._kernels import COMPILED

if COMPILED:
    from sparsedp._kernels import products as kernel
else:
    from sparsedp._kernels import products_reference as kernel


def dyadic_counts(
    values: NDArray, columns: NDArray, lower: ArrayLike, upper: ArrayLike, n_levels: int
) -> NDArray[np.int64]:
    """Count values by column, side and level.

    Parameters
    ----------
    values : ndarray of shape (m,) or (m, n_columns)
        Within the bounds of their columns.
    columns : ndarray of shape (m,) or (n_columns,)
        The column of each value; of a table all columns, in order.
    lower, upper : ndarray of shape (n_columns,)
        The bounds.
    n_levels : int
        Values closer than ``2**-n_levels`` are not counted.

    Returns
    -------
    ndarray of shape (n_columns, 3, n_levels)
        Entry [j, 0, b] counts values of column j at a fraction in ``(2**-(b+1), 2**-b]`` of the
        width from the lower bound, entry [j, 1, b] likewise from the upper bound, and entry
        [j, 2, b] at such a fraction of half the width from the middle.
    """
    lower = np.ascontiguousarray(lower, dtype=np.float64)
    width = np.asarray(upper, dtype=np.float64) - lower
    counts = np.zeros((lower.size, 3, n_levels), dtype=np.int64)
    if values.ndim == 2:
        kernel.dense_levels(values, lower, width, counts)
    else:
        kernel.entry_levels(values, columns, lower, width, counts)
    return counts
