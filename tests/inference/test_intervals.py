"""Intervals through the estimators: what they are without noise, and what is refused."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from sparsedp import Ledger, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.bounds import Bounds
from sparsedp.privacy.verdict import verdict_of
from sparsedp.solvers import IntervalPursuit

LOWER, UPPER = np.array([-4.0, -8.0, 0.0, -4.0]), np.array([4.0, 8.0, 1.0, 4.0])
BOUNDS = Bounds(lower=LOWER, upper=UPPER, binary=[2])
"""Of four features, the third one of two values."""


def table(n=6000, seed=0):
    """Records well within the bounds, and both kinds of targets."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4)) * [1.0, 2.0, 1.0, 1.0]
    X[:, 2] = random.random(n) < 0.3
    X = np.clip(X, LOWER, UPPER)
    margins = X @ [0.9, -0.4, 0.7, 0.0] - 0.5
    labels = (random.random(n) < expit(margins)).astype(int)
    return X, labels, margins + random.normal(size=n)


def classifier(**settings):
    given = {"epsilon": 2.0, "delta": 1e-6, "bounds": BOUNDS, "classes": (0, 1)}
    return SparseLogisticRegression(**(given | {"intervals": True, "random_state": 3} | settings))


def regressor(**settings):
    given = {"epsilon": 2.0, "delta": 1e-6, "bounds": BOUNDS, "target_bounds": (-9.0, 7.0)}
    return SparseLinearRegression(**(given | {"intervals": True, "random_state": 3} | settings))


def weighted_fit(estimator, X, y):
    """The estimand on these records, and White's covariance, by plain formulas."""
    found = estimator.inference_
    low, high = estimator.clip_bounds_
    unit = (np.clip(X, low, high) - (low + high) / 2) / ((high - low) / 2)
    Z = np.column_stack([np.ones(len(unit)), unit[:, found.features]])
    numbers = isinstance(estimator, SparseLinearRegression)
    factor = (7.0 + 9.0) / 2 if numbers else 1.0
    target = (y + 1.0) / factor if numbers else y
    length = np.square(Z @ found.estimand.whitening).sum(axis=1)
    weights = np.minimum(1, found.estimand.reach**2 / length)
    theta, clip = np.zeros(Z.shape[1]), found.estimand.clip
    for _ in range(50):
        margins = Z @ theta
        p = margins if numbers else expit(margins)
        residuals = np.clip(p - target, -clip, clip)
        curvature = (np.abs(p - target) < clip) * 1.0 if numbers else p * (1 - p)
        hessian = (Z * (weights * curvature)[:, None]).T @ Z
        step = np.linalg.solve(hessian, Z.T @ (weights * residuals))
        theta = theta - step
        if np.abs(step).max() < 1e-10:
            break
    inverse = np.linalg.inv(hessian)
    scores = Z * (weights * residuals)[:, None]
    errors = np.sqrt(np.diag(inverse @ (scores.T @ scores) @ inverse))[1:]
    slopes = factor / ((high - low) / 2)[found.features]
    return theta[1:] * slopes, errors * slopes


@pytest.mark.parametrize("kind", [classifier, regressor])
def test_without_noise_they_are_whites_intervals(kind):
    X, labels, numbers = table()
    X[::2, [0, 1, 3]] *= 0.1  # half of them close together, so that others are far out
    y = labels if kind is classifier else numbers
    fitted = kind(epsilon=float("inf")).fit(X, y)
    coef, errors = weighted_fit(fitted, X, y)
    np.testing.assert_allclose(fitted.coef_.ravel(), coef, rtol=1e-5)
    np.testing.assert_allclose(fitted.standard_errors_, errors, rtol=1e-5)
    np.testing.assert_array_equal(fitted.inference_.table.noise_shares, 0.0)
    np.testing.assert_allclose(np.diff(fitted.intervals_)[:, 0], 2 * 1.959964 * errors, rtol=1e-5)


@pytest.mark.parametrize("kind", [classifier, regressor])
def test_with_noise_they_are_wider_and_stay_near(kind):
    X, labels, numbers = table()
    y = labels if kind is classifier else numbers
    fitted = kind().fit(X, y)
    coef, errors = weighted_fit(fitted, X, y)
    shares = fitted.inference_.table.noise_shares[:-1]
    assert (fitted.standard_errors_ > errors).all()
    assert (shares > 0.02).all()
    # Seeded: between sample and estimate there is noise alone, of at most these errors.
    assert (np.abs(fitted.coef_.ravel() - coef) < 4 * fitted.standard_errors_).all()
    wide, narrow = kind(confidence=0.99).fit(X, y), fitted
    ratio = np.diff(wide.intervals_) / np.diff(narrow.intervals_)
    np.testing.assert_allclose(ratio, 2.575829 / 1.959964, rtol=1e-6)
    np.testing.assert_array_equal(wide.standard_errors_, narrow.standard_errors_)


def test_the_intercept_and_covariances_are_in_declared_units():
    # A model in other units: x = 5 u + 100 has a fifth of the slope, and the same predictions.
    X, labels, _ = table()
    moved = Bounds(lower=5 * LOWER + 100, upper=5 * UPPER + 100, binary=[2])
    one = classifier(epsilon=50.0).fit(X, labels)
    other = classifier(epsilon=50.0, bounds=moved).fit(5 * X + 100, labels)
    np.testing.assert_allclose(5 * other.coef_, one.coef_, rtol=1e-6)
    np.testing.assert_allclose(5 * other.standard_errors_, one.standard_errors_, rtol=1e-6)
    np.testing.assert_allclose(other.p_values_, one.p_values_, rtol=1e-4, atol=1e-12)
    # u at the margins m: their variance is the same in both units.
    at, there = np.array([0.5, -1, 1, 2, 1]), np.array([102.5, 95, 105, 110, 1])
    variance = at @ one.covariance_ @ at
    assert there @ other.covariance_ @ there == pytest.approx(variance, rel=1e-5)


def test_what_noise_drowns_has_no_interval():
    X, labels, _ = table(n=60)
    fitted = classifier(epsilon=0.1).fit(X, labels)
    for found in (fitted.intervals_, fitted.standard_errors_, fitted.p_values_):
        assert np.isnan(found).all()
    assert np.isnan(fitted.covariance_).all()
    assert not fitted.inference_.table.nonzero.any()
    said = str(fitted.summary())
    assert "no  interval" in said.replace("   ", "  ")
    assert "4 coefficients have no interval" in said


def test_a_class_that_a_feature_tells_apart_has_no_interval():
    # The third feature's best weight is infinite: all who have it are of one class.
    X, labels, _ = table(n=20_000, seed=5)
    labels[X[:, 2] == 1] = 1
    fitted = classifier(epsilon=3.0).fit(X, labels)
    assert np.isnan(fitted.intervals_[2]).all()
    assert not np.isnan(fitted.intervals_[:2]).any()


def test_summary_says_what_was_released_and_no_number_of_records():
    X, labels, _ = table(n=5987)
    fitted = classifier().fit(X, labels)
    summary = fitted.summary()
    said, page = str(summary), summary._repr_html_()
    for text in (said, page):
        assert "epsilon = 2, delta = 1e-06" in text
        assert "std err" in text
        assert "Non-zero in this model: x0, x1, x2." in text
        assert "5987" not in text
        assert "5,987" not in text
    assert "<table>" in page
    assert str(summary) == repr(summary)
    named = classifier(bounds=Bounds(lower=LOWER, upper=UPPER, features=["<b>", "b", "c", "d"]))
    assert "&lt;b&gt;" in named.fit(X, labels).summary()._repr_html_()


def test_pickles_and_clones():
    X, labels, _ = table(n=1000)
    fitted = classifier(confidence=0.9).fit(X, labels)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.intervals_, fitted.intervals_)
    assert clone(fitted).get_params()["confidence"] == 0.9
    plain = classifier(intervals=False).fit(X, labels)
    with pytest.raises(AttributeError, match="fit with intervals=True"):
        plain.summary()
    assert not hasattr(plain, "intervals_")


def wide(n=8000, seed=1):
    """More features than are all taken by default."""
    random = np.random.default_rng(seed)
    X = np.clip(random.normal(size=(n, 40)) / 2.5, -1, 1)
    margins = X[:, :3] @ [2.0, -1.5, 1.0]
    return X, (random.random(n) < expit(margins)).astype(int), margins + random.normal(size=n)


@pytest.mark.parametrize("holdout", [None, 0.2])
def test_features_are_chosen_by_some_and_estimated_by_others(holdout):
    X, labels, _ = wide()
    ledger = Ledger(epsilon=2.0, delta=1e-5)
    settings = {"bounds": 1.0, "epsilon": 1.5, "ledger": ledger, "holdout": holdout}
    fitted = classifier(**settings).fit(X, labels)
    assert fitted.inference_.table.method == "split"
    assert (np.count_nonzero(fitted.coef_), len(fitted.inference_.features)) == (10, 10)
    assert np.isnan(fitted.intervals_[fitted.coef_[0] == 0]).all()
    (event,) = fitted.privacy_.events
    if holdout:
        assert {part["name"]: part["share"] for part in event["parts"]} == {"fit": 0.8, "test": 0.2}
        (event,) = event["parts"][0]["events"]
    assert {part["name"]: part["share"] for part in event["parts"]} == {
        "fit": 0.5,
        "intervals": 0.5,
    }
    # The dearest part is what it costs, counted anew.
    assert verdict_of(fitted.privacy_.to_dict()).epsilon == pytest.approx(1.5, rel=1e-3)
    assert ledger.remaining()[0] == pytest.approx(0.5)
    assert ("evaluation_" in vars(fitted)) is (holdout is not None)


def test_every_person_is_in_one_part_with_all_rows(monkeypatch):
    # The parts that reach the solver: disjoint, and nobody is divided.
    X, labels, _ = wide(n=600)
    groups = np.repeat(np.arange(200), 3)
    seen = []
    begun, ended = IntervalPursuit.begun, IntervalPursuit.ended

    def watched_begun(self, data, loss, curator):
        seen.append(data)
        return begun(self, data, loss, curator)

    def watched_ended(self, start, data, curator):
        seen.append(data)
        return ended(self, start, data, curator)

    monkeypatch.setattr(IntervalPursuit, "begun", watched_begun)
    monkeypatch.setattr(IntervalPursuit, "ended", watched_ended)
    classifier(bounds=1.0).fit(X, labels, groups=groups)
    first, second = (set(data.persons.tolist()) for data in seen)
    assert not first & second
    assert len(first | second) == 200
    assert [len(data.persons) for data in seen] == [3 * len(first), 3 * len(second)]


def test_whether_persons_are_divided_follows_from_public_numbers():
    X, labels, _ = wide(n=300)
    for few, many in ((X[:40], labels[:40]), (X, labels)):
        assert classifier(bounds=1.0).fit(few, many).inference_.table.method == "split"
    for rows in (40, 300):
        one = classifier(bounds=1.0).fit(X[:rows, :30], labels[:rows])
        assert one.inference_.table.method == "same"
    asked = classifier(bounds=1.0, intervals="split").fit(X[:, :5], labels)
    assert asked.inference_.table.method == "split"
    with pytest.raises(ValueError, match="would make them look better"):
        classifier(bounds=1.0, intervals="same", n_nonzero=4).fit(X, labels)


def test_records_that_tighter_bounds_clip_do_not_bend_a_line():
    # Without noise: clipped, 2 % of the first feature made its slope 12 errors too large.
    random = np.random.default_rng(5)
    X = np.column_stack([random.lognormal(0, 1.2, 20_000), random.random(20_000) < 0.3])
    y = X @ [0.4, 0.5] + random.normal(size=len(X))
    wide = Bounds(lower=[0, -4], upper=[200, 4])
    kept = np.minimum(X, 200)
    for kind in (np.asarray, sparse.csr_array):
        settings = {"bounds": wide, "target_bounds": (-5.0, 90.0), "epsilon": float("inf")}
        fitted = regressor(**settings).fit(kind(kept), y)
        beyond = kept[:, 0] > fitted.clip_bounds_[1][0]
        assert 0.005 < beyond.mean() < 0.05
        assert fitted.clip_bounds_[1][1] == 1  # a value at a bound is not beyond it
        errors = fitted.standard_errors_
        assert (np.abs(fitted.coef_.ravel() - [0.4, 0.5]) < 4 * errors).all()
        assert (errors < 0.05).all()


def test_a_value_that_few_records_have_is_not_cut_off():
    # 180 of 8,000 records, where 160 may be clipped: noise of 20 or so decides whether they are.
    random = np.random.default_rng(5)
    X = np.column_stack([random.permutation(np.arange(8000) < 180), random.random(8000)]) * 1.0
    y = (random.random(8000) < expit(2 * X[:, 0] + X[:, 1] - 1)).astype(int)
    for seed in range(5):
        fitted = SparseLogisticRegression(
            epsilon=2.0, delta=1e-6, bounds=(0, 1), classes=(0, 1), intervals=True
        )
        fitted.set_params(random_state=seed).fit(X, y)
        assert fitted.clip_bounds_[1][0] == 1


def test_a_count_within_wide_limits_is_found_among_features_that_say_nothing():
    # Seeded: within the declared limits it moves records by a twentieth of what a 0/1 feature does,
    # and noise chose others before limits were tightened by counts of what is seen within.
    wide = np.arange(40) < 8
    bounds = Bounds(lower=0, upper=np.where(wide, 20, 1), binary=np.flatnonzero(~wide).tolist())
    for seed in range(3):
        random = np.random.default_rng(seed)
        X = (random.random((16_000, 40)) < 0.3).astype(float)
        X[:, wide] = random.poisson(0.8, (16_000, 8))
        y = (random.random(len(X)) < expit(X[:, 0] - 3)).astype(int)
        fitted = classifier(bounds=bounds, epsilon=1.0, n_nonzero=2, random_state=seed).fit(X, y)
        assert fitted.clip_bounds_[1][0] <= 10
        assert fitted.coef_[0][0] > 0


def test_a_rare_class_that_the_start_took_for_a_frequent_one_has_no_intervals():
    # Seeded: 5 of 25 intervals missed before there was a rule.
    true, missed = np.array([0.8, -0.5, 0.3, 0.0]), 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        X = random.normal(size=(3000, 4)).clip(-4, 4)
        y = (random.random(3000) < expit(X @ true - 5)).astype(int)
        found = classifier(bounds=4.0, epsilon=3.0, random_state=seed).fit(X, y).intervals_
        missed += int(((found[:, 0] > true) | (found[:, 1] < true)).sum())  # NaN is neither
    assert missed <= 1


def test_a_value_that_all_have_one_label_has_no_interval():
    shown = 0
    for seed in range(10):
        random = np.random.default_rng(seed)
        X = (random.random((10_000, 2)) < [0.05, 0.4]).astype(float)
        y = np.where(X[:, 0] == 1, 1, random.random(len(X)) < expit(X[:, 1] - 1))
        bounds = Bounds(lower=0, upper=1, binary=[0, 1])
        fitted = classifier(bounds=bounds, epsilon=30.0, random_state=seed).fit(X, y)
        first, second = ~np.isnan(fitted.intervals_[:, 0])
        shown += int(second)
        assert not first
    assert shown == 10


REFUSED = {
    "the solver": (classifier(solver="frank_wolfe"), "for the solver 'pursuit'"),
    "shapes": (classifier(shapes="additive"), "are for lines"),
    "monotone": (classifier(monotone={0: "increasing"}), "leave monotone out"),
    "class weights": (classifier(class_weight={0: 0.5}), "equal weights of classes"),
    "row norms": (classifier(bounds=Bounds(-4, 4, row_norm=3.0)), "leave row_norm out"),
    "no intercept": (classifier(fit_intercept=False), "fit_intercept=True"),
    "Huber's loss": (regressor(loss="huber"), "the squared loss"),
    "more classes": (classifier(classes=(0, 1, 2)), "two classes"),
    "a setting": (classifier(intervals="both"), "intervals must be False, True"),
    "confidence": (classifier(confidence=1.0), "confidence must be between"),
    "a percentage": (classifier(confidence=95), "confidence must be between"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_not_been_studied_is_refused_before_the_charge(what):
    estimator, message = REFUSED[what]
    X, labels, _ = table(n=200)
    ledger = Ledger(epsilon=10, delta=1e-3)
    with pytest.raises(ValueError, match=message):
        estimator.set_params(ledger=ledger, random_state=None).fit(X, labels)
    assert ledger.history() == []
    public = clone(classifier(intervals=False)).fit(X, labels)
    with pytest.raises(ValueError, match="leave initial_model out"):
        classifier(initial_model=public).fit(X, labels)
