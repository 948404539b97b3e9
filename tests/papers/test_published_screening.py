"""The published screening and multinomial calibrations print what the papers print."""

import math

import numpy as np
import pytest

from sparsedp import SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import khanna_screening
from sparsedp.losses import Logistic, Squared
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import Budget, PublicFacts, UnprovenGuarantee
from sparsedp.solvers import MultinomialLasso, ScreenedFrankWolfe
from sparsedp.solvers.frank_wolfe.screening_rule import ScreeningRule
from tests.cases import LOSSES, public_facts, random_table
from tests.solved import solved


def sigmoid(u):
    return 1 / (1 + math.exp(-u))


def printed_sensitivity(loss, n, d, radius):
    """Equations (2) and (3) of Khanna et al."""
    root = math.sqrt(d)
    if isinstance(loss, Squared):
        third = (root + radius * root) / n * math.sqrt((4 * radius**2 / n) / (1 / n))
        return (2 * radius + 2 * radius**2) * root / n + third
    s = sigmoid(radius)
    third = (root + radius * root) / (4 * n) * math.sqrt((4 * radius * s / n) / (s * (1 - s) / n))
    return (2 * s + 2 * radius * s) * root / n + third


@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_the_published_sensitivity_is_the_printed_one(loss):
    for n, d, radius in ((3000, 600, 5.0), (200, 10, 0.7)):
        rule = ScreeningRule.of(loss, radius, 1.0)
        ours = math.sqrt(d) * rule.published_sensitivity(n)
        assert ours == pytest.approx(printed_sensitivity(loss, n, d, radius))


def test_the_printed_sensitivity_is_far_from_the_true_one():
    # Where targets reach the radius, as in the paper: n = 3000, radius 5.
    rule = ScreeningRule.of(Squared(), 1.0, 1 / 5)  # the same in units of five
    assert 25 * rule.published_sensitivity(3000) == pytest.approx(0.040, abs=5e-4)
    assert 25 * rule.sensitivity(3000).replace_one == pytest.approx(1.250, abs=5e-4)


def screening_facts(n=3000, d=600):
    return PublicFacts(
        n_features=d, n_nonzero=70, intercept=False, neighbors="replace_one", n_records=n
    )


@pytest.mark.parametrize(("screen_every", "sigma"), [("end", 15.2), (1, 795.0)])
def test_the_published_noise_is_that_of_algorithm_1(screen_every, sigma):
    """At epsilon 2.5 + 2.5 and delta 1/6000 + 1/6000, noise over sensitivity."""
    solver = ScreenedFrankWolfe(
        radius=5.0, n_steps=1000, screen_every=screen_every, calibration="published"
    )
    budget = Budget(
        solver.schedule(screening_facts()), epsilon=5.0, delta=1 / 3000, neighbors="replace_one"
    )
    steps, screens = budget.events
    assert steps.scale == pytest.approx(math.sqrt(8 * 1000 * math.log(6000)) / 2.5)
    assert screens.multiplier == pytest.approx(sigma, rel=5e-3)
    assert screens.count == solver.n_screens
    assert budget.proven_epsilon() == math.inf


def test_published_screening_draws_nearly_at_random():
    """Figure 1 of Khanna et al.: true and false features are screened alike.

    One screening at the end, seeds 0 to 4: per run 70 and 530 coins, over all runs a difference of
    six standard deviations (false alarms below 1e-8) is allowed, besides a true one of 0.1.
    """
    made = khanna_screening(seed=1)
    data = Dataset.clip(
        made.X, made.y, made.bounds, target_bounds=made.target_bounds, intercept=False
    )
    true = made.weights != 0
    solver = ScreenedFrankWolfe(radius=5 / 70, n_steps=20, calibration="published")
    public = screening_facts()
    screened = []
    for seed in range(5):
        how = {"epsilon": 5.0, "delta": 1 / 3000, "seed": seed}
        screened.append(solved(solver, data, Squared(), public, **how).weights == 0)
    share_true = np.mean([s[true].mean() for s in screened])
    share_false = np.mean([s[~true].mean() for s in screened])
    assert 0.2 < share_false < 0.8
    assert abs(share_true - share_false) < 0.1 + 6 * math.sqrt(0.25 / 350 + 0.25 / 2650)


def test_the_starting_point_is_dense_and_public():
    data = random_table("logistic", 40, 1).dataset()
    public = public_facts("logistic", "replace_one", 40)
    solver = ScreenedFrankWolfe(radius=2.0, n_steps=4, calibration="published")
    other = random_table("logistic", 40, 2).dataset()
    for table in (data, other):
        w = solver.solve(table, Logistic(), NoiselessCurator(public)).weights
        assert np.abs(w).sum() <= 2.0 + 1e-9
    sound = ScreenedFrankWolfe(radius=2.0, n_steps=1)
    w = sound.solve(data, Logistic(), NoiselessCurator(public)).weights
    assert np.count_nonzero(w) <= 1


def test_what_the_published_calibration_refuses():
    solver = ScreenedFrankWolfe(calibration="published")
    with pytest.raises(ValueError, match="replace_one"):
        solver.schedule(public_facts("logistic", "add_remove", 0))
    with pytest.raises(ValueError, match="two classes"):
        solver.schedule(public_facts("multinomial", "replace_one", 10))


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_the_record_says_that_nothing_is_proven(task):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (60, 5))
    settings = {
        "epsilon": 5.0,
        "delta": 1e-3,
        "bounds": 1.0,
        "neighbors": "replace_one",
        "solver": ScreenedFrankWolfe(n_steps=5, calibration="published"),
        "random_state": 1,
    }
    if task == "linear":
        model, y = SparseLinearRegression(target_bounds=(-3, 3), **settings), X[:, 0]
    else:
        model, y = SparseLogisticRegression(**settings), (X[:, 0] > 0).astype(int)
    with pytest.warns(UnprovenGuarantee):
        model.fit(X, y)
    assert model.privacy_.proven_epsilon == math.inf
    assert any("product of sensitivities" in note for note in model.privacy_.notes)


def test_published_multinomial_noise_is_that_of_algorithm_3():
    public = public_facts("multinomial", "replace_one", 50)
    solver = MultinomialLasso(n_steps=30, calibration="published")
    budget = Budget(solver.schedule(public), epsilon=1.0, delta=1e-4, neighbors="replace_one")
    (event,) = budget.events
    K = LOSSES["multinomial"].n_outputs
    # In units of L = 2, as the paper has lambda L sqrt(8 T ln(K / delta)) / (n epsilon / K).
    assert event.scale == pytest.approx(math.sqrt(8 * 30 * math.log(K / 1e-4)) * K)
    # Replacing a record moves an entry by 2, the range of both signs by 4: noise 2 * scale.
    assert event.epsilon0 == pytest.approx(4 / (2 * event.scale))


def test_published_multinomial_costs_more_than_it_says_with_many_features():
    def proven(n_features, neighbors):
        public = PublicFacts(
            n_features=n_features, n_nonzero=5, n_outputs=3, neighbors=neighbors, n_records=50
        )
        solver = MultinomialLasso(n_steps=10, calibration="published")
        return Budget(
            solver.schedule(public), epsilon=1.0, delta=1e-4, neighbors=neighbors
        ).proven_epsilon()

    assert proven(5, "replace_one") < 1
    assert proven(2000, "replace_one") > 2
    assert proven(2000, "add_remove") < proven(2000, "replace_one")
