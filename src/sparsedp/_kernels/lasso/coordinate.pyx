"""Coordinate descent on a quadratic with an L1 penalty, compiled.

See ``coordinate_reference`` for what is computed.
"""

import numpy as np

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t


cdef inline double shrunk(double pull, double penalty) noexcept nogil:
    if pull > penalty:
        return pull - penalty
    if pull < -penalty:
        return pull + penalty
    return 0.0


def weighted_gram(
    const int64_t[::1] indptr,
    const int32_t[::1] indices,
    const double[::1] values,
    const double[::1] curvature,
    Py_ssize_t size,
):
    """S' diag(curvature) S, from the rows of S."""
    output = np.zeros((size, size))
    cdef double[:, ::1] gram = output
    cdef Py_ssize_t i, j, k, p, q
    cdef double weight
    with nogil:
        for i in range(curvature.shape[0]):
            for p in range(indptr[i], indptr[i + 1]):
                weight = curvature[i] * values[p]
                j = indices[p]
                for q in range(indptr[i], p + 1):
                    gram[j, indices[q]] += weight * values[q]
        for j in range(size):
            for k in range(j):
                gram[k, j] = gram[j, k]
    return output


def descend_gram(
    const double[:, ::1] gram,
    double[::1] descent,
    double[::1] weights,
    double penalty,
    Py_ssize_t most_epochs,
    double tolerance,
):
    """Minimize the quadratic plus ``penalty`` times the L1 norm; same contract as the reference."""
    cdef Py_ssize_t m = weights.shape[0], j, k, epoch
    cdef double curvature, step, largest
    with nogil:
        for epoch in range(most_epochs):
            largest = 0.0
            for j in range(m):
                curvature = gram[j, j]
                if curvature <= 0.0:
                    continue
                step = shrunk(descent[j] + curvature * weights[j], penalty) / curvature - weights[j]
                if step != 0.0:
                    weights[j] += step
                    for k in range(m):
                        descent[k] -= step * gram[j, k]
                    largest = max(largest, fabs(step) * curvature)
            if largest <= tolerance:
                break
        else:
            largest = tolerance + 1.0
    return largest <= tolerance


def descend_columns(
    const int64_t[::1] indptr,
    const int32_t[::1] indices,
    const double[::1] values,
    const double[::1] factor,
    const double[::1] offset,
    const double[::1] residual,
    const double[::1] curvature,
    double[::1] weights,
    double[::1] moved,
    double[::1] sums,
    double penalty,
    Py_ssize_t most_epochs,
    double tolerance,
):
    """Do the same as ``descend_gram`` without the matrix; same contract as the reference."""
    cdef Py_ssize_t m = weights.shape[0], n = curvature.shape[0], i, j, p, epoch
    cdef double residual_sum, curvature_sum, square, inside, constant, step, largest
    cdef double total_residual = 0.0, total_curvature = 0.0
    cdef double[::1] residual_sums = np.zeros(m)
    cdef double[::1] curvature_sums = np.zeros(m)
    cdef double[::1] diagonal = np.zeros(m)
    with nogil:
        for i in range(n):
            total_residual += residual[i]
            total_curvature += curvature[i]
        for j in range(m):
            residual_sum = curvature_sum = square = 0.0
            for p in range(indptr[j], indptr[j + 1]):
                residual_sum += values[p] * residual[indices[p]]
                curvature_sum += values[p] * curvature[indices[p]]
                square += values[p] * values[p] * curvature[indices[p]]
            residual_sums[j] = residual_sum
            curvature_sums[j] = curvature_sum
            diagonal[j] = (
                factor[j] * factor[j] * square
                - 2.0 * factor[j] * offset[j] * curvature_sum
                + offset[j] * offset[j] * total_curvature
            )
        for epoch in range(most_epochs):
            largest = 0.0
            for j in range(m):
                if diagonal[j] <= 0.0:
                    continue
                inside = residual_sums[j] + sums[0] * curvature_sums[j]
                for p in range(indptr[j], indptr[j + 1]):
                    inside += values[p] * curvature[indices[p]] * moved[indices[p]]
                constant = total_residual + sums[1] + sums[0] * total_curvature
                step = diagonal[j] * weights[j] - factor[j] * inside + offset[j] * constant
                step = shrunk(step, penalty) / diagonal[j] - weights[j]
                if step != 0.0:
                    weights[j] += step
                    for p in range(indptr[j], indptr[j + 1]):
                        moved[indices[p]] += step * factor[j] * values[p]
                    sums[0] -= step * offset[j]
                    sums[1] += step * factor[j] * curvature_sums[j]
                    largest = max(largest, fabs(step) * diagonal[j])
            if largest <= tolerance:
                break
        else:
            largest = tolerance + 1.0
    return largest <= tolerance
