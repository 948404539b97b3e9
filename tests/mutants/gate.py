"""The gate: cells, labels, sparse entries, clipping."""

from tests.mutants.mutant import Mutant

CLIP = "src/sparsedp/data/gate/clip.py"
TARGET = "src/sparsedp/data/gate/target.py"
ENTRIES = "src/sparsedp/data/gate/entries.py"
LABELS = "src/sparsedp/data/gate/labels.py"
CELLS = "src/sparsedp/data/gate/cells.py"
TESTS = ("tests/gate/test_gate.py",)
THROUGH_FIT = ("tests/gate/test_gate.py", "tests/privacy/test_audit_entrance.py")

MUTANTS = [
    Mutant(CLIP, "            np.copyto(block, missing, where=np.isnan(block))\n", "", TESTS),
    Mutant(CLIP, "        values[np.isnan(values)] = 0.0\n", "", TESTS),
    Mutant(
        CLIP,
        "            np.clip(block, lower, upper, out=block)\n",
        "            np.clip(block, lower, None, out=block)\n",
        TESTS,
    ),
    Mutant(
        CLIP,
        "room = row_norm * (1 - NORM_SLACK) / largest",
        "room = 1.001 * row_norm / largest",
        TESTS,
    ),
    Mutant(
        CLIP,
        "    if bounds.row_norm is not None:\n        _shrink(",
        "    if False:\n        _shrink(",
        TESTS,
    ),
    Mutant(
        TARGET,
        "    codes = np.maximum(codes, 0)\n",
        "    codes = np.maximum(codes, len(codes) % 2)\n",
        TESTS,
    ),
    Mutant(
        ENTRIES, "        return math.fsum(numbers)\n", "        return sum(numbers)\n", THROUGH_FIT
    ),
    Mutant(
        ENTRIES, "    same[inner[inner < minor.size]] = False  # the first of a row\n", "", TESTS
    ),
    Mutant(
        ENTRIES,
        "    if n_entries and (minor.min() < 0 or minor.max() >= n_minor):",
        "    if False:",
        TESTS,
    ),
    Mutant(
        ENTRIES,
        "return wild.pop() if len(wild) == 1 else math.nan",
        "return float(np.sum(values[:2]))",
        THROUGH_FIT,
    ),
    Mutant(
        LABELS,
        "return -1 if vague and not isinstance(self.values[found], float) else found",
        "return found",
        THROUGH_FIT,
    ),
    Mutant(
        LABELS,
        "            if key is not None and (not texts[code] or",
        "            if key is not None and (True or",
        THROUGH_FIT,
    ),
    Mutant(
        CELLS,
        "        return np.inf if cell > 0 else -np.inf",
        "        return np.inf",
        THROUGH_FIT,
    ),
]
