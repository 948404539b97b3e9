"""Private search: the grid, the trials, and what is charged and written down."""

from tests.mutants.mutant import Mutant

GRID = "src/sparsedp/estimators/grid.py"
SEARCH = "src/sparsedp/fit/search/search.py"
TRIAL = "src/sparsedp/fit/search/trial.py"
TRIALS = "src/sparsedp/mechanisms/samplers/trials.py"
TESTS = ("tests/privacy/test_tuning.py",)

MUTANTS = [
    Mutant(GRID, "[name for name in names if name not in TUNABLE]", "[]", TESTS),
    Mutant(GRID, 'TUNABLE = ("bounds",', 'TUNABLE = ("bounds", "neighbors",', TESTS),
    Mutant(GRID, "    if estimator.ledger is not None:", "    if False:", TESTS),
    Mutant(
        GRID,
        "if not isinstance(estimator, ours):",
        "if False:",
        TESTS,
    ),
    Mutant(
        SEARCH,
        'event["rho_per_trial"] = max(plan.cost for plan in plans)',
        'event["rho_per_trial"] = 0.9 * max(plan.cost for plan in plans)',
        TESTS,
    ),
    Mutant(SEARCH, "best, solution, score = max(", "best, solution, score = min(", TESTS),
    Mutant(TRIAL, " or settings.solver.caveats:", ":", TESTS),
    Mutant(
        TRIAL,
        "problem.data.rows(~scoring), problem.data.rows(scoring)",
        "problem.data, problem.data.rows(scoring)",
        TESTS,
    ),
    Mutant(TRIAL, "events_at(SCORE, within)", "events_at(SCORE, 4 * within)", TESTS),
    Mutant(
        TRIAL,
        "ONE_RECORD = Sensitivity(add_remove=1.0, replace_one=1.0)",
        "ONE_RECORD = Sensitivity(add_remove=0.5, replace_one=0.5)",
        TESTS,
    ),
    Mutant(
        TRIALS,
        "probability = (1 - gamma) / -gamma.ln()",
        "probability = (1 - gamma / 2) / -gamma.ln()",
        ("tests/privacy/test_tuning.py::test_law_of_the_number_of_trials",),
    ),
]
