"""Curators, samplers, entropy and the budget."""

from tests.mutants.mutant import Mutant

NOISY = "src/sparsedp/mechanisms/noisy.py"
MINIMUM = "src/sparsedp/mechanisms/questions/minimum.py"
SELECTION = "src/sparsedp/mechanisms/questions/selection.py"
DOOR = "src/sparsedp/mechanisms/curator.py"
CHARGES = "src/sparsedp/privacy/charges.py"
GAUSSIANS = "src/sparsedp/privacy/events/gaussians.py"
CURATOR = ("tests/mechanisms/test_curator.py",)
EVENTS = ("tests/privacy/test_events.py",)

MUTANTS = [
    Mutant(
        MINIMUM,
        "off = 2 * (tolerance + slip)",
        "off = 0.02 * (tolerance + slip)",
        CURATOR,
    ),
    Mutant(
        MINIMUM,
        "tolerance = MINIMUM_TOLERANCE * gradient_bound",
        "tolerance = 2000 * MINIMUM_TOLERANCE * gradient_bound",
        CURATOR,
    ),
    Mutant(MINIMUM, "regularization, tolerance / 2\n", "regularization, 2 * tolerance\n", CURATOR),
    Mutant(
        MINIMUM,
        "regularization = objective.curvature / event.ratio",
        "regularization = objective.curvature / (2 * event.ratio)",
        CURATOR,
    ),
    Mutant(
        MINIMUM,
        "shift = Sensitivity.of_sum(gradient_bound).under(noise.neighbors)",
        "shift = gradient_bound",
        CURATOR,
    ),
    Mutant(
        MINIMUM,
        "laplace_release(weights, off, event.rounding_epsilon, stream)",
        "laplace_release(weights, off / 3, event.rounding_epsilon, stream)",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "return declared.under(self.neighbors) * SUMMATION_SLACK",
        "return declared.add_remove * SUMMATION_SLACK",
        CURATOR,
    ),
    Mutant(
        NOISY,
        "return Sensitivity.of_scores(sensitivity).under(self.neighbors) * SUMMATION_SLACK",
        "return Sensitivity.of_scores(sensitivity).add_remove * SUMMATION_SLACK",
        CURATOR,
    ),
    Mutant(
        SELECTION,
        'One selection per candidate."""\n        return self.count',
        'One selection per candidate."""\n        return 1',
        CURATOR,
    ),
    Mutant(
        DOOR,
        "return self.charges.charge(question.paid_by, question.amount(event), name)",
        "return event",
        CURATOR,
    ),
    Mutant(DOOR, "        if question.free:\n            return event\n", "", CURATOR),
    Mutant(CHARGES, "if not amount > 0 or ", "if ", CURATOR),
    Mutant(CHARGES, "> limit + ROUNDING:", "> 2 * limit + ROUNDING:", CURATOR),
    Mutant(CHARGES, "        self._spent[index] += amount\n", "        pass\n", CURATOR),
    Mutant(GAUSSIANS, "math.sqrt(share / (1 + ROUNDING))", "math.sqrt(share)", CURATOR),
    Mutant(
        CHARGES,
        "if self._ordered[index] and self._ordered[later] and self._spent[later]:",
        "if False:",
        CURATOR,
    ),
    Mutant(
        CHARGES, "            if abs(spent - limit) > ROUNDING:", "            if False:", CURATOR
    ),
    Mutant(CHARGES, "        if len(found) != 1:", "        if not found:", CURATOR),
    Mutant(
        DOOR,
        "        event = self._charged(question, name)\n"
        "        answer = self.answers.answer(question, event, name)\n",
        "        paid = self.charges is not None and question.paid_by\n"
        "        event = self.charges.find(question.paid_by, name) if paid else None\n"
        "        answer = self.answers.answer(question, event, name)\n"
        "        self._charged(question, name)\n",
        CURATOR,
    ),
    Mutant(
        DOOR,
        "            self.charges.close()\n",
        "            pass\n",
        CURATOR,
    ),
    Mutant(
        CHARGES,
        "tuple(bool(event.cost().selections) for event in events)",
        "tuple(False for event in events)",
        CURATOR,
    ),
    Mutant(
        CHARGES,
        "tuple(request.units for request in schedule.requests)",
        "tuple(2 * request.units for request in schedule.requests)",
        CURATOR,
    ),
    Mutant(CHARGES, "        if len(self._limits) != len(events):", "        if False:", EVENTS),
]
