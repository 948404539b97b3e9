"""Tools that explain linear models agree with what the model predicts."""

import numpy as np
import pandas as pd
import pytest
import shap
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.data.interaction import unit_values

NAMES = ["smoker", "rare", "noise", "age"]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = (random.random((4000, 4)) < [0.4, 0.02, 0.5, 0]).astype(float)
    X[:, 3] = random.uniform(20, 90, size=len(X))
    margin = 1.5 * X[:, 0] + 2 * X[:, 1] + 0.05 * (X[:, 3] - 55)
    y = (random.random(len(X)) < 1 / (1 + np.exp(-margin))).astype(int)
    return pd.DataFrame(X, columns=NAMES), y


def fitted(table, binary, **settings):
    bounds = Bounds(0, [1, 1, 1, 120], features=NAMES, binary=NAMES[:3] if binary else None)
    model = SparseLogisticRegression(
        epsilon=10, delta=1e-5, bounds=bounds, classes=(0, 1), n_nonzero=4, random_state=0
    )
    return model.set_params(**settings).fit(*table)


def test_partial_dependence_is_a_line_with_the_slope_of_the_coefficient(table):
    model = fitted(table, binary=True, shapes="linear")
    assert model.clipped_ == {}
    for j, name in enumerate(NAMES):
        found = partial_dependence(
            model, table[0], [name], response_method="decision_function", grid_resolution=5
        )
        slopes = np.diff(found["average"][0]) / np.diff(found["grid_values"][0])
        np.testing.assert_allclose(slopes, model.coef_[0, j], rtol=1e-9)


def test_partial_dependence_is_the_shape_where_a_feature_bends(table):
    model = fitted(table, binary=True, shapes="additive")
    (bend,) = model.bends_
    assert bend.feature == 3
    at, average = dependence_on_age(model, table)
    expected = model.coef_[0, 3] * (at - at[0]) + bend.at(at)[:, 0] - bend.at(at[:1])[:, 0]
    np.testing.assert_allclose(average - average[0], expected, atol=1e-9)


def test_partial_dependence_has_the_others_where_records_are(table):
    """The shape has them in the middle of their limits: the difference is a line in units."""
    X = table[0]
    margin = (2 * X["smoker"] - 1) * (X["age"] - 55) / 15
    chance = 1 / (1 + np.exp(-margin))
    table = X, (np.random.default_rng(1).random(len(X)) < chance).astype(int)
    model = fitted(table, binary=True)
    pairs = [pair for pair in model.interactions_ if pair.second == 3]
    assert pairs
    at, average = dependence_on_age(model, table)
    shape, units = model.shape_("age"), unit_values(at, 0, 120)
    means = unit_values(table[0].to_numpy(), 0, [1, 1, 1, 120]).mean(axis=0)
    slope = sum(pair.weights[0] * means[pair.first] for pair in pairs)
    expected = np.interp(at, shape.knots, shape.values[:, 0]) + slope * units
    np.testing.assert_allclose(average - average[0], expected - expected[0], atol=1e-9)


def dependence_on_age(model, table):
    """Ages, and margins where everybody has them, on average."""
    found = partial_dependence(
        model, table[0], ["age"], response_method="decision_function", grid_resolution=40
    )
    return found["grid_values"][0], found["average"][0]


def test_permutation_importance_is_that_of_the_written_model(table):
    """The same coefficients in a model of scikit-learn's, which clips nothing."""
    model = fitted(table, binary=True, shapes="linear")
    X, y = table[0].to_numpy(), table[1]
    twin = LogisticRegression().fit(X[:100], y[:100])
    twin.coef_, twin.intercept_ = model.coef_, model.intercept_
    how = {"scoring": "neg_log_loss", "n_repeats": 3, "random_state": 0}
    ours = permutation_importance(model, table[0], y, **how)["importances"]
    np.testing.assert_allclose(ours, permutation_importance(twin, X, y, **how)["importances"])
    assert ours.mean(axis=1)[0] > 10 * abs(ours.mean(axis=1)[2])


@pytest.mark.parametrize("shapes", ["linear", "additive", "auto"])
@pytest.mark.parametrize("binary", [True, False])
def test_shap_adds_up_to_the_decision_function(table, binary, shapes):
    """On the linear form: exactly for lines that are not clipped, else up to what is stated."""
    model = fitted(table, binary, shapes=shapes)
    X = table[0].to_numpy()
    coef, intercept, difference = model.linear_form_
    explainer = shap.LinearExplainer((coef[0], np.ravel(intercept)[0]), X)
    values = explainer.shap_values(X)
    background = shap.maskers.Independent(X).data
    np.testing.assert_allclose(values, coef[0] * (X - background.mean(axis=0)), atol=1e-12)
    off = np.abs(values.sum(axis=1) + explainer.expected_value - model.decision_function(table[0]))
    assert (difference == 0) == (binary and shapes == "linear")
    assert off.max() <= difference + 1e-9
