"""ADMM without noise against other optimizers; its thresholds, its cost, its refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import Lasso, LogisticRegression

from sparsedp import Bounds, SparseLinearRegression
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import sparse_glm
from sparsedp.losses import Logistic, Squared
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.solvers import ADMM
from sparsedp.solvers.objective.admm import half_threshold, soft_threshold
from tests.cases import LOSSES, public_facts, random_table
from tests.solved import solved


def lasso_optimum(data, loss, penalty):
    """Least mean loss plus penalty times the L1 norm without the intercept, by scikit-learn."""
    X, y, n = data.columns(np.arange(6)), data.target, data.n_records
    if loss == "squared":
        peer = Lasso(alpha=penalty, tol=1e-10, max_iter=10**5).fit(X, y)
        return np.append(peer.coef_, peer.intercept_)
    peer = LogisticRegression(
        l1_ratio=1.0, C=1 / (n * penalty), solver="saga", tol=1e-9, max_iter=10**5
    ).fit(X, y)
    return np.append(peer.coef_.ravel(), peer.intercept_)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_without_noise_it_is_the_lasso(loss):
    data = random_table(loss, 200, 3).dataset()
    public = public_facts(loss, "add_remove", 0)
    solver = ADMM(n_steps=4000, threshold=0.1, coupling=0.2)
    w = solver.solve(data, LOSSES[loss], NoiselessCurator(public)).weights
    np.testing.assert_allclose(w, lasso_optimum(data, loss, 0.02), atol=2e-4)
    assert 0 < np.count_nonzero(w[:-1]) < 6


def test_without_noise_the_pure_form_is_the_lasso_too():
    data = random_table("logistic", 200, 3).dataset()
    public = public_facts("logistic", "add_remove", 0)
    strength = data.norm_bound**2 / 4
    solver = ADMM(n_steps=400, threshold=200 * 0.02 / strength, noise="pure")
    w = solver.solve(data, LOSSES["logistic"], NoiselessCurator(public)).weights
    np.testing.assert_allclose(w, lasso_optimum(data, "logistic", 0.02), atol=2e-4)


class TestThresholds:
    @pytest.mark.parametrize("v", [-3.0, -1.01, 0.3, 1.02, 1.6, 5.0, 400.0])
    def test_half_threshold_minimizes(self, v):
        threshold = 1.0
        penalty = (threshold / 1.5) ** 1.5

        def value(z):
            return penalty * math.sqrt(abs(z)) + (z - v) ** 2 / 2

        inner = minimize_scalar(
            value, bounds=sorted((0.1 * v, 1.2 * v)), method="bounded", options={"xatol": 1e-10}
        ).x
        best = inner if value(inner) < value(0.0) else 0.0
        assert half_threshold(np.array([v]), threshold)[0] == pytest.approx(best, abs=1e-6)

    def test_both_are_zero_up_to_the_threshold(self):
        v = np.array([-0.499, 0.0, 0.2, 0.5])
        assert not soft_threshold(v, 0.5).any()
        assert not half_threshold(v, 0.5).any()
        np.testing.assert_array_equal(half_threshold(np.array([-2.0, 3.0]), 0.0), [-2.0, 3.0])

    def test_the_root_shrinks_large_weights_less(self):
        v = np.array([4.0])
        assert soft_threshold(v, 0.5) < half_threshold(v, 0.5) < v


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("logistic", {}),
        ("linear", {}),
        ("logistic", {"penalty": "l1/2"}),
        ("logistic", {"noise": "pure", "n_steps": 5}),
    ],
)
def test_finds_the_features(task, settings):
    """Epsilon 8, 20,000 records, 200 features: ten heaviest of the model (seeds 1 and 2)."""
    found = []
    for seed in (1,) if settings.get("noise") else (1, 2):
        made = sparse_glm(20_000, 200, 10, task, seed=seed)
        data = Dataset.clip(made.X, made.y, made.bounds, target_bounds=made.target_bounds)
        public = PublicFacts(n_features=200, n_nonzero=10)
        solver = ADMM(**settings)
        loss = Logistic() if task == "logistic" else Squared()
        w = solved(solver, data, loss, public, epsilon=8.0, seed=seed).weights[:-1]
        heaviest = np.argsort(-np.abs(w))[:10]
        found.append(np.count_nonzero(made.weights[heaviest]))
        if solver.noise == "gaussian":
            assert np.count_nonzero(w) < 30  # exact zeros elsewhere
    assert np.mean(found) >= 9


def test_pure_noise_by_default_beats_the_mean_on_few_records():
    """Seeds 0 to 4 repeat the noise; R2 of 20 seeds: .81 to .96, with 40 steps -8 to -.7."""
    random = np.random.default_rng(0)
    X = random.uniform(0, 1, (200, 12))
    y = 40 + 40 * X[:, 0] - 30 * X[:, 1] + random.normal(0, 3, 200)
    for seed in range(5):
        model = SparseLinearRegression(
            epsilon=3.0,
            delta=1e-5,
            bounds=Bounds(0, 1),
            target_bounds=(0, 100),
            solver=ADMM(noise="pure"),
            random_state=seed,
        )
        assert model.fit(X, y).score(X, y) > 0.5


def test_public_start():
    start = np.array([1.0, -2.0, 0.5, 0.0, 0.0, 0.3, -1.0])
    data = random_table("logistic", 50, 3).dataset()
    public = PublicFacts(n_features=6, n_nonzero=3, initial_weights=start)
    solver = ADMM(n_steps=1, threshold=0.0, step_size=1e-6)
    w = solver.solve(data, Logistic(), NoiselessCurator(public)).weights
    np.testing.assert_allclose(w, start, atol=1e-4)


def test_cost_of_the_published_steps():
    public = public_facts("logistic", "replace_one", 40)
    solver = ADMM(noise="pure", calibration="published", gamma=3.0, n_steps=8)
    budget = Budget(solver.schedule(public), epsilon=2.0, delta=1e-6, neighbors="replace_one")
    event = budget.events[0]
    strength = (8 * 3.0 + 2.8) / (4 * 0.25)  # c n for epsilon1 = 1/4
    assert event.ratio == pytest.approx(0.25 / strength)
    assert event.rate == pytest.approx(3.0 / strength)
    # What the steps cost with a record replaced: below the claim.
    exact = 2 * 3.0 / strength + math.log1p(0.25 / strength)
    assert event.epsilon == pytest.approx(exact + event.rounding_epsilon)
    assert budget.proven_epsilon() <= 2.0
    data = random_table("logistic", 40, 3).dataset()
    model = solved(solver, data, LOSSES["logistic"], public, epsilon=2.0, seed=1)
    assert np.isfinite(model.weights).all()
    assert solver.caveats
    with pytest.raises(ValueError, match="more steps"):
        Budget(solver.schedule(public), epsilon=20.0, delta=1e-6, neighbors="replace_one")
    with pytest.raises(ValueError, match="two classes"):
        solver.schedule(public_facts("multinomial", "replace_one", 40))


def test_impossible_settings():
    for settings, message in (
        ({"penalty": "l0"}, "penalty"),
        ({"noise": "little"}, "noise"),
        ({"n_steps": 0}, "n_steps"),
        ({"threshold": -0.1}, "threshold"),
        ({"clip": 0.0}, "clip"),
        ({"step_size": 0.0}, "step_size"),
        ({"coupling": math.inf}, "coupling"),
        ({"gamma": -1.0}, "gamma"),
        ({"row_norm": 0.0}, "row_norm"),
        ({"calibration": "published"}, "pure"),
    ):
        with pytest.raises(ValueError, match=message):
            ADMM(**settings)
