"""Histograms of where values lie between their bounds, finer toward either bound."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def dyadic_counts(
    values: NDArray, columns: NDArray, lower: ArrayLike, upper: ArrayLike, n_levels: int
) -> NDArray[np.int64]:
    """Count values by column, side and level.

    Parameters
    ----------
    values : ndarray of shape (m,) or (m, n_columns)
        Within the bounds of their columns.
    columns : ndarray
        The column of each value; broadcasts against `values`.
    lower, upper : ndarray of shape (n_columns,)
        The bounds.
    n_levels : int
        Values closer to the bound than ``2**-n_levels`` of the width are not counted.

    Returns
    -------
    ndarray of shape (n_columns, 2, n_levels)
        Entry [j, 0, b] counts values of column j at a fraction in ``(2**-(b+1), 2**-b]`` of the
        width from the lower bound, entry [j, 1, b] likewise from the upper bound.
    """
    lower, upper = np.asarray(lower), np.asarray(upper)
    n_columns = lower.size
    fraction = (values - lower[columns]) / (upper - lower)[columns]
    np.clip(fraction, 0, 1, out=fraction)
    counts = np.empty((n_columns, 2, n_levels), dtype=np.int64)
    for side in (0, 1):
        mantissa, exponent = np.frexp(fraction)
        # fraction = mantissa * 2**exponent with a mantissa in [1/2, 1); level b has its upper
        # edge 2**-b, that is a mantissa of 1/2 and the exponent 1 - b.
        level = (mantissa == 0.5) - exponent
        level[(mantissa == 0) | (level > n_levels)] = n_levels
        flat = (columns.astype(np.intp) * (n_levels + 1) + level).ravel()
        table = np.bincount(flat, minlength=n_columns * (n_levels + 1))
        counts[:, side] = table.reshape(n_columns, n_levels + 1)[:, :n_levels]
        fraction = 1 - fraction
    return counts
