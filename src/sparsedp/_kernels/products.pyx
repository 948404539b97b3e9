"""Products with a matrix of records, compiled; see ``products_reference`` for the contract.

Sums over records are kept as pairs of doubles. The order of the operations within a record depends
on nothing but the record, so that its margin and its norm do not depend on where it stands.
"""

import numpy as np

from libc.math cimport fabs, fma
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

ctypedef fused index:
    int32_t
    int64_t

cdef enum:
    GROUP = 8  # dense records that are added up before they meet the pair
    CHUNK = 64  # columns at a time, so that what is in use stays in the first cache
    LANES = 4  # sums that are kept apart where one would have to wait for its last addition
    SHORT = 32  # entries of a column that are not worth several lanes
    RUN = 1 << 16  # additions after which pairs are tidied up


cdef extern from *:
    """
    /* Add records (x - c) * r, one after another, to sums; at most eight of them. */
    static inline void add_records(
        const double *restrict x, ptrdiff_t stride, int n, const double *restrict r,
        const double *restrict c, double *restrict sums, ptrdiff_t width)
    {
        ptrdiff_t j;
        int q;
        if (n == 8) {
            for (j = 0; j < width; j++) {
                double s = (x[j] - c[j]) * r[0];
                s += (x[j + stride] - c[j]) * r[1];
                s += (x[j + 2 * stride] - c[j]) * r[2];
                s += (x[j + 3 * stride] - c[j]) * r[3];
                s += (x[j + 4 * stride] - c[j]) * r[4];
                s += (x[j + 5 * stride] - c[j]) * r[5];
                s += (x[j + 6 * stride] - c[j]) * r[6];
                s += (x[j + 7 * stride] - c[j]) * r[7];
                sums[j] = s;
            }
            return;
        }
        for (j = 0; j < width; j++) sums[j] = (x[j] - c[j]) * r[0];
        for (q = 1; q < n; q++)
            for (j = 0; j < width; j++) sums[j] += (x[j + q * stride] - c[j]) * r[q];
    }
    """
    void add_records(
        const double* x, Py_ssize_t stride, int n, const double* r, const double* c,
        double* sums, Py_ssize_t width
    ) noexcept nogil


cdef inline void add(double* high, double* low, double term) noexcept nogil:
    """Add a term; what rounding takes from the high part goes to the low one (Knuth)."""
    cdef double old = high[0]
    cdef double new = old + term
    cdef double part = new - old
    low[0] += (old - (new - part)) + (term - part)
    high[0] = new


cdef inline void tidy(double* high, double* low) noexcept nogil:
    """Carry the low part over, so that it is again a rounding error of the high one."""
    cdef double rest = low[0]
    low[0] = 0.0
    add(high, low, rest)


cdef inline void merge(double* high, double* low, double other, double rest) noexcept nogil:
    """Add another pair."""
    add(high, low, other)
    low[0] += rest
    tidy(high, low)


def csr_times(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] weights,
    const double[::1] start,
    double[:, ::1] out,
):
    """Records by rows, times weights."""
    cdef Py_ssize_t n = out.shape[0], n_outputs = out.shape[1], i, k, p, end
    cdef const double* w = &weights[0, 0]
    cdef const double* row
    cdef double a, b, c, e, x
    with nogil:
        for i in range(n):
            p, end = indptr[i], indptr[i + 1]
            if n_outputs == 1:
                a = b = c = e = 0.0
                while p + 3 < end:
                    a += data[p] * w[indices[p]]
                    b += data[p + 1] * w[indices[p + 1]]
                    c += data[p + 2] * w[indices[p + 2]]
                    e += data[p + 3] * w[indices[p + 3]]
                    p += 4
                while p < end:
                    a += data[p] * w[indices[p]]
                    p += 1
                out[i, 0] = ((a + b) + (c + e)) + start[0]
            else:
                for k in range(n_outputs):
                    out[i, k] = start[k]
                for p in range(p, end):
                    x = data[p]
                    row = w + n_outputs * indices[p]
                    for k in range(n_outputs):
                        out[i, k] += x * row[k]


def csc_times(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] weights,
    const double[::1] start,
    double[:, ::1] out,
):
    """Records by columns, times weights; columns without weight are passed over."""
    cdef Py_ssize_t n = out.shape[0], n_outputs = out.shape[1], i, j, k, p
    cdef double* target = &out[0, 0]
    cdef double w
    with nogil:
        for i in range(n):
            for k in range(n_outputs):
                out[i, k] = start[k]
        for j in range(weights.shape[0]):
            for k in range(n_outputs):
                w = weights[j, k]
                if w != 0.0:
                    for p in range(indptr[j], indptr[j + 1]):
                        target[n_outputs * indices[p] + k] += w * data[p]


cdef inline double dot(const double* x, const double* w, Py_ssize_t d) noexcept nogil:
    cdef double[8] part
    cdef Py_ssize_t j = 0, k
    for k in range(8):
        part[k] = 0.0
    while j + 7 < d:
        for k in range(8):
            part[k] += x[j + k] * w[j + k]
        j += 8
    while j < d:
        part[j & 7] += x[j] * w[j]
        j += 1
    return ((part[0] + part[1]) + (part[2] + part[3])) + (
        (part[4] + part[5]) + (part[6] + part[7])
    )


def dense_times(
    const double[:, :] rows,
    const double[:, ::1] weights,
    const double[::1] start,
    double[:, ::1] out,
):
    """Dense records times weights, which come transposed: one row per output."""
    cdef Py_ssize_t n = out.shape[0], n_outputs = out.shape[1], d = rows.shape[1], i, k
    with nogil:
        for i in range(n):
            for k in range(n_outputs):
                out[i, k] = dot(&rows[i, 0], &weights[k, 0], d) + start[k]


def csr_transposed(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] residuals,
    double[:, :, ::1] pairs,
):
    """Columns of records stored by rows, times residuals."""
    cdef Py_ssize_t n = residuals.shape[0], n_outputs = residuals.shape[1], i, k, p
    cdef double* first = &pairs[0, 0, 0]
    cdef double* pair
    cdef double r
    with nogil:
        for i in range(n):
            if n_outputs == 1:
                r = residuals[i, 0]
                if r != 0.0:
                    for p in range(indptr[i], indptr[i + 1]):
                        pair = first + 2 * <Py_ssize_t>indices[p]
                        add(pair, pair + 1, data[p] * r)
            else:
                for p in range(indptr[i], indptr[i + 1]):
                    pair = first + 2 * n_outputs * <Py_ssize_t>indices[p]
                    for k in range(n_outputs):
                        add(pair + 2 * k, pair + 2 * k + 1, data[p] * residuals[i, k])
            if i % RUN == RUN - 1:
                tidy_all(pairs)
        tidy_all(pairs)


cdef void tidy_all(double[:, :, ::1] pairs) noexcept nogil:
    cdef Py_ssize_t j, k
    for j in range(pairs.shape[0]):
        for k in range(pairs.shape[1]):
            tidy(&pairs[j, k, 0], &pairs[j, k, 1])


def csc_transposed(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] residuals,
    double[:, :, ::1] pairs,
):
    """Columns of records stored by columns, times residuals."""
    cdef Py_ssize_t n_outputs = residuals.shape[1], j, k, p, q, start, end, stop
    cdef const double* r = &residuals[0, 0]
    cdef double[LANES] high, low
    with nogil:
        for j in range(pairs.shape[0]):
            end = indptr[j + 1]
            for k in range(n_outputs):
                for q in range(LANES):
                    high[q] = low[q] = 0.0
                start = indptr[j]
                if end - start < SHORT:
                    for p in range(start, end):
                        add(&high[0], &low[0], data[p] * r[n_outputs * indices[p] + k])
                    merge(&pairs[j, k, 0], &pairs[j, k, 1], high[0], low[0])
                    continue
                while start < end:
                    stop = min(start + LANES * RUN, end)
                    p = start
                    while p + LANES <= stop:
                        for q in range(LANES):
                            add(&high[q], &low[q], data[p + q] * r[n_outputs * indices[p + q] + k])
                        p += LANES
                    while p < stop:
                        add(&high[0], &low[0], data[p] * r[n_outputs * indices[p] + k])
                        p += 1
                    for q in range(LANES):
                        tidy(&high[q], &low[q])
                    start = stop
                for q in range(LANES):
                    merge(&pairs[j, k, 0], &pairs[j, k, 1], high[q], low[q])


def dense_transposed(
    const double[:, :] rows,
    const double[:, ::1] residuals,
    const double[::1] shift,
    double[:, ::1] high,
    double[:, ::1] low,
):
    """Columns of dense records minus a shift, times residuals."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], n_outputs = residuals.shape[1]
    cdef Py_ssize_t i = 0, j, k, q, start, width
    cdef double[CHUNK] term
    cdef double[GROUP] r
    cdef double* first
    cdef double* second
    cdef const double* c
    cdef Py_ssize_t stride = rows.strides[0] // <Py_ssize_t>sizeof(double), size
    with nogil:
        while i < n:
            size = min(GROUP, n - i)
            for k in range(n_outputs):
                for q in range(size):
                    r[q] = residuals[i + q, k]
                start = 0
                while start < d:
                    width = min(CHUNK, d - start)
                    c = &shift[start]
                    add_records(&rows[i, start], stride, size, r, c, term, width)
                    first = &high[k, start]
                    second = &low[k, start]
                    for j in range(width):
                        add(first + j, second + j, term[j])
                    start += CHUNK
            i += GROUP
            if i % RUN == 0:
                tidy_rows(high, low)
        tidy_rows(high, low)


cdef void tidy_rows(double[:, ::1] high, double[:, ::1] low) noexcept nogil:
    cdef Py_ssize_t j, k
    for k in range(high.shape[0]):
        for j in range(high.shape[1]):
            tidy(&high[k, j], &low[k, j])


def sums(const double[:, :] values, double[::1] high, double[::1] low):
    """Column sums."""
    cdef Py_ssize_t n = values.shape[0], i, k, q, stop
    cdef double[LANES] part, rest
    with nogil:
        for k in range(values.shape[1]):
            for q in range(LANES):
                part[q] = rest[q] = 0.0
            i = 0
            while i < n:
                stop = min(i + RUN, n)
                while i + LANES <= stop:
                    for q in range(LANES):
                        add(&part[q], &rest[q], values[i + q, k])
                    i += LANES
                while i < stop:
                    add(&part[0], &rest[0], values[i, k])
                    i += 1
                for q in range(LANES):
                    tidy(&part[q], &rest[q])
            for q in range(LANES):
                merge(&high[k], &low[k], part[q], rest[q])


def center(
    double[:, :] high,
    double[:, :] low,
    const double[::1] shift,
    const double[::1] total,
    const double[::1] rest,
):
    """Subtract shift times total from sums of columns, all of them pairs."""
    cdef Py_ssize_t j, k
    cdef double product, error
    with nogil:
        for j in range(high.shape[0]):
            for k in range(high.shape[1]):
                product = shift[j] * total[k]
                error = fma(shift[j], total[k], -product) + shift[j] * rest[k]
                merge(&high[j, k], &low[j, k], -product, -error)


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


cdef inline void count_level(double fraction, Py_ssize_t n_levels, int64_t* counts) noexcept nogil:
    """Count a number in [0, 1] by its power of two, which is in the bits of the exponent."""
    cdef uint64_t bits
    memcpy(&bits, &fraction, sizeof(double))
    cdef Py_ssize_t level = 1022 - <Py_ssize_t>(bits >> 52)
    if bits << 12 == 0:  # a power of two: the upper edge of its level
        level += 1
    if level < n_levels:
        counts[level] += 1


cdef inline void count_sides(
    double value, double lower, double width, Py_ssize_t n_levels, int64_t* counts
) noexcept nogil:
    cdef double fraction = min(max((value - lower) / width, 0.0), 1.0)
    count_level(fraction, n_levels, counts)
    count_level(1.0 - fraction, n_levels, counts + n_levels)
    count_level(fabs(2.0 * fraction - 1.0), n_levels, counts + 2 * n_levels)


def dense_levels(
    const double[:, :] rows,
    const double[::1] lower,
    const double[::1] width,
    int64_t[:, :, ::1] counts,
):
    """Count entries by column, side and level."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                count_sides(rows[i, j], lower[j], width[j], counts.shape[2], &counts[j, 0, 0])


def entry_levels(
    const double[::1] values,
    const index[::1] columns,
    const double[::1] lower,
    const double[::1] width,
    int64_t[:, :, ::1] counts,
):
    """Count values by the column that is given for each, side and level."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(values.shape[0]):
            j = columns[i]
            count_sides(values[i], lower[j], width[j], counts.shape[2], &counts[j, 0, 0])
