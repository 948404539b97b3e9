"""Huber and Poisson regression: peers without noise, recovery with it, refusals before a charge.

Nothing here is statistical but recovery, which has seeds of its own and needs no luck: what is
asked for is far from what noise does at these budgets.
"""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import PoissonRegressor

from sparsedp import (
    Ledger,
    PrivateSearchCV,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.losses import BY_NAME, Huber, Poisson, from_record
from sparsedp.losses.loss import Lipschitz
from sparsedp.release import PublishedModel
from sparsedp.solvers import Lasso
from sparsedp.solvers.lasso.lasso import DidNotConverge
from tests.cases import LOSSES, TAKEN

EXACT = {"epsilon": float("inf"), "delta": 1e-6, "bounds": (-1, 1), "n_nonzero": 3}
PRIVATE = {**EXACT, "epsilon": 1.0, "random_state": 3}


def counts(n=20_000, base=0.7, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 8))
    true = np.array([0.8, 0, -0.6, 0, 0.5, 0, 0, 0])
    return X, random.poisson(np.exp(base + X @ true)), true


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_residual_and_curvature_are_derivatives_of_the_value(loss, seed):
    """Away from kinks; central differences."""
    random, minimized = np.random.default_rng(seed), LOSSES[loss]
    shape = (200,) if minimized.n_outputs == 1 else (200, minimized.n_outputs)
    margins = random.normal(size=shape)
    classes = minimized.n_classes
    target = random.uniform(-1, 1, 200) if classes is None else random.integers(0, classes, 200)
    if isinstance(minimized, Huber):  # not twice differentiable where it turns linear
        margins += 0.01 * (np.abs(np.abs(margins - target) - minimized.threshold) < 0.005)
    h = 1e-5
    residual = minimized.residual(margins, target).reshape(200, -1)
    curvature = minimized.curvature(margins, target).reshape(200, *[residual.shape[1]] * 2)
    for c in range(minimized.n_outputs):
        step = np.zeros(shape)
        step.reshape(200, -1)[:, c] = h
        rise = minimized.value(margins + step, target) - minimized.value(margins - step, target)
        np.testing.assert_allclose(residual[:, c], rise / (2 * h), atol=1e-7)
        bent = minimized.residual(margins + step, target) - minimized.residual(
            margins - step, target
        )
        np.testing.assert_allclose(curvature[:, c], bent.reshape(200, -1) / (2 * h), atol=1e-5)
    largest = np.linalg.eigvalsh(curvature).max()
    assert largest <= minimized.curvature_bound * (1 + 1e-12)
    assert minimized.typical_curvature <= minimized.curvature_bound
    diagonal = np.einsum("ikk->ik", curvature)
    assert diagonal.max() <= minimized.margin_curvature_bound * (1 + 1e-12)
    assert (minimized.value(margins, target) >= 0).all()
    if isinstance(minimized, Lipschitz):
        far = np.linalg.norm(minimized.residual(50 * margins, target).reshape(200, -1), axis=1)
        assert far.max() <= minimized.lipschitz * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bound", [0.05, 0.3, 10.0])
def test_clipped_residuals_move_no_faster_than_promised(loss, bound):
    random, minimized = np.random.default_rng(1), LOSSES[loss]
    shape = (4000,) if minimized.n_outputs == 1 else (4000, minimized.n_outputs)
    classes = minimized.n_classes
    target = random.uniform(-1, 1, 4000) if classes is None else random.integers(0, classes, 4000)
    one = 2 * random.normal(size=shape)
    other = one + random.normal(size=shape) * 10.0 ** random.uniform(
        -4, 0.5, (4000, *[1] * (one.ndim - 1))
    )
    parts = [minimized.clipped(minimized.residual(m, target), bound) for m in (one, other)]
    moved = np.linalg.norm((parts[0] - parts[1]).reshape(4000, -1), axis=1)
    away = np.linalg.norm((one - other).reshape(4000, -1), axis=1)
    assert (moved <= minimized.residual_lipschitz * away * (1 + 1e-9) + 1e-15).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_residual_depends_on_its_record_alone_and_not_on_its_place(loss):
    random, minimized = np.random.default_rng(2), LOSSES[loss]
    n = 1003
    shape = (n,) if minimized.n_outputs == 1 else (n, minimized.n_outputs)
    margins, classes = 30 * random.normal(size=shape), minimized.n_classes
    target = random.uniform(-1, 1, n) if classes is None else random.integers(0, classes, n)
    margins[5], margins[7], margins[9] = np.nan, np.inf, -np.inf
    whole = minimized.residual(margins, target)
    order = random.permutation(n)
    moved = minimized.residual(margins[order], target[order])
    assert moved.tobytes() == whole[order].tobytes()
    clipped = minimized.clipped(whole.copy(), 0.1)
    assert np.all(clipped[5] == 0)
    assert np.isfinite(clipped).all()
    assert np.abs(clipped).max() <= 0.1


def test_counts_without_noise_are_those_of_a_peer():
    X, y, _ = counts(3000)
    peer = PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000).fit(X, y)
    settings = {**EXACT, "n_nonzero": 8, "shapes": "linear"}
    model = SparsePoissonRegressor(max_count=30, **settings).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-4)
    assert model.intercept_ == pytest.approx(peer.intercept_, abs=2e-4)
    assert model.score(X, y) == pytest.approx(peer.score(X, y), abs=1e-5)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_private_counts_find_the_features(neighbors):
    X, y, true = counts()
    model = SparsePoissonRegressor(max_count=20, neighbors=neighbors, **PRIVATE).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == set(np.flatnonzero(true))
    np.testing.assert_allclose(model.coef_, true, atol=0.15)
    means = np.exp(np.minimum(X @ true + 0.7, np.log(20)))
    assert np.mean(model.predict(X)) == pytest.approx(np.mean(means), rel=0.1)
    assert np.corrcoef(model.predict(X), means)[0, 1] > 0.98


def test_predicted_counts_stay_within_the_limit():
    X, y, _ = counts(500)
    model = SparsePoissonRegressor(max_count=3, **EXACT).fit(X, y)
    assert model.predict(100 * X).max() <= 3 * (1 + 1e-12)


def test_huber_is_not_moved_by_gross_errors():
    random = np.random.default_rng(4)
    X = random.uniform(-1, 1, size=(20_000, 8))
    true = np.array([2.0, 0, -1.5, 0, 1.0, 0, 0, 0])
    y = X @ true + random.normal(size=20_000) / 4
    y[:2000] = 50  # one in ten
    errors = {}
    for loss in ("squared", Huber(threshold=0.02)):
        model = SparseLinearRegression(target_bounds=(-50, 50), loss=loss, **EXACT).fit(X, y)
        assert set(np.flatnonzero(model.coef_)) == {0, 2, 4}
        errors[str(loss)] = abs(model.intercept_) + np.abs(model.coef_ - true).max()
    assert errors["Huber(threshold=0.02)"] < 0.2 * errors["squared"]
    private = SparseLinearRegression(target_bounds=(-10, 10), loss="huber", **PRIVATE).fit(X, y)
    assert set(np.flatnonzero(private.coef_)) == {0, 2, 4}
    assert private.privacy_.loss == {"name": "Huber", "threshold": 0.25}


def test_what_a_solver_cannot_do_is_refused_before_the_charge(tmp_path):
    ledger = Ledger(epsilon=5.0, delta=1e-3, path=tmp_path / "ledger")
    X, y, _ = counts(50)
    for solver in ("objective_perturbation", "two_stage", "screened_frank_wolfe"):
        model = SparsePoissonRegressor(max_count=9, solver=solver, ledger=ledger, **PRIVATE)
        with pytest.raises(ValueError, match="Poisson does not promise that"):
            model.fit(X, y)
    assert ledger.history() == []
    assert {loss for name, loss in TAKEN if name == "pursuit"} == set(LOSSES)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"max_count": None}, "max_count is required"),
        ({"max_count": 0.5}, "limit of a count"),
        ({"max_count": float("nan")}, "limit of a count"),
        ({"max_count": float("inf")}, "limit of a count"),
    ],
)
def test_a_limit_must_be_declared(wrong, message):
    X, y, _ = counts(50)
    with pytest.raises(ValueError, match=message):
        SparsePoissonRegressor(**PRIVATE, **wrong).fit(X, y)


def test_unknown_losses_are_refused():
    X, y, _ = counts(50)
    for loss in ("absolute", Poisson(3.0), None):
        with pytest.raises(ValueError, match="loss must be"):
            SparseLinearRegression(target_bounds=(0, 9), loss=loss, **PRIVATE).fit(X, y)
    for threshold in (0.0, -1.0, 5.0, float("nan")):
        with pytest.raises(ValueError, match="threshold"):
            Huber(threshold)


def test_a_model_of_counts_is_stored_read_and_verified(tmp_path):
    X, y, _ = counts(5000)
    model = SparsePoissonRegressor(max_count=20, **PRIVATE).fit(X, y)
    PublishedModel.from_estimator(model, target_name="visits").save(tmp_path)
    read = PublishedModel.load(tmp_path)
    assert read.task == "count"
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    assert from_record(model.privacy_.loss) == Poisson(20.0)


def test_every_loss_of_the_registry_is_in_the_table_of_cases():
    assert {type(loss).__name__ for loss in LOSSES.values()} == set(BY_NAME)


def test_counts_can_be_searched_and_started_from_a_public_model():
    X, y, true = counts()
    public = PoissonRegressor(alpha=1e-3).fit(X[:500], y[:500])
    search = PrivateSearchCV(
        SparsePoissonRegressor(max_count=20, bounds=(-1, 1), n_nonzero=3),
        {"n_nonzero": [1, 3]},
        epsilon=4.0,
        delta=1e-6,
        random_state=1,
    )
    assert search.fit(X, y).best_estimator_.predict(X[:3]).shape == (3,)
    started = SparsePoissonRegressor(max_count=20, initial_model=public, **PRIVATE).fit(X, y)
    assert set(np.flatnonzero(started.coef_)) == set(np.flatnonzero(true))


@pytest.mark.parametrize("penalty", [1e-3, 1e-2])
def test_the_lasso_of_counts_reaches_its_certified_precision(penalty):
    X, y, true = counts(800)
    model = SparsePoissonRegressor(max_count=50, solver=Lasso(penalty=penalty), **EXACT)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DidNotConverge)
        model.fit(X, y)
    # A penalty shrinks: no weight has another sign, and none of the true ones is longer.
    assert (model.coef_ * true >= 0).all()
    assert np.abs(model.coef_)[true != 0].sum() < np.abs(true).sum()


def test_labels_are_not_counts():
    """A classifier's target stays a label whatever its numbers are."""
    X, y, _ = counts(300)
    model = SparseLogisticRegression(classes=(0, 1), **PRIVATE).fit(X, (y > 1).astype(int))
    assert model.privacy_.loss == {"name": "Logistic"}
