"""Norms of records, compiled; see ``norms_reference`` for the contract.

The order of the operations within a record depends on nothing but the record, so that its norm does
not depend on where it stands.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t

cdef extern from "products_rows.h" nogil:
    enum:
        CHUNK

    double dot(const double* x, const double* w, Py_ssize_t d)

cdef extern from "norms.h" nogil:
    void csr_mapped_32(
        const int32_t* indptr, const int32_t* columns, const double* x, Py_ssize_t n,
        const double* map, const Py_ssize_t* firsts, const double* start, const double* lengths,
        Py_ssize_t width, double* squares, double* sizes
    )
    void csr_mapped_64(
        const int64_t* indptr, const int64_t* columns, const double* x, Py_ssize_t n,
        const double* map, const Py_ssize_t* firsts, const double* start, const double* lengths,
        Py_ssize_t width, double* squares, double* sizes
    )
    void dense_rows_mapped(
        const double* x, Py_ssize_t stride, Py_ssize_t n, Py_ssize_t d, const double* tiles,
        const Py_ssize_t* firsts, const double* start, const double* lengths, Py_ssize_t n_tiles,
        double* squares, double* sizes
    )
    void rows_into_ball(
        double* x, Py_ssize_t stride, Py_ssize_t n, Py_ssize_t d, const double* center,
        double radius, double growth, double least
    )


def into_ball(
    double[:, :] rows, const double[::1] center, double radius, double growth, double least
):
    """Rows minus a center, shortened to a radius, in place."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1]
    if n == 0 or d == 0:
        return
    with nogil:
        rows_into_ball(
            &rows[0, 0], rows.strides[0] // <Py_ssize_t>sizeof(double), n, d, &center[0], radius,
            growth, least
        )


def csr_mapped(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] matrix,
    const Py_ssize_t[::1] firsts,
    const double[::1] start,
    const double[::1] lengths,
    double[::1] squares,
    double[::1] sizes,
):
    """Squared norm of every row times a matrix, plus a start, and the size of the terms."""
    cdef Py_ssize_t n = squares.shape[0], width = start.shape[0]
    with nogil:
        if index is int32_t:
            csr_mapped_32(
                &indptr[0], &indices[0], &data[0], n, &matrix[0, 0], &firsts[0], &start[0],
                &lengths[0], width, &squares[0], &sizes[0]
            )
        else:
            csr_mapped_64(
                &indptr[0], &indices[0], &data[0], n, &matrix[0, 0], &firsts[0], &start[0],
                &lengths[0], width, &squares[0], &sizes[0]
            )


def dense_mapped(
    const double[:, :] rows,
    const double[:, :, ::1] tiles,
    const Py_ssize_t[::1] firsts,
    const double[::1] start,
    const double[::1] lengths,
    double[::1] squares,
    double[::1] sizes,
):
    """As ``csr_mapped``, for dense records and a matrix in tiles of columns."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1]
    cdef Py_ssize_t stride = rows.strides[0] // <Py_ssize_t>sizeof(double)
    with nogil:
        dense_rows_mapped(
            &rows[0, 0], stride, n, d, &tiles[0, 0, 0], &firsts[0], &start[0], &lengths[0],
            tiles.shape[0], &squares[0], &sizes[0]
        )


def csr_squares(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[::1] factor,
    const double[::1] center,
    double[::1] change,
    double[::1] size,
):
    """What the stored entries of each row add to the squared norm, and the size of the terms."""
    cdef Py_ssize_t i, p
    cdef double x, c, total, terms
    with nogil:
        for i in range(change.shape[0]):
            total = terms = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                x = data[p] * factor[indices[p]]
                c = 2.0 * center[indices[p]]
                total += x * (x - c)
                terms += x * x + fabs(x * c)
            change[i] = total
            size[i] = terms


def csc_squares(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[::1] factor,
    const double[::1] center,
    double[::1] change,
    double[::1] size,
):
    """As ``csr_squares``, with records stored by columns."""
    cdef Py_ssize_t j, p
    cdef double x, c
    with nogil:
        for j in range(factor.shape[0]):
            c = 2.0 * center[j]
            for p in range(indptr[j], indptr[j + 1]):
                x = data[p] * factor[j]
                change[indices[p]] += x * (x - c)
                size[indices[p]] += x * x + fabs(x * c)


def dense_squares(
    const double[:, :] rows, const double[::1] factor, const double[::1] shift, double[::1] out
):
    """Squared norm of every row, after shift and scale."""
    cdef Py_ssize_t i, j, start, width, d = rows.shape[1]
    cdef double[CHUNK] x
    cdef const double* row
    cdef const double* c
    cdef const double* f
    with nogil:
        for i in range(out.shape[0]):
            out[i] = 0.0
            start = 0
            while start < d:
                width = min(CHUNK, d - start)
                row, c, f = &rows[i, start], &shift[start], &factor[start]
                for j in range(width):
                    x[j] = (row[j] - c[j]) * f[j]
                out[i] += dot(x, x, width)
                start += CHUNK
