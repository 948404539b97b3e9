"""Understated sensitivities of regressions from sums, and of features chosen by pairs or in sets."""

from tests.mutants.mutant import Mutant

STATISTICS = "src/sparsedp/solvers/dense/statistics.py"
ADA = "src/sparsedp/solvers/dense/ada_ssp.py"
KENDALL = "src/sparsedp/solvers/wrappers/kendall.py"
PAIRS = "src/sparsedp/data/sums/pairs.py"
SUBSET = "src/sparsedp/solvers/wrappers/best_subset.py"
SUPPORTS = "src/sparsedp/solvers/wrappers/supports.py"
EVERY = "tests/privacy/test_every_solver.py"
BY_SUMS = ("tests/papers/test_ada_ssp.py",)
BY_RANKS = ("tests/papers/test_kendall.py",)
IN_SETS = ("tests/papers/test_best_subset.py",)
SAME = f"{EVERY}::test_output_depends_on_data_only_through_answers"
MOVES = f"{EVERY}::test_no_query_moves_more_than_declared"
BOOSTED = (f"{MOVES}[boosted_ada_ssp-squared-add_remove]",)

MUTANTS = [
    # The Gram matrix, each product once.
    Mutant(STATISTICS, "columns * (columns + 1) / 2", "columns * columns / 2", BY_SUMS),
    Mutant(STATISTICS, "replace_one=columns)", "replace_one=columns / 1.2)", BY_SUMS),
    Mutant(STATISTICS, "replace_one=math.sqrt(2) * square", "replace_one=square", BY_SUMS),
    Mutant(STATISTICS, "(2 * square + 1) / math.sqrt(2)", "square * math.sqrt(2)", BY_SUMS),
    # Residuals that are paid for as clipped and are not; an eigenvalue that is paid for as less.
    Mutant(STATISTICS, "np.ones(len(left)), self.clip)", "np.ones(len(left)), 9.0)", BOOSTED),
    Mutant(
        ADA,
        "Sensitivity(add_remove=square, replace_one=square)",
        "Sensitivity(add_remove=square / 2, replace_one=square)",
        BY_SUMS,
    ),
    # A unit's range, of one score and of a score less a mean of others; pairs within a person.
    Mutant(
        KENDALL,
        "BY_TARGET = Sensitivity(add_remove=2.5, replace_one=4.0)",
        "BY_TARGET = Sensitivity(add_remove=2.0, replace_one=2.0)",
        BY_RANKS,
    ),
    Mutant(KENDALL, "/ (total + 1)", "/ (total / 2 + 1)", BY_RANKS),
    Mutant(PAIRS, "2 * ascents - every / 2 + within / 2", "2 * ascents - every / 2", BY_RANKS),
    # What weights of a candidate can predict, and a search that sees the records.
    Mutant(SUBSET, "most = (1 + self.reach) ** 2", "most = 1 + self.reach**2", IN_SETS),
    Mutant(SUBSET, "radius = self.reach / math.sqrt(size", "radius = self.reach / (0.5", IN_SETS),
    Mutant(
        SUBSET,
        "proposed_supports(released, ridge",
        "proposed_supports(exact, ridge",
        (f"{SAME}[best_subset_proposed-squared-add_remove]",),
    ),
    Mutant(SUPPORTS, "np.where(inside, 0.0, high)", "np.zeros(len(high))", IN_SETS),
]
