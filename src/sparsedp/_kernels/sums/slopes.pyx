"""Residuals record by record, compiled; see ``slopes_reference`` for the contract."""

from libc.stdint cimport int64_t

cdef extern from "slopes.h" nogil:
    void exponentials(const double* x, Py_ssize_t n, double* out)
    void logistic_residuals(
        const double* margins, const double* target, Py_ssize_t n, double* out
    )
    void multinomial_residuals(
        const double* margins, const int64_t* target, Py_ssize_t n, Py_ssize_t k, double* out
    )
    void shrink_rows(
        double* residuals, const double* lengths, double bound, Py_ssize_t n, Py_ssize_t k,
        double* squares
    )
    void limit_rows(double* residuals, double bound, Py_ssize_t n, Py_ssize_t k)
    void shrink_residuals(
        double* residuals, const double* lengths, double bound, Py_ssize_t n, double* squares
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
            logistic_residuals(&margins[0], &target[0], out.shape[0], &out[0])


def shrink(double[::1] residuals, const double[::1] lengths, double bound, double[::1] squares):
    """Shrink residuals in place, and square what they use of the bound."""
    if lengths.shape[0] != residuals.shape[0] or squares.shape[0] != residuals.shape[0]:
        raise ValueError("residuals and lengths differ in number")
    if residuals.shape[0]:
        with nogil:
            shrink_residuals(&residuals[0], &lengths[0], bound, residuals.shape[0], &squares[0])


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
            multinomial_residuals(&margins[0, 0], &target[0], out.shape[0], out.shape[1], &out[0, 0])


def shrink_whole(
    double[:, ::1] residuals, const double[::1] lengths, double bound, double[::1] squares
):
    """Shrink the residuals of each record as a whole, in place, and square what they use."""
    if lengths.shape[0] != residuals.shape[0] or squares.shape[0] != residuals.shape[0]:
        raise ValueError("residuals and lengths differ in number")
    if residuals.shape[0]:
        with nogil:
            shrink_rows(
                &residuals[0, 0], &lengths[0], bound, residuals.shape[0], residuals.shape[1], &squares[0]
            )


def limit_whole(double[:, ::1] residuals, double bound):
    """Multiply the residuals of each record as a whole, in place, until none is beyond the bound."""
    if residuals.shape[0]:
        with nogil:
            limit_rows(&residuals[0, 0], bound, residuals.shape[0], residuals.shape[1])
