"""Products of two columns each, compiled; see ``crossed_reference`` for the contract.

The order of the operations within a record depends on nothing but the record.
"""

import numpy as np

cdef extern from "crossed.h" nogil:
    enum:
        LANES
        PLAIN
        STRIP

    void merge(double* high, double* low, double other, double rest)
    void crossed_margins(
        const double* parts, Py_ssize_t stride, Py_ssize_t n, const Py_ssize_t* places,
        const double* levels, Py_ssize_t count, const double* weights, Py_ssize_t width, double* out
    )
    void crossed_sums(
        const double* parts, Py_ssize_t stride, Py_ssize_t n, const Py_ssize_t* places,
        const double* levels, Py_ssize_t count, const double* r, int plainly, double* high,
        double* low
    )
    void crossed_squares(
        const double* parts, Py_ssize_t stride, Py_ssize_t n, const Py_ssize_t* places,
        const double* levels, Py_ssize_t count, const double* matrix, const Py_ssize_t* firsts,
        const double* lengths, Py_ssize_t width, double* strip, double* squares, double* sizes
    )


cdef Py_ssize_t stride_of(const double[:, :] parts) noexcept nogil:
    return parts.strides[0] // <Py_ssize_t>sizeof(double)


def times(
    const double[:, :] parts,
    const Py_ssize_t[:, ::1] places,
    const double[::1] levels,
    const double[:, ::1] weights,
    double[:, ::1] out,
):
    """Add columns times weights to margins."""
    cdef Py_ssize_t n = out.shape[0], width = out.shape[1], count = places.shape[0]
    if n == 0 or count == 0:
        return
    with nogil:
        crossed_margins(
            &parts[0, 0], stride_of(parts), n, &places[0, 0], &levels[0], count, &weights[0, 0],
            width, &out[0, 0]
        )


def transposed(
    const double[:, :] parts,
    const Py_ssize_t[:, ::1] places,
    const double[::1] levels,
    const double[:, ::1] residuals,
    Py_ssize_t run,
    double[:, ::1] high,
    double[:, ::1] low,
):
    """Columns times residuals, which come with one row per output."""
    cdef Py_ssize_t n = residuals.shape[1], count = places.shape[0], k, p, q
    cdef int plainly = run >= PLAIN
    cdef double[:, ::1] first, second
    if n == 0 or count == 0:
        return
    for k in range(residuals.shape[0]):
        first, second = np.zeros((count, LANES)), np.zeros((count, LANES))
        with nogil:
            crossed_sums(
                &parts[0, 0], stride_of(parts), n, &places[0, 0], &levels[0], count,
                &residuals[k, 0], plainly, &first[0, 0], &second[0, 0]
            )
            for p in range(count):
                for q in range(LANES):
                    merge(&high[k, p], &low[k, p], first[p, q], second[p, q])


def mapped_squares(
    const double[:, :] parts,
    const Py_ssize_t[:, ::1] places,
    const double[::1] levels,
    const double[:, ::1] matrix,
    const Py_ssize_t[::1] firsts,
    const double[::1] lengths,
    double[::1] squares,
    double[::1] sizes,
):
    """Squared norms of columns times a matrix, and the size of the terms."""
    cdef Py_ssize_t n = squares.shape[0], count = places.shape[0]
    cdef double[::1] strip = np.zeros(count * STRIP)
    if n == 0 or count == 0:
        return
    with nogil:
        crossed_squares(
            &parts[0, 0], stride_of(parts), n, &places[0, 0], &levels[0], count, &matrix[0, 0],
            &firsts[0], &lengths[0], matrix.shape[1], &strip[0], &squares[0], &sizes[0]
        )
