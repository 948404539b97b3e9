"""Faults in looks at predictions, in what they cost, and in coordinates without eigenvectors."""

from tests.mutants.mutant import Mutant

CALIBRATE = "src/sparsedp/solvers/pursuit/calibrate.py"
RECORDS = "src/sparsedp/solvers/pursuit/records.py"
PLAN = "src/sparsedp/solvers/pursuit/plan.py"
MARGINS = "src/sparsedp/solvers/pursuit/margins.py"
GRAM = "src/sparsedp/solvers/pursuit/columns/gram.py"
BOUNDS = "src/sparsedp/solvers/pursuit/bounds.py"
RELEASES = "tests/additive/test_releases.py"
LOOKS = (f"{RELEASES}::test_no_record_moves_a_look_by_more_than_declared",)
WRONG = (f"{RELEASES}::test_a_wrong_label_moves_the_sum_of_residuals_by_what_is_declared",)
SAME = (f"{RELEASES}::test_with_the_same_answers_shapes_are_the_same_to_the_last_bit",)
CALIBRATION = ("tests/solvers/test_calibration.py",)
SHAPES = ("tests/additive/test_shapes.py",)
PURSUIT = ("tests/privacy/test_pursuit.py",)
TIGHT = ("tests/solvers/test_bounds.py",)

MUTANTS = [
    # What one record adds.
    Mutant(CALIBRATE, "math.sqrt(2 + SQUARE_WEIGHT**2)", "math.sqrt(1 + SQUARE_WEIGHT**2)", LOOKS),
    Mutant(CALIBRATE, "math.sqrt(2 + 2 + SQUARE", "math.sqrt(2 + SQUARE", LOOKS),
    Mutant(RECORDS, "np.ones(len(away)), 1.0)[0]", "np.ones(len(away)), 1.5)[0]", LOOKS),
    Mutant(RECORDS, "weighed(table, block.columns.weights)", "weighed(table, None)", LOOKS),
    Mutant(CALIBRATE, "(OF_TWO_CLASSES, 1.0) if", "(OF_TWO_CLASSES, 0.5) if", WRONG),
    Mutant(CALIBRATE, "(OF_MORE_CLASSES, math.sqrt(2))", "(OF_MORE_CLASSES, 1.0)", WRONG),
    # Exact sums that get around the door.
    Mutant(CALIBRATE, "toward(excess, self.moments", "toward(exact / n, self.moments", SAME),
    Mutant(
        CALIBRATE, "self._keep_rate(shift, before, factor)", "shift.value = exact[:k] / n", SAME
    ),
    # Shares.
    Mutant(PLAN, "self.more(-more), calibration=", "self, calibration=", CALIBRATION),
    Mutant(
        CALIBRATE,
        "release(exact, short, self.share / 4)",
        "release(exact, short, self.share / 5)",
        PURSUIT,
    ),
    # What an offset is, and what is kept.
    Mutant(RECORDS, "            margins += offset[:, None]\n", "            pass\n", CALIBRATION),
    Mutant(
        RECORDS, "return replace(self.columns, offset=None)", "return self.columns", CALIBRATION
    ),
    Mutant(MARGINS, "(1 - moved.factor) * self.center", "0.0", CALIBRATION),
    # Coordinates.
    Mutant(GRAM, "whitening[0, 1:] = -self.center / roots", "whitening[0, 1:] = 0.0", SHAPES),
    # Bounds.
    Mutant(BOUNDS, "lossy=lossy) & ~wider", "lossy=lossy)", TIGHT),
    Mutant(BOUNDS, "deviation * math.sqrt(b / d)", "deviation * math.sqrt(b)", TIGHT),
]
