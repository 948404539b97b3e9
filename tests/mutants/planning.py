"""Planted in plans: what they promise, what they count and what they cost."""

from tests.mutants.mutant import Mutant

PLAN = ("tests/planning/test_plan.py",)
PUBLIC = ("tests/planning/test_public.py",)
FIT = ("tests/planning/test_fit.py",)
RESULT = "src/sparsedp/planning/result.py"
BAND = "src/sparsedp/planning/band.py"
FACTS = "src/sparsedp/planning/facts.py"
PLANNER = "src/sparsedp/planning/planner.py"
SAMPLE = "src/sparsedp/planning/public.py"
COMMAND = "src/sparsedp/cli/declared/planned.py"

MUTANTS = [
    # The middle as a promise; a range as its middle; a record replaced at the price of one added.
    Mutant(
        RESULT,
        'at least "\n            f"{self.quality.at_least',
        'at least "\n            f"{self.quality.expected',
        PLAN,
    ),
    Mutant(
        RESULT,
        '"at_least": round(self.quality.at_least, 3)',
        '"at_least": round(self.quality.expected, 3)',
        PLAN,
    ),
    Mutant(
        BAND,
        "if self.low == self.high:\n            return np.array([self.low])",
        "if True:\n            return np.array([self.middle])",
        PLAN,
    ),
    Mutant(FACTS, 'mu if self.neighbors == "add_remove" else mu / 2', "mu", PLAN),
    # Records of the holdout in the fit; a ledger that pays for a plan.
    Mutant(PLANNER, "n_records=n_records * kept,", "n_records=n_records,", PLAN),
    Mutant(
        RESULT,
        "left = ledger.remaining()\n",
        "ledger.charge(epsilon, delta)\n        left = ledger.remaining()\n",
        PLAN,
    ),
    # Records that are counted, a counted number that is published, a fit that is paid for unasked.
    Mutant(
        "src/sparsedp/cli/fit.py",
        "planned = expected_of_fit(given,",
        'given["records"] = given["records"] and float(len(records.X["age"]) * 100)\n'
        "    planned = expected_of_fit(given,",
        FIT,
    ),
    Mutant(
        COMMAND,
        '_check_round(given["records"], given["neighbors"], persons=declared.schema.person is not None)',
        "pass",
        FIT,
    ),
    Mutant(COMMAND, 'neighbors == "add_remove" or persons', 'neighbors == "add_remove"', FIT),
    Mutant(COMMAND, 'if found.hopeless and not given["yes"]:', "if False:", FIT),
    # Copies of a person as the same person; a sample that is tested on what it was fitted to.
    Mutant(SAMPLE, "np.repeat(np.arange(n_tiles), len(rows)) * several + ", "", PUBLIC),
    Mutant(SAMPLE, "yield np.flatnonzero(~tested),", "yield np.arange(len(tested)),", PUBLIC),
]
