"""What a record may be called."""

from tests.mutants.mutant import Mutant

VERDICT = "src/sparsedp/privacy/verdict.py"
TESTS = ("tests/privacy/test_verdict.py",)

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
]
