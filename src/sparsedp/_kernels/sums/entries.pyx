"""Stored entries of sparse records, compiled; see ``entries_reference`` for the contract."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

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


def by_column(const index[::1] indices, index[::1] starts, index[::1] positions):
    """Positions of the entries of each column, in order, from its start on."""
    cdef Py_ssize_t p, j
    with nogil:
        for p in range(indices.shape[0]):
            starts[indices[p] + 1] += 1
        for j in range(starts.shape[0] - 1):
            starts[j + 1] += starts[j]
        for p in range(indices.shape[0]):
            j = indices[p]
            positions[starts[j]] = <index>p
            starts[j] += 1
        for j in range(starts.shape[0] - 1, 0, -1):
            starts[j] = starts[j - 1]
        starts[0] = 0


def insert(
    const index[::1] old_indptr,
    const index[::1] old_indices,
    const double[::1] old_data,
    const index[::1] indptr,
    const double[::1] data,
    const index[::1] positions,
    index[::1] heads,
    const index[::1] ends,
    index first,
    index[::1] new_indptr,
    index[::1] new_indices,
    double[::1] new_data,
):
    """Rows with the entries of a few columns after those that are there; positions are known."""
    cdef Py_ssize_t i, c, q = 0, copied = 0, n_old = old_indices.shape[0], run
    cdef index end, next_one = 0, after = positions.shape[0]
    with nogil:
        new_indptr[0] = 0
        for i in range(indptr.shape[0] - 1):
            end = indptr[i + 1]
            if next_one < end:
                # What is there stays together from one new entry to the next.
                run = old_indptr[i + 1] - copied
                if run:
                    memcpy(&new_indices[q], &old_indices[copied], run * sizeof(index))
                    memcpy(&new_data[q], &old_data[copied], run * sizeof(double))
                    q += run
                    copied += run
                next_one = after
                for c in range(heads.shape[0]):
                    if heads[c] < ends[c] and positions[heads[c]] < end:
                        new_indices[q] = <index>(first + c)
                        new_data[q] = data[positions[heads[c]]]
                        q += 1
                        heads[c] += 1
                    if heads[c] < ends[c] and positions[heads[c]] < next_one:
                        next_one = positions[heads[c]]
            new_indptr[i + 1] = <index>(q + old_indptr[i + 1] - copied)
        if copied < n_old:
            memcpy(&new_indices[q], &old_indices[copied], (n_old - copied) * sizeof(index))
            memcpy(&new_data[q], &old_data[copied], (n_old - copied) * sizeof(double))


def spread(
    const index[::1] indptr,
    const index[::1] indices,
    const double[::1] data,
    Py_ssize_t first,
    const double[::1] shift,
    const double[::1] scale,
    const double[::1] empty,
    double[:, :] out,
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
