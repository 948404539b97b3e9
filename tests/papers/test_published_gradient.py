"""The published noise of Wang and Gu (2019) and of Hoseinpour et al. (2023), and what it proves."""

import math

import numpy as np
import pytest

from sparsedp import SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import hoseinpour, wang_gu
from sparsedp.losses import Logistic
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import Budget, PublicFacts, UnprovenGuarantee
from sparsedp.solvers import IGHT, NoisyGD
from tests.solved import recorded

N, D = 200, 300


def facts(neighbors, n=N, d=D):
    return PublicFacts(
        n_features=d,
        n_nonzero=5,
        neighbors=neighbors,
        n_records=n if neighbors == "replace_one" else None,
    )


def records(n=N, d=D, seed=3):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n, d))
    return Dataset.clip(X, random.integers(0, 2, n), Bounds(-1, 1))


def test_ight_noise_is_that_of_remark_5_3():
    for epsilon, delta, n_steps in ((1.0, 1e-4, 10), (10.0, 0.01, 40)):
        solver = IGHT(n_steps=n_steps, calibration="published")
        event = Budget(
            solver.schedule(facts("replace_one")),
            epsilon=epsilon,
            delta=delta,
            neighbors="replace_one",
        ).events[0]
        rho = n_steps / event.multiplier**2  # sigma^2 = T G^2 / (n^2 rho)
        assert rho + 2 * math.sqrt(rho * math.log(1 / delta)) == pytest.approx(epsilon)
        assert event.count == n_steps


@pytest.mark.parametrize(
    ("solver", "stated"),
    [
        (IGHT(n_nonzero=5, n_steps=40, calibration="published"), math.sqrt(D + 1)),
        (NoisyGD(n_steps=40, clip=0.5, calibration="published"), 2 * 0.5 / N),
    ],
    ids=["ight", "noisy_gd"],
)
def test_the_noise_that_is_drawn_is_the_published_one(solver, stated):
    """Seed 7; the standard deviation of 12,040 draws is off by 6 of its own with chance 2e-9."""
    epsilon, delta = 2.0, 1e-3
    how = {"epsilon": epsilon, "delta": delta, "seed": 7}
    _, queries, _ = recorded(solver, records(), Logistic(), facts("replace_one"), **how)
    noise = np.concatenate([np.ravel(query.answer - query.values) for query in queries])
    if isinstance(solver, IGHT):
        log = math.log(1 / delta)
        multiplier = math.sqrt(40) / (math.sqrt(log + epsilon) - math.sqrt(log))
    else:
        multiplier = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert noise.size == 40 * (D + 1)
    assert np.std(noise) == pytest.approx(multiplier * stated, rel=6 / math.sqrt(2 * noise.size))


def test_what_ight_noise_proves():
    solver = IGHT(n_steps=30, calibration="published")
    for epsilon, delta, proven in (
        (1.0, 1e-4, 1.026),
        (1.0, 1e-6, 1.127),
        (10.0, 0.01, 12.66),
    ):
        settings = {"epsilon": epsilon, "delta": delta}
        budget = Budget(solver.schedule(facts("replace_one")), neighbors="replace_one", **settings)
        assert budget.proven_epsilon() == pytest.approx(proven, abs=0.01)
        budget = Budget(solver.schedule(facts("add_remove")), neighbors="add_remove", **settings)
        assert budget.proven_epsilon() == math.inf


def test_a_replaced_record_moves_ight_by_twice_the_stated_number():
    """After a step that makes one weight large, x and x' agree elsewhere and both are mistaken."""
    answers = [np.zeros(D + 1), np.zeros(D + 1)]
    answers[0][0] = -1e6
    solver = IGHT(n_nonzero=D, n_steps=2, calibration="published")
    asked = []
    for first, label in ((1.0, 0), (-1.0, 1)):
        X = np.random.default_rng(1).uniform(-1, 1, (N, D))
        X[0] = np.append(first, np.ones(D - 1))
        y = np.append(label, np.random.default_rng(2).integers(0, 2, N - 1))
        script = ScriptedCurator(facts("replace_one"), Scripted(list(answers)))
        curator, queries = recording.recorded(script)
        solver.solve(Dataset.clip(X, y, Bounds(-1, 1)), Logistic(), curator)
        asked.append(queries)
    moved = asked[0][1].movement(asked[1][1]) / math.sqrt(D + 1)
    assert 1.99 < moved <= 2 + 1e-9


def test_clipping_the_mean_leaves_one_record_unbounded():
    """All contributions but one cancel: that one moves the mean by n times what is stated."""
    n, clip = 401, 0.001
    X = np.vstack([np.full(D, 1.0), np.tile([[0.7], [0.7]], ((n - 1) // 2, D))])
    pairs = np.tile([0, 1], (n - 1) // 2)
    public = facts("replace_one", n)
    solver = NoisyGD(n_steps=1, clip=clip, calibration="published")
    asked = []
    for label in (0, 1):
        data = Dataset.clip(X, np.append(label, pairs), Bounds(-1, 1))
        how = {"epsilon": 1.0, "delta": 1e-5, "seed": 1}
        _, queries, _ = recorded(solver, data, Logistic(), public, **how)
        asked.append(queries[0])
        assert np.linalg.norm(asked[-1].values) <= clip * (1 + 1e-12)
    assert asked[0].movement(asked[1]) / (2 * clip / n) == pytest.approx(n)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_fits_say_what_is_not_proven(neighbors):
    made = hoseinpour(seed=1).private
    settings = {"epsilon": 5.0, "delta": 1e-4, "bounds": made.bounds, "neighbors": neighbors}
    solver = NoisyGD(n_steps=50, step_size=1.0, calibration="published")
    model = SparseLogisticRegression(solver=solver, random_state=1, **settings)
    with pytest.warns(UnprovenGuarantee, match="epsilon=inf"):
        model.fit(made.X, made.y)
    assert model.privacy_.proven_epsilon == math.inf
    assert any("clip the mean gradient" in note for note in model.privacy_.notes)
    assert model.score(made.X, made.y) > 0.7

    made = wang_gu(n=300, d=20, n_nonzero=3, seed=1)
    settings |= {"bounds": made.bounds, "target_bounds": (-3, 3), "n_nonzero": 3}
    solver = IGHT(n_steps=20, step_size=0.2, calibration="published")
    model = SparseLinearRegression(solver=solver, random_state=1, **settings)
    with pytest.warns(UnprovenGuarantee):
        model.fit(made.X, made.y)
    assert np.count_nonzero(model.coef_) == 3
    assert (model.privacy_.proven_epsilon == math.inf) == (neighbors == "add_remove")
    assert any("half the change" in note for note in model.privacy_.notes)
