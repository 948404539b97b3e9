"""The LASSO without privacy against scikit-learn and SciPy, and its own certificates."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso as ScikitLasso
from sklearn.linear_model import LogisticRegression

from sparsedp import SparseLinearRegression, SparseLogisticRegression
from sparsedp._kernels.lasso import coordinate_reference
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum, mean_loss
from sparsedp.losses import Logistic, Multinomial, Squared
from sparsedp.mechanisms import Curator, NoiselessCurator
from sparsedp.privacy import Budget, PublicFacts
from sparsedp.sets import L1Ball, n_features_used
from sparsedp.solvers import IGHT, DidNotConverge, FrankWolfe, Lasso, Solution, Sparsifier
from sparsedp.solvers.lasso import descent as lasso_descent
from sparsedp.solvers.lasso.columns import kernels
from tests.cases import LOSSES, public_facts, random_table
from tests.solvers.test_frank_wolfe import constrained_optimum


def table(n, d, seed, density=0.1):
    """Sparse records of which ten features matter."""
    random = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=density, rng=random, data_sampler=random.random)
    w = np.zeros(d)
    w[:10] = 6 * random.normal(size=10)
    margins = X @ w
    y = random.random(n) < 1 / (1 + np.exp(margins.mean() - margins))
    return X.tocsr(), y.astype(int)


def fitted(solver, data, loss):
    """Weights of a fit without noise."""
    public = PublicFacts(
        n_features=data.n_features,
        n_nonzero=7,
        n_outputs=loss.n_outputs,
        intercept=data.intercept,
    )
    return solver.solve(data, loss, NoiselessCurator(public)).weights


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("radius", [0.1, 1.5, 6.0])
def test_least_loss_in_the_ball(loss, layout, radius):
    data = random_table(loss, 120, 3).dataset(layout)
    w = fitted(Lasso(radius=radius, tolerance=1e-8), data, LOSSES[loss])
    assert np.abs(w).sum() <= radius * (1 + 1e-12)
    gap = L1Ball(radius).gap(w, gradient_sum(data, LOSSES[loss], w, np.inf) / data.n_records)
    assert -1e-12 <= gap <= 2e-8
    if layout == "dense":
        value = mean_loss(data, LOSSES[loss], w)
        assert value == pytest.approx(constrained_optimum(data, loss, radius), abs=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csc_array, lambda X: X.toarray()])
def test_layouts_agree_and_the_gap_is_certified(layout, intercept):
    X, y = table(600, 900, 1)
    bounds = Bounds(lower=0, upper=np.linspace(0.6, 1.5, 900))
    exact = fitted(Lasso(radius=30), Dataset.clip(X, y, bounds, intercept=intercept), Logistic())
    data = Dataset.clip(layout(X), y, bounds, intercept=intercept)
    w = fitted(Lasso(radius=30), data, Logistic())
    gap = L1Ball(30).gap(w, gradient_sum(data, Logistic(), w, 1.0) / 600)
    assert gap <= 1e-6 * np.log(2)
    assert mean_loss(data, Logistic(), w) == pytest.approx(
        mean_loss(data, Logistic(), exact), abs=1e-6
    )
    assert n_features_used(w, 900) == n_features_used(exact, 900)


def test_counts_and_weights_of_liblinear_at_the_same_penalty():
    X, y = table(500, 300, 2)
    data = Dataset.clip(X, y, (0, 1))
    view = data.columns(np.arange(300))
    for penalty in (0.02, 0.005, 0.002):
        w = fitted(Lasso(penalty=penalty, tolerance=1e-9), data, Logistic())
        # As here, its constant term is penalized.
        other = LogisticRegression(
            l1_ratio=1, C=1 / (500 * penalty), solver="liblinear", tol=1e-9, max_iter=10_000
        ).fit(view, y)
        np.testing.assert_allclose(w[:-1], other.coef_[0], atol=2e-3)
        assert np.count_nonzero(w[:-1]) == np.count_nonzero(other.coef_)
        # The ball of that norm has the same minimum.
        again = fitted(Lasso(radius=np.abs(w).sum(), tolerance=1e-9), data, Logistic())
        np.testing.assert_allclose(again, w, atol=1e-3)


@pytest.mark.parametrize("goal", [{"penalty": 0.002}, {"radius": 20.0}])
def test_large_supports_need_no_matrix(goal, monkeypatch):
    X, y = table(500, 300, 2)
    data = Dataset.clip(X, y, (0, 1), intercept=False)
    exact = fitted(Lasso(**goal), data, Logistic())
    monkeypatch.setattr(lasso_descent, "MOST_IN_GRAM", 0)
    w = fitted(Lasso(**goal), data, Logistic())
    np.testing.assert_allclose(w, exact, atol=2e-2)
    assert mean_loss(data, Logistic(), w) == pytest.approx(
        mean_loss(data, Logistic(), exact), abs=1e-5
    )


def test_squared_loss_of_scikit_learn():
    random = np.random.default_rng(3)
    X = random.uniform(-1, 1, size=(200, 40))
    y = np.clip(X[:, :4] @ [1.0, -0.7, 0.5, 0.3] / 3 + 0.1 * random.normal(size=200), -1, 1)
    data = Dataset.clip(X, y, 1.0, target_bounds=(-1, 1), intercept=False)
    for penalty in (0.05, 0.01, 0.001):
        w = fitted(Lasso(penalty=penalty, tolerance=1e-10), data, Squared())
        other = ScikitLasso(alpha=penalty, fit_intercept=False, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(w, other.coef_, atol=1e-5)
        assert np.count_nonzero(w) == np.count_nonzero(other.coef_)


def test_many_classes_with_and_without_the_matrix(monkeypatch):
    X, _ = table(300, 40, 4, density=0.3)
    noise = 0.3 * np.random.default_rng(4).random((300, 4))
    y = np.argmax(X[:, :4].toarray() + noise, axis=1)
    data = Dataset.clip(X, y, (0, 1), classes=range(4), intercept=False)
    loss = Multinomial(4)
    for limit, tolerance in ((2048, 1e-6), (0, 1e-4)):
        monkeypatch.setattr(lasso_descent, "MOST_IN_GRAM", limit)
        w = fitted(Lasso(radius=12.0, tolerance=tolerance), data, loss)
        assert L1Ball(12.0).gap(w, gradient_sum(data, loss, w, 1.0) / 300) <= 1.5 * tolerance


def test_inactive_constraint():
    random = np.random.default_rng(5)
    X = random.uniform(-1, 1, size=(300, 5))
    y = np.clip(X @ [0.2, -0.1, 0.3, 0.0, 0.1] + 0.1 * random.normal(size=300), -1, 1)
    data = Dataset.clip(X, y, 1.0, target_bounds=(-1, 1), intercept=False)
    w = fitted(Lasso(radius=100.0, tolerance=1e-10), data, Squared())
    np.testing.assert_allclose(w, np.linalg.lstsq(X, y)[0], atol=1e-4)


def test_path_has_the_wanted_number_of_features():
    X, y = table(600, 200, 6)
    data = Dataset.clip(X, y, (0, 1))
    values = []
    for wanted in (1, 5, 20):
        w = fitted(Lasso(n_nonzero=wanted), data, Logistic())
        assert n_features_used(w, 200) == wanted
        values.append(mean_loss(data, Logistic(), w))
    assert values == sorted(values, reverse=True)
    assert n_features_used(fitted(Lasso(), data, Logistic()), 200) == 7  # the estimator's


def test_equal_and_constant_columns():
    X, y = table(200, 20, 7, density=0.5)
    doubled = sparse.hstack([X, X, np.zeros((200, 3)), np.ones((200, 2))]).tocsr()
    data = Dataset.clip(doubled, y, (0, 1))
    for radius in (5.0, 500.0):
        w = fitted(Lasso(radius=radius), data, Logistic())
        assert L1Ball(radius).gap(w, gradient_sum(data, Logistic(), w, 1.0) / 200) <= 1e-6


def test_extreme_records():
    # Separable, one class only, no records: nothing may fail.
    X = np.linspace(-1, 1, 40)[:, None] * np.ones(3)
    for y in ((X[:, 0] > 0).astype(int), np.ones(40, dtype=int)):
        data = Dataset.clip(X, y, 1.0)
        w = fitted(Lasso(radius=20.0), data, Logistic())
        assert np.isfinite(w).all()
        assert L1Ball(20.0).gap(w, gradient_sum(data, Logistic(), w, 1.0) / 40) <= 1e-6
    nobody = Dataset.clip(X[:0], np.zeros(0, dtype=int), 1.0)
    assert not fitted(Lasso(radius=20.0), nobody, Logistic()).any()
    constant = Dataset.clip(X, np.zeros(40), 1.0, target_bounds=(-1, 1))
    assert not fitted(Lasso(radius=20.0), constant, Squared()).any()


def test_no_privacy_no_fit():
    X, y = table(100, 10, 8, density=0.5)
    settings = {"delta": 1e-6, "bounds": Bounds(0, 1), "n_nonzero": 3}
    with pytest.raises(ValueError, match="FrankWolfe"):
        SparseLogisticRegression(epsilon=1.0, solver=Lasso(), **settings).fit(X, y)
    schedule = Lasso(radius=1.0).schedule(public_facts("logistic", "add_remove", 0))
    with pytest.raises(ValueError, match="no noise"):
        Budget(schedule, epsilon=100.0, delta=0.1, neighbors="add_remove")
    model = SparseLogisticRegression(epsilon=np.inf, solver=Lasso(), **settings).fit(X, y)
    assert np.count_nonzero(model.coef_) == 3
    model = SparseLinearRegression(
        epsilon=np.inf, solver=Lasso(radius=2.0), target_bounds=(0, 1), **settings
    ).fit(X, y)
    assert model.coef_.any()


def test_settings():
    for settings, message in (
        ({"radius": 1.0, "penalty": 0.1}, "only one"),
        ({"radius": 0.0}, "radius"),
        ({"penalty": -1.0}, "penalty"),
        ({"n_nonzero": 0}, "n_nonzero"),
        ({"tolerance": 0.0}, "tolerance"),
    ):
        with pytest.raises(ValueError, match=message):
            Lasso(**settings)
    with pytest.raises(ValueError, match="more than the 6"):
        Lasso(n_nonzero=7).schedule(public_facts("logistic", "add_remove", 0))


def test_it_says_if_it_did_not_converge(monkeypatch):
    X, y = table(200, 100, 9)
    data = Dataset.clip(X, y, (0, 1))
    monkeypatch.setattr(lasso_descent, "MOST_ROUNDS", 1)
    with pytest.warns(DidNotConverge, match="radius") as told:
        fitted(Lasso(radius=30.0), data, Logistic())
    # How far from the least value it is, is a number about records, which may be private.
    assert not any(character.isdigit() for character in str(told[0].message))


def test_sparsifier_counts_the_minimum_and_no_ghosts(recwarn, monkeypatch):
    X, y = table(600, 100, 10)
    data = Dataset.clip(X, y, (0, 1))
    curator = NoiselessCurator(PublicFacts(n_features=100, n_nonzero=7))
    asked = []
    monkeypatch.setattr(
        Curator, "count", lambda self, value, lower, upper: asked.append(value) or lower
    )
    inner = FrankWolfe(radius=4.0, n_steps=20)
    Sparsifier(inner, "count").solve(data, Logistic(), curator)
    exact = fitted(Lasso(radius=4.0), data, Logistic())
    assert asked == [n_features_used(exact, 100)]
    # What a walk of 50,000 steps leaves of a vertex that only its tenth step chose.
    ghostly = exact + np.where(exact == 0, 4.0 * 2 * 10 / 50_000**2, 0)
    counted = SimpleNamespace(solve=lambda *_: Solution(weights=ghostly))
    Sparsifier(inner, "count", count_solver=counted).solve(data, Logistic(), curator)
    assert asked[1] == asked[0] < n_features_used(ghostly, 100) == 100
    # A solver without a radius; and no word about what happened without noise.
    monkeypatch.setattr(lasso_descent, "MOST_ROUNDS", 1)
    Sparsifier(IGHT(n_steps=2), "count").solve(data, Logistic(), curator)
    assert not recwarn.list


@pytest.mark.parametrize("seed", range(3))
def test_kernels_agree_with_their_reference(seed):
    random = np.random.default_rng(seed)
    n, m = 50, 12
    S = sparse.random_array((n, m), density=0.4, rng=random)
    h, g = random.random(n), random.normal(size=n)
    factor, offset = random.uniform(0.5, 2, size=m), random.uniform(-1, 1, size=m)
    rows, columns = S.tocsr(), S.tocsc()
    rows.sort_indices()
    inputs = [
        (a.indptr.astype(np.int64), a.indices.astype(np.int32), a.data) for a in (rows, columns)
    ]
    X = S.toarray() * factor - offset
    start = random.normal(size=m)
    found = []
    for module in (kernels, coordinate_reference):
        np.testing.assert_allclose(
            module.weighted_gram(*inputs[0], h, m), S.T.toarray() @ (h[:, None] * S.toarray())
        )
        gram = np.ascontiguousarray(X.T @ (h[:, None] * X))
        w, residual = start.copy(), -X.T @ g
        assert module.descend_gram(gram, residual, w, 0.5, 10_000, 1e-12)
        np.testing.assert_allclose(residual, -X.T @ g - gram @ (w - start), atol=1e-9)
        v, moved, sums = start.copy(), np.zeros(n), np.zeros(2)
        assert module.descend_columns(
            *inputs[1], factor, offset, g, h, v, moved, sums, 0.5, 10_000, 1e-12
        )
        np.testing.assert_allclose(moved + sums[0], X @ (v - start), atol=1e-9)
        assert sums[1] == pytest.approx(h @ moved, abs=1e-9)
        assert not module.descend_gram(gram, -X.T @ g, start.copy(), 0.5, 1, 1e-12)
        found += [w, v]
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-8)
