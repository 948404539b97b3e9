"""Leaks past the door and understated sensitivities, in Pursuit's steps and other solvers."""

from tests.mutants.mutant import Mutant

BOUNDS = "src/sparsedp/solvers/pursuit/bounds.py"
LABELS = "src/sparsedp/solvers/pursuit/targets/labels.py"
CHOOSE = "src/sparsedp/solvers/pursuit/choose.py"
SHAPES = "src/sparsedp/solvers/pursuit/columns/shapes.py"
CELLS = "src/sparsedp/solvers/pursuit/columns/cells.py"
GRAM = "src/sparsedp/solvers/pursuit/columns/gram.py"
TARGET = "src/sparsedp/solvers/pursuit/targets/span.py"
BALL = "src/sparsedp/solvers/pursuit/columns/ball.py"
ISOTROPIC = "src/sparsedp/solvers/pursuit/columns/isotropic.py"
RECORDS = "src/sparsedp/solvers/pursuit/records.py"
LEVELS = "src/sparsedp/_kernels/sums/levels.h"
HATS = "src/sparsedp/data/columns/hats.py"
SUBSET = "src/sparsedp/data/columns/subset.py"
STEP = "src/sparsedp/solvers/pursuit/step.py"
PURSUIT = "src/sparsedp/solvers/pursuit/pursuit.py"
EVERY = "tests/privacy/test_every_solver.py"
FIT = "tests/privacy/test_every_fit.py"
TESTS = ("tests/privacy/test_pursuit.py",)
RELEASES = "tests/additive/test_releases.py"
BY_PERSON = (f"{RELEASES}::test_no_query_moves_more_than_declared_for_a_person",)
SAME = (f"{RELEASES}::test_with_the_same_answers_shapes_are_the_same_to_the_last_bit",)
COARSE = (f"{RELEASES}::test_coarse_histograms_of_loud_noise_are_asked_for_by_answers_alone",)
SPENT = (f"{RELEASES}::test_what_is_left_of_the_gram_matrix_is_spent_once",)
BLOCKS = (f"{RELEASES}::test_blocks_of_the_gram_matrix_move_no_further_than_declared",)
COLUMNS = ("tests/additive/test_hats.py",)
THINNED = ("tests/additive/test_thinned.py",)
PRUNE = "src/sparsedp/solvers/pursuit/prune.py"
KEPT = "self.weights = average[places] * (1 + 1e-9 * self._data.n_records)"
ALIKE = ("tests/additive/test_isotropic.py",)
IN_BALL = (f"{RELEASES}::test_products_of_a_person_are_those_of_a_ball",)
REGULARIZED = "src/sparsedp/solvers/objective/regularized.py"
OBJECTIVE = "src/sparsedp/solvers/objective/objective.py"
ROWS = ("tests/solvers/test_objective_rows.py",)
COEFFICIENTS = "src/sparsedp/fit/coefficients.py"
OFFSET = "src/sparsedp/data/gate/offset.py"
LINE = "src/sparsedp/data/linear_form.py"
WRITTEN = ("tests/effects/test_coefficients.py",)
OFFSETS = ("tests/effects/test_offsets.py",)
WEIGHTS = ("tests/effects/test_class_weight.py",)

RULE = "src/sparsedp/solvers/frank_wolfe/screening_rule.py"
ONE_SCREENED = ("tests/solvers/test_rnm_screen.py",)

MUTANTS = [
    # The range of a screening rule over features.
    Mutant(RULE, "2 * self.scale * residual / n + third", "third", ONE_SCREENED),
    Mutant(RULE, "either_way * math.sqrt(most / n)", "math.sqrt(most / n)", ONE_SCREENED),
    Mutant(
        RULE,
        "third = self.record.stiffness * self.scale * max(math.sqrt(gap / n), at_most)",
        "third = self.record.stiffness * self.scale * at_most / 2",
        ONE_SCREENED,
    ),
    Mutant(
        RULE,
        "np.minimum(self.scale * norms / math.sqrt(n), self.scale)",
        "self.scale * norms / math.sqrt(n)",
        ONE_SCREENED,
    ),
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
        "    # Raises if a ledger has not enough left.\n",
        "    before = plan.budget(settings.epsilon, settings.delta)\n"
        "    private_solution(plan, before, problem.data, stream)\n",
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
        "return Tightened(data, share, away)",
        "return Tightened(data, 2 * share, away)",
        TESTS,
    ),
    Mutant(
        LABELS,
        "quarter = Sensitivity(add_remove=0.25, replace_one=0.25)",
        "quarter = Sensitivity(add_remove=0.125, replace_one=0.125)",
        TESTS,
    ),
    Mutant(
        LABELS,
        "ONE_HOT = Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))",
        "ONE_HOT = Sensitivity(add_remove=1.0, replace_one=1.0)",
        TESTS,
    ),
    Mutant(
        LABELS,
        "Sensitivity(add_remove=math.sqrt(4 / 27), replace_one=math.sqrt(8 / 27))",
        "Sensitivity(add_remove=math.sqrt(1 / 27), replace_one=math.sqrt(2 / 27))",
        (f"{EVERY}::test_no_query_moves_more_than_declared[pursuit-multinomial-add_remove]",),
    ),
    Mutant(
        LABELS,
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
        "size, unit_noise = len(self.weights),",
        "n = max(self._data.n_records, 1)\n        size, unit_noise = len(self.weights),",
        (f"{EVERY}::test_output_depends_on_data_only_through_answers",),
    ),
    Mutant(
        CHOOSE,
        "            scores, norm, count, excluded",
        "            scores, norm / 2, count, excluded",
        TESTS,
    ),
    Mutant(
        CHOOSE,
        "sensitivity, moments = norm * self.plan.row_length,",
        "sensitivity, moments = norm * self.plan.row_length / 2,",
        TESTS,
    ),
    Mutant(
        PURSUIT,
        "            average, left = active.pulled(average, model[active.rows], left)\n",
        "            average, left = active.pulled(average, model[active.rows], left * (1 + 1e-12 * data.n_records))\n",
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

SHAPED = [
    Mutant(
        SHAPES,
        "Sensitivity(add_remove=math.sqrt(m), replace_one=math.sqrt(2 * m))",
        "Sensitivity(add_remove=1.0, replace_one=math.sqrt(2))",
        BY_PERSON,
    ),
    Mutant(
        SHAPES,
        "Sensitivity(add_remove=math.sqrt(m), replace_one=math.sqrt(2 * m))",
        "Sensitivity(add_remove=math.sqrt(m), replace_one=math.sqrt(m))",
        BY_PERSON,
    ),
    Mutant(SHAPES, "_n_cells(deviation / n_records", "_n_cells(deviation / data.n_records", COARSE),
    Mutant(
        STEP,
        "curvature * self._steepness.look(gradient, level, n,",
        "curvature * self._steepness.look(exact, level, n,",
        SAME,
    ),
    Mutant(SHAPES, "zip(features, noisy, strict=True)", "zip(features, counts, strict=True)", SAME),
    Mutant(
        SHAPES,
        "scaled = self.heights * self.limits(feature)[1:]",
        "scaled = self.heights",
        (f"{RELEASES}::test_no_choice_of_features_has_more_columns_or_squares_than_is_paid_for",),
    ),
    Mutant(SHAPES, "float(np.sum(self.limits(j) ** 2))", "1.0", SPENT),
    Mutant(
        PURSUIT,
        "shaped(view, moments, n, shares.histograms, room, straight)",
        "shaped(view, moments, float(data.n_records), shares.histograms, room, straight)",
        SAME,
    ),
    Mutant(
        PURSUIT,
        "gram, shapes, capacity, floor)",
        "gram, shapes, capacity + data.n_records, floor)",
        (f"{RELEASES}::test_where_residuals_are_clipped_follows_from_answers_alone",),
    ),
    Mutant(PURSUIT, "shares.fit + gram.left)", "shares.fit + 2 * gram.left)", SPENT),
    Mutant(GRAM, "        self.spent += share\n", "", SPENT),
    Mutant(GRAM, "(squares**2 + fourths) / 2),", "squares**2 / 2),", BLOCKS),
    Mutant(GRAM, "(squares**2 + fourths) / 2),", "squares**2 + fourths),", BLOCKS),
    Mutant(
        GRAM,
        "replace_one=math.sqrt(squares**2 + 4 * squares * old)",
        "replace_one=math.sqrt(squares**2 + 2 * squares * old)",
        BLOCKS,
    ),
    Mutant(
        GRAM,
        "(squares**2 + squares) / 2 + first * squares",
        "((squares / 2) ** 2 + squares / 2) / 2 + first * squares / 2",
        BLOCKS,
    ),
    Mutant(
        GRAM, "replace_one=math.sqrt(2 * squares**2", "replace_one=math.sqrt(squares**2", BLOCKS
    ),
    Mutant(
        STEP,
        "np.linalg.norm(steep, axis=2).max(axis=1)",
        "np.linalg.norm(steep, axis=2).sum(axis=1)",
        BY_PERSON,
    ),
    Mutant(TARGET, "few = noisy[:, :b]", "few = counts[:, :b]", SAME),
    Mutant(
        TARGET,
        "return TargetRange(center, half), 0.0",
        "return TargetRange(center, half), share",
        SPENT,
    ),
    Mutant(
        TARGET,
        "Sensitivity(add_remove=math.sqrt(3), replace_one=math.sqrt(6))",
        "Sensitivity(add_remove=math.sqrt(2), replace_one=2.0)",
        (f"{RELEASES}::test_histograms_of_targets_hold_a_person_once_per_row",),
    ),
    Mutant(
        TARGET,
        "return Targets(np.clip(values, -1, 1), block.weights)",
        "return Targets(values, block.weights)",
        (f"{RELEASES}::test_targets_stay_within_their_new_range",),
    ),
    Mutant(
        CELLS,
        "cell_counts(values, self.n_cells, block.weights)",
        "cell_counts(values, self.n_cells, None)",
        (f"{RELEASES}::test_histograms_of_cells_hold_a_person_once_per_feature",),
    ),
    Mutant(
        CELLS,
        "weighed(self.record_loss.clipped(residuals, self.norm), block.weights)",
        "self.record_loss.clipped(residuals, self.norm)",
        (f"{RELEASES}::test_no_wave_of_a_feature_moves_by_more_than_the_norm",),
    ),
    Mutant(
        LEVELS, "    *above = part < 1.0 ? part : 1.0;", "    *above = part;", COLUMNS, ("levels",)
    ),
    Mutant(LEVELS, "    part = part > 0.0 ? part : 0.0;\n", "", COLUMNS, ("levels",)),
    Mutant(
        HATS,
        "values, knots = np.ascontiguousarray(values)",
        "values, knots = np.ascontiguousarray(values - values.mean(axis=0))",
        COLUMNS,
    ),
    Mutant(
        SUBSET,
        "weighed(products.times(self.storage, made, -self.shift @ made), self.weights)",
        "products.times(self.storage, made, -self.shift @ made)",
        COLUMNS,
    ),
    Mutant(SUBSET, "shift[starts[straight]] = -ends[straight]", "pass", COLUMNS),
    Mutant(SUBSET, "1.0, -self.shift @ self.basis", "1.0, 0.0", COLUMNS),
    Mutant(
        SUBSET,
        "storage = hats.by_rows(*parts, int(sizes.sum()))",
        "storage = hats.by_rows(*parts, int(sizes.sum()))\n"
        "        storage.data *= 1 + 1e-15 * storage.nnz",
        COLUMNS,
    ),
    # Features that stay, or ends, by what was not released.
    Mutant(BOUNDS, "noisy[:, :2].sum(axis=2)", "counts[:, :2].sum(axis=2)", THINNED),
    Mutant(STEP, "np.sort(found.order[:count])", "found.order[: self._data.n_records]", THINNED),
    Mutant(STEP, "np.mean(np.square(noise))) + self._chance", "self._data.n_records)", THINNED),
    Mutant(STEP, "self.weights = nearest(metric, average, places, last)[0, places]", KEPT, THINNED),
    Mutant(PRUNE, "self.costs, LARGEST * noise", "self.costs, np.inf", THINNED),
    Mutant(PRUNE, "return min(max(found, FEWEST_KEPT), len(squares))", "return found", THINNED),
    Mutant(
        BALL,
        "return math.sqrt(self.most * (1 + SQUARE_WEIGHT**2))",
        "return math.sqrt(self.most)",
        BY_PERSON,
    ),
    Mutant(BALL, "BallSums(center, radius))", "BallSums(center, 1.5 * radius))", BY_PERSON),
    Mutant(
        BALL,
        "norms.into_ball(table[:, 1:], self.center, self.radius)",
        "table[:, 1:] -= self.center",
        IN_BALL,
    ),
    Mutant(BALL, "found.add(table, weighed(table, weights))", "found.add(table, table)", IN_BALL),
    Mutant(
        BALL,
        "products.sums(weighed(table, weights))",
        "products.sums(table)",
        (f"{RELEASES}::test_sums_and_squares_of_a_person_are_within_the_box",),
    ),
    Mutant(
        BALL,
        "each = weighed(np.ones(len(squares)), weights)",
        "each = np.ones(len(squares))",
        (f"{RELEASES}::test_sums_and_squares_of_a_person_are_within_the_box",),
    ),
    Mutant(
        BALL,
        "products.column_sums(weighed(squares, weights))",
        "products.column_sums(squares)",
        (f"{RELEASES}::test_sums_and_squares_of_a_person_are_within_the_box",),
    ),
    Mutant(BALL, "pulled_center(means[:-1] / n", "pulled_center(sums[:-1] / n", SAME),
    Mutant(BALL, "True), (1 - MEANS_SHARE) * share", "True), share", SPENT),
    Mutant(ISOTROPIC, "return (1 - MEANS_SHARE) * self.share", "return self.share", ALIKE),
    Mutant(ISOTROPIC, "new, MEANS_SHARE * self.share, n)", "new, 0.2 * self.share, n)", ALIKE),
    Mutant(
        ISOTROPIC,
        "square = min(max(square, SHORTEST * where.most), where.most)",
        "square = 1e-3 * float(columns.total(lambda c: np.array([float(c.storage.shape[0])]))[0])",
        ALIKE,
    ),
]
"""Features that bend: solvers/pursuit/columns/shapes.md."""

MUTANTS += SHAPED

NOISY_GD = "src/sparsedp/solvers/gradient/noisy_gd.py"
PROVEN = "tests/papers/test_proven.py"
MOVES = (f"{PROVEN}::test_no_query_moves_more_than_declared",)
ANSWERS = (f"{PROVEN}::test_output_depends_on_data_only_through_answers",)

PROVED = [
    Mutant(
        NOISY_GD,
        "replace_one=2 * term if 2 * term <= most else most",
        "replace_one=term if term <= most else most",
        MOVES,
    ),
    Mutant(
        NOISY_GD,
        "most = 2 * clip",
        "most = clip",
        (f"{PROVEN}::test_a_clipped_mean_moves_by_twice_the_clip_where_other_records_cancel",),
    ),
    Mutant(
        "src/sparsedp/solvers/gradient/ight.py",
        'if self.calibration == "proven":\n            n = total_weight(data, curator, RECORDS.name)',
        'if self.calibration == "proven":\n            total_weight(data, curator, RECORDS.name)',
        ANSWERS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/multinomial_lasso.py",
        "bound = limit = loss.residual_bound(w)",
        "bound = limit = loss.residual_bound(w) / 2\n                limit *= 2",
        MOVES,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/screening.py",
        "bound = unit if published else bound",
        "bound = unit if printed else bound",
        MOVES,
    ),
]
"""The papers' algorithms with noise that is proven."""

MUTANTS += PROVED
