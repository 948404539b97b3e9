"""Derivatives record by record, compiled; see ``slopes_reference`` for the contract."""

cdef extern from "slopes.h" nogil:
    void logistic_slopes(
        const double* margins, const double* target, Py_ssize_t n, double* out
    )
    void shrink_slopes(
        double* slopes, const double* lengths, double bound, Py_ssize_t n, double* squares
    )


def logistic(const double[::1] margins, const double[::1] target, double[::1] out):
    """Probability minus label."""
    if target.shape[0] != out.shape[0]:
        raise ValueError("margins and targets differ in number")
    if out.shape[0]:
        with nogil:
            logistic_slopes(&margins[0], &target[0], out.shape[0], &out[0])


def shrink(double[::1] slopes, const double[::1] lengths, double bound, double[::1] squares):
    """Shrink slopes in place, and square what they use of the bound."""
    if slopes.shape[0]:
        with nogil:
            shrink_slopes(&slopes[0], &lengths[0], bound, slopes.shape[0], &squares[0])
