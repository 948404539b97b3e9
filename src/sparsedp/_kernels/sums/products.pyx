"""Products with a matrix of records, compiled; see ``products_reference`` for the contract.

Sums over records are kept as pairs of doubles. The order of the operations within a record depends
on nothing but the record, so that its margin does not depend on where it stands.
"""

import numpy as np

from libc.math cimport fma
from libc.stdint cimport int32_t, int64_t

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
        PAIRS

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
    void add_mapped(
        const double* m, double high, double low, double* first, double* second, Py_ssize_t n
    )
    void add_values(const double* x, Py_ssize_t n, double* high, double* low)
    void tidy_pairs(double* high, double* low, Py_ssize_t n)

cdef extern from "products_sparse.h" nogil:
    void csr_added_32(
        const int32_t* indptr, const int32_t* columns, const double* x, const double* r,
        Py_ssize_t begin, Py_ssize_t stop, double* sums
    )
    void csr_spread_32(
        const int32_t* indptr, const int32_t* columns, const double* x, Py_ssize_t n,
        const double* weights, Py_ssize_t width, const Py_ssize_t* begins, const Py_ssize_t* ends,
        const double* start, double* out
    )
    void csr_added_64(
        const int64_t* indptr, const int64_t* columns, const double* x, const double* r,
        Py_ssize_t begin, Py_ssize_t stop, double* sums
    )
    void csr_spread_64(
        const int64_t* indptr, const int64_t* columns, const double* x, Py_ssize_t n,
        const double* weights, Py_ssize_t width, const Py_ssize_t* begins, const Py_ssize_t* ends,
        const double* start, double* out
    )


def csr_times(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const double[:, ::1] weights,
    const Py_ssize_t[::1] begins,
    const Py_ssize_t[::1] ends,
    const double[::1] start,
    double[:, ::1] out,
):
    """Records by rows, times weights, which are zero but from their begins to their ends."""
    cdef Py_ssize_t n = out.shape[0], n_outputs = out.shape[1], i, p, end
    cdef const double* w = &weights[0, 0]
    cdef double a, b, c, e
    if n == 0 or n_outputs == 0:
        return
    with nogil:
        if n_outputs > 1:
            if index is int32_t:
                csr_spread_32(
                    &indptr[0], &indices[0], &data[0], n, w, n_outputs, &begins[0], &ends[0],
                    &start[0], &out[0, 0]
                )
            else:
                csr_spread_64(
                    &indptr[0], &indices[0], &data[0], n, w, n_outputs, &begins[0], &ends[0],
                    &start[0], &out[0, 0]
                )
            n = 0
        for i in range(n):
            p, end = indptr[i], indptr[i + 1]
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
            if run > 1 and n_outputs == 1:
                if index is int32_t:
                    csr_added_32(
                        &indptr[0], &indices[0], &data[0], &residuals[0, 0], start, stop, sums
                    )
                else:
                    csr_added_64(
                        &indptr[0], &indices[0], &data[0], &residuals[0, 0], start, stop, sums
                    )
            elif n_outputs == 1:
                for i in range(start, stop):
                    r = residuals[i, 0]
                    if r == 0.0:
                        continue
                    for p in range(indptr[i], indptr[i + 1]):
                        pair = first + 2 * <Py_ssize_t>indices[p]
                        add(pair, pair + 1, data[p] * r)
            else:
                for i in range(start, stop):
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
    cdef Py_ssize_t n = values.shape[0], n_outputs = values.shape[1], i = 0, q, size
    cdef double[PAIRS] part, rest
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
        for q in range(PAIRS):
            part[q] = rest[q] = 0.0
        while i < n:
            size = min(RUN, n - i)
            add_values(&values[i, 0], size, part, rest)
            tidy_pairs(part, rest, PAIRS)
            i += size
        for q in range(PAIRS):
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
    double[:, ::1] new_high,
    double[:, ::1] new_low,
):
    """The transpose of a matrix times pairs, as pairs: a row for each output."""
    cdef Py_ssize_t j, k, size = matrix.shape[1]
    if size == 0:
        return
    with nogil:
        for k in range(high.shape[1]):
            for j in range(high.shape[0]):
                add_mapped(
                    &matrix[j, 0], high[j, k], low[j, k], &new_high[k, 0], &new_low[k, 0], size
                )
            tidy_pairs(&new_high[k, 0], &new_low[k, 0], size)
