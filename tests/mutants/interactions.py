"""Planted in what is published of interactions: predictions, what a file may hold, words."""

from tests.mutants.mutant import Mutant

FILES = ("tests/additive/test_pairs_release.py",)
REPORT = ("tests/additive/test_pairs_report.py",)
ENGINES = ("tests/export/test_engines.py::test_python",)
SKLEARN = ("tests/export/test_sklearn.py::test_agreement",)
MODEL = "src/sparsedp/release/model.py"
READ = "src/sparsedp/release/read_shapes.py"
RECORD = "src/sparsedp/release/read_record.py"
VERIFY = "src/sparsedp/release/approval/verify.py"
PROGRAM = "src/sparsedp/release/export/program.py"

MUTANTS = [
    # Interactions that a step forgets.
    Mutant(MODEL, "(self._bends(), self._interactions()), np", "(self._bends(), ()), np", FILES),
    Mutant(MODEL, "            self._interactions(),\n", "", FILES),
    Mutant(MODEL, "estimator.bends_, estimator.interactions_))", "estimator.bends_))", FILES),
    Mutant(PROGRAM, "for pair, step in joined]", "for pair, step in joined[1:]]", ENGINES),
    Mutant(PROGRAM, "= step, pair.weights", "= step, pair.weights[::-1]", SKLEARN),
    # Files that are not what they say.
    Mutant(READ, "pairs == sorted(set(pairs))", "pairs == sorted(pairs)", FILES),
    Mutant(READ, "need(first < second,", "need(first <= second,", FILES),
    Mutant(READ, "is_whole(j) and j in limits", "j in limits", FILES),
    Mutant(READ, "need(any(weights),", "need(True,", FILES),
    Mutant(READ, "all(map(math.isfinite, widths))", "True", FILES),
    Mutant(READ, "len(content) * n_outputs <= MOST_PAIRS", "len(content) <= MOST_PAIRS", FILES),
    Mutant(
        "src/sparsedp/release/intervals/stored.py", "need(not interactions,", "need(True,", FILES
    ),
    Mutant(RECORD, "need(isinstance(joined, bool),", "need(True,", FILES),
    Mutant(RECORD, '"auto" and not asked', '"auto"', FILES),
    Mutant(RECORD, 'may = model.get("shapes", "linear") == "auto" and', "may =", FILES),
    Mutant(VERIFY, 'model.interactions and not asked.get("interactions")', "False", FILES),
    Mutant(
        VERIFY, "isinstance(solver, Pursuit) and solver.interacts(_facts(model))", "True", FILES
    ),
    Mutant(
        VERIFY,
        "_against_schedule(model) + _against_pairs(model)",
        "_against_schedule(model)",
        FILES,
    ),
    Mutant(
        VERIFY,
        'interactions=record["model"].get("interactions", False),',
        "",
        FILES,
    ),
    # A line that is said to be closer than it is.
    Mutant(
        "src/sparsedp/data/linear_form.py",
        "difference += np.abs(interaction.weights)",
        "difference += 0.5 * np.abs(interaction.weights)",
        ("tests/additive/test_pairs.py",),
    ),
    # Words and drawings that say something else.
    Mutant("src/sparsedp/release/effects.py", "sign * pair.weights[0]", "pair.weights[0]", REPORT),
    Mutant("src/sparsedp/release/effects.py", "feature.index in joined and not", "not", FILES),
    Mutant("src/sparsedp/release/panels/pairs.py", "(units - units[0])", "units", REPORT),
]
