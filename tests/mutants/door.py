"""Curators, samplers, entropy and the budget."""

from tests.mutants.mutant import Mutant

NOISY = "src/sparsedp/mechanisms/noisy.py"
BUDGET = "src/sparsedp/privacy/budget.py"
CURATOR = ("tests/mechanisms/test_curator.py",)

MUTANTS = [
    Mutant(
        NOISY,
        "off = 2 * (tolerance + slip)",
        "off = 0.02 * (tolerance + slip)",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "tolerance = MINIMUM_TOLERANCE * reach",
        "tolerance = 2000 * MINIMUM_TOLERANCE * reach",
        CURATOR,
    ),
    Mutant(NOISY, "regularization, tolerance / 2\n", "regularization, 2 * tolerance\n", CURATOR),
    Mutant(
        NOISY,
        "regularization = objective.curvature / event.ratio",
        "regularization = objective.curvature / (2 * event.ratio)",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "shift = Sensitivity.of_sum(reach).under(self.public.neighbors)",
        "shift = reach",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "laplace_release(weights, off, event.rounding_epsilon, self._stream)",
        "laplace_release(weights, off / 3, event.rounding_epsilon, self._stream)",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "return declared.under(self.public.neighbors) * SUMMATION_SLACK",
        "return declared.add_remove * SUMMATION_SLACK",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "return Sensitivity.of_scores(reach).under(self.public.neighbors) * SUMMATION_SLACK",
        "return Sensitivity.of_scores(reach).add_remove * SUMMATION_SLACK",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "event = self._budget.charge_selections(count, name)\n        assert not isinstance(event, LaplaceSelections)",
        "event = self._budget.charge_selections(1, name)\n        assert not isinstance(event, LaplaceSelections)",
        CURATOR,
    ),
    Mutant(BUDGET, "if not amount > 0 or ", "if ", CURATOR),
    Mutant(BUDGET, "> limit + ROUNDING:", "> 2 * limit + ROUNDING:", CURATOR),
    Mutant(BUDGET, "        self._spent[index] += amount\n", "        pass\n", CURATOR),
    Mutant(BUDGET, "math.sqrt(share / (1 + ROUNDING))", "math.sqrt(share)", CURATOR),
    Mutant(
        BUDGET,
        "if self._spent[later] and isinstance(self.events[later], Selections):",
        "if False:",
        CURATOR,
    ),
    Mutant(
        BUDGET, "            if abs(spent - limit) > ROUNDING:", "            if False:", CURATOR
    ),
    Mutant(BUDGET, "        if len(found) != 1:", "        if not found:", CURATOR),
]
