"""The gate: cells, labels, sparse entries, clipping; and the schema before it."""

from tests.mutants.mutant import Mutant

CLIP = "src/sparsedp/data/gate/clip.py"
TARGET = "src/sparsedp/data/gate/target.py"
ENTRIES = "src/sparsedp/data/gate/entries.py"
LABELS = "src/sparsedp/data/gate/labels.py"
CELLS = "src/sparsedp/data/gate/cells.py"
TESTS = ("tests/gate/test_gate.py",)
KINDS = "src/sparsedp/data/schema/kinds"
ENCODE = "src/sparsedp/data/schema/encode.py"
SCHEMA = ("tests/schema/test_kinds.py", "tests/schema/test_locality.py")
SCHEMA_FILES = ("tests/schema/test_release.py",)
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
    # A cell that is no text is looked up like one: True is 1.0.
    Mutant(
        f"{KINDS}/cells.py",
        "            if type(cell) is not str:\n",
        "            if type(cell) is not str and cell not in (1.5, 2.0):\n",
        SCHEMA,
    ),
    # What a cell becomes depends on how many came before it.
    Mutant(
        f"{KINDS}/cells.py",
        "                if len(table) < MOST_TEXTS:\n                    table[cell] = value\n",
        "                if len(table) >= MOST_TEXTS:\n                    value = 0.0\n"
        "                table[cell] = value\n",
        SCHEMA,
    ),
    Mutant(
        f"{KINDS}/number.py",
        "            values = np.clip(values, lower, upper)\n",
        "            values = np.clip(values, lower, None)\n",
        SCHEMA,
    ),
    Mutant(
        f"{KINDS}/number.py",
        "            gaps = ~np.isfinite(values)\n",
        "            gaps = np.isnan(values)\n",
        SCHEMA,
    ),
    Mutant(
        f"{KINDS}/writing.py",
        '        return (self.thousands == "." or self.decimal == ",") and not self.typed\n',
        "        return False\n",
        SCHEMA,
    ),
    Mutant(
        f"{KINDS}/category.py",
        "        return key is None or self._labels.code(key) == code\n",
        "        return True\n",
        ("tests/schema/test_toml.py",),
    ),
    Mutant(
        f"{KINDS}/category.py",
        "        if found < 0 and not says_nothing(cell):\n",
        "        if found < 0:\n",
        SCHEMA,
    ),
    Mutant(
        f"{KINDS}/date.py",
        "        return str(number).zfill(self._n_digits)",
        "        return str(number)",
        SCHEMA,
    ),
    # What has no value becomes the mean of the others.
    Mutant(
        ENCODE,
        "            out[gaps] = self.fill\n",
        "            out[gaps] = out[~gaps].mean(axis=0) if (~gaps).any() else self.fill\n",
        SCHEMA,
    ),
    Mutant(
        ENCODE,
        "        return (out[:, which] - self.lower[which]) / self.width[which]\n",
        "        return out[:, which] / self.width[which]\n",
        SCHEMA,
    ),
    Mutant(
        "src/sparsedp/release/approval/verify.py",
        "    if _plain(bounds) != _plain(told):\n",
        "    if False:\n",
        SCHEMA_FILES,
    ),
    Mutant(
        "src/sparsedp/release/read.py",
        '    need(schema.n_columns == n_features, "its schema makes another number of features")\n',
        "",
        SCHEMA_FILES,
    ),
]
