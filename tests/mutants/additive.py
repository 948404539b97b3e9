"""Planted in bends and shapes: locality of predictions, units, promises, what a file may hold."""

from tests.mutants.mutant import Mutant

BENDS = ("tests/additive/test_bends.py",)
MONOTONE = ("tests/additive/test_monotone.py",)
FILES = ("tests/additive/test_release.py",)
REPORT = ("tests/additive/test_report.py",)
COMMAND = ("tests/additive/test_command.py",)
EVERY_FIT = ("tests/privacy/test_every_fit.py::test_neither_does_one_whose_effects_bend",)
BEND = "src/sparsedp/data/bend.py"
PREDICT = "src/sparsedp/data/predict.py"
USED = "src/sparsedp/data/used.py"
COEFFICIENTS = "src/sparsedp/fit/coefficients.py"
PLAN = "src/sparsedp/fit/plan.py"
PAV = "src/sparsedp/fit/monotone.py"
READ = "src/sparsedp/release/read_shapes.py"

MUTANTS = [
    # What others there are decides how a record's bend is rounded, or scaled.
    Mutant(
        BEND,
        "return heights[left] * (1 - part)[:, None] + heights[left + 1] * part[:, None]",
        "found = heights[left] * (1 - part)[:, None] + heights[left + 1] * part[:, None]\n"
        "        return found * (1 + 1e-15 * len(values))",
        BENDS,
    ),
    Mutant(
        BEND,
        "values = np.clip(np.asarray(values, dtype=np.float64), knots[0], knots[-1])",
        "values = np.asarray(values, dtype=np.float64)",
        BENDS,
    ),
    Mutant(BEND, "or heights[0].any() or heights[-1].any()", "or heights[0].any()", BENDS),
    Mutant(BEND, "moved[[0, -1]] = ends", "pass", BENDS),
    # Bends that a step forgets.
    Mutant(PREDICT, "found += bend.at(values[:, column])", "pass", BENDS),
    Mutant(USED, "coef.any(axis=0) | bent(bends, n_features) |", "coef.any(axis=0) |", BENDS),
    Mutant(COEFFICIENTS, "bends=tuple(bend.scaled(factor) for bend in self.bends),", "", BENDS),
    Mutant(
        "src/sparsedp/fit/solve.py",
        "for bend in solution.bends:",
        "for bend in solution.bends[1:]:",
        BENDS,
    ),
    Mutant(
        "src/sparsedp/estimators/path.py",
        "model.bends_ = self.bends[k - 1] if self.bends else ()",
        "pass",
        BENDS,
    ),
    Mutant(
        "src/sparsedp/release/model.py",
        "beside, intercept = (self._bends(),",
        "beside, intercept = ((),",
        FILES,
    ),
    # The number of records in what is published.
    Mutant(
        COEFFICIENTS,
        "_declared(solution.bends, unit_map, bounds.arrays(d)),",
        "tuple(\n                b.scaled(1 + 1e-9 * data.n_records)\n"
        "                for b in _declared(solution.bends, unit_map, bounds.arrays(d))\n"
        "            ),",
        EVERY_FIT,
    ),
    # Bends where they have no proof, or no constant that takes them up.
    Mutant(PLAN, "isinstance(solver, Pursuit) and intercept", "intercept", BENDS),
    Mutant(PLAN, "isinstance(solver, Pursuit) and intercept", "isinstance(solver, Pursuit)", BENDS),
    # Effects that do not keep their promise.
    Mutant(PAV, "while means and means[-1] > mean:", "if means and means[-1] > mean:", MONOTONE),
    Mutant(PAV, 'sign = 1.0 if direction == "increasing" else -1.0', "sign = 1.0", MONOTONE),
    Mutant(PAV, "weights[-1] += shift", "pass", MONOTONE),
    Mutant(PAV, "intercepts[k, 0] += shift", "pass", MONOTONE),
    Mutant(PAV, "if place.get(j, k + 1) > k:", "if place.get(j, k + 1) >= k:", MONOTONE),
    Mutant(PAV, "if monotone and problem.loss.n_outputs > 1:", "if False:", MONOTONE),
    Mutant(
        PAV, "numbered = not place and name.isdecimal()", "numbered = name.isdecimal()", COMMAND
    ),
    # Files that are not what they say.
    Mutant(READ, "(at[0], at[-1]) == (feature.lower, feature.upper)", "True", FILES),
    Mutant(READ, "all(left < right for left, right in pairwise(at))", "True", FILES),
    Mutant(READ, "height[0] == height[-1] == 0 for", "height[0] == 0 for", FILES),
    Mutant(READ, "FEWEST_KNOTS <= n_knots <= MOST_KNOTS", "FEWEST_KNOTS <= n_knots", FILES),
    Mutant(READ, "found == sorted(set(found))", "found == sorted(found)", FILES),
    Mutant(
        "src/sparsedp/release/approval/verify.py",
        'asked.get("shapes", "linear") == "linear" and any(',
        "False and any(",
        FILES,
    ),
    Mutant(
        "src/sparsedp/release/approval/verify.py",
        "steps = sign * np.diff(feature.shape.values, axis=0)",
        "steps = np.abs(np.diff(feature.shape.values, axis=0))",
        FILES,
    ),
    # A line that is said to be closer than it is.
    Mutant(
        "src/sparsedp/data/linear_form.py",
        "difference[output] += half_range",
        "difference[output] = max(difference[output], half_range)",
        REPORT,
    ),
    Mutant(
        "src/sparsedp/data/linear_form.py",
        "best = int(np.argmin(distance))",
        "best = len(distance) - 1",
        REPORT,
    ),
]
