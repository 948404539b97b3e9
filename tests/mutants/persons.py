"""Persons and weights: forgotten, misplaced or rounded ones, and the wrong n."""

from tests.mutants.mutant import Mutant

UNITS = "src/sparsedp/data/gate/units.py"
IDS = "src/sparsedp/data/gate/persons.py"
SUBSET = "src/sparsedp/data/columns/subset.py"
DATASET = "src/sparsedp/data/dataset.py"
HISTOGRAM = "src/sparsedp/data/sums/histogram.py"
NUMBERS = "src/sparsedp/solvers/pursuit/targets/numbers.py"
RECORDS = "src/sparsedp/solvers/pursuit/records.py"
GRADIENT = "src/sparsedp/solvers/gradient/records.py"
RULE = "src/sparsedp/solvers/frank_wolfe/screening_rule.py"
EVERY = "tests/privacy/test_every_person.py"
GATE = ("tests/gate/test_persons.py",)
FITS = ("tests/api/test_persons.py",)


def moves(solver: str, loss: str) -> tuple[str, ...]:
    """The sensitivity test of one solver and loss."""
    return (f"{EVERY}::test_no_query_moves_more_than_declared_for_a_person[{solver}-{loss}]",)


MUTANTS = [
    # Weights that are not local, or do not add up.
    Mutant(UNITS, "base + (places < extra)", "base + (extra > 0)", GATE),
    Mutant(UNITS, "base, extra = np.divmod(ONE, np.", "base, extra = np.divmod(2 * ONE, np.", GATE),
    Mutant(UNITS, "np.where(is_somebody, base", "np.where(is_somebody | True, base", GATE),
    Mutant(UNITS, "np.floor(parts * whole)", "np.ceil(parts * whole)", GATE),
    Mutant(UNITS, "return np.asarray(given / given.max(),", "return np.asarray(given,", GATE),
    Mutant(UNITS, "(ranks(self.persons) < most)", "(ranks(self.persons) <= most)", GATE),
    Mutant(UNITS, "whole * after // np.maximum(before, 1)", "whole * after // before.max()", GATE),
    Mutant(UNITS, "[np.zeros(1, values.dtype), values]", "[values[:1], values]", GATE),
    # Ids.
    Mutant(IDS, "text if text.isprintable() else cell", "text", GATE),
    Mutant(IDS, 'if repr(number) == text and math', "if math", GATE),
    Mutant(IDS, "not exact and abs(cell) >= most", "not exact and abs(cell) > 2 * most", GATE),
    Mutant(IDS, '["", "na", ', '["na", ', GATE),
    # A forgotten weight.
    Mutant(DATASET, "weighed.weighed(np.asarray(r, dtype=np.float64), self.weights)",
           "np.asarray(r, dtype=np.float64)", GATE),
    Mutant(SUBSET, "new = weighed(new, self.weights)", "pass", moves("pursuit", "squared")),
    Mutant(SUBSET, "residuals = weighed(residuals, self.weights)", "pass",
           moves("pursuit", "logistic")),
    Mutant(RECORDS, "sums(weighed(self.record_loss.curvatures(residuals, target), columns.weights))",
           "sums(self.record_loss.curvatures(residuals, target))", moves("pursuit", "squared")),
    Mutant(RECORDS, "return counts(targets.values, self.n_classes, targets.weights)",
           "return counts(targets.values, self.n_classes, None)", moves("pursuit", "logistic")),
    Mutant(NUMBERS, "count = np.array([data.total_weight])",
           "count = np.array([float(data.n_records)])", moves("pursuit", "squared")),
    Mutant(NUMBERS, "again = np.array([data.total_weight])",
           "again = np.array([float(data.n_records)])",
           ("tests/additive/test_releases.py::"
            "test_a_constant_asks_for_sums_that_a_person_moves_by_what_is_declared",)),
    Mutant(GRADIENT, "used = column_sums(weighed(squares, block.weights))",
           "used = column_sums(squares)", moves("noisy_gd", "logistic")),
    Mutant("src/sparsedp/solvers/gradient/scale.py", "bound * view.total_weight",
           "bound * view.n_records", moves("noisy_gd", "logistic")),
    Mutant("src/sparsedp/solvers/frank_wolfe/noisy_min.py", "weighed(residual, weights)",
           "residual", moves("noisy_min", "logistic")),
    Mutant(RULE, "weighed(data.columns(part), roots)", "data.columns(part)",
           (f"{EVERY}::test_norms_of_columns_go_by_weight",)),
    Mutant("src/sparsedp/solvers/wrappers/screened.py",
           "weighed.counts(data.target, loss.n_classes, data.weights)",
           "weighed.counts(data.target, loss.n_classes, None)",
           moves("screened_selection", "logistic")),
    Mutant("src/sparsedp/solvers/total.py", "np.array([data.total_weight])",
           "np.array([float(data.n_records)])", moves("greedy_coordinate", "logistic")),
    # Rounded counts: a person on ten levels would move ten of them.
    Mutant(HISTOGRAM, "return ((counts @ levels) / ONE).reshape(-1, 3, n_levels)",
           "return np.rint((counts @ levels) / ONE).reshape(-1, 3, n_levels)", GATE),
    # The wrong n, and sensitivities that do not allow for smaller weights.
    Mutant("src/sparsedp/privacy/public.py",
           'return self.neighbors == "add_remove" or self.weighting == "sub_unit"',
           'return self.neighbors == "add_remove"',
           (f"{EVERY}::test_the_total_weight_is_asked_for_where_it_is_private",)),
    Mutant("src/sparsedp/privacy/neighbors.py",
           "replace_one=max(self.replace_one, self.add_remove)",
           "replace_one=self.replace_one",
           (f"{EVERY}::test_a_person_of_no_weight_replaces_one_of_weight_one",)),
    Mutant("src/sparsedp/fit/plan.py", "n_records=data.n_persons if", "n_records=data.n_records if",
           FITS),
    Mutant("src/sparsedp/fit/plan.py", "n_records=data.n_persons if",
           "n_records=round(data.total_weight) if", FITS),
    # Blocks: rows of other blocks forgotten.
    Mutant("src/sparsedp/data/blocks/persons.py", "ranks(inside) + places.before[inside]",
           "ranks(inside)", ("tests/records/test_blocks_persons.py",)),
    Mutant("src/sparsedp/data/blocks/persons.py", "(told, totals[codes], before)",
           "(told, counts, before)", ("tests/records/test_blocks_persons.py",)),
    # Coins for rows, and two selections for three classes.
    Mutant("src/sparsedp/fit/search/search.py",
           "problem.data.per_person(lambda n: _coins(n, validation_fraction, stream))",
           "_coins(problem.data.n_records, validation_fraction, stream)", FITS),
    Mutant("src/sparsedp/solvers/wrappers/two_stage.py",
           "data.per_person(lambda n: curator.partition(n, self.n_blocks))",
           "curator.partition(data.n_records, self.n_blocks)", FITS),
    Mutant("src/sparsedp/solvers/wrappers/two_stage.py",
           'if public.n_records is None or public.unit == "person":',
           "if public.n_records is None:", FITS),
    Mutant("src/sparsedp/solvers/frank_wolfe/multinomial_lasso.py", "PAID_BY_PERSONS = 3",
           "PAID_BY_PERSONS = 2", FITS),
    Mutant("src/sparsedp/fit/charge.py", 'unit="person" if record.unit == "person" else "record",\n        what',
           'unit="record",\n        what', FITS),
]  # fmt: skip
