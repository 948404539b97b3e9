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
    LANES = 4  # sums that are kept apart where one would have to wait for its last addition
    SHORT = 32  # entries of a row or a column that are not worth several lanes
    RUN = 1 << 16  # additions after which pairs are tidied up

cdef extern from "products_rows.h" nogil:
    enum:
        GROUP
        CHUNK

    void add(double* high, double* low, double term)
    void tidy(double* high, double* low)
    void merge(double* high, double* low, double other, double rest)
    double dot(const double* x, const double* w, Py_ssize_t d)
    void add_outputs(
        double x, const double* r, Py_ssize_t n_outputs, double* high, double* low
    )
    void add_group(
        const double* x, Py_ssize_t stride, const double* r, const double* c,
        double* high, double* low, Py_ssize_t d
    )
    void add_record(
        const double* x, double r, const double* c, double* high, double* low, Py_ssize_t d
    )
    void tidy_pairs(double* high, double* low, Py_ssize_t n)
    void csr_mapped_32(
        const int32_t* indptr, const int32_t* columns, const double* x, Py_ssize_t n,
        const double* map, const double* start, const double* lengths, Py_ssize_t width,
        double* squares, double* sizes
    )
    void csr_mapped_64(
        const int64_t* indptr, const int64_t* columns, const double* x, Py_ssize_t n,
        const double* map, const double* start, const double* lengths, Py_ssize_t width,
        double* squares, double* sizes
    )
    void dense_rows_mapped(
        const double* x, Py_ssize_t stride, Py_ssize_t n, Py_ssize_t d, const double* map,
        const double* start, const double* lengths, Py_ssize_t width, double* squares,
        double* sizes
    )


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
                if end - p >= SHORT:
                    while p + 3 < end:
                        a += data[p] * w[indices[p]]
                        b += data[p + 1] * w[indices[p + 1]]
                        c += data[p + 2] * w[indices[p + 2]]
                        e += data[p + 3] * w[indices[p + 3]]
                        p += 4
                    a = (a + b) + (c + e)
                while p < end:
                    a += data[p] * w[indices[p]]
                    p += 1
                out[i, 0] = a + start[0]
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
    Py_ssize_t run,
    double[:, :, ::1] pairs,
):
    """Columns of records stored by rows, times residuals; plain sums of ``run`` records."""
    cdef Py_ssize_t n = residuals.shape[0], n_outputs = residuals.shape[1], i, k, p, stop
    cdef Py_ssize_t start = 0, n_added = 0
    cdef double[::1] plain = np.zeros(pairs.shape[0] * n_outputs if run > 1 else 0)
    cdef double* first = &pairs[0, 0, 0]
    cdef double* sums = &plain[0]
    cdef double* pair
    cdef double* sum
    cdef double r
    with nogil:
        while start < n:
            stop = min(start + (run if run > 1 else RUN), n)
            for i in range(start, stop):
                if n_outputs == 1:
                    r = residuals[i, 0]
                    if r == 0.0:
                        continue
                    if run > 1:
                        for p in range(indptr[i], indptr[i + 1]):
                            sums[indices[p]] += data[p] * r
                    else:
                        for p in range(indptr[i], indptr[i + 1]):
                            pair = first + 2 * <Py_ssize_t>indices[p]
                            add(pair, pair + 1, data[p] * r)
                else:
                    for p in range(indptr[i], indptr[i + 1]):
                        if run > 1:
                            sum = sums + n_outputs * <Py_ssize_t>indices[p]
                            for k in range(n_outputs):
                                sum[k] += data[p] * residuals[i, k]
                        else:
                            pair = first + 2 * n_outputs * <Py_ssize_t>indices[p]
                            add_outputs(
                                data[p], &residuals[i, 0], n_outputs, pair, pair + n_outputs
                            )
            if run > 1:
                add_plain(sums, pairs)
            start, n_added = stop, n_added + 1
            if run <= 1 or n_added % RUN == 0:
                tidy_all(pairs)
        tidy_all(pairs)


cdef void add_plain(double* sums, double[:, :, ::1] pairs) noexcept nogil:
    """Add plain sums to pairs, and start them anew."""
    cdef Py_ssize_t j, k, n_outputs = pairs.shape[2]
    for j in range(pairs.shape[0]):
        for k in range(n_outputs):
            add(&pairs[j, 0, k], &pairs[j, 1, k], sums[n_outputs * j + k])
            sums[n_outputs * j + k] = 0.0


cdef void tidy_all(double[:, :, ::1] pairs) noexcept nogil:
    cdef Py_ssize_t j, k
    for j in range(pairs.shape[0]):
        for k in range(pairs.shape[2]):
            tidy(&pairs[j, 0, k], &pairs[j, 1, k])


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
                    merge(&pairs[j, 0, k], &pairs[j, 1, k], high[0], low[0])
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
                    merge(&pairs[j, 0, k], &pairs[j, 1, k], high[q], low[q])


def dense_transposed(
    const double[:, :] rows,
    const double[:, ::1] residuals,
    const double[::1] shift,
    Py_ssize_t run,
    double[:, ::1] high,
    double[:, ::1] low,
):
    """Columns of dense records minus a shift, times residuals; plain sums of eight if a run is longer."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1], n_outputs = residuals.shape[1]
    cdef Py_ssize_t i = 0, k, q, start, width
    cdef Py_ssize_t stride = rows.strides[0] // <Py_ssize_t>sizeof(double), size
    cdef double[GROUP] r
    if d == 0:
        return
    with nogil:
        while i < n:
            size = min(GROUP, n - i)
            for k in range(n_outputs):
                for q in range(size):
                    r[q] = residuals[i + q, k]
                start = 0
                while start < d:
                    width = min(CHUNK, d - start)
                    if run >= GROUP and size == GROUP:
                        add_group(
                            &rows[i, start], stride, r, &shift[start],
                            &high[k, start], &low[k, start], width
                        )
                    else:
                        for q in range(size):
                            add_record(
                                &rows[i + q, start], r[q], &shift[start],
                                &high[k, start], &low[k, start], width
                            )
                    start += CHUNK
            i += GROUP
            if i % RUN == 0:
                tidy_rows(high, low)
        tidy_rows(high, low)


cdef void tidy_rows(double[:, ::1] high, double[:, ::1] low) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(high.shape[0]):
        tidy_pairs(&high[k, 0], &low[k, 0], high.shape[1])


def sums(const double[:, ::1] values, double[::1] high, double[::1] low):
    """Column sums."""
    cdef Py_ssize_t n = values.shape[0], n_outputs = values.shape[1], i, k, q, stop
    cdef double[LANES] part, rest
    if n == 0 or n_outputs == 0:
        return
    if n_outputs > 1:
        with nogil:
            for i in range(n):
                add_outputs(1.0, &values[i, 0], n_outputs, &high[0], &low[0])
                if i % RUN == RUN - 1:
                    tidy_pairs(&high[0], &low[0], n_outputs)
            tidy_pairs(&high[0], &low[0], n_outputs)
        return
    with nogil:
        for q in range(LANES):
            part[q] = rest[q] = 0.0
        i = 0
        while i < n:
            stop = min(i + RUN, n)
            while i + LANES <= stop:
                for q in range(LANES):
                    add(&part[q], &rest[q], values[i + q, 0])
                i += LANES
            while i < stop:
                add(&part[0], &rest[0], values[i, 0])
                i += 1
            for q in range(LANES):
                tidy(&part[q], &rest[q])
        for q in range(LANES):
            merge(&high[0], &low[0], part[q], rest[q])


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


def map_pairs(
    const double[:, ::1] matrix,
    const double[:, ::1] high,
    const double[:, ::1] low,
    double[:, ::1] out,
):
    """The transpose of a matrix times pairs, rounded at the end."""
    cdef Py_ssize_t j, k, q
    cdef double m, product, first, second
    with nogil:
        for q in range(out.shape[0]):
            for k in range(out.shape[1]):
                first = second = 0.0
                for j in range(high.shape[0]):
                    m = matrix[q, j]
                    product = m * high[j, k]
                    add(&first, &second, product)
                    second += fma(m, high[j, k], -product) + m * low[j, k]
                out[q, k] = first + second


def csr_mapped(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] matrix,
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
                &indptr[0], &indices[0], &data[0], n, &matrix[0, 0], &start[0], &lengths[0],
                width, &squares[0], &sizes[0]
            )
        else:
            csr_mapped_64(
                &indptr[0], &indices[0], &data[0], n, &matrix[0, 0], &start[0], &lengths[0],
                width, &squares[0], &sizes[0]
            )


def dense_mapped(
    const double[:, :] rows,
    const double[:, ::1] matrix,
    const double[::1] start,
    const double[::1] lengths,
    double[::1] squares,
    double[::1] sizes,
):
    """As ``csr_mapped``, for dense records."""
    cdef Py_ssize_t n = rows.shape[0], d = rows.shape[1]
    cdef Py_ssize_t stride = rows.strides[0] // <Py_ssize_t>sizeof(double)
    with nogil:
        dense_rows_mapped(
            &rows[0, 0], stride, n, d, &matrix[0, 0], &start[0], &lengths[0], start.shape[0],
            &squares[0], &sizes[0]
        )


def csr_picked(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const index[::1] places,
    index[::1] new_indptr,
    index[::1] new_indices,
    double[::1] new_data,
):
    """Entries of columns whose place is not negative; new arrays are as long as the old ones."""
    cdef Py_ssize_t i, p, q = 0
    cdef index place
    with nogil:
        new_indptr[0] = 0
        for i in range(indptr.shape[0] - 1):
            for p in range(indptr[i], indptr[i + 1]):
                # Whether an entry stays is hard to foretell: write it down, and maybe over it.
                place = places[indices[p]]
                new_indices[q] = place
                new_data[q] = data[p]
                q += place >= 0
            new_indptr[i + 1] = <index>q
    return q


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
