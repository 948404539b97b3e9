"""Derivatives record by record, compiled; see ``slopes_reference`` for the contract."""

from libc.stdint cimport int64_t

cdef extern from "slopes.h" nogil:
    void exponentials(const double* x, Py_ssize_t n, double* out)
    void logistic_slopes(
        const double* margins, const double* target, Py_ssize_t n, double* out
    )
    void multinomial_slopes(
        const double* margins, const int64_t* target, Py_ssize_t n, Py_ssize_t k, double* out
    )
    void shrink_rows(
        double* slopes, const double* lengths, double bound, Py_ssize_t n, Py_ssize_t k,
        double* squares
    )
    void limit_rows(double* slopes, double bound, Py_ssize_t n, Py_ssize_t k)
    void shrink_slopes(
        double* slopes, const double* lengths, double bound, Py_ssize_t n, double* squares
    )


def exponential(const double[::1] x, double[::1] out):
    """Exponentials, for losses that are made of them."""
    if x.shape[0] != out.shape[0]:
        raise ValueError("arguments and results differ in number")
    if out.shape[0]:
        with nogil:
            exponentials(&x[0], out.shape[0], &out[0])


def logistic(const double[::1] margins, const double[::1] target, double[::1] out):
    """Probability minus label."""
    if margins.shape[0] != out.shape[0] or target.shape[0] != out.shape[0]:
        raise ValueError("margins and targets differ in number")
    if out.shape[0]:
        with nogil:
            logistic_slopes(&margins[0], &target[0], out.shape[0], &out[0])


def shrink(double[::1] slopes, const double[::1] lengths, double bound, double[::1] squares):
    """Shrink slopes in place, and square what they use of the bound."""
    if lengths.shape[0] != slopes.shape[0] or squares.shape[0] != slopes.shape[0]:
        raise ValueError("slopes and lengths differ in number")
    if slopes.shape[0]:
        with nogil:
            shrink_slopes(&slopes[0], &lengths[0], bound, slopes.shape[0], &squares[0])


def multinomial(const double[:, ::1] margins, const int64_t[::1] target, double[:, ::1] out):
    """Probabilities minus the label's."""
    if (
        margins.shape[0] != out.shape[0]
        or margins.shape[1] != out.shape[1]
        or target.shape[0] != out.shape[0]
    ):
        raise ValueError("margins and targets differ in number")
    if out.shape[0]:
        with nogil:
            multinomial_slopes(&margins[0, 0], &target[0], out.shape[0], out.shape[1], &out[0, 0])


def shrink_whole(
    double[:, ::1] slopes, const double[::1] lengths, double bound, double[::1] squares
):
    """Shrink the slopes of each record as a whole, in place, and square what they use."""
    if lengths.shape[0] != slopes.shape[0] or squares.shape[0] != slopes.shape[0]:
        raise ValueError("slopes and lengths differ in number")
    if slopes.shape[0]:
        with nogil:
            shrink_rows(
                &slopes[0, 0], &lengths[0], bound, slopes.shape[0], slopes.shape[1], &squares[0]
            )


def limit_whole(double[:, ::1] slopes, double bound):
    """Multiply the slopes of each record as a whole, in place, until none is beyond the bound."""
    if slopes.shape[0]:
        with nogil:
            limit_rows(&slopes[0, 0], bound, slopes.shape[0], slopes.shape[1])
