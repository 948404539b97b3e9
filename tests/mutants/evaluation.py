"""Planted in private scores: what a table may move, what is charged, what is published."""

from tests.mutants.mutant import Mutant

PRIVATE = ("tests/evaluation/test_privacy.py",)
COVERAGE = ("tests/evaluation/test_coverage.py",)
SCORES = ("tests/evaluation/test_scores.py",)
TABLE = ("tests/mechanisms/test_table.py",)
QUESTION = "src/sparsedp/mechanisms/questions/table.py"
BINARY = "src/sparsedp/evaluation/binary.py"
SEVERAL = "src/sparsedp/evaluation/multiclass.py"
NUMBERS = "src/sparsedp/evaluation/regression.py"
RUN = "src/sparsedp/evaluation/private.py"
SCORE = "src/sparsedp/evaluation/score.py"
READ = "src/sparsedp/evaluation/predictions.py"
HELD = ("tests/evaluation/test_holdout.py",)
KEYED = ("tests/evaluation/test_holdout_key.py",)
PARTS = ("tests/privacy/test_parallel.py",)
COINS = "src/sparsedp/fit/parts/coins.py"
KEY = "src/sparsedp/fit/parts/key.py"
SIDES = "src/sparsedp/fit/parts/sides.py"
FIT = "src/sparsedp/fit/fit.py"
COST = "src/sparsedp/privacy/account/cost.py"
BESIDE = "src/sparsedp/evaluation/holdout.py"

MUTANTS = [
    # Bins from the records.
    Mutant(
        BINARY,
        'bins = np.searchsorted(self.edges, data.columns([0])[:, 0], side="left")',
        "column = data.columns([0])[:, 0]\n"
        "        cuts = np.quantile(column, np.linspace(0, 1, 33)) if len(column) else self.edges\n"
        '        bins = np.searchsorted(cuts, column, side="left")',
        PRIVATE,
    ),
    # Noise for add/remove where somebody is replaced; a cell's share of the noise; a seed's worth.
    Mutant(QUESTION, "int(MOVED.under(noise.neighbors)) * ONE", "ONE", TABLE),
    Mutant(
        QUESTION,
        "discrete_laplace(event.epsilon, distance",
        "discrete_laplace(event.epsilon * event.cells, distance",
        TABLE,
    ),
    Mutant(
        "src/sparsedp/privacy/events/tables.py",
        "Sensitivity(add_remove=1, replace_one=2)",
        "Sensitivity(add_remove=1, replace_one=1)",
        TABLE,
    ),
    Mutant(QUESTION, "if self.counts.dtype != np.int64:", "if False:", TABLE),
    Mutant(QUESTION, " or event.cells != self.counts.size", "", TABLE),
    Mutant(
        "src/sparsedp/privacy/events/tables.py",
        "LaplaceTable(self.fraction * scale.epsilon",
        "LaplaceTable(2 * self.fraction * scale.epsilon",
        PRIVATE,
    ),
    # A record in one table for each class.
    Mutant(
        SEVERAL,
        "        np.add.at(table, (data.target.astype(np.int64), predicted, bins), row_units(data))\n",
        "        for shift in range(self.n_classes):\n"
        "            true = (data.target.astype(np.int64) + shift) % self.n_classes\n"
        "            np.add.at(table, (true, predicted, bins), row_units(data))\n",
        PRIVATE,
    ),
    # Rows instead of persons; parts rounded to the nearest; polynomials that are no partition.
    Mutant(
        "src/sparsedp/evaluation/design.py",
        "    if data.weights is None:\n",
        "    if True:\n",
        PRIVATE,
    ),
    Mutant(NUMBERS, "np.floor(parts).astype", "np.ceil(parts).astype", PRIVATE),
    Mutant(
        NUMBERS, "falling.append(falling[-1] * (1 - x))", "falling.append(falling[-1])", PRIVATE
    ),
    # Not charged, charged less, charged afterwards, or without the note.
    Mutant(
        RUN,
        "record = charge(self.ledger, record, data,",
        "record = charge(None, record, data,",
        PRIVATE,
    ),
    Mutant(
        RUN,
        "        table = after_charge(through_the_door)\n",
        "        table = through_the_door()\n",
        PRIVATE,
    ),
    Mutant(RUN, "        finish(self.ledger, record, table)\n", "", PRIVATE),
    # The number of records, printed.
    Mutant(
        RUN,
        "scored(found.design, found.method, table, record, target.classes)",
        'scored(found.design, f"{found.method} {len(found.values)}", table, record, target.classes)',
        PRIVATE,
    ),
    # What a strange model says of records.
    Mutant(
        READ, "        failed = type(error).__name__\n", "        failed = str(error)\n", PRIVATE
    ),
    Mutant(
        READ,
        'as_float64(vector(cells), "the predictions", invalid)',
        "np.asarray(cells, dtype=float)",
        PRIVATE,
    ),
    # Sums whose rounding depends on other records.
    Mutant(
        "src/sparsedp/data/predict.py",
        "times(values, coef, intercept)",
        "values @ coef + intercept",
        PRIVATE,
    ),
    # Intervals that forget noise, sampling, or the neighbors.
    Mutant(
        SCORE,
        "_ends(value, sampling, noise, z, limits)",
        "_ends(value, sampling, 0.0, z, limits)",
        COVERAGE,
    ),
    Mutant(
        SCORE,
        "_ends(value, sampling, noise, z, limits)",
        "_ends(value, 0.0, noise, z, limits)",
        COVERAGE,
    ),
    Mutant(
        "src/sparsedp/evaluation/result.py",
        "MOVED.under(neighbors) / epsilon",
        "MOVED.add_remove / epsilon",
        SCORES,
    ),
    Mutant(BINARY, "order[b + 1, other + 1] += part", "pass", SCORES),
    # Who is held out: a coin for each row, a second coin, parts of fixed size, by place.
    Mutant(
        COINS,
        'sides = data.per_person(lambda n: np.searchsorted(ends, stream.words(n), side="right"))',
        'sides = np.searchsorted(ends, stream.words(data.n_records), side="right")',
        (*HELD, *PARTS),
    ),
    Mutant(
        FIT,
        "        problem = replace(problem, data=kept)\n",
        "        problem = replace(problem, data=kept)\n"
        "        held = held_out(data, settings.holdout, problem.held, stream)[1]\n",
        HELD,
    ),
    Mutant(
        COINS,
        'lambda n: np.searchsorted(ends, stream.words(n), side="right")',
        "lambda n: (np.argsort(np.argsort(stream.words(n))) >= n // 2).astype(int)",
        (*HELD, *PARTS),
    ),
    Mutant(
        COINS,
        'lambda n: np.searchsorted(ends, stream.words(n), side="right")',
        "lambda n: np.arange(n) % len(shares)",
        (*HELD, *PARTS),
    ),
    # The model is fitted to everybody, or scored by everybody.
    Mutant(FIT, "        problem = replace(problem, data=kept)\n", "", HELD),
    Mutant(
        FIT, "replace(problem, data=held), solution", "replace(problem, data=data), solution", HELD
    ),
    # Scores that nobody pays for, that the model's side pays for, or that are paid twice.
    Mutant(FIT, "record = replace(record, proven_epsilon=proven, events=events)", "pass", HELD),
    Mutant(SIDES, "paid = charge(holdout.ledger, alone,", "paid = charge(None, alone,", KEYED),
    Mutant(SIDES, "paid = charge(holdout.ledger, alone,", "paid = charge(ledger, alone,", KEYED),
    Mutant(
        FIT,
        "beside.schedule, epsilon=settings.epsilon, delta",
        "beside.schedule, epsilon=2 * settings.epsilon, delta",
        HELD,
    ),
    # How many are in a part, in a warning, and in what is published.
    Mutant(FIT, "n_records=data.n_persons)", "n_records=kept.n_persons)", HELD),
    Mutant(
        BESIDE,
        "table, of_scores(paid), classes)",
        "table, replace(of_scores(paid), notes=(str(problem.data.n_records),)), classes)",
        HELD,
    ),
    # Class weights count in scores; a table without records stops the fit.
    Mutant(BESIDE, "if by_class is None or data.weights is None:", "if True:", HELD),
    Mutant(
        BESIDE,
        "margins.reshape(data.n_records, problem.loss.n_outputs)",
        "margins.reshape(data.n_records, -1)",
        HELD,
    ),
    # Coins that persist: known to everybody, by content of others, on both sides, of any share.
    Mutant(KEY, "secrets.token_hex(32)", '"00" * 32', KEYED),
    Mutant(
        KEY, "digests(groups, self.secret, invalid)", 'digests(groups, b"known", invalid)', KEYED
    ),
    Mutant(KEY, "if key.share != share:", "if False:", KEYED),
    Mutant(KEY, "path.stat().st_mode & OTHERS", "False", KEYED),
    Mutant(KEY, "os.O_EXCL, 0o600)", "os.O_EXCL, 0o644)", KEYED),
    Mutant(
        "src/sparsedp/privacy/ledger/sides.py",
        "if side_of(first) != side_of(what):",
        "if False:",
        KEYED,
    ),
    Mutant(COINS, "    if held is not None:\n", "    if False:\n", KEYED),
    # What parts cost: the cheapest, the first, or less than all where choices are too many.
    Mutant(
        "src/sparsedp/privacy/account/accountants.py",
        "return max(_epsilon(cost, delta)",
        "return min(_epsilon(cost, delta)",
        PARTS,
    ),
    Mutant(
        "src/sparsedp/privacy/account/accountants.py",
        "return max(_delta(cost, epsilon, resolution)",
        "return min(_delta(cost, epsilon, resolution)",
        PARTS,
    ),
    Mutant(
        COST, "return (together(_all(listed)),)", "return (together(next(_ways(listed))),)", PARTS
    ),
    Mutant(
        COST, "return max(math.fsum(cost.rho() for", "return min(math.fsum(cost.rho() for", PARTS
    ),
    Mutant(
        "src/sparsedp/privacy/ledger/divergence.py",
        "Divergence(max(one.divergence for",
        "Divergence(min(one.divergence for",
        PARTS,
    ),
    Mutant(
        "src/sparsedp/privacy/events/parallel.py",
        "found = (event.contradiction(claim) for part in self.parts for",
        "found = (event.contradiction(claim) for part in self.parts[:1] for",
        PARTS,
    ),
]
