"""Compiled residuals and records in a ball: clipping, and what becomes of numbers that are none."""

from tests.mutants.mutant import Mutant

SLOPES = "src/sparsedp/_kernels/sums/slopes.h"
TESTS = (
    "tests/records/test_slopes.py",
    "tests/privacy/test_fail_closed.py::test_what_is_not_a_number_contributes_nothing",
)

NORMS = "src/sparsedp/_kernels/sums/norms.h"
IN_BALL = ("tests/records/test_products.py::test_no_record_is_left_outside_a_ball",)

SQUARES = "src/sparsedp/data/sums/norms.py"
IN_OTHER = (
    "tests/records/test_products.py::"
    "test_squares_in_other_coordinates_are_those_of_dense_arithmetic",
)

SUBSET = "src/sparsedp/data/columns/subset.py"
IN_PARTS = (
    "tests/records/test_subset.py::test_steps_look_at_some_records_at_a_time_and_find_the_same",
)

MUTANTS = [
    Mutant(SQUARES, "np.minimum.accumulate(firsts[::-1])[::-1]", "firsts", IN_OTHER),
    Mutant(SUBSET, "weights=weights, offset=offset", "weights=weights, offset=None", IN_PARTS),
    Mutant(SUBSET, "weights=weights, offset=offset", "weights=None, offset=offset", IN_PARTS),
    Mutant(NORMS, "sqrt(square * growth + least)", "sqrt(square)", IN_BALL, ("norms",)),
    Mutant(
        NORMS,
        "if (length <= radius) continue;",
        "if (length <= 2 * radius) continue;",
        IN_BALL,
        ("norms",),
    ),
    Mutant(NORMS, "row[j] *= factor;", "row[j] *= 1.1 * factor;", IN_BALL, ("norms",)),
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
