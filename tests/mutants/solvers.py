"""Leaks past the door and understated sensitivities, in Pursuit's steps and other solvers."""

from tests.mutants.mutant import Mutant

BOUNDS = "src/sparsedp/solvers/pursuit/bounds.py"
RESPONSE = "src/sparsedp/solvers/pursuit/response.py"
STEP = "src/sparsedp/solvers/pursuit/step.py"
PURSUIT = "src/sparsedp/solvers/pursuit/pursuit.py"
EVERY = "tests/privacy/test_every_solver.py"
FIT = "tests/privacy/test_every_fit.py"
TESTS = ("tests/privacy/test_pursuit.py",)
REGULARIZED = "src/sparsedp/solvers/objective/regularized.py"
OBJECTIVE = "src/sparsedp/solvers/objective/objective.py"
ROWS = ("tests/solvers/test_objective_rows.py",)
COEFFICIENTS = "src/sparsedp/fit/coefficients.py"
OFFSET = "src/sparsedp/data/gate/offset.py"
LINE = "src/sparsedp/data/linear_form.py"
WRITTEN = ("tests/effects/test_coefficients.py",)
OFFSETS = ("tests/effects/test_offsets.py",)
WEIGHTS = ("tests/effects/test_class_weight.py",)

MUTANTS = [
    # A cap on the rows of a person that is paid for and not kept, or kept and not asked for.
    Mutant(
        OBJECTIVE,
        "seen = l2_view(capped(data, self.rows_per_person))",
        "seen = l2_view(data)",
        ROWS,
    ),
    Mutant(
        "src/sparsedp/solvers/objective/admm.py",
        "seen = l2_view(capped(data, self.rows_per_person))",
        "seen = l2_view(data)",
        ROWS,
    ),
    Mutant(OBJECTIVE, "        return int(self.rows_per_person)\n", "        return 1\n", ROWS),
    Mutant(
        "src/sparsedp/solvers/objective/admm.py",
        'rows_per_unit=1 if public.unit == "row" else self.rows_per_person,',
        "rows_per_unit=1,",
        ROWS,
    ),
    Mutant(
        REGULARIZED,
        "each = weighed(self.loss.value(margins, self.data.target), self.data.weights)",
        "each = self.loss.value(margins, self.data.target)",
        ROWS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/frank_wolfe.py",
        "return Solution(weights=ball.combination(vertices, shares, shape))",
        "return Solution(weights=ball.combination(vertices, shares, shape) * (1 + 1e-9 * data.n_records))",
        (f"{EVERY}::test_output_depends_on_data_only_through_answers",),
    ),
    Mutant(
        "src/sparsedp/fit/solve.py",
        "    curator.close()\n",
        "",
        (f"{FIT}::test_less_than_was_scheduled_raises_through_fit",),
    ),
    Mutant(
        "src/sparsedp/fit/fit.py",
        "        # Raises if the ledger has not enough left.\n"
        "        record = charge(settings.ledger, record, data, what=model_by(record))\n"
        "\n"
        "        progress = Progress(budget.charges.n_releases, settings.verbose)\n"
        "        data.watched(progress.reading)\n"
        "        solution = after_charge(\n"
        "            lambda: private_solution(plan, budget, data, stream, progress)  # noise: here only\n"
        "        )\n",
        "        progress = Progress(budget.charges.n_releases, settings.verbose)\n"
        "        data.watched(progress.reading)\n"
        "        solution = after_charge(\n"
        "            lambda: private_solution(plan, budget, data, stream, progress)\n"
        "        )\n"
        "        record = charge(settings.ledger, record, data, what=model_by(record))\n",
        ("tests/records/test_blocks.py::test_a_file_that_vanishes_in_the_middle",),
    ),
    Mutant(
        "src/sparsedp/fit/stopped.py",
        "        stopped = _anew(error)\n",
        "        raise _anew(error) from error\n",
        ("tests/api/test_changing_blocks.py",),
    ),
    Mutant(
        BOUNDS,
        "Sensitivity(add_remove=math.sqrt(3 * d), replace_one=math.sqrt(6 * d))",
        "Sensitivity(add_remove=math.sqrt(2 * d), replace_one=math.sqrt(6 * d))",
        TESTS,
    ),
    Mutant(
        BOUNDS,
        "    counts = looked_at.dyadic_counts(",
        "    counts = data.dyadic_counts(",
        TESTS,
    ),
    Mutant(
        BOUNDS,
        "        return data, share\n",
        "        return data, 2 * share\n",
        TESTS,
    ),
    Mutant(
        BOUNDS,
        "Sensitivity(add_remove=math.sqrt(3), replace_one=math.sqrt(6))",
        "Sensitivity(add_remove=math.sqrt(3), replace_one=math.sqrt(3))",
        TESTS,
    ),
    Mutant(
        RESPONSE,
        "quarter = Sensitivity(add_remove=0.25, replace_one=0.25)",
        "quarter = Sensitivity(add_remove=0.125, replace_one=0.125)",
        TESTS,
    ),
    Mutant(
        RESPONSE,
        "ONE_HOT = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))",
        "ONE_HOT = Sensitivity(add_remove=1.0, replace_one=1.0)",
        TESTS,
    ),
    Mutant(
        RESPONSE,
        "Sensitivity(add_remove=math.sqrt(4 / 27), replace_one=math.sqrt(8 / 27))",
        "Sensitivity(add_remove=math.sqrt(1 / 27), replace_one=math.sqrt(2 / 27))",
        (f"{EVERY}::test_no_query_moves_more_than_declared[pursuit-multinomial-add_remove]",),
    ),
    Mutant(
        RESPONSE,
        "            one = Sensitivity(add_remove=1.0, replace_one=1.0)\n",
        "            one = Sensitivity(add_remove=1.0, replace_one=0.5)\n",
        TESTS,
    ),
    Mutant(
        STEP,
        "gradient = moments.release(exact, clip, gradient_share)",
        "gradient = moments.release(exact, clip / 2, gradient_share)",
        TESTS,
    ),
    Mutant(
        STEP,
        "size, n = len(self.weights), self._response.n_records",
        "size, n = len(self.weights), max(self._data.n_records, 1)",
        (f"{EVERY}::test_output_depends_on_data_only_through_answers",),
    ),
    Mutant(
        PURSUIT,
        "                    scores, norm, count, excluded",
        "                    scores, norm / 2, count, excluded",
        TESTS,
    ),
    Mutant(
        PURSUIT,
        "sensitivity, share = norm * plan.row_length,",
        "sensitivity, share = norm * plan.row_length / 2,",
        TESTS,
    ),
    Mutant(
        PURSUIT,
        "            average = active.pulled(average, model[active.rows], left)\n",
        "            average = active.pulled(average, model[active.rows], left * (1 + 1e-12 * data.n_records))\n",
        (FIT, EVERY),
    ),
    Mutant(
        COEFFICIENTS,
        "intercept, path_intercepts = intercept - problem.shift, path_intercepts - problem.shift",
        "intercept = intercept - problem.shift",
        WEIGHTS,
    ),
    Mutant(COEFFICIENTS, "    if not kept.any():\n", "    if True:\n", WRITTEN),
    Mutant(
        COEFFICIENTS,
        "        kept = kept & (low / narrow_unit == lowest / wide_unit)\n",
        "",
        WRITTEN,
    ),
    Mutant(
        "src/sparsedp/fit/start.py",
        "intercept + problem.shift",
        "intercept - problem.shift",
        WEIGHTS,
    ),
    Mutant(
        LINE,
        "cut = np.maximum(below, above)",
        "cut = below + above",
        ("tests/effects/test_linear_form.py",),
    ),
    Mutant(OFFSET, "found), low, high)", "found), low, None)", OFFSETS),
    Mutant(
        "src/sparsedp/data/dataset.py",
        "return scores if self.offset is None else scores + self.offset",
        "return scores",
        OFFSETS,
    ),
    Mutant(
        "src/sparsedp/data/columns/subset.py",
        "return margins if self.offset is None else margins + self.offset[:, None]",
        "return margins",
        OFFSETS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/vertex_walk.py",
        "if self._n_taken or self._data.offset_bounds is not None:",
        "if self._n_taken:",
        OFFSETS,
    ),
    Mutant(
        "src/sparsedp/fit/plan.py",
        'isinstance(solver, NoisyGD | FrankWolfe) and solver.calibration == "sound"',
        "isinstance(solver, NoisyGD | FrankWolfe)",
        OFFSETS,
    ),
]
