"""Accountants, calibration, and the price of a search."""

from tests.mutants.mutant import Mutant

COST = "src/sparsedp/privacy/account/cost.py"
ACCOUNTANTS = "src/sparsedp/privacy/account/accountants.py"
LOSSES = "src/sparsedp/privacy/account/loss_distribution.py"
OBJECTIVE = "src/sparsedp/privacy/account/objective.py"
CALIBRATE = "src/sparsedp/privacy/account/calibration.py"
REPEAT = "src/sparsedp/privacy/account/repeat.py"
SELECTIONS = "src/sparsedp/privacy/events/selections.py"
GAUSSIANS = "src/sparsedp/privacy/events/gaussians.py"
MINIMUM = "src/sparsedp/privacy/events/perturbed_minimum.py"
PURE = "src/sparsedp/privacy/events/pure_minima.py"
COUNTS = "src/sparsedp/privacy/events/counts.py"
PAPER_GAUSSIANS = "src/sparsedp/privacy/events/gaussian_releases.py"
PAPER_SELECTIONS = "src/sparsedp/privacy/events/laplace_selections.py"
VOTES = "src/sparsedp/privacy/events/laplace_votes.py"
SEARCH_EVENT = "src/sparsedp/privacy/events/search.py"
EVENTS = ("tests/privacy/test_events.py",)
ACCOUNTING = ("tests/privacy/test_accounting.py",)
MINIMA = ("tests/privacy/test_accounting.py::test_every_minimum_and_its_rounding_count",)
PERTURBED = ("tests/privacy/test_objective_perturbation.py",)
PEOPLE = ("tests/solvers/test_objective_people.py",)
CALIBRATION = ("tests/privacy/test_calibration.py",)
TUNING = ("tests/privacy/test_tuning.py",)

MUTANTS = [
    Mutant(
        ACCOUNTANTS,
        "others = [loss.atoms(tail) for loss in discrete[1:]]",
        "others = []",
        MINIMA,
    ),
    Mutant(
        MINIMUM,
        "return Cost(losses=(self,), mu=self.rounding_mu)",
        "return Cost(losses=(self,))",
        MINIMA,
    ),
    Mutant(COST, "count += merged.pop()[1]", "merged.pop()", ACCOUNTING),
    Mutant(
        COST,
        "counts.get(epsilon, 0) + count",
        "count",
        ACCOUNTING,
    ),
    Mutant(COST, "rho += count * epsilon0**2 / 8", "rho += count * epsilon0**2 / 16", TUNING),
    Mutant(COST, "rho = self.mu**2 / 2", "rho = self.mu**2 / 4", TUNING),
    Mutant(COST, "math.hypot(*(cost.mu for cost in parts))", "parts[0].mu", MINIMA),
    Mutant(
        LOSSES,
        "np.add.at(masses, node + 1, (1 - share) * atoms.masses)",
        "np.add.at(masses, node, (1 - share) * atoms.masses)",
        ACCOUNTING,
    ),
    Mutant(
        LOSSES,
        "Atoms((2 * k - count) * epsilon",
        "Atoms((2 * k - count - 1) * epsilon",
        ACCOUNTING,
    ),
    Mutant(
        LOSSES,
        "np.expm1((inside - epsilon0) / 2) ** 2",
        "np.expm1((inside - epsilon0) / 2.2) ** 2",
        ACCOUNTING,
    ),
    Mutant(
        LOSSES, "        first.infinite + second.infinite,\n", "        0.0,\n", ACCOUNTING + MINIMA
    ),
    Mutant(
        OBJECTIVE,
        "return corners * math.log1p(2 * ratio / (n_outputs * rows_per_unit))",
        "return 0.0",
        ("tests/privacy/test_accounting.py::test_the_determinant_of_several_classes_is_paid_for",),
    ),
    Mutant(
        OBJECTIVE,
        'return [_joint(2 * rows, mu, ratio, ("log_cosh",), several=several)]',
        'return [_joint(rows, mu, ratio, ("log_cosh",), several=several)]',
        PERTURBED,
    ),
    # A replaced record: both gradients count, and the determinant away from the largest.
    Mutant(OBJECTIVE, "_flat(rows**2, mu, SLACK)", "_flat(rows**2, mu / 2, SLACK)", PEOPLE),
    Mutant(OBJECTIVE, "_flat(pairs, mu, SLACK)", "_flat(pairs, mu / 2, SLACK)", PERTURBED),
    Mutant(OBJECTIVE, 'steep = (2 if event.shape == "log_cosh" else 4)', "steep = 2", PERTURBED),
    Mutant(OBJECTIVE, "(rows**2, mu * (1 + bend) / 2, flat)", "(rows**2, mu / 2, flat)", PEOPLE),
    Mutant(OBJECTIVE, "(pairs, mu * (1 + bend) / 2, flat)", "(pairs, mu, SLACK)", PERTURBED),
    # A person with several rows.
    Mutant(OBJECTIVE, "several = rows > 1", "several = False", PEOPLE),
    Mutant(OBJECTIVE, "_flat(rows**2, mu, SLACK)", "_flat(rows, mu, SLACK)", PEOPLE),
    Mutant(OBJECTIVE, "pairs = 2 * rows**2", "pairs = 2", PEOPLE),
    Mutant(OBJECTIVE, "return rows_per_unit * math", "return math", PEOPLE),
    Mutant(
        OBJECTIVE, "corners = rows * (event.n_outputs - 1)", "corners = event.n_outputs - 1", PEOPLE
    ),
    Mutant(MINIMUM, "        if self.rows_per_unit == 1:", "        if True:", PEOPLE),
    Mutant(MINIMUM, "self.rows_per_unit != claim.rows_per_unit", "False", PEOPLE),
    Mutant(PURE, '"any", 1, claim.rows_per_unit)', '"any", 1)', PEOPLE),
    Mutant(
        "src/sparsedp/privacy/verdict.py",
        "rows_per_unit=_cap(",
        'rows_per_unit=record["events"][0].get("rows_per_unit", 1) or _cap(',
        PEOPLE,
    ),
    Mutant(PURE, "self.n_outputs, self.rows_per_unit)", "self.n_outputs, 1)", PEOPLE),
    Mutant(CALIBRATE, "        if found <= delta:", "        if found <= 2 * delta:", CALIBRATION),
    Mutant(
        PURE,
        "return PureMinima(each, self.count, left / moved,",
        "return PureMinima(each, self.count, left,",
        PERTURBED,
    ),
    Mutant(
        REPEAT,
        "        if repeated_epsilon(middle, delta, expected_trials, distribution) <= epsilon:",
        "        if repeated_epsilon(middle, delta, expected_trials, distribution) <= 1.1 * epsilon:",
        TUNING,
    ),
    Mutant(SELECTIONS, "math.sqrt(8 * rho / self.count)", "math.sqrt(8 * rho)", TUNING),
    Mutant(GAUSSIANS, "Gaussians(math.sqrt(2 * rho))", "Gaussians(2 * math.sqrt(rho))", TUNING),
    Mutant(REPEAT, "request.at_rho(request.share / total * rho)", "request.at_rho(rho)", TUNING),
    Mutant(
        SELECTIONS,
        "selections=((self.epsilon0, self.count),)",
        "selections=((self.epsilon0 / 2, self.count),)",
        EVENTS,
    ),
    Mutant(GAUSSIANS, "Cost(mu=self.mu)", "Cost(mu=self.mu / 2)", EVENTS),
    Mutant(COUNTS, "pure=((self.epsilon, self.count),)", "pure=((self.epsilon, 1),)", EVENTS),
    Mutant(PURE, "pure=((self.epsilon, self.count),)", "pure=((self.epsilon, 1),)", EVENTS),
    Mutant(PAPER_GAUSSIANS, "Cost(mu=self.mu)", "Cost(mu=self.mu / 2)", EVENTS),
    Mutant(PAPER_GAUSSIANS, "mu = math.sqrt(self.count) * ", "mu = ", EVENTS),
    Mutant(
        PAPER_SELECTIONS,
        "pure=((self.epsilon0, self.count),)",
        "pure=((self.epsilon0 / 2, self.count),)",
        EVENTS,
    ),
    Mutant(PAPER_SELECTIONS, 'if claim.calibration == "sound":', "if False:", EVENTS),
    Mutant(
        VOTES, "LaplaceVotes(2 * self.count / spent,", "LaplaceVotes(self.count / spent,", EVENTS
    ),
    Mutant(
        COUNTS,
        "width = round(self.upper) - round(self.lower)",
        "width = self.upper - self.lower",
        EVENTS,
    ),
    Mutant(
        SEARCH_EVENT,
        "return repeated_epsilon(self.rho_per_trial,",
        "return repeated_epsilon(self.rho_per_trial / 2,",
        EVENTS,
    ),
]
