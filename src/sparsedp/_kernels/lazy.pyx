"""Selections along a walk over compact columns; the work is done in ``lazy_walk.h``.

There is no reference of the same shape: what runs without a compiler is the plain loop over
``select``, and that loop is also the oracle that the tests compare with.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t, uint64_t
from libc.string cimport memset

COUNTERS = (
    "refreshes", "passes", "points", "evaluations", "entries", "squeezed", "explicit", "resolved",
    "eager", "light", "coarse",
)
LOSSES = {"logistic": 0, "squared": 1, "multinomial": 2}

cdef extern from "lazy_walk.h" nogil:
    ctypedef struct rows_t:
        const int32_t* wide
        const uint16_t* narrow
    ctypedef struct walk_t:
        int64_t n, n_features, n_columns
        int n_outputs, loss
        const int64_t* indptr
        rows_t rows
        const float* values
        const float* dense
        const double* offsets
        const double* target
        const float* sums
        const float* norms
        const int32_t* order
        const double* start
        const int8_t* coarse
        const float* coarse_steps
        const float* coarse_rests
        int64_t n_steps
        const double* steps
        double bound, radius, grid, rate
        int laplace, eager_only, never_eager, coarse_looks, coarse_anchors, passes_always
        double light_cap, first_drift, margin, patience, idle
        int64_t* chosen
        const uint64_t* words
        int64_t position, available
        int (*refill)(void*) noexcept
        int (*resolve)(void*, uint64_t, int64_t, int, uint64_t) noexcept
        void* context
        int64_t[11] counters
    int run_walk(walk_t*)
    int sums_at_zero(walk_t*, int, int, double*)
    int coarse_sums(walk_t*, const float*, const float*, double*, double*)
    void coarse_column(const float*, int64_t, int8_t*, float*, double*)

cdef extern from "lazy_replay.h" nogil:
    int replay_walk(walk_t*, const int64_t*, double*)


cdef class Columns:
    """Columns of the records in compact form; arrays must stay as they are.

    Parameters
    ----------
    n_records, n_features, n_columns : int
        One column more than features where the last is the constant one.
    indptr, rows, values : ndarray or None
        Compressed columns: int64, uint16 or int32, and float32; ``values`` is None where all are
        one.
    dense : ndarray or None
        Instead of these: float32, one column after the other.
    offsets : ndarray or None
        What is subtracted from every entry of a column.
    target : ndarray
        Float64.
    sums, norms : ndarray
        L1 and L2 norms of the columns (float32, rounded up). The former must not decrease.
    order : ndarray
        Which feature each column is (int32); the constant column is the last and stays so.
    coarse, coarse_steps, coarse_rests : ndarray, optional
        What ``coarse_columns`` gives for dense columns, the rests rounded up to float32.
    """

    cdef walk_t template
    cdef object kept
    cdef readonly object order

    def __init__(
        self,
        int64_t n_records,
        int64_t n_features,
        int64_t n_columns,
        const int64_t[::1] indptr,
        rows,
        const float[::1] values,
        const float[::1] dense,
        const double[::1] offsets,
        const double[::1] target,
        const float[::1] sums,
        const float[::1] norms,
        const int32_t[::1] order,
        const int8_t[::1] coarse=None,
        const float[::1] coarse_steps=None,
        const float[::1] coarse_rests=None,
    ):
        cdef const uint16_t[::1] narrow
        cdef const int32_t[::1] wide
        cdef walk_t* s = &self.template
        memset(s, 0, sizeof(walk_t))
        s.n, s.n_features, s.n_columns = n_records, n_features, n_columns
        if dense is not None:
            s.dense = &dense[0]
        else:
            s.indptr = &indptr[0]
            if rows.dtype == np.uint16:
                narrow = rows
                s.rows.narrow = &narrow[0]
            else:
                wide = rows
                s.rows.wide = &wide[0]
            if values is not None:
                s.values = &values[0]
        if offsets is not None:
            s.offsets = &offsets[0]
        s.target, s.sums, s.norms, s.order = &target[0], &sums[0], &norms[0], &order[0]
        if coarse is not None:
            s.coarse, s.coarse_steps, s.coarse_rests = &coarse[0], &coarse_steps[0], &coarse_rests[0]
        self.order = np.asarray(order)
        self.kept = (
            indptr, rows, values, dense, offsets, target, sums, norms, order, coarse, coarse_steps,
            coarse_rests,
        )

    def sums_at_zero(
        self, str loss, int n_outputs, double bound, *, bint at_once=True, bint at_hand=True
    ):
        """Sums of derivatives times entries at weights zero, (n_columns, n_outputs), as columns lie.

        Where not all are computed at once, they are column by column. Where derivatives are not
        taken to be at hand then, they are computed as they are needed, if columns are sparse: the
        sums are the same.
        """
        result = np.empty((self.template.n_columns, n_outputs))
        cdef double[:, ::1] sums = result
        cdef walk_t s = self.template
        cdef int status
        s.loss, s.n_outputs, s.bound = LOSSES[loss], n_outputs, bound
        s.passes_always = 1
        with nogil:
            status = sums_at_zero(&s, at_once, at_hand, &sums[0, 0])
        if status:
            raise MemoryError("not enough memory for the walk")
        return result

    def coarse_sums(self, const float[::1] base, const float[::1] r):
        """Coarse sums of entries times r - base, and bounds on their errors: for tests."""
        start, sums, errors = (np.zeros(self.template.n_features) for _ in range(3))
        cdef const double[::1] zeros = start
        cdef double[::1] into = sums, bounds = errors
        cdef walk_t s = self.template
        s.n_outputs, s.start = 1, &zeros[0]
        if coarse_sums(&s, &base[0], &r[0], &into[0], &bounds[0]):
            raise MemoryError("not enough memory for the walk")
        return sums, errors


cdef class Source:
    """Random words from a stream, and its exact arithmetic for close decisions."""

    cdef object draw, settle, error
    cdef const uint64_t[::1] words
    cdef walk_t* walk

    def __init__(self, draw, settle):
        self.draw = draw
        self.settle = settle
        self.error = None


cdef int refill(void* context) noexcept with gil:
    cdef Source source = <Source>context
    try:
        source.words = source.draw()
        source.walk.words = &source.words[0]
        source.walk.available = source.words.shape[0]
        source.walk.position = 0
        return 0
    except BaseException as error:
        source.error = error
        return 1


cdef int resolve(
    void* context, uint64_t word, int64_t gap, int octaves, uint64_t weight
) noexcept with gil:
    cdef Source source = <Source>context
    try:
        return 1 if source.settle(word, gap, octaves, weight) else 0
    except BaseException as error:
        source.error = error
        return -1


def walk(
    Columns columns,
    str loss,
    const double[:, ::1] start,
    double bound,
    double radius,
    const double[::1] steps,
    double grid,
    double rate,
    draw,
    settle,
    *,
    bint laplace=False,
    str mode="auto",
    double light_cap=0.3,
    double first_drift=0.0,
    double margin=2.0**-36,
    double patience=3.0,
    double idle=3.0,
    bint coarse_looks=True,
    bint coarse_anchors=True,
):
    """Choose one vertex per step.

    Parameters
    ----------
    columns : Columns
    loss : {"logistic", "squared", "multinomial"}
    start : ndarray of shape (n_columns, n_outputs)
        What ``columns.sums_at_zero`` gives for this loss and bound.
    bound : float
        Derivatives are clipped to it.
    radius, steps
        Of the ball, and what part of the way to the vertex each step goes.
    grid, rate : float
        Scores are rounded to multiples of ``grid``, a power of two; a unit of it counts ``rate``
        in the logarithm of a candidate's weight.
    draw : callable
        Gives fresh random words, as many as it likes.
    settle : callable
        ``settle(word, gap, octaves, weight)`` says whether a uniform variable whose first 64 digits
        are ``word`` lies below ``2**octaves * exp(rate * gap) / weight``, exactly.
    laplace : bool
        Take the largest of scores plus Laplace noise, in floating point.
    mode : {"auto", "lazy", "full"}
        Whether every score is computed in every step: if that seems faster, never, always.
    light_cap, first_drift, margin, patience, idle, coarse_looks, coarse_anchors
        Change time only; tests use them to force rare paths.

    Returns
    -------
    chosen : ndarray of int64
        Numbers of vertices.
    counters : dict
        What was done how often: private, for tests and benchmarks.
    """
    cdef walk_t s = columns.template
    cdef Source source = Source(draw, settle)
    cdef int status
    chosen = np.empty(steps.shape[0], dtype=np.int64)
    cdef int64_t[::1] released = chosen
    s.loss, s.n_outputs, s.start = LOSSES[loss], start.shape[1], &start[0, 0]
    s.bound, s.radius, s.steps, s.n_steps = bound, radius, &steps[0], steps.shape[0]
    s.grid, s.rate, s.laplace = grid, rate, laplace
    s.eager_only, s.never_eager = mode == "full", mode == "lazy"
    s.light_cap, s.first_drift, s.margin, s.patience = light_cap, first_drift, margin, patience
    s.idle = idle
    s.coarse_looks = coarse_looks and s.coarse != NULL
    s.coarse_anchors = coarse_anchors and s.coarse != NULL
    s.chosen = &released[0]
    s.refill, s.resolve, s.context = refill, resolve, <void*>source
    source.walk = &s
    with nogil:
        status = run_walk(&s)
    if source.error is not None:
        raise source.error
    if status:
        raise MemoryError("not enough memory for the walk")
    return chosen, {name: s.counters[i] for i, name in enumerate(COUNTERS)}


def scores_along(
    Columns columns,
    str loss,
    int n_outputs,
    double bound,
    double radius,
    const double[::1] steps,
    const int64_t[::1] vertices,
):
    """Scores of the positive vertices before each step of a walk to given vertices.

    Parameters are those of `walk`; ``vertices`` is what it returned, or could have.

    Returns
    -------
    ndarray of shape (n_steps, n_columns * n_outputs)
        Before they are rounded to the grid. Private.
    """
    cdef walk_t s = columns.template
    cdef int status
    result = np.empty((steps.shape[0], s.n_columns * n_outputs))
    cdef double[:, ::1] scores = result
    s.loss, s.n_outputs, s.bound, s.radius = LOSSES[loss], n_outputs, bound, radius
    s.steps, s.n_steps, s.passes_always = &steps[0], steps.shape[0], 1
    with nogil:
        status = replay_walk(&s, &vertices[0], &scores[0, 0])
    if status:
        raise MemoryError("not enough memory for the walk")
    return result


ctypedef fused row_t:
    int32_t
    uint16_t


def column_norms(const int32_t[::1] indices, const double[::1] data, const double[::1] scale):
    """Entries of every column, their L1 norm and squared L2 norm, each divided by its scale."""
    cdef int64_t p, d = scale.shape[0]
    cdef double value
    counts_array, sums_array, squares_array = np.zeros(d, dtype=np.int64), np.zeros(d), np.zeros(d)
    cdef int64_t[::1] counts = counts_array
    cdef double[::1] sums = sums_array, squares = squares_array
    with nogil:
        for p in range(indices.shape[0]):
            value = <float>(data[p] / scale[indices[p]])
            counts[indices[p]] += 1
            sums[indices[p]] += abs(value)
            squares[indices[p]] += value * value
    return counts_array, sums_array, squares_array


def compact_rows(
    const int64_t[::1] indptr,
    const int32_t[::1] indices,
    const double[::1] data,
    const double[::1] scale,
    int64_t[::1] places,
    row_t[::1] rows,
    float[::1] values,
):
    """Compressed rows to compressed columns, each divided by its scale and rounded to float32.

    ``places`` says where each column begins, and afterwards where it ends.
    """
    cdef int64_t n = indptr.shape[0] - 1, i, p, place
    with nogil:
        for i in range(n):
            for p in range(indptr[i], indptr[i + 1]):
                place = places[indices[p]]
                places[indices[p]] = place + 1
                rows[place] = <row_t>i
                values[place] = <float>(data[p] / scale[indices[p]])


def reorder(float[:, ::1] columns, const int32_t[::1] order):
    """Let column i be what column ``order[i]`` was, in place."""
    cdef int64_t i, j, k, n = columns.shape[1]
    moved_array, kept_array = np.zeros(columns.shape[0], dtype=np.uint8), np.empty(n, np.float32)
    cdef unsigned char[::1] moved = moved_array
    cdef float[::1] kept = kept_array
    with nogil:
        for i in range(columns.shape[0]):
            if moved[i] or order[i] == i:
                continue
            kept[:] = columns[i]
            j = i
            while order[j] != i:
                columns[j, :] = columns[order[j]]
                moved[j] = 1
                j = order[j]
            columns[j, :] = kept
            moved[j] = 1


def coarse_columns(const float[::1] dense, int64_t n_records):
    """Columns in bytes: the bytes, what one stands for, and the L2 norm of what they leave out."""
    cdef int64_t d = dense.shape[0] // n_records, k
    bytes_array = np.empty(dense.shape[0], dtype=np.int8)
    steps_array, rests_array = np.empty(d, dtype=np.float32), np.empty(d)
    cdef int8_t[::1] q = bytes_array
    cdef float[::1] steps = steps_array
    cdef double[::1] rests = rests_array
    with nogil:
        for k in range(d):
            coarse_column(
                &dense[k * n_records], n_records, &q[k * n_records], &steps[k], &rests[k]
            )
    return bytes_array, steps_array, rests_array
