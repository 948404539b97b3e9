"""Faults in the descent under loud noise: what it costs, what gets around the door, what it finds."""

from tests.mutants.mutant import Mutant

DESCENT = "src/sparsedp/solvers/pursuit/descent.py"
LEVELS = "src/sparsedp/solvers/pursuit/columns/levels.py"
MEANS = "src/sparsedp/solvers/pursuit/columns/means.py"
MARGINS = "src/sparsedp/solvers/pursuit/calibration/margins.py"
NUMBERS = "src/sparsedp/solvers/pursuit/targets/numbers.py"
LOUDNESS = "src/sparsedp/solvers/pursuit/targets/loudness.py"
GRAM = "src/sparsedp/solvers/pursuit/columns/gram.py"
RECORDS = "src/sparsedp/solvers/pursuit/records.py"
PURSUIT = "src/sparsedp/solvers/pursuit/pursuit.py"
TESTS = ("tests/additive/test_descent.py",)

MUTANTS = [
    # What one record moves.
    Mutant(LEVELS, "replace_one=math.sqrt(2)", "replace_one=1.0", TESTS),
    Mutant(LEVELS, "add_remove=1.0", "add_remove=0.5", TESTS),
    Mutant(LEVELS, "counts(levels, N_LEVELS, weights)", "counts(levels, N_LEVELS, None)", TESTS),
    Mutant(
        LEVELS,
        "places, 0), N_CELLS, weights)",
        "places, 0), N_CELLS, None)",
        TESTS,
    ),
    Mutant(MEANS, "float(np.linalg.norm(new))", "float(np.linalg.norm(new)) / 2", TESTS),
    Mutant(
        DESCENT,
        "moments.release(exact, clip, share",
        "moments.release(exact, clip / 2, share",
        TESTS,
    ),
    Mutant(
        DESCENT,
        "StepSums(response.record_loss, weights, clip)",
        "StepSums(response.record_loss, weights, 2 * clip)",
        TESTS,
    ),
    # Exact sums that get around the door.
    Mutant(DESCENT, "step = gradient / (n * curvature)", "step = exact / (n * curvature)", TESTS),
    Mutant(
        MEANS,
        "means = moments.release(sums,",
        "means = sums / n + 0 * moments.release(sums,",
        TESTS,
    ),
    Mutant(MEANS, "usual(noisy,", "usual(found,", TESTS),
    Mutant(NUMBERS, "usual(noisy,", "usual(levels,", TESTS),
    Mutant(MARGINS, "noisy, self.response.n_records", "exact, self.response.n_records", TESTS),
    # Shares.
    Mutant(DESCENT, "(1 - MEANS - len(self.legs) * DISTANCES)", "(1 - MEANS - DISTANCES)", TESTS),
    Mutant(DESCENT, "share / n_steps)  # released", "1.1 * share / n_steps)  # released", TESTS),
    Mutant(PURSUIT, "shares.calibration - look)", "shares.calibration)", TESTS),
    Mutant(NUMBERS, "ONE_RECORD, of_count)  # rel", "ONE_RECORD, 2 * of_count)  # rel", TESTS),
    Mutant(NUMBERS, "share * size / (1 + size)", "share / 2", TESTS),
    # Counts of levels.
    Mutant(LEVELS, "np.where(values > 0, np.clip(", "np.where(values >= 0, np.clip(", TESTS),
    Mutant(GRAM, "root / self.lengths", "root * self.lengths", TESTS),
    Mutant(LEVELS, "np.where(places >= 0, places, 0)", "places", TESTS),
    # What is found.
    Mutant(DESCENT, "float(not response.calibrated)", "1.0", TESTS),
    Mutant(DESCENT, "pace * step / (1", "step / (1", TESTS),
    Mutant(DESCENT, "return 1 - once, noise", "return 1 - twice, noise", TESTS),
    Mutant(
        LEVELS,
        "    misfit += np.square((levels - math.log2(expected / most)) / doubt)\n",
        "",
        TESTS,
    ),
    Mutant(DESCENT, "active.reweigh(means,", "(means,", TESTS),
]
