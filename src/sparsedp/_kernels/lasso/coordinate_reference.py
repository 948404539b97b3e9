"""Coordinate descent on a quadratic with an L1 penalty, in NumPy: oracle and fallback.

Two ways to hold the same quadratic q(w) = <g, u> + 1/2 sum_i h_i u_i^2 with u = X (w - w0): by its
matrix X' diag(h) X, or by the columns of X themselves. Column j of X is factor_j s_j - offset_j
with s_j sparse: a centered column is dense, but what the offsets do to u is one number for all
records, so that a step costs no more than the entries of s_j.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def weighted_gram(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    curvature: NDArray[np.float64],
    size: int,
) -> NDArray[np.float64]:
    """S' diag(curvature) S for a matrix S in CSR form with ``size`` columns, indices sorted."""
    rows = sparse.csr_array((values, indices, indptr), shape=(len(curvature), size))
    weighted = rows.copy()
    weighted.data = values * np.repeat(curvature, np.diff(indptr))
    return np.ascontiguousarray((rows.T @ weighted).toarray())


def descend_gram(
    gram: NDArray[np.float64],
    descent: NDArray[np.float64],
    weights: NDArray[np.float64],
    penalty: float,
    most_epochs: int,
    tolerance: float,
) -> bool:
    """Minimize the quadratic plus ``penalty`` times the L1 norm, one weight after another.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Second derivative of the quadratic.
    descent : ndarray of shape (m,)
        Minus the gradient of the quadratic at ``weights``; updated in place.
    weights : ndarray of shape (m,)
        Where to start; updated in place.
    penalty : float
    most_epochs : int
        Passes over all weights.
    tolerance : float
        Stop after a pass in which no step was worth more than this in units of the gradient.

    Returns
    -------
    bool
        Whether it stopped for the tolerance.
    """
    for _ in range(most_epochs):
        largest = 0.0
        for j in range(len(weights)):
            curvature = gram[j, j]
            if curvature <= 0:
                continue
            pull = descent[j] + curvature * weights[j]
            step = np.sign(pull) * max(abs(pull) - penalty, 0.0) / curvature - weights[j]
            if step != 0:
                weights[j] += step
                descent -= step * gram[j]
                largest = max(largest, abs(step) * curvature)
        if largest <= tolerance:
            return True
    return False


def descend_columns(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float64],
    factor: NDArray[np.float64],
    offset: NDArray[np.float64],
    residual: NDArray[np.float64],
    curvature: NDArray[np.float64],
    weights: NDArray[np.float64],
    moved: NDArray[np.float64],
    sums: NDArray[np.float64],
    penalty: float,
    most_epochs: int,
    tolerance: float,
) -> bool:
    """Do the same as ``descend_gram`` without the matrix.

    Parameters
    ----------
    indptr, indices, values
        The columns s_j in CSC form.
    factor, offset : ndarray of shape (m,)
    residual, curvature : ndarray of shape (n,)
        g and h.
    weights : ndarray of shape (m,)
        Where to start; updated in place.
    moved : ndarray of shape (n,)
        The part of u that single entries add, zero at w0; updated in place.
    sums : ndarray of shape (2,)
        What the offsets add to every u_i, and the sum of h_i moved_i; updated in place.
    penalty, most_epochs, tolerance
        As in ``descend_gram``.
    """
    columns = [slice(indptr[j], indptr[j + 1]) for j in range(len(weights))]
    residual_sums = np.array([values[c] @ residual[indices[c]] for c in columns])
    curvature_sums = np.array([values[c] @ curvature[indices[c]] for c in columns])
    squares = np.array([values[c] ** 2 @ curvature[indices[c]] for c in columns])
    total_residual, total_curvature = residual.sum(), curvature.sum()
    diagonal = (
        factor**2 * squares - 2 * factor * offset * curvature_sums + offset**2 * total_curvature
    )
    for _ in range(most_epochs):
        largest = 0.0
        for j, column in enumerate(columns):
            if diagonal[j] <= 0:
                continue
            rows = indices[column]
            inside = residual_sums[j] + sums[0] * curvature_sums[j]
            inside += values[column] @ (curvature[rows] * moved[rows])
            constant = total_residual + sums[1] + sums[0] * total_curvature
            pull = diagonal[j] * weights[j] - factor[j] * inside + offset[j] * constant
            step = np.sign(pull) * max(abs(pull) - penalty, 0.0) / diagonal[j] - weights[j]
            if step != 0:
                weights[j] += step
                moved[rows] += step * factor[j] * values[column]
                sums[0] -= step * offset[j]
                sums[1] += step * factor[j] * curvature_sums[j]
                largest = max(largest, abs(step) * diagonal[j])
        if largest <= tolerance:
            return True
    return False
