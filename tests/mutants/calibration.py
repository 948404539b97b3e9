"""Faults in looks at predictions, in what they cost, and in coordinates without eigenvectors."""

from tests.mutants.mutant import Mutant

CALIBRATE = "src/sparsedp/solvers/pursuit/calibration/looks.py"
RECORDS = "src/sparsedp/solvers/pursuit/records.py"
PLAN = "src/sparsedp/solvers/pursuit/plan.py"
MARGINS = "src/sparsedp/solvers/pursuit/calibration/margins.py"
GRAM = "src/sparsedp/solvers/pursuit/columns/gram.py"
BOUNDS = "src/sparsedp/solvers/pursuit/bounds.py"
RELEASES = "tests/additive/test_releases.py"
LOOKS = (f"{RELEASES}::test_no_record_moves_a_look_by_more_than_declared",)
WRONG = (f"{RELEASES}::test_a_wrong_label_moves_the_sum_of_residuals_by_what_is_declared",)
SAME = (f"{RELEASES}::test_with_the_same_answers_shapes_are_the_same_to_the_last_bit",)
LAW = "src/sparsedp/solvers/pursuit/calibration/two_classes.py"
CALIBRATION = ("tests/solvers/test_calibration.py",)
MANY = "src/sparsedp/solvers/pursuit/calibration/many_classes.py"
LEVELS = "src/sparsedp/solvers/pursuit/columns/levels.py"
TOLD = (*CALIBRATION, "tests/solvers/test_pursuit.py")
SHAPES = ("tests/additive/test_shapes.py",)
DESCENT = ("tests/additive/test_descent.py",)
PURSUIT = ("tests/privacy/test_pursuit.py",)
TIGHT = ("tests/solvers/test_bounds.py",)

MUTANTS = [
    # What one record adds.
    Mutant(CALIBRATE, "OF_TWO_CLASSES = math.sqrt(2)", "OF_TWO_CLASSES = 1.0", LOOKS),
    Mutant(CALIBRATE, "OF_MORE_CLASSES = 2.0", "OF_MORE_CLASSES = 1.5", LOOKS),
    Mutant(RECORDS, "np.ones(len(away)), 1.0)[0]", "np.ones(len(away)), 1.5)[0]", LOOKS),
    Mutant(RECORDS, "weighed(table, block.columns.weights)", "weighed(table, None)", LOOKS),
    Mutant(CALIBRATE, "(OF_TWO_CLASSES, 1.0) if", "(OF_TWO_CLASSES, 0.5) if", WRONG),
    Mutant(CALIBRATE, "(OF_MORE_CLASSES, math.sqrt(2))", "(OF_MORE_CLASSES, 1.0)", WRONG),
    # Exact sums that get around the door.
    Mutant(CALIBRATE, "np.nan_to_num(noisy / n)", "np.nan_to_num(exact / n)", SAME),
    # Shares.
    Mutant(PLAN, "self.more(-more), calibration=", "self, calibration=", CALIBRATION),
    Mutant(CALIBRATE, "(1 - 2 * OF_RESIDUALS)", "(1 - OF_RESIDUALS)", PURSUIT),
    # What an offset is, and what is kept.
    Mutant(RECORDS, "            margins += offset[:, None]\n", "            pass\n", CALIBRATION),
    Mutant(
        RECORDS, "return replace(self.columns, offset=None)", "return self.columns", CALIBRATION
    ),
    Mutant(MARGINS, "(1 - moved.factor) * self.center", "0.0", CALIBRATION),
    # What looks tell.
    Mutant(LAW, "look.factor * offsets", "offsets", TOLD),
    Mutant(LAW, "np.where(many, 1 - means, means), mass", "means, mass", TOLD),
    Mutant(LAW, "self.looks.append(", "(", TOLD),
    Mutant(LAW, "self._factor = self._best_factor(", "self._best_factor(", TOLD),
    Mutant(LAW, "log_masses += np.log(np.cosh(places))", "pass", TOLD),
    Mutant(LAW, " - tails", "", TOLD),
    Mutant(LAW, " - fit,", ",", TOLD),
    Mutant(MANY, "product - now + honest", "product + honest", CALIBRATION),
    Mutant(MANY, "spread.likely_factor(LEAST_SIGNAL)", "spread.likely_factor()", CALIBRATION),
    Mutant(MANY, "/ np.maximum(self.variance + np.square(noise), 1e-300)", "", CALIBRATION),
    Mutant(MANY, "shift = shift + wanted - np", "shift = shift - np", CALIBRATION),
    Mutant(MANY, "np.concatenate([found, -found])", "np.concatenate([found, found])", CALIBRATION),
    # Several classes where noise is loud.
    Mutant(
        RECORDS,
        "dot(away, away), self.most**2, weights)",
        "dot(away, away), self.most**2, None)",
        DESCENT,
    ),
    Mutant(MARGINS, "self.weights.shape[1] > 1", "self.weights.shape[1] > 9", DESCENT),
    Mutant(LEVELS, "math.log2(expected / most)) / doubt", "math.log2(most)) / doubt", DESCENT),
    # Coordinates.
    Mutant(GRAM, "whitening[0, 1:] = -self.center / roots", "whitening[0, 1:] = 0.0", SHAPES),
    # Bounds.
    Mutant(BOUNDS, "lossy=lossy) & ~wider", "lossy=lossy)", TIGHT),
    Mutant(BOUNDS, "deviation * math.sqrt(b / d)", "deviation * math.sqrt(b)", TIGHT),
]
