"""Pursuit: what it converges to, and that private fits come close. Seeds are fixed throughout."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import truncnorm
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score

from sparsedp import Bounds, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.dataset import Dataset
from sparsedp.data.synthetic import wang_gu
from sparsedp.estimators import fit_public_model
from sparsedp.solvers import Pursuit
from sparsedp.solvers.pursuit.calibration.two_classes import RAREST, likely_share
from sparsedp.solvers.pursuit.gradient import ReleasedGradient, Steepness


def table(n=4000, d=12, seed=0, task="logistic"):
    """Correlated features on unlike scales, three of which matter."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))
    X = np.clip(X / 4, -1, 1) * np.geomspace(0.1, 100, d)
    score = (X / np.geomspace(0.1, 100, d)) @ np.r_[6, 0, -5, 0, 4, np.zeros(d - 5)]
    if task == "squared":
        return X, score + 0.3 * random.normal(size=n)
    if task == "multinomial":
        noise = random.gumbel(size=(n, 3))
        return X, np.argmax(noise + np.outer(score, [1, 0, -1]), axis=1)
    return X, (random.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def limits(d=12, factor=1.0):
    return Bounds.symmetric(np.geomspace(0.1, 100, d) * factor)


def classifier(epsilon, *, bounds=None, **settings):
    common = {"delta": 1e-5, "n_nonzero": 3, "solver": "pursuit", "random_state": 7}
    return SparseLogisticRegression(
        epsilon=epsilon, bounds=limits() if bounds is None else bounds, **(common | settings)
    )


def regressor(epsilon, **settings):
    common = {"delta": 1e-5, "n_nonzero": 3, "solver": "pursuit", "random_state": 7}
    common |= {"bounds": limits(), "target_bounds": (-12, 12)}
    return SparseLinearRegression(epsilon=epsilon, **(common | settings))


# Without noise ------------------------------------------------------------------------------------


def inside(model, X):
    """The records as the model sees them: clipped to the bounds that it found."""
    return np.clip(X, *model.clip_bounds_)


def test_without_noise_it_is_least_squares_on_the_right_features():
    X, y = table(task="squared")
    model = regressor(float("inf"), shapes="linear").fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 2, 4}
    reference = LinearRegression().fit(inside(model, X)[:, [0, 2, 4]], y)
    np.testing.assert_allclose(model.coef_[[0, 2, 4]], reference.coef_, rtol=1e-4)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=1e-4)


@pytest.mark.parametrize("factor", [1.0, 30.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_it_is_maximum_likelihood_on_the_right_features(intercept, factor):
    X, y = table()
    settings = {"fit_intercept": intercept, "shapes": "linear", "bounds": limits(factor=factor)}
    model = classifier(float("inf"), **settings).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 2, 4}
    scales = np.geomspace(0.1, 100, 12)[[0, 2, 4]]
    reference = LogisticRegression(C=1e9, tol=1e-10, max_iter=1000, fit_intercept=intercept)
    reference.fit(inside(model, X)[:, [0, 2, 4]] / scales, y)
    np.testing.assert_allclose(
        model.coef_[:, [0, 2, 4]] * scales, reference.coef_, rtol=1e-3, atol=1e-3
    )
    # Bounds are tightened without noise too: what is far too wide is found out.
    lower, upper = model.clip_bounds_
    assert factor == 1 or (upper - lower < 2 * np.geomspace(0.1, 100, 12) * factor / 4).all()


def test_without_noise_many_classes_are_one_joint_model():
    X, y = table(task="multinomial")
    model = classifier(float("inf"), shapes="linear").fit(X, y)
    scales = np.geomspace(0.1, 100, 12)
    used = np.flatnonzero(model.coef_.any(axis=0))
    assert set(used) == {0, 2, 4}
    reference = LogisticRegression(C=1e9, tol=1e-10, max_iter=2000)
    reference.fit(inside(model, X)[:, used] / scales[used], y)
    expected = reference.predict_proba(inside(model, X)[:, used] / scales[used])
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=2e-3)


# Probabilities and ranges -------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_probabilities_of_a_rare_class_are_right_on_average(epsilon):
    """Seeds 0 to 4; one record in thirty is positive."""
    random = np.random.default_rng(9)
    X = random.uniform(-1, 1, size=(10_000, 5))
    score = 3 * X[:, 0] - 2 * X[:, 1]
    score += np.log(1 / 30) - np.log(np.mean(np.exp(score)))
    y = (random.random(10_000) < 1 / (1 + np.exp(-score))).astype(int)
    means = [
        classifier(epsilon, bounds=Bounds(-1, 1), random_state=seed).fit(X, y).predict_proba(X)
        for seed in range(5)
    ]
    np.testing.assert_allclose(np.mean(means, axis=(0, 1))[1], y.mean(), rtol=0.1)


def test_clipped_residuals_do_not_hide_a_rare_class():
    """Seeds 0 to 9; steps alone have mean predictions below half of the base rate at 0.3."""
    random = np.random.default_rng(9)
    X = random.uniform(-1, 1, size=(8000, 30))
    score = X[:, 0] - X[:, 1]
    score += np.log(1 / 30) - np.log(np.mean(np.exp(score)))
    y = (random.random(8000) < 1 / (1 + np.exp(-score))).astype(int)
    found = {}
    for epsilon in (0.3, 1.0):
        fits = [
            classifier(epsilon, bounds=Bounds(-1, 1), random_state=seed).fit(X, y)
            for seed in range(10)
        ]
        found[epsilon] = np.array([fit.predict_proba(X)[:, 1].mean() for fit in fits]) / y.mean()
    assert 0.7 < found[0.3].mean() < 1.3
    assert abs(found[1.0] - 1).max() < 0.25


@pytest.mark.parametrize("noise", [1e-6, 1e-3, 0.02, 0.3, 5.0])
@pytest.mark.parametrize("seen", [-3.0, -0.01, 0.0, 0.001, 0.03, 0.5, 0.97, 1.002, 40.0])
def test_a_base_rate_is_the_mean_of_what_it_may_be(seen, noise):
    low, high = (RAREST - seen) / noise, (1 - RAREST - seen) / noise
    if max(low, -high) < 30:  # beyond that the reference loses its digits
        expected = truncnorm.mean(low, high, loc=seen, scale=noise)
        assert likely_share(seen, noise) == pytest.approx(expected, rel=1e-6)
    assert RAREST <= likely_share(seen, noise) <= 1 - RAREST
    assert likely_share(seen, 0.0) == np.clip(seen, RAREST, 1 - RAREST)


def test_a_mean_is_over_a_count_that_was_paid_for():
    """Seeds 0 to 19: so few records that the model is a constant; a mean far from the middle."""
    random = np.random.default_rng(4)
    X, y = random.uniform(-1, 1, size=(200, 5)), random.uniform(-0.9, -0.3, size=200)
    found = [
        SparseLinearRegression(
            epsilon=0.1, delta=1e-3, bounds=Bounds(-1, 1), target_bounds=(-1, 1), random_state=seed
        ).fit(X, y)
        for seed in range(20)
    ]
    constants = [float(fit.intercept_) for fit in found if not np.any(fit.coef_)]
    assert len(constants) > 10
    assert np.mean(np.abs(np.array(constants) - y.mean())) < 0.17


def test_a_few_targets_far_out_do_not_decide_what_all_pay():
    """Targets in [-1, 1] but for one in a thousand, declared within 500: the range is found."""
    X, y = table(n=6000, task="squared")
    y = y / 10
    y[::1000] = 400.0
    model = regressor(2.0, target_bounds=(-500, 500)).fit(X, y)
    assert r2_score(np.delete(y, np.s_[::1000]), np.delete(model.predict(X), np.s_[::1000])) > 0.8


# With noise ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("layout", ["dense", "csr", "csc"])
def test_private_model_is_close_to_the_exact_one(neighbors, layout):
    X, y = table(n=6000)
    data = {"dense": X, "csr": sparse.csr_array(X), "csc": sparse.csc_array(X)}[layout]
    exact = classifier(float("inf")).fit(X, y)
    model = classifier(2.0, neighbors=neighbors).fit(data, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 2, 4}
    loss = roc_auc_score(y, exact.decision_function(X)) - roc_auc_score(
        y, model.decision_function(data)
    )
    assert loss < 0.01


def test_private_regression_is_close_to_the_exact_one():
    X, y = table(n=6000, task="squared")
    model = regressor(2.0).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 2, 4}
    assert model.score(X, y) > regressor(float("inf")).fit(X, y).score(X, y) - 0.02


def test_private_model_of_many_classes_is_close_to_the_exact_one():
    X, y = table(n=6000, task="multinomial")
    model = classifier(2.0).fit(X, y)
    assert set(np.flatnonzero(model.coef_.any(axis=0))) == {0, 2, 4}
    assert model.score(X, y) > classifier(float("inf")).fit(X, y).score(X, y) - 0.02


def test_bounds_ten_times_too_wide_cost_little():
    X, y = table(n=6000)
    areas = []
    for bounds in (Bounds(-limits(12).arrays(12)[1], limits(12).arrays(12)[1]), None):
        lower, upper = limits().arrays(12)
        wide = bounds or Bounds(lower, lower + 10 * (upper - lower))
        model = classifier(1.0, bounds=wide).fit(X, y)
        areas.append(roc_auc_score(y, model.decision_function(X)))
    assert areas[1] > areas[0] - 0.01
    released_lower, released_upper = model.clip_bounds_
    assert ((released_upper - released_lower) <= 10 * (upper - lower) / 4).all()


@pytest.mark.parametrize("task", ["logistic", "squared"])
def test_rows_of_bounded_norm(task):
    """Text-like records: many rare features, rows of norm 1."""
    random = np.random.default_rng(3)
    X = sparse.random_array((5000, 2000), density=0.01, rng=random, format="csr")
    X = sparse.csr_array(X / np.maximum(sparse.linalg.norm(X, axis=1), 1e-9)[:, None])
    weights = np.zeros(2000)
    weights[:40] = np.tile([30, -30], 20)
    score = X @ weights
    if task == "squared":
        model = SparseLinearRegression(target_bounds=(-20, 20))
        y = score + 0.5 * random.normal(size=5000)
    else:
        model = SparseLogisticRegression()
        y = (random.random(5000) < 1 / (1 + np.exp(-score))).astype(int)
    model.set_params(
        epsilon=8.0,
        delta=1e-5,
        bounds=Bounds(0, 1, row_norm=1.0),
        n_nonzero=40,
        solver="pursuit",
        random_state=1,
    )
    model.fit(X, y)
    assert np.count_nonzero(model.coef_) == 40
    assert np.isin(np.flatnonzero(model.coef_.ravel()), np.arange(40)).sum() >= 25
    assert [event["name"] for event in model.privacy_.events] == ["moments"]


@pytest.mark.parametrize("k", [4, 30])
def test_rows_of_bounded_norm_without_noise(k):
    """Two gradients without noise have no precision to be averaged by: the later one counts."""
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 30)) / 6
    y = (4 * X[:, 0] - 4 * X[:, 7] + random.logistic(size=500) > 0).astype(int)
    model = SparseLogisticRegression(
        epsilon=np.inf,
        delta=1e-5,
        bounds=Bounds(lower=-1.0, upper=1.0, row_norm=1.0),
        classes=[0, 1],
        n_nonzero=k,
    ).fit(X, y)
    assert {0, 7} <= set(np.flatnonzero(model.coef_[0]))


@pytest.mark.parametrize("k", [1, 5, 12])
@pytest.mark.parametrize("intercept", [True, False])
def test_any_number_of_features(k, intercept):
    X, y = table(n=500)
    model = classifier(1.0, n_nonzero=k, fit_intercept=intercept).fit(X, y)
    assert 1 <= np.count_nonzero(model.coef_) <= k
    assert np.isfinite(model.coef_).all()
    assert intercept or model.intercept_ == 0


@pytest.mark.parametrize("n_nonzero", [None, 2])
def test_public_model_helps_where_noise_is_loud(n_nonzero):
    """Seeds 0 to 9: mean AUC 0.8 from the public model, dense or sparse, 0.6 without."""
    X, y = table(n=1000)
    bounds = limits()
    public = fit_public_model(X[:300], y[:300], bounds=bounds, n_nonzero=n_nonzero)
    areas = []
    for start in (None, public):
        models = [
            classifier(0.1, initial_model=start, random_state=seed).fit(X[300:], y[300:])
            for seed in range(10)
        ]
        areas.append(np.mean([roc_auc_score(y, model.decision_function(X)) for model in models]))
        assert all(np.count_nonzero(model.coef_) <= 3 for model in models)
    assert areas[1] > areas[0] + 0.1


def test_public_model_is_left_where_noise_drowns_everything():
    """Seeds 0 to 19, epsilon = 0.01. Features are far from zero, also those that are left out."""
    X, y = table(n=700)
    upper = np.geomspace(0.1, 100, 12)
    X, bounds = X + 2 * upper, Bounds(upper, 3 * upper)
    public = fit_public_model(X[:300], y[:300], bounds=bounds)
    weights = public.coef_[0]
    heaviest = np.sort(np.argsort(np.abs(weights) * upper)[-3:])
    at_hand = np.where(np.isin(np.arange(12), heaviest), X, 2 * upper)
    expected = {
        12: public.score(X, y),
        3: np.mean((at_hand @ weights + public.intercept_ > 0) == y),
    }
    for k, score in expected.items():
        models = [
            classifier(
                0.01, bounds=bounds, n_nonzero=k, initial_model=public, random_state=seed
            ).fit(X[300:], y[300:])
            for seed in range(20)
        ]
        chosen = heaviest if k == 3 else np.arange(12)
        models = [m for m in models if np.array_equal(np.flatnonzero(m.coef_), chosen)]
        assert models
        assert np.mean([model.score(X, y) for model in models]) > score - 0.03


def test_without_noise_nothing_of_a_public_model_is_left():
    """A feature in the middle of its bounds has no weight in either: 0 / 0 is no distance."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 3))
    X[:, 1] = 0.5
    y = (4 * X[:, 0] + random.logistic(size=600) > 2).astype(int)

    def exact(n: int, start=None):
        how = {"delta": 1e-5, "bounds": (0.0, 1.0), "classes": [0, 1], "shapes": "linear"}
        model = SparseLogisticRegression(epsilon=np.inf, initial_model=start, **how)
        return model.fit(X[:n], y[:n])

    plain, started = exact(600), exact(600, exact(60))
    np.testing.assert_allclose(started.coef_, plain.coef_, atol=1e-6)


def test_wrong_public_model_is_forgotten_where_noise_is_small():
    X, y = table(n=6000)
    wrong = fit_public_model(X[:300], y[:300], bounds=limits())
    wrong.coef_ = np.zeros((1, 12))
    wrong.coef_[0, [1, 3, 5]] = 2 / np.geomspace(0.1, 100, 12)[[1, 3, 5]]
    model = classifier(3.0, initial_model=wrong).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 2, 4}
    exact = classifier(float("inf")).fit(X, y)
    loss = roc_auc_score(y, exact.decision_function(X)) - roc_auc_score(
        y, model.decision_function(X)
    )
    assert loss < 0.01


@pytest.mark.parametrize("factor", [100, 1000])
def test_data_in_the_middle_of_bounds_far_too_wide(factor):
    X, y = table(n=6000)
    model = classifier(1.0, bounds=limits(factor=factor)).fit(X, y)
    exact = classifier(float("inf")).fit(X, y)
    loss = roc_auc_score(y, exact.decision_function(X)) - roc_auc_score(
        y, model.decision_function(X)
    )
    assert loss < 0.02


def test_more_features_than_there_are_is_refused_before_any_data():
    with pytest.raises(ValueError, match="12 features"):
        classifier(1.0, solver=Pursuit(n_nonzero=13)).fit(*table(n=50))
    with pytest.raises(ValueError, match="n_nonzero"):
        Pursuit(n_nonzero=0)


# Histograms and tighter bounds --------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), layout=st.sampled_from(["dense", "csr", "csc"]))
def test_dyadic_counts_count_what_they_say(seed, layout):
    random = np.random.default_rng(seed)
    lower, upper = np.array([-1, 0, -4.0]), np.array([1, 8, 0.0])
    fraction = np.where(
        random.random((20, 3)) < 0.5,
        2.0 ** -random.integers(0, 9, (20, 3)),
        random.random((20, 3)),
    )
    X = lower + fraction * (upper - lower)
    X[random.random(X.shape) < 0.3] = 0
    stored = X if layout == "dense" else sparse.csr_array(X).asformat(layout)
    data = Dataset.clip(stored, np.zeros(20), Bounds(lower, upper))
    counts = data.dyadic_counts(7)
    t = (X - lower) / (upper - lower)
    for b in range(7):
        for side, u in enumerate((t, 1 - t, np.abs(2 * t - 1))):
            inside = (2.0 ** -(b + 1) < u) & (u <= 2.0**-b)
            np.testing.assert_array_equal(counts[:, side, b], inside.sum(axis=0))
    assert counts.sum(axis=2).max() <= 20


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("row_norm", [None, 3.0])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_tightened_records_are_clipped_and_fill_the_new_unit_box(intercept, row_norm, layout):
    X = np.array([[-2.0, 0.0, 0.3], [1.0, 5.0, 0.0], [0.0, -1.0, 4.0]])
    stored = X if layout == "dense" else sparse.csr_array(X)
    wide = Bounds([-2, -9, -8], [2, 9, 8.0], row_norm=row_norm)
    data = Dataset.clip(stored, np.zeros(3), wide, intercept=intercept)
    before = data.declared_units().columns(range(3))
    new = Bounds([-1, -1, 0], [1, 2, 1.0], row_norm=row_norm)
    tight = data.tightened(new)
    expected = np.clip(before, *new.arrays(3))
    center, half = (
        new.unit_map(3, centered=intercept).center,
        new.unit_map(3, centered=intercept).half_width,
    )
    np.testing.assert_allclose(tight.columns(range(3)), (expected - center) / half, atol=1e-12)
    assert np.abs(tight.columns(range(3))).max() <= 1
    np.testing.assert_allclose(tight.declared_units().columns(range(3)), expected, atol=1e-12)
    assert tight.bounds == new


@pytest.mark.parametrize("epsilon", [4, 6, 10])
def test_steps_do_not_diverge_where_noise_lowers_eigenvalues(epsilon):
    """Seeds 5 and 0. A floor at half its height makes errors of .17 at 6; ours are about .02."""
    made = wang_gu(2000, 200, 30, seed=5)
    limit = 4 * float(np.std(made.y))
    model = SparseLinearRegression(
        epsilon=epsilon,
        delta=0.01,
        bounds=made.bounds,
        target_bounds=(-limit, limit),
        n_nonzero=30,
        neighbors="replace_one",
        fit_intercept=False,
        random_state=0,
    ).fit(made.X, made.y)
    assert np.linalg.norm(model.coef_ - made.weights) < 0.04 * np.linalg.norm(made.weights)


# Noisy gradients over all features ----------------------------------------------------------------


def gradients(change, noise=(3.0, 1.0), d=20_000):
    """Two releases of gradients that are apart by ``change`` in their 50 heavy entries."""
    random = np.random.default_rng(11)
    truth = np.zeros((d, 1))
    truth[:50, 0] = np.linspace(8, 20, 50)
    moved = truth.copy()
    moved[:50] -= change
    older, newer = (
        ReleasedGradient(values + level * random.normal(size=(d, 1)), level)
        for values, level in zip((truth, moved), noise, strict=True)
    )
    return older, newer, moved


@pytest.mark.parametrize("noise", [(1.0, 1.0), (1.0, 2.0), (3.0, 1.0)])
def test_gradients_that_did_not_change_are_averaged_by_their_precision(noise):
    older, newer, truth = gradients(0.0, noise)
    joined = newer.after(older, np.zeros(0, dtype=int), 25)
    best = (noise[0] ** -2 + noise[1] ** -2) ** -0.5
    # Seed 11. The estimate of the change has 50 squares: 1.4 covers seven standard errors.
    assert best <= joined.noise <= 1.4 * best
    assert np.std(joined.values - truth) <= 1.4 * best


def test_a_gradient_that_has_changed_is_forgotten():
    older, newer, _ = gradients(np.linspace(-15, 15, 50)[:, None])
    joined = newer.after(older, np.zeros(0, dtype=int), 25)
    assert np.corrcoef(joined.values[:, 0], newer.values[:, 0])[0, 1] > 0.99
    assert joined.noise > 0.95 * newer.noise


def test_chosen_features_do_not_make_a_gradient_look_changed():
    change = np.zeros((50, 1))
    change[:5] = 100.0
    older, newer, _ = gradients(change)
    apart = newer.after(older, np.zeros(0, dtype=int), 25)
    joined = newer.after(older, np.arange(5), 25)
    assert joined.noise < apart.noise


@pytest.mark.parametrize(("curvature", "factor"), [(2.0, 1.5), (3.0, 1.0), (4.0, 1.0)])
def test_two_gradients_show_how_steep_the_way_was(curvature, factor):
    """Without noise, along a step of a quadratic whose curvature is 3 there, over that of the mean.

    What was seen once fades; noise as loud as the change of the gradient shows nothing.
    """
    step, before = np.array([[0.4], [-0.3]]), np.array([[2.0], [1.0]])
    after = before - 100 * 3.0 * step
    steepness = Steepness()
    assert steepness.look(before, 0.0, 100.0, curvature) == 1
    steepness.stepped(step, before, 0.0)
    assert steepness.look(after, 0.0, 100.0, curvature) == pytest.approx(factor)
    steepness.stepped(0 * step, after, 0.0)
    assert steepness.look(after, 0.0, 100.0, curvature) == pytest.approx(max(1.0, 0.8 * factor))
    loud = Steepness()
    loud.stepped(step, before, 100 * 3.0 * 0.5)
    assert loud.look(after, 0.0, 100.0, curvature) == 1
