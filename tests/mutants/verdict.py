"""What a record may be called."""

from tests.mutants.mutant import Mutant

VERDICT = "src/sparsedp/privacy/verdict.py"
RECOUNT = "src/sparsedp/privacy/recount.py"
EVENTS = "src/sparsedp/privacy/events"
TESTS = ("tests/privacy/test_verdict.py",)
APPROVAL = "src/sparsedp/release/approval"
PAGES = ("tests/report/test_words.py", "tests/report/test_checklist.py")
STORED = ("tests/privacy/test_events.py", *TESTS)

MUTANTS = [
    Mutant(VERDICT, "not counted <= epsilon * (1 + ROUNDING)", "counted > 2 * epsilon", TESTS),
    Mutant(
        VERDICT,
        '    if record["seeded"]:\n        found.append(',
        "    if False:\n        found.append(",
        TESTS,
    ),
    Mutant(
        VERDICT,
        "    if labels_from_data(record):\n        found.append(",
        "    if False:\n        found.append(",
        TESTS,
    ),
    Mutant(
        VERDICT, '"weak": "amber", "labels": "amber"', '"weak": "amber", "labels": "green"', TESTS
    ),
    Mutant(
        VERDICT,
        'return self.level in ("private", "weak")',
        'return self.level in ("private", "weak", "labels")',
        TESTS,
    ),
    Mutant(
        VERDICT,
        "return max(levels, key=list(HEADLINES).index)",
        "return min(levels, key=list(HEADLINES).index)",
        TESTS,
    ),
    Mutant(
        VERDICT,
        "NOMINAL_EPSILON, NOMINAL_DELTA = 10.0, 1e-3",
        "NOMINAL_EPSILON, NOMINAL_DELTA = 100.0, 1e-3",
        TESTS,
    ),
    Mutant(VERDICT, '        doubt = f"The list', '        doubt = None and f"The list', TESTS),
    Mutant(RECOUNT, "    if contradiction is not None:", "    if False:", TESTS),
    Mutant(RECOUNT, 'if key != "count" and ', "if ", STORED),
    Mutant(f"{EVENTS}/gaussian_releases.py", "return NOTHING_PROVEN", "return Cost()", STORED),
    Mutant(
        f"{EVENTS}/search.py",
        "claim.delta is not None and self.delta != claim.delta",
        "False",
        TESTS,
    ),
    Mutant(
        f"{EVENTS}/laplace_selections.py", 'if claim.calibration == "sound":', "if False:", TESTS
    ),
    Mutant(
        f"{EVENTS}/perturbed_minimum.py",
        "if self.neighbors != claim.neighbors:",
        "if False:",
        TESTS,
    ),
    Mutant(
        "src/sparsedp/privacy/account/cost.py",
        "if alone and len(parts) > 1:",
        "if False:",
        STORED,
    ),
    # What a report tells whoever signs.
    Mutant(
        f"{APPROVAL}/threats.py",
        'unit, neighbors = record.get("unit", "row"), record["neighbors"]',
        'unit, neighbors = record.get("unit", "row"), "add_remove"',
        PAGES,
    ),
    Mutant(f"{APPROVAL}/threats.py", "if not guaranteed:", "if False:", PAGES),
    Mutant(f"{APPROVAL}/threats.py", "* labels_from_data(record)", "* False", PAGES),
    Mutant(
        f"{APPROVAL}/checklist.py",
        "all(column.source is not None for column in columns)",
        "any(column.source is not None for column in columns)",
        PAGES,
    ),
    Mutant(f"{APPROVAL}/checklist.py", 'if model.privacy["seeded"]:', "if False:", PAGES),
    Mutant(
        f"{APPROVAL}/checklist.py",
        'basis="stated" if persons else "yours to judge"',
        'basis="stated"',
        PAGES,
    ),
    Mutant(f"{APPROVAL}/checklist.py", "The exact scores on this page have no noise. ", "", PAGES),
    Mutant(
        "src/sparsedp/release/templates/report.html",
        "Measured on {{ card.unit }}s",
        "Measured on persons",
        PAGES,
    ),
    Mutant(
        "src/sparsedp/cli/declared/codebook.py",
        'f"code book {path.name}"',
        'f"code book {path}"',
        ("tests/api/test_journey.py",),
    ),
]
