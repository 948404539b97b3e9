"""Selections along a walk, few scores computed: arrays in, choices out; the work is in ``step.h``."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint64_t
from libc.string cimport memset

from sparsedp._kernels.walk.records import LOSSES, check

COUNTERS = (
    "attempts", "looks", "passes", "builds", "all", "capped", "squeezed", "resolved", "remainders",
)
MODES = {"auto": 0, "lazy": 1, "full": 2}

cdef extern from "walk/step.h" nogil:
    ctypedef struct records_t:
        int64_t n, d
        const int64_t* indptr
        const int64_t* n_full
        const uint16_t* narrow
        const int32_t* wide
        const int16_t* x
        const int16_t* base
        const float* target
        const int32_t* weight
    ctypedef struct walk_t:
        const records_t* m
        int loss, n_outputs, mode, laplace, failed
        double bound, radius, rate
        int64_t n_steps
        const double* steps
        const double* cap
        const double* l2
        const int64_t* start
        int64_t* chosen
        double margin, idle, first_horizon
        int64_t most_attempts
        const uint64_t* words
        int64_t position, available
        int (*refill)(void*) noexcept
        int (*poll)(void*) noexcept
        int (*resolve)(void*, uint64_t, int64_t, int, uint64_t) noexcept
        void* context
        int64_t[9] counters
        const char* broken
    int run_walk(walk_t*)
    int replay_walk(walk_t*, const int64_t*, int64_t*)


def _of_entries(of_columns, n_outputs):
    return of_columns if n_outputs == 1 else np.repeat(of_columns, n_outputs)


cdef class Call:
    """One call of the kernel: what it points to, its randomness, and what went wrong."""

    cdef records_t m
    cdef walk_t s
    cdef object draw, settle, error, kept
    cdef const uint64_t[::1] words

    def __init__(self, records, str loss, int n_outputs, double bound, double radius,
                 const double[::1] steps, draw=None, settle=None):
        check(records, loss, n_outputs, bound, radius, np.asarray(steps))
        memset(&self.m, 0, sizeof(records_t))
        memset(&self.s, 0, sizeof(walk_t))
        cdef const double[::1] cap = _of_entries(records.cap, n_outputs)
        cdef const double[::1] l2 = _of_entries(records.l2, n_outputs)
        cdef const int16_t[::1] x = records.x, base = records.base
        cdef const float[::1] target = records.target
        cdef const int64_t[::1] indptr = records.indptr, n_full = records.n_full
        cdef const uint16_t[::1] narrow
        cdef const int32_t[::1] wide, weights
        self.m.n, self.m.d = records.n_records, records.n_columns
        self.m.x, self.m.target = &x[0], &target[0]
        self.m.indptr, self.m.n_full, self.m.base = &indptr[0], &n_full[0], &base[0]
        if records.rows.dtype == np.uint16:
            narrow = records.rows
            self.m.narrow = &narrow[0]
        else:
            wide = records.rows
            self.m.wide = &wide[0]
        if records.weights is not None:
            weights = records.weights
            self.m.weight = &weights[0]
        self.s.m, self.s.loss, self.s.n_outputs = &self.m, LOSSES[loss], n_outputs
        self.s.bound, self.s.radius = bound, radius
        self.s.steps, self.s.n_steps = &steps[0] if steps.shape[0] else NULL, steps.shape[0]
        self.s.cap, self.s.l2 = &cap[0], &l2[0]
        self.s.refill, self.s.poll, self.s.resolve = refill, poll, resolve
        self.s.context = <void*>self
        self.draw, self.settle, self.error = draw, settle, None
        self.kept = (records, steps, cap, l2)

    cdef int finish(self, int status) except -1:
        if self.error is not None:
            raise self.error
        if self.s.broken != NULL:
            raise AssertionError("invariant: " + self.s.broken.decode())
        if status == 1:
            raise MemoryError("not enough memory for the walk")
        if status:
            raise RuntimeError("the walk did not end as it must: nothing is released")
        return 0


cdef int refill(void* context) noexcept with gil:
    cdef Call call = <Call>context
    try:
        call.words = call.draw()
        call.s.words, call.s.available, call.s.position = &call.words[0], call.words.shape[0], 0
        return 0
    except BaseException as error:
        call.error = error
        return -1


cdef int poll(void* context) noexcept with gil:
    cdef Call call = <Call>context
    try:
        PyErr_CheckSignals()
        return 0
    except BaseException as error:
        call.error = error
        return -1


cdef int resolve(
    void* context, uint64_t word, int64_t gap, int octaves, uint64_t weight
) noexcept with gil:
    cdef Call call = <Call>context
    try:
        return 1 if call.settle(word, gap, octaves, weight) else 0
    except BaseException as error:
        call.error = error
        return -1


def walk(
    records,
    str loss,
    const int64_t[::1] start,
    int n_outputs,
    double bound,
    double radius,
    const double[::1] steps,
    double rate,
    draw,
    settle,
    *,
    bint laplace=False,
    str mode="auto",
    double margin=2.0**-36,
    double idle=2.0,
    double first_horizon=0.0,
    int64_t most_attempts=4096,
):
    """Choose one vertex per step.

    Parameters
    ----------
    records : Records
    loss : {"logistic", "squared", "multinomial"}
    start : ndarray of int64
        What ``scores_at_zero`` gives for this loss and bound.
    n_outputs : int
    bound : float
        Residuals are clipped to it, and are whole numbers of bound / ONE.
    radius, steps
        Of the ball, and what part of the way to the vertex each step goes.
    rate : float
        How much a unit of score counts in the logarithm of a candidate's weight.
    draw : callable
        Gives fresh random words, as many as it likes.
    settle : callable
        ``settle(word, gap, octaves, weight)`` says whether a uniform variable whose first 64 digits
        are ``word`` lies below ``2**octaves * exp(rate * gap) / weight``, exactly.
    laplace : bool
        Take the largest of scores plus Laplace noise, in floating point.
    mode : {"auto", "lazy", "full"}
        Whether every score is computed in every step: if that seems faster, if it must, always.
    margin, idle, first_horizon, most_attempts
        Change time only; tests use them to force rare paths. After so many attempts with all scores
        known, Laplace noise is drawn for every candidate; without it the walk ends with an error.

    Returns
    -------
    chosen : ndarray of int64
        Numbers of vertices.
    counters : dict
        What was done how often: private, for tests and benchmarks.
    """
    cdef Call call = Call(records, loss, n_outputs, bound, radius, steps, draw, settle)
    cdef int status = 0
    if not 0 < rate < np.inf:
        raise ValueError(f"rate must be positive and finite, got {rate}")
    if start.shape[0] != records.n_columns * n_outputs:
        raise ValueError("there is one score at weights zero per entry")
    chosen = np.empty(steps.shape[0], dtype=np.int64)
    cdef int64_t[::1] released = chosen
    call.s.start, call.s.rate, call.s.laplace, call.s.mode = &start[0], rate, laplace, MODES[mode]
    call.s.margin, call.s.idle, call.s.first_horizon = margin, idle, first_horizon
    call.s.most_attempts = most_attempts
    if steps.shape[0]:
        call.s.chosen = &released[0]
        with nogil:
            status = run_walk(&call.s)
    call.finish(status)
    counters = {name: call.s.counters[i] for i, name in enumerate(COUNTERS)}
    return records.vertices(chosen, n_outputs), counters


def scores_along(
    records, str loss, int n_outputs, double bound, double radius, const double[::1] steps, vertices
):
    """Scores of the positive vertices before each step of a walk to given vertices, (n_steps, ...).

    Parameters are those of `walk`; ``vertices`` is what it returned, or could have. Whole numbers of
    bound / ONE**2. Private.
    """
    cdef Call call = Call(records, loss, n_outputs, bound, radius, steps)
    cdef int status = 0
    candidates = np.ascontiguousarray(records.candidates(np.asarray(vertices), n_outputs))
    cdef const int64_t[::1] given = candidates
    result = np.empty((steps.shape[0], records.n_columns * n_outputs), dtype=np.int64)
    cdef int64_t[:, ::1] scores = result
    if steps.shape[0]:
        with nogil:
            status = replay_walk(&call.s, &given[0], &scores[0, 0])
    call.finish(status)
    return records.by_feature(result, n_outputs)


def scores_at_zero(records, str loss, int n_outputs, double bound):
    """Scores where every walk begins, in the order of columns."""
    cdef Call call = Call(records, loss, n_outputs, bound, 1.0, np.ones(1))
    cdef int status
    result = np.empty(records.n_columns * n_outputs, dtype=np.int64)
    cdef int64_t[::1] scores = result
    with nogil:
        status = replay_walk(&call.s, NULL, &scores[0])
    call.finish(status)
    return result
