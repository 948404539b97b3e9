"""Compiled residuals: clipping, and what becomes of numbers that are none."""

from tests.mutants.mutant import Mutant

SLOPES = "src/sparsedp/_kernels/sums/slopes.h"
TESTS = (
    "tests/records/test_slopes.py",
    "tests/privacy/test_fail_closed.py::test_what_is_not_a_number_contributes_nothing",
)

MUTANTS = [
    Mutant(
        SLOPES,
        "double shrunk = residuals[i] / (used > 1.0 ? used : 1.0);",
        "double shrunk = residuals[i] / (used > 1.1 ? used : 1.0);",
        TESTS,
        ("slopes",),
    ),
    Mutant(
        SLOPES,
        "residuals[i] = used < INFINITY ? shrunk : 0.0;",
        "residuals[i] = shrunk;",
        TESTS,
        ("slopes",),
    ),
    Mutant(
        SLOPES,
        "double divisor = used > 1.0 ? used : 1.0;",
        "double divisor = 1.0;",
        TESTS,
        ("slopes",),
    ),
    Mutant(
        SLOPES, "row[c] = used < INFINITY ? shrunk : 0.0;", "row[c] = shrunk;", TESTS, ("slopes",)
    ),
    Mutant(
        SLOPES,
        "row[c] = known & (limited == limited) ? limited : 0.0;",
        "row[c] = limited;",
        TESTS,
        ("slopes",),
    ),
]
