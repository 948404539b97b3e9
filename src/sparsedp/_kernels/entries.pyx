"""Stored entries of sparse records, compiled; see ``entries_reference`` for the contract."""

from libc.stdint cimport int32_t, int64_t

ctypedef fused index:
    int32_t
    int64_t


def append(
    const index[::1] old_indptr,
    const index[::1] old_indices,
    const double[::1] old_data,
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    const index[::1] places,
    index[::1] new_indptr,
    index[::1] new_indices,
    double[::1] new_data,
):
    """Rows with the entries of some columns after those that are there, in order."""
    cdef Py_ssize_t i, p, q = 0, t, first
    cdef index place
    cdef double x
    with nogil:
        new_indptr[0] = 0
        for i in range(indptr.shape[0] - 1):
            for p in range(old_indptr[i], old_indptr[i + 1]):
                new_indices[q] = old_indices[p]
                new_data[q] = old_data[p]
                q += 1
            first = q
            for p in range(indptr[i], indptr[i + 1]):
                # Whether an entry stays is hard to foretell: write it down, and maybe over it.
                place = places[indices[p]]
                new_indices[q] = place
                new_data[q] = data[p]
                q += place >= 0
            for p in range(first + 1, q):
                place, x = new_indices[p], new_data[p]
                t = p
                while t > first and new_indices[t - 1] > place:
                    new_indices[t], new_data[t] = new_indices[t - 1], new_data[t - 1]
                    t -= 1
                new_indices[t], new_data[t] = place, x
            new_indptr[i + 1] = <index>q


def spread(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    Py_ssize_t first,
    const double[::1] shift,
    const double[::1] scale,
    const double[::1] empty,
    double[:, ::1] out,
):
    """Dense columns from one on, shifted and scaled; the entries of a row are in order."""
    cdef Py_ssize_t i, j, p, width = out.shape[1]
    if width == 0:
        return
    with nogil:
        for i in range(out.shape[0]):
            for j in range(width):
                out[i, j] = empty[j]
            for p in range(indptr[i + 1] - 1, indptr[i] - 1, -1):
                j = indices[p] - first
                if j < 0:
                    break
                out[i, j] = (data[p] - shift[j]) / scale[j]


def clip(
    double[::1] data,
    const index[::1] columns,
    const double[::1] lower,
    const double[::1] upper,
):
    """Clip entries in place, with the column of each given."""
    cdef Py_ssize_t p, j
    cdef double x
    with nogil:
        for p in range(data.shape[0]):
            j, x = columns[p], data[p]
            x = x if x > lower[j] else lower[j]
            data[p] = x if x < upper[j] else upper[j]
