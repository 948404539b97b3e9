"""The ledger: its sums, its chain, its file and its rules."""

from tests.mutants.mutant import Mutant

HOME = "src/sparsedp/privacy/ledger"
LEDGER = f"{HOME}/ledger.py"
REFUSALS = f"{HOME}/refusals.py"
STATE = f"{HOME}/state.py"
STORE = f"{HOME}/store.py"
CHAIN = f"{HOME}/chain.py"
HEAD = f"{HOME}/head.py"
SUMS = f"{HOME}/sums.py"
RULES = f"{HOME}/rules.py"
COSTS = f"{HOME}/divergence.py"
FILE = ("tests/ledger/test_ledger_file.py", "tests/ledger/test_ledger.py")
RULE = ("tests/ledger/test_ledger_rules.py",)
POWER = ("tests/faults/test_kill_ledger.py",)

MUTANTS = [
    # what is charged, and when it is refused
    Mutant(LEDGER, "        if not state.admits(line):", "        if False:", FILE),
    Mutant(LEDGER, "            append(db, line)\n            if digest", "            if digest", FILE),
    Mutant(LEDGER, "        check_same(state, self._id)\n", "", FILE),
    Mutant(LEDGER, '        check_kind(state, asked["neighbors"], asked["unit"])\n', "", FILE),
    Mutant(REFUSALS, 'if state.first["unit"] != unit:', "if False:", FILE),
    Mutant(REFUSALS, "if state.neighbors not in (None, neighbors):", "if False:", FILE),
    Mutant(REFUSALS, "if not epsilon >= 0 or not 0 <= delta <= 1:", "if not 0 <= delta <= 1:", FILE),
    Mutant(LEDGER, 'details["seeded"] = None if seeded is None else bool(seeded)', 'details["seeded"] = None', FILE),
    Mutant(REFUSALS, "value is not None and value != kept[name]", "False", FILE),
    Mutant(LEDGER, "return read_head(self.path) if self._store.durable else None", "return None", FILE),
    Mutant(STATE, "delta=self.spent.delta + one.delta", "delta=self.spent.delta", FILE),
    Mutant(STATE, "epsilon=self.spent.epsilon + one.epsilon", "epsilon=one.epsilon", FILE),
    Mutant(STATE, "leak=self.spent.leak + one.leak", "leak=one.leak", RULE),
    Mutant(STATE, "        if broken is not None:", "        if False:", FILE),
    # sums
    Mutant(SUMS, "    if not 0 <= value < math.inf:", "    if False:", FILE),
    Mutant(SUMS, "sums[places] += digits * count", "sums[places] += digits", FILE),
    Mutant(SUMS, "if len(text) > 32 or text_of(float(text)) != text:", "if len(text) > 32:", FILE),
    # the chain and the note
    Mutant(CHAIN, "_ENCODER.encode([before, *line[:-1]])", "_ENCODER.encode([*line[:-1]])", FILE),
    Mutant(CHAIN, "[before, *line[:-1]]", "[before, *line[:-2]]", FILE),
    Mutant(CHAIN, "if line.line != number or", "if", FILE),
    Mutant(HEAD, "if not 0 <= seen.line < len(lines):", "if not 0 <= seen.line:", FILE),
    Mutant(HEAD, "if lines[seen.line].hash != seen.head:", "if False:", FILE),
    Mutant(HEAD, "if seen.ledger_id != ledger_id:", "if False:", FILE),
    Mutant(HEAD, "seen.line >= receipt.line:", "False:", FILE),
    # the file
    Mutant(STORE, '"BEGIN EXCLUSIVE" if write else "BEGIN"', '"BEGIN"', FILE),
    Mutant(STORE, "'EXTRA' if durable else 'OFF'", "'FULL' if durable else 'OFF'", FILE),
    Mutant(STORE, 'db.execute("PRAGMA journal_mode = DELETE")', "pass", FILE),
    Mutant(STORE, "            os.fsync(handle)\n            # Before", "            # Before", POWER),
    Mutant(STORE, "            os.link(name, self.path)", "            os.replace(name, self.path)", FILE),
    Mutant(STORE, "            sync_folder(folder)\n        except FileExists", "        except FileExists", POWER),
    Mutant(STORE, "if found != VERSION or objects !=", "if found != VERSION and objects !=", FILE),
    # rule "union": the bugs that its proof warns of
    Mutant(RULES, "SUM_PART, TAIL_PART, LEAK_PART = Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)",
           "SUM_PART, TAIL_PART, LEAK_PART = Fraction(1), Fraction(1), Fraction(1, 10)", RULE),
    Mutant(RULES, "            and spent.leak <= exact(self.leaks)\n", "", RULE),
    Mutant(RULES, "            and spent.divergence <= exact(self.divergence)\n", "", RULE),
    Mutant(RULES, "parts <= exact(delta) and ", "", RULE),
    Mutant(RULES, "return float(self.divergence) <= largest_divergence(alpha, float(self.epsilon), tail)",
           "return True", RULE),
    Mutant(RULES, "math.log(tail) + math.log(alpha)", "math.log(tail) + 2 * math.log(alpha)", RULE),
    Mutant(STATE, "divergence=None if None in both else sum(filter(None, both), Fraction(0)),",
           "divergence=one.divergence,", RULE),
    Mutant(STATE, "rule, alpha = self.rule, float(self.rule.alpha)", "rule, alpha = self.rule, 2.0", RULE),
    Mutant(COSTS, "[count * _selection(epsilon0, alpha) for epsilon0, count", "[_selection(epsilon0, alpha) for epsilon0, count", RULE),
    Mutant(COSTS, "parts += [alpha * cost.mu**2 / 2]", "parts += [cost.mu**2 / 2]", RULE),
    Mutant(COSTS, "parts += [alpha * cost.mu**2 / 2]",
           "parts += [alpha * cost.mu**2 / 2] if not cost.losses else []", RULE),
    Mutant(COSTS, "math.fsum(one.leak for one in discrete))", "0.0)", RULE),
    Mutant(COSTS, "(1 + ROUNDING), delta)", "(1 + ROUNDING), 0.0)", RULE),
    Mutant(COSTS, "u = (alpha - 1) * a / (alpha * b)", "u = 1.0", RULE),
    Mutant(COSTS, "_log_cosh((alpha - 0.5) * epsilon)", "_log_cosh((alpha - 1) * epsilon)", RULE),
    Mutant(COSTS, "counted.contradiction(Claim(neighbors, \"sound\")) is not None", "False", RULE),
    Mutant("src/sparsedp/privacy/account/repeat.py", "return rho * order + again +", "return rho * order +", RULE),
    Mutant("src/sparsedp/fit/charge.py", "ledger.charge(\n        max(record.epsilon, record.proven_epsilon)",
           "ledger.charge(\n        record.epsilon", ("tests/api/test_estimators.py",)),
    Mutant("src/sparsedp/fit/fit.py", "record = paid = charge(settings.ledger, record, data, what=model_by(record))", "paid = record",
           ("tests/records/test_blocks.py::test_a_file_that_vanishes_in_the_middle",)),
    Mutant("src/sparsedp/fit/search/search.py",
           "charged = charge(settings.ledger, first, problem.data, what=model_by(first))",
           "charged = first",
           ("tests/privacy/test_tuning.py::test_finds_the_better_setting_and_charges_once",)),
]  # fmt: skip
