"""Histograms of where values lie between their bounds, compiled; see ``levels_reference``."""

from libc.stdint cimport int32_t, int64_t, uint8_t

ctypedef fused index:
    int32_t
    int64_t

cdef enum:
    CHUNK = 256  # columns at a time

cdef extern from "levels.h" nogil:
    int32_t place(double value, double lower, double width, double n_cells)
    void row_places(
        const double* values, const double* lower, const double* width, double n_cells,
        Py_ssize_t d, int32_t* places
    )
    int32_t between(double value, const double* knots, Py_ssize_t n_knots, double* above)


def hats(
    const double[:, ::1] values,
    const double[:, ::1] knots,
    const int32_t[::1] starts,
    const double[::1] ends,
    int32_t[:, ::1] places,
    double[:, ::1] parts,
):
    """Between which knots of its column each value lies, and where between them."""
    cdef Py_ssize_t i, j, at, n_knots = knots.shape[1]
    cdef double above
    cdef int32_t cell
    with nogil:
        for i in range(values.shape[0]):
            at = 0
            for j in range(values.shape[1]):
                if knots[j, 0] != knots[j, 0]:
                    places[i, at] = starts[j]
                    parts[i, at] = values[i, j] - ends[j]
                    at += 1
                    continue
                cell = between(values[i, j], &knots[j, 0], n_knots, &above)
                places[i, at] = starts[j] + cell
                places[i, at + 1] = starts[j] + cell + 1
                parts[i, at] = 1.0 - above
                parts[i, at + 1] = above
                at += 2


def count_rows(
    const double[:, :] rows,
    const double[::1] lower,
    const double[::1] width,
    const uint8_t[::1] kinds,
    int64_t[:, ::1] counts,
    const int64_t[::1] amounts=None,
):
    """Count the values of a table by kind, in a row of counts for each column or in one for all."""
    cdef Py_ssize_t i, j, start, size, d = rows.shape[1]
    cdef bint each_its_own = amounts is not None
    cdef int64_t amount = 1
    cdef Py_ssize_t step = counts.shape[1] if counts.shape[0] > 1 else 0
    cdef double n_cells = kinds.shape[0] // 2
    cdef int32_t[CHUNK] places
    cdef int64_t* first
    with nogil:
        for i in range(rows.shape[0]):
            if each_its_own:
                amount = amounts[i]
            start = 0
            while start < d:
                size = min(CHUNK, d - start)
                row_places(&rows[i, start], &lower[start], &width[start], n_cells, size, places)
                first = &counts[0, 0] + step * start
                for j in range(size):
                    first[step * j + kinds[places[j]]] += amount
                start += CHUNK


def count_entries(
    const double[::1] values,
    const index[::1] columns,
    const double[::1] lower,
    const double[::1] width,
    const uint8_t[::1] kinds,
    const uint8_t[::1] zeros,
    int64_t[:, ::1] counts,
    const int64_t[::1] amounts=None,
):
    """Count values by kind, with the column of each given, and no longer as zeros."""
    cdef Py_ssize_t i, j
    cdef bint each_its_own = amounts is not None
    cdef int64_t amount = 1
    cdef Py_ssize_t step = counts.shape[1] if counts.shape[0] > 1 else 0
    cdef double n_cells = kinds.shape[0] // 2
    cdef int64_t* first
    if counts.shape[0] == 0:
        return
    first = &counts[0, 0]
    with nogil:
        for i in range(values.shape[0]):
            j = columns[i]
            if each_its_own:
                amount = amounts[i]
            first[step * j + kinds[place(values[i], lower[j], width[j], n_cells)]] += amount
            first[step * j + zeros[j]] -= amount
