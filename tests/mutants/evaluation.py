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
        'found.design.described() | {"method": found.method}',
        'found.design.described() | {"method": found.method, "n": len(found.values)}',
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
        RUN,
        "MOVED.under(record.neighbors) / record.events",
        "MOVED.add_remove / record.events",
        SCORES,
    ),
    Mutant(BINARY, "order[b + 1, other + 1] += part", "pass", SCORES),
]
