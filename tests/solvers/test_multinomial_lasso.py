"""Private LASSO for many classes: one ball or one per class."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsedp.data.sums.losses import gradient_sum, mean_loss
from sparsedp.losses import Multinomial
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.solvers import FrankWolfe, MultinomialLasso, Sparsifier
from tests.cases import LOSSES, N_CLASSES, public_facts, random_table
from tests.privacy.test_every_solver import neighboring_pairs, recorded_fit, replayed_fit
from tests.solved import recorded
from tests.solvers.test_screening import facts, generated, private_weights

LOSS = LOSSES["multinomial"]


def optimum_over_balls(data, radius):
    """Least loss with one L1 ball per class, weights split into positive and negative parts."""
    shape = (7, N_CLASSES)

    def value_and_gradient(parts):
        positive, negative = parts.reshape(2, *shape)
        gradient = gradient_sum(data, LOSS, positive - negative, np.inf) / data.n_records
        value = mean_loss(data, LOSS, positive - negative)
        return value, np.concatenate([gradient.ravel(), -gradient.ravel()])

    def room(parts):
        return radius - parts.reshape(2, *shape).sum(axis=(0, 1))

    jacobian = -np.tile(np.eye(N_CLASSES), (2 * 7, 1)).T
    found = minimize(
        value_and_gradient,
        np.full(2 * 7 * N_CLASSES, radius / 28),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * (2 * 7 * N_CLASSES),
        constraints={"type": "ineq", "fun": room, "jac": lambda parts: jacobian},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return found.fun


def test_without_noise_it_reaches_the_optimum_with_one_ball_per_class():
    data = random_table("multinomial", 120, 3).dataset()
    public = public_facts("multinomial", "add_remove", 0)
    solver = MultinomialLasso(radius=0.6, n_steps=800, balls="per_class")
    w = solver.solve(data, LOSS, NoiselessCurator(public)).weights
    assert (np.abs(w).sum(axis=0) <= 0.6 + 1e-9).all()
    assert mean_loss(data, LOSS, w) == pytest.approx(optimum_over_balls(data, 0.6), abs=3e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_one_ball_is_frank_wolfe(loss):
    data = random_table(loss, 60, 3).dataset()
    public = public_facts(loss, "add_remove", 0)
    weights = []
    for solver in (MultinomialLasso(n_steps=7), FrankWolfe(n_steps=7)):
        assert solver.schedule(public) == FrankWolfe(n_steps=7).schedule(public)
        weights.append(private_weights(solver, data, LOSSES[loss], public, 1, 1.0))
    np.testing.assert_array_equal(*weights)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_with_one_output_one_ball_per_class_is_frank_wolfe(loss):
    data = random_table(loss, 60, 3).dataset()
    public = public_facts(loss, "add_remove", 0)
    solvers = (MultinomialLasso(n_steps=7, balls="per_class"), FrankWolfe(n_steps=7))
    door = NoiselessCurator(public)
    weights = [solver.solve(data, LOSSES[loss], door).weights for solver in solvers]
    np.testing.assert_allclose(*weights, rtol=1e-12)
    events = [calibrate(solver.schedule(public), 1.0, 1e-6) for solver in solvers]
    assert events[0] == events[1]


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("balls", ["joint", "per_class"])
def test_it_finds_the_features(balls, neighbors):
    """Seeds 0 and 1; multinomial_lasso.md has the recovery over more seeds."""
    for seed in (0, 1):
        data, loss, true = generated("multinomial", 4000, 40, 4, seed)
        public = facts(data, loss, int(true.sum()), neighbors)
        solver = Sparsifier(MultinomialLasso(n_steps=60, balls=balls))
        w = private_weights(solver, data, loss, public, seed, 8.0)
        used = (w[:40] != 0).any(axis=1)
        assert (used & true).sum() >= 0.75 * true.sum()


def test_published_makes_one_selection_per_step_and_column():
    public = public_facts("multinomial", "replace_one", 50)
    solver = MultinomialLasso(n_steps=3, calibration="published")
    data = random_table("multinomial", 50, 3).dataset()
    model, _, budget = recorded(solver, data, LOSS, public, epsilon=1.0, delta=1e-4, seed=1)
    w = model.weights
    assert budget.events[0].count == 3 * 7
    assert np.abs(w).sum() <= 7 * solver.radius + 1e-9


def test_impossible_settings():
    for settings, message in (
        ({"radius": 0}, "radius"),
        ({"n_steps": 0}, "n_steps"),
        ({"clip": 0}, "clip"),
        ({"balls": "round"}, "balls"),
        ({"calibration": "lucky"}, "calibration"),
    ):
        with pytest.raises(ValueError, match=message):
            MultinomialLasso(**settings)
    with pytest.raises(ValueError, match="FrankWolfe"):
        MultinomialLasso(calibration="published").schedule(
            public_facts("logistic", "add_remove", 0)
        )


def most_groups(neighbors):
    """Largest number of groups that a step's selections need, if none may move by more than one."""
    solver, most = MultinomialLasso(n_steps=3, balls="per_class"), 0
    for seed, epsilon in ((11, 1.0), (12, 300.0)):
        for one, other in neighboring_pairs("multinomial", neighbors, seed):
            _, asked = recorded_fit(solver, one.dataset(), "multinomial", neighbors, seed, epsilon)
            _, again = replayed_fit(solver, other.dataset(), "multinomial", neighbors, asked)
            moved = [
                query.movement(replayed) / query.declared.under(neighbors)
                for query, replayed in zip(asked, again, strict=True)
            ]
            for step in np.reshape(moved, (-1, N_CLASSES)):
                groups: list[float] = []
                for length in np.sort(step)[::-1]:
                    room = [i for i, full in enumerate(groups) if full + length <= 1 + 1e-9]
                    if room:
                        groups[room[0]] += length
                    else:
                        groups.append(length)
                most = max(most, len(groups))
    return most


@pytest.mark.parametrize(("neighbors", "paid"), [("add_remove", 2), ("replace_one", 3)])
def test_selections_of_a_step_are_worth_those_that_are_paid_for(neighbors, paid):
    public = public_facts("multinomial", neighbors, 25)
    request = MultinomialLasso(n_steps=3, balls="per_class").schedule(public).requests[0]
    assert (request.count, request.drawn) == (3 * paid, 3 * N_CLASSES)
    assert 1 < most_groups(neighbors) <= paid


def test_clipping_entry_by_entry_would_not_do(monkeypatch):
    def entrywise(self, residual, bound):
        return np.clip(residual, -bound, bound)

    monkeypatch.setattr(Multinomial, "clipped", entrywise)
    assert most_groups("add_remove") > 2
