"""Products of two columns each, in NumPy: the oracle and the fallback of ``crossed``.

Of ``parts`` (m, n), with a row for each feature, and ``places`` (p, 2) column j of a record is
``parts[places[j, 0]] * parts[places[j, 1]] - levels[j]``, rounded after either operation. What is
computed for a record depends on nothing but the record; sums over records are pairs as in
``sums/products_reference``.
"""

import numpy as np
from numpy.typing import NDArray

from sparsedp._kernels.sums import products_reference

Array = NDArray[np.float64]


def _columns(parts: Array, places: NDArray[np.intp], levels: Array) -> Array:
    return parts[places[:, 0]] * parts[places[:, 1]] - levels[:, None]


def times(
    parts: Array, places: NDArray[np.intp], levels: Array, weights: Array, out: Array
) -> None:
    """Add columns times weights (p, K) to margins (n, K), column by column."""
    for column, weight in zip(_columns(parts, places, levels), weights, strict=True):
        out += column[:, None] * weight


def transposed(
    parts: Array,
    places: NDArray[np.intp],
    levels: Array,
    residuals: Array,
    run: int,
    high: Array,
    low: Array,
) -> None:
    """Add columns times residuals (K, n) to pairs (K, p).

    Up to ``run`` records may be added up plainly before their sum meets a pair.
    """
    rows = np.ascontiguousarray(_columns(parts, places, levels).T)
    shift = np.zeros(len(places))
    products_reference.dense_transposed(
        rows, np.ascontiguousarray(residuals.T), shift, run, high, low
    )


def mapped_squares(
    parts: Array,
    places: NDArray[np.intp],
    levels: Array,
    matrix: Array,
    firsts: NDArray[np.intp],
    lengths: Array,
    squares: Array,
    sizes: Array,
) -> None:
    """Squared norms of columns times a matrix (p, q), and sums of |column| times lengths.

    Column q of the matrix is zero above row ``firsts[q]``.
    """
    columns = _columns(parts, places, levels)
    # One after another: how libraries add up may depend on how many records there are.
    squares[:] = sizes[:] = 0.0
    for column, length in zip(columns, lengths, strict=True):
        sizes += np.abs(column) * length
    for q, first in enumerate(firsts):
        coordinate = np.zeros(len(squares))
        for column, factor in zip(columns[first:], matrix[first:, q], strict=True):
            coordinate += factor * column
        squares += coordinate * coordinate
