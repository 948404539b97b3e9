"""Screening: what it keeps, what it costs, and which settings it refuses."""

import numpy as np
import pytest

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.synthetic import khanna_screening, sparse_glm
from sparsedp.privacy import PublicFacts, calibrate
from sparsedp.solvers import FrankWolfe, Screened, Sparsifier
from tests.cases import public_facts


def test_kept_features_match_those_that_matter():
    # The benchmark of Khanna et al.; by chance 0.12 of the used features would matter.
    for task, fit in (("linear", SparseLinearRegression), ("logistic", SparseLogisticRegression)):
        made = khanna_screening(task=task, seed=0)
        target = {"target_bounds": (-4.0, 4.0)} if task == "linear" else {}
        model = fit(
            epsilon=2.5,
            delta=1 / 6000,
            bounds=Bounds(-1, 1),
            n_nonzero=70,
            solver=Screened(FrankWolfe(radius=3, n_steps=60), n_keep=70),
            random_state=1,
            **target,
        ).fit(made.X, made.y)
        used = np.flatnonzero(np.ravel(model.coef_))
        assert 10 <= len(used) <= 70
        assert np.isin(used, np.flatnonzero(made.weights)).mean() > 0.7


@pytest.mark.parametrize("method", ["selection", "gradient"])
@pytest.mark.parametrize("task", ["linear", "logistic", "multinomial"])
def test_every_loss_and_both_methods(method, task):
    made = sparse_glm(n=20_000, d=60, n_nonzero=4, task=task, seed=2)
    bounds = Bounds.symmetric(float(np.abs(made.X).max()))
    fit = SparseLinearRegression if task == "linear" else SparseLogisticRegression
    target = {"target_bounds": (float(made.y.min()), float(made.y.max()))}
    model = fit(
        epsilon=4.0,
        delta=1e-6,
        bounds=bounds,
        n_nonzero=4,
        solver=Screened(FrankWolfe(n_steps=100), n_keep=16, method=method),
        random_state=0,
        **(target if task == "linear" else {}),
    ).fit(made.X, made.y)
    used = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0))
    assert len(used) <= 16
    true = np.flatnonzero(np.reshape(made.weights, (60, -1)).any(axis=1))
    assert np.isin(true, used).mean() > 0.8


def test_method_is_chosen_by_public_numbers():
    few = Screened(n_keep=5).schedule(PublicFacts(n_features=10_000, n_nonzero=5))
    many = Screened(n_keep=70).schedule(PublicFacts(n_features=600, n_nonzero=70))
    assert type(few.requests[1]).__name__ == "Select"
    assert type(many.requests[1]).__name__ == "Perturb"


def test_shares_are_of_the_squared_budget():
    public = PublicFacts(n_features=50, n_nonzero=5)
    solver = Screened(FrankWolfe(n_steps=30), n_keep=10, share=0.25, method="selection")
    scale, look, vertex = calibrate(solver.schedule(public), 1.0, 1e-6)
    screening = scale.mu**2 + look.count * look.epsilon0**2 / 4
    fitting = vertex.count * vertex.epsilon0**2 / 4
    assert screening / (screening + fitting) == pytest.approx(0.25)


def test_impossible_settings():
    for settings, message in (
        ({"n_keep": 0}, "n_keep"),
        ({"share": 1.0}, "share"),
        ({"method": "luck"}, "method"),
    ):
        with pytest.raises(ValueError, match=message):
            Screened(**settings)
    with pytest.raises(ValueError, match="more than the 6 features"):
        Screened(n_keep=7).schedule(public_facts("logistic", "add_remove", 0))
    with pytest.raises(ValueError, match="sound"):
        Screened(FrankWolfe(calibration="published"), n_keep=2).schedule(
            public_facts("logistic", "add_remove", 0)
        )
    nested = Sparsifier(Screened(FrankWolfe(n_steps=4), n_keep=4), n_nonzero=2)
    assert len(nested.schedule(public_facts("logistic", "add_remove", 0)).requests) == 3
