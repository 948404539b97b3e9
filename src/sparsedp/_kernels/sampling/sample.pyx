"""The loops behind the exact samplers, compiled; see ``sample_reference`` for what they do.

The same operations in the same order as the reference, so that the results agree to the last bit.
"""

import numpy as np

from libc.math cimport fabs, rint
from libc.stdint cimport int64_t, uint8_t, uint64_t

from sparsedp._kernels.sampling import sample_reference

cdef uint8_t EXCLUDED = sample_reference.EXCLUDED
cdef int DEGREE = 13
cdef double[14] COEFFICIENTS
for _index, _coefficient in enumerate(sample_reference.COEFFICIENTS):
    COEFFICIENTS[_index] = _coefficient


def round_to_grid(values, double grid):
    """Round to the nearest multiple of ``grid``, a power of two, without any other error."""
    flat = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
    output = np.empty(flat.size)
    cdef const double[::1] source = flat
    cdef double[::1] rounded = output
    cdef double coarse = 2.0**52 * grid
    cdef double inverse = 1.0 / grid
    cdef Py_ssize_t i
    for i in range(source.shape[0]):
        if fabs(source[i]) >= coarse:
            rounded[i] = source[i]
        else:
            rounded[i] = rint(source[i] * inverse) * grid
    return output.reshape(np.shape(values))


cdef void sort_into_levels(
    const double* rounded,
    const uint8_t* masked,
    Py_ssize_t d,
    double top,
    double sign,
    double rate,
    double cap,
    double depth,
    uint8_t* levels,
    int64_t* counts,
) noexcept nogil:
    """Write the levels of the candidates ``sign * rounded`` and count them."""
    cdef Py_ssize_t i
    cdef double level
    for i in range(d):
        level = min(top - sign * rounded[i], cap) * rate
        levels[i] = <uint8_t>min(max(level, 0.0), depth)
    if masked != NULL:
        for i in range(d):
            if masked[i]:
                levels[i] = EXCLUDED
    # Two histograms in turn: most candidates share a few levels, and an increment has to wait for
    # the one before it at the same place.
    for i in range(0, d - 1, 2):
        counts[levels[i]] += 1
        counts[256 + levels[i + 1]] += 1
    if d % 2:
        counts[levels[d - 1]] += 1


def dyadic_levels(
    const double[::1] rounded,
    excluded,
    bint signed,
    double top,
    double rate,
    double cap,
    int depth,
):
    """Sort candidates into levels by how far they are from the best."""
    cdef Py_ssize_t d = rounded.shape[0]
    cdef const uint8_t[::1] mask = excluded.view(np.uint8)
    cdef const uint8_t* masked = &mask[0] if mask.shape[0] else NULL
    level_array = np.empty(2 * d if signed else d, dtype=np.uint8)
    count_array = np.zeros((2, 256), dtype=np.int64)
    cdef uint8_t[::1] levels = level_array
    cdef int64_t[:, ::1] counts = count_array
    sort_into_levels(
        &rounded[0], masked, d, top, 1.0, rate, cap, depth, &levels[0], &counts[0, 0]
    )
    if signed:
        sort_into_levels(
            &rounded[0], masked, d, top, -1.0, rate, cap, depth, &levels[d], &counts[0, 0]
        )
    return level_array, count_array.sum(axis=0)[: depth + 1]


def locate(const uint8_t[::1] levels, int level, Py_ssize_t rank):
    """Return the position of the candidate number ``rank`` (from zero) of a level."""
    cdef Py_ssize_t i, start, stop, n = levels.shape[0]
    cdef Py_ssize_t found
    # By blocks first, whose members are counted without a branch.
    for start in range(0, n, 512):
        stop = min(start + 512, n)
        found = 0
        for i in range(start, stop):
            found += levels[i] == level
        if rank < found:
            for i in range(start, stop):
                if levels[i] == level:
                    if rank == 0:
                        return i
                    rank -= 1
        rank -= found
    raise IndexError("the level has fewer candidates")


def gaussian_attempts(
    const uint64_t[::1] words,
    const uint64_t[::1] cumulative,
    const double[::1] heights,
    uint64_t mantissa,
    int exponent,
    double margin,
):
    """Try one rounded Gaussian per pair of words."""
    cdef Py_ssize_t n = words.shape[0] // 2
    cdef uint64_t low_half = 2**32 - 1
    cdef double unit = 2.0**-68
    cdef double keep = 1.0 - margin
    cdef double excess = 1.0 + margin
    cdef Py_ssize_t n_blocks = heights.shape[0]
    cdef Py_ssize_t i, k, block, inside
    cdef Py_ssize_t[256] first_block
    cdef uint64_t point, second, position, product, doubled
    cdef int drop = 28 - exponent
    cdef double height, offset, decline, density
    cdef int64_t value
    value_array = np.empty(n, dtype=np.int64)
    status_array = np.empty(n, dtype=np.uint8)
    cdef int64_t[::1] values = value_array
    cdef uint8_t[::1] status = status_array
    # Where the search for a block starts, by the upper eight bits of the height.
    block = 0
    for k in range(256):
        while block <= n_blocks and cumulative[block + 1] <= (<uint64_t>k) << 54:
            block += 1
        first_block[k] = block
    for i in range(n):
        point = words[2 * i] >> 2
        second = words[2 * i + 1]
        block = first_block[point >> 54]
        while block <= n_blocks and cumulative[block + 1] <= point:
            block += 1
        inside = block if block < n_blocks else n_blocks - 1
        height = <double>(point - cumulative[inside])
        offset = <double>second * unit
        decline = offset * (inside * 0.0625 + offset * 0.5)
        density = COEFFICIENTS[DEGREE]
        for k in range(DEGREE - 1, -1, -1):
            density = density * decline + COEFFICIENTS[k]
        density = density * heights[inside]
        status[i] = 2
        if height + 2.0 <= density * keep:
            status[i] = 1
        if height >= density * excess:
            status[i] = 0
        if block == n_blocks:
            status[i] = 2
        elif block > n_blocks:
            status[i] = 0
        position = (<uint64_t>inside << 57) + (second >> 7)
        product = (position >> 32) * mantissa + ((position & low_half) * mantissa >> 32)
        doubled = product >> drop
        if status[i] == 1 and (product + 1) >> drop != doubled:
            status[i] = 2
        value = <int64_t>((doubled + 1) >> 1)
        values[i] = -value if words[2 * i] & 1 else value
    return value_array, status_array
