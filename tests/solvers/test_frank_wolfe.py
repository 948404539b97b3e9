"""Frank-Wolfe without noise against other optimizers; the door's selection with it."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.data.sums.losses import gradient_sum, mean_loss
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import Budget
from sparsedp.sets import L1Ball
from sparsedp.solvers import FrankWolfe, Sparsifier
from tests.cases import LOSSES, public_facts, random_table
from tests.solved import solved


def constrained_optimum(data, loss, radius):
    """Least loss over the L1 ball by splitting weights into positive and negative parts."""
    shape = public_facts(loss, "add_remove", 0).weights_shape
    size = int(np.prod(shape))

    def value_and_gradient(parts):
        w = (parts[:size] - parts[size:]).reshape(shape)
        gradient = gradient_sum(data, LOSSES[loss], w, np.inf).ravel() / data.n_records
        return mean_loss(data, LOSSES[loss], w), np.concatenate([gradient, -gradient])

    found = minimize(
        value_and_gradient,
        np.full(2 * size, radius / (4 * size)),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (2 * size),
        constraints={
            "type": "ineq",
            "fun": lambda p: radius - p.sum(),
            "jac": lambda p: -np.ones_like(p),
        },
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return found.fun


@pytest.mark.parametrize("loss", LOSSES)
def test_without_noise_it_reaches_the_constrained_optimum(loss):
    data = random_table(loss, 120, 3).dataset()
    solver = FrankWolfe(radius=1.5, n_steps=4000)
    w = solver.solve(data, LOSSES[loss], NoiselessCurator(public_facts(loss, "add_remove", 0)))
    value = mean_loss(data, LOSSES[loss], w.weights)
    assert value == pytest.approx(constrained_optimum(data, loss, 1.5), abs=2e-4)
    gap = L1Ball(1.5).gap(w.weights, gradient_sum(data, LOSSES[loss], w.weights, np.inf))
    assert -1e-9 <= gap / data.n_records < 5e-3
    assert np.abs(w.weights).sum() <= 1.5 + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
def test_huge_budgets_come_close_to_no_noise(loss):
    data = random_table(loss, 3000, 3).dataset()
    public = public_facts(loss, "add_remove", 0)
    solver = FrankWolfe(radius=1.5, n_steps=200, clip=float("inf"))
    noisy = solved(solver, data, LOSSES[loss], public, epsilon=2000.0, seed=1)
    exact = solver.solve(data, LOSSES[loss], NoiselessCurator(public))
    values = [mean_loss(data, LOSSES[loss], model.weights) for model in (noisy, exact)]
    assert values[0] == pytest.approx(values[1], abs=0.01)


def test_impossible_settings():
    for settings, message in (
        ({"radius": 0}, "radius"),
        ({"radius": float("inf")}, "radius"),
        ({"n_steps": 0}, "n_steps"),
        ({"n_steps": 2.5}, "n_steps"),
        ({"clip": 0}, "clip"),
        ({"calibration": "lucky"}, "calibration"),
    ):
        with pytest.raises(ValueError, match=message):
            FrankWolfe(**settings)
    with pytest.raises(ValueError, match="two classes"):
        FrankWolfe(calibration="published").schedule(public_facts("multinomial", "add_remove", 0))


def test_sparsifier_keeps_what_it_says():
    data = random_table("logistic", 500, 3).dataset()
    public = public_facts("logistic", "add_remove", 0)
    inner = FrankWolfe(n_steps=60)
    dense = inner.solve(data, LOSSES["logistic"], NoiselessCurator(public)).weights
    for kept in (1, 2, 4):
        solver = Sparsifier(inner, n_nonzero=kept)
        w = solver.solve(data, LOSSES["logistic"], NoiselessCurator(public)).weights
        assert np.count_nonzero(w[:-1]) == min(kept, np.count_nonzero(dense[:-1]))
        assert w[-1] == dense[-1]
        np.testing.assert_array_equal(w[w != 0], dense[w != 0])


def test_sparsifier_settings():
    public = public_facts("logistic", "add_remove", 0)
    for settings, message in (
        ({"n_nonzero": 0}, "n_nonzero"),
        ({"n_nonzero": "many"}, "count"),
        ({"count_fraction": 1.0}, "count_fraction"),
        ({"precision": 0}, "precision"),
        ({"calibration": "lucky"}, "calibration"),
    ):
        with pytest.raises(ValueError, match=message):
            Sparsifier(**settings)
    with pytest.raises(ValueError, match="more than the 6 features"):
        Sparsifier(n_nonzero=7).schedule(public)
    with pytest.raises(ValueError, match="same calibration"):
        Sparsifier(n_nonzero="count", calibration="published").schedule(public)


def test_count_stays_in_its_range_and_costs_its_fraction():
    data = random_table("logistic", 200, 3).dataset()
    public = public_facts("logistic", "add_remove", 0)
    solver = Sparsifier(
        FrankWolfe(n_steps=20), n_nonzero="count", count_solver=FrankWolfe(n_steps=50)
    )
    budget = Budget(solver.schedule(public), epsilon=2.0, delta=1e-6, neighbors="add_remove")
    assert budget.events[0].epsilon == pytest.approx(0.1)
    used = set()
    for seed in range(20):
        model = solved(solver, data, LOSSES["logistic"], public, epsilon=2.0, seed=seed)
        used.add(np.count_nonzero(model.weights[:-1]))
    assert used <= {3, 4}  # ceil(sqrt 6) to floor(2 sqrt 6)
    assert len(used) == 2


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "bounds",
    [Bounds(0, 1), Bounds.symmetric(2.0), Bounds(np.linspace(-2, 0, 8), np.linspace(1, 3, 8))],
)
@pytest.mark.parametrize("calibration", ["sound", "published"])
def test_records_of_every_layout_and_bound_are_fitted(layout, intercept, bounds, calibration):
    random = np.random.default_rng(3)
    X = random.uniform(0, 1, (400, 8)) * (random.random((400, 8)) < 0.5)
    y = (X[:, 2] > 0.2).astype(int)
    solver = FrankWolfe(radius=20, n_steps=50, calibration=calibration)
    model = SparseLogisticRegression(
        epsilon=50,
        delta=1e-3,
        bounds=bounds,
        fit_intercept=intercept,
        solver=solver,
        random_state=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seeded, and published noise
        model.fit(layout(X), y)
    # Seed 1. The feature that decides everything is far ahead of the noise.
    assert np.argmax(np.abs(model.coef_[0])) == 2
