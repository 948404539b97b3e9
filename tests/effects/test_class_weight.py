"""Class weights are public, and probabilities stay those of the records."""

import numpy as np
import pytest

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate.class_weight import class_weights
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.problem import Problem
from sparsedp.fit.start import initial_weights
from sparsedp.fit.target import Classes
from sparsedp.losses import Logistic, Multinomial
from sparsedp.release import PublishedModel
from sparsedp.solvers import Solution
from tests.cases import SOLVERS

EXACT = {"epsilon": float("inf"), "delta": 1e-6, "bounds": Bounds(0, 1, binary=True)}


def table(n_classes=2, n=4000):
    """One column of two values: a model of it is saturated."""
    random = np.random.default_rng(0)
    X = random.integers(0, 2, size=(n, 1)).astype(float)
    shares = np.array([[0.85, 0.1, 0.05], [0.5, 0.3, 0.2]])[:, :n_classes]
    shares /= shares.sum(axis=1, keepdims=True)
    y = (random.random(n)[:, None] > shares.cumsum(axis=1)[X[:, 0].astype(int)]).sum(axis=1)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_cancel_where_the_model_is_saturated(n_classes):
    """Frequencies of the classes in each cell are the maximum likelihood, whatever the weights."""
    X, y = table(n_classes)
    weight = {0: 1, 1: 20, 2: 5} if n_classes == 3 else {1: 20}
    model = SparseLogisticRegression(classes=range(n_classes), class_weight=weight, **EXACT)
    found = model.fit(X, y).predict_proba(np.array([[0.0], [1.0]]))
    expected = [np.bincount(y[X[:, 0] == x], minlength=n_classes) for x in (0, 1)]
    expected = np.array(expected) / np.sum(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert model.privacy_.target["class_weight"] == [w / 20 for w in (1, 20, 5)[:n_classes]]
    weighted = found * np.array([weight.get(k, 1) for k in range(n_classes)])
    assert model.predict(np.array([[0.0], [1.0]])).tolist() == weighted.argmax(axis=1).tolist()
    published = PublishedModel.from_estimator(model)
    assert (published.predict(X) == model.predict(X)).all()
    part = model.path_.model(1)
    np.testing.assert_allclose(part.predict_proba(X[:9]), model.predict_proba(X[:9]))


def test_private_fits_are_calibrated_as_well(tmp_path):
    X, y = table(n=40_000)
    model = SparseLogisticRegression(
        classes=(0, 1), class_weight=(1, 8), **(EXACT | {"epsilon": 2.0, "random_state": 0})
    ).fit(X, y)
    off = model.predict_proba(X)[:, 1].mean() - y.mean()
    assert abs(off) < 0.02  # without the correction it is above 0.3
    published = PublishedModel.from_estimator(model)
    again = PublishedModel.load(published.save(tmp_path))
    assert again.target["class_weight"] == [0.125, 1.0]
    np.testing.assert_array_equal(again.predict_proba(X[:9]), model.predict_proba(X[:9]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_public_start_is_the_same_model_in_the_margins_of_the_fit(n_classes):
    """What a fit starts from, published as it is, predicts as the public model does."""
    X, y = table(n_classes)
    classes = tuple(range(n_classes))
    public = SparseLogisticRegression(classes=classes, **EXACT).fit(X, y)
    weight = class_weights({1: 8}, classes)
    told = {"offset": np.zeros(len(y)), "offset_bounds": (-1, 3), "class_weight": weight}
    data = Dataset.clip(X, y, Bounds(0, 1), classes=classes, **told)
    loss = Logistic() if n_classes == 2 else Multinomial(n_classes)
    problem = Problem(data, loss, Classes(classes, class_weight=weight))
    start = initial_weights(public, problem)
    assert start is not None
    again = Coefficients.of(Solution(start), problem)
    np.testing.assert_allclose(again.coef, public.coef_)
    np.testing.assert_allclose(again.intercept, public.intercept_)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"class_weight": "balanced"}, "read class counts off the records"),
        ({"class_weight": {2: 1}}, "not among the classes"),
        ({"class_weight": {0: 0}}, "positive"),
        ({"class_weight": {0: -1}}, "positive"),
        ({"class_weight": {0: np.inf}}, "positive"),
        ({"class_weight": (1, 2, 3)}, "every class"),
        ({"class_weight": {0: 1e-9}}, "factor of 1e8"),
        ({"class_weight": {0: 2}, "fit_intercept": False}, "intercept"),
    ],
)
def test_what_is_not_public_or_not_a_weight_is_refused(changes, message):
    X, y = table(n=50)
    with pytest.raises(ValueError, match=message):
        SparseLogisticRegression(classes=(0, 1), **(EXACT | {"epsilon": 1.0} | changes)).fit(X, y)


def test_equal_weights_are_none():
    X, y = table(n=500)
    settings = {"classes": (0, 1), **EXACT, "epsilon": 1.0, "random_state": 0}
    plain = SparseLogisticRegression(**settings).fit(X, y)
    for weight in ({0: 3, 1: 3}, (2, 2), {}):
        same = SparseLogisticRegression(class_weight=weight, **settings).fit(X, y)
        assert class_weights(weight, (0, 1)) is None
        np.testing.assert_array_equal(same.coef_, plain.coef_)
        np.testing.assert_array_equal(same.intercept_, plain.intercept_)


@pytest.mark.parametrize("name", ["pursuit", "frank_wolfe", "noisy_gd", "sparsifier"])
def test_every_family_takes_them(name):
    X, y = table(n=500)
    model = SparseLogisticRegression(
        classes=(0, 1), class_weight={1: 8}, solver=SOLVERS[name], **(EXACT | {"epsilon": 1.0})
    )
    X = np.column_stack([X] * 3)
    assert np.isfinite(model.set_params(n_nonzero=2).fit(X, y).intercept_).all()
