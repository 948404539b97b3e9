"""Accountants, calibration, and the price of a search."""

from tests.mutants.mutant import Mutant

ACCOUNTANTS = "src/sparsedp/privacy/account/accountants.py"
LOSSES = "src/sparsedp/privacy/account/loss_distribution.py"
OBJECTIVE = "src/sparsedp/privacy/account/objective.py"
CALIBRATE = "src/sparsedp/privacy/account/calibration.py"
REPEAT = "src/sparsedp/privacy/account/repeat.py"
ACCOUNTING = ("tests/privacy/test_accounting.py",)
MINIMA = ("tests/privacy/test_accounting.py::test_every_minimum_and_its_rounding_count",)
PERTURBED = ("tests/privacy/test_objective_perturbation.py",)
CALIBRATION = ("tests/privacy/test_calibration.py",)
TUNING = ("tests/privacy/test_tuning.py",)

MUTANTS = [
    Mutant(
        ACCOUNTANTS,
        "others = [minimum_atoms(event, tail) for event in minima[1:]]",
        "others = []",
        MINIMA,
    ),
    Mutant(
        ACCOUNTANTS,
        "mu = math.hypot(*gaussians, *(e.rounding_mu for e in minima), many_mu)",
        "mu = math.hypot(*gaussians, many_mu)",
        MINIMA,
    ),
    Mutant(ACCOUNTANTS, "count += groups.pop()[1]", "groups.pop()", ACCOUNTING),
    Mutant(
        ACCOUNTANTS,
        "counts.get(event.epsilon, 0) + event.count",
        "event.count",
        ACCOUNTING,
    ),
    Mutant(
        ACCOUNTANTS, "rho += count * epsilon0**2 / 8", "rho += count * epsilon0**2 / 16", TUNING
    ),
    Mutant(ACCOUNTANTS, "rho += mu**2 / 2", "rho += mu**2 / 4", TUNING),
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
        "return (n_outputs - 1) * math.log1p(2 * ratio / n_outputs)",
        "return 0.0",
        ("tests/privacy/test_accounting.py::test_the_determinant_of_several_classes_is_paid_for",),
    ),
    Mutant(
        OBJECTIVE,
        'return [_joint(2, mu, event.ratio, ("log_cosh",))]',
        'return [_joint(1, mu, event.ratio, ("log_cosh",))]',
        PERTURBED,
    ),
    Mutant(
        OBJECTIVE,
        "return [_flat(1, mu, flat), _flat(2, mu / 2, flat)]",
        "return [_flat(1, mu / 2, flat)]",
        PERTURBED,
    ),
    Mutant(CALIBRATE, "        if found <= delta:", "        if found <= 2 * delta:", CALIBRATION),
    Mutant(
        CALIBRATE,
        "    return PureMinima(each, request.count, left / reach,",
        "    return PureMinima(each, request.count, left,",
        PERTURBED,
    ),
    Mutant(
        REPEAT,
        "        if repeated_epsilon(middle, delta, expected_trials, distribution) <= epsilon:",
        "        if repeated_epsilon(middle, delta, expected_trials, distribution) <= 1.1 * epsilon:",
        TUNING,
    ),
    Mutant(REPEAT, "math.sqrt(8 * part / count)", "math.sqrt(8 * part)", TUNING),
    Mutant(
        REPEAT, "math.sqrt(2 * share / schedule.total_share * rho)", "math.sqrt(2 * rho)", TUNING
    ),
]
