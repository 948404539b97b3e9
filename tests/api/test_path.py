"""The free path over the number of features."""

import matplotlib
import numpy as np
import pytest

from sparsedp import Ledger, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.synthetic import sparse_glm
from sparsedp.solvers import FrankWolfe, Sparsifier

SOLVERS = ["sparsifier", "pursuit"]


def fitted(task, solver, **settings):
    made = sparse_glm(n=6000, d=20, n_nonzero=4, task=task, seed=3)
    bound = float(np.abs(made.X).max())
    fit = SparseLinearRegression if task == "linear" else SparseLogisticRegression
    if task == "linear":
        settings["target_bounds"] = (float(made.y.min()), float(made.y.max()))
    model = fit(
        epsilon=3.0,
        delta=1e-6,
        bounds=bound,
        n_nonzero=5,
        solver=solver,
        random_state=0,
        **settings,
    )
    return model.fit(made.X, made.y), made


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("task", ["logistic", "multinomial", "linear"])
def test_path_ends_at_the_model_and_counts_features(task, solver):
    ledger = Ledger(epsilon=3.0, delta=1e-6)
    model, made = fitted(task, solver, ledger=ledger)
    path = model.path_
    used = np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0))
    assert sorted(path.order) == used.tolist()
    for k in range(1, len(path) + 1):
        smaller = path.model(k)
        assert np.count_nonzero(np.atleast_2d(smaller.coef_).any(axis=0)) == k
        assert smaller.predict(made.X).shape == made.y.shape
    last = path.model(len(path))
    np.testing.assert_allclose(last.coef_, model.coef_, rtol=1e-8)
    np.testing.assert_allclose(last.intercept_, model.intercept_, rtol=1e-8, atol=1e-10)
    assert len(ledger.history()) == 1
    with pytest.raises(ValueError, match="between 1 and"):
        path.model(0)


def test_models_along_the_path_get_better():
    model, made = fitted("linear", "pursuit")
    scores = [model.path_.model(k).score(made.X, made.y) for k in (1, len(model.path_))]
    assert scores[1] > scores[0] > 0


def test_plot(tmp_path):
    matplotlib.use("Agg")
    model, _ = fitted("logistic", Sparsifier(FrankWolfe(n_steps=50)))
    ax = model.path_.plot()
    assert len(ax.lines) == len(model.path_) + 1
    ax.figure.savefig(tmp_path / "path.png")


def test_dense_models_have_a_path_of_their_heaviest_features():
    random = np.random.default_rng(4)
    X, y = random.uniform(-1, 1, size=(300, 700)), random.integers(0, 2, size=300)
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-5, bounds=1.0, solver="noisy_gd", random_state=1
    ).fit(X, y)
    assert np.count_nonzero(model.coef_) == 700
    assert len(model.path_) == 500
    kept = np.flatnonzero(model.path_.model(500).coef_)
    dropped = np.setdiff1d(np.arange(700), kept)
    assert np.abs(model.coef_[0, kept]).min() >= np.abs(model.coef_[0, dropped]).max()
