"""Coefficients predict as they are written down, wherever that is possible."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsedp import (
    Bounds,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.data.dataset import Dataset
from sparsedp.data.interaction import unit_values
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.problem import Problem
from sparsedp.fit.target import Classes
from sparsedp.losses import Logistic
from sparsedp.release import PublishedModel
from sparsedp.solvers import Pursuit, Screened, Solution

N, D = 6000, 8
LOWER = np.array([0, 0, 0, 0, 0, 1, -1, 0.0])
UPPER = np.array([1, 1, 1, 1, 1, 3, 1, 1000.0])
"""Seven columns of two values, of which the first three are rare, and a skewed one."""


def records(seed=0):
    random = np.random.default_rng(seed)
    rates = np.array([0.01, 0.02, 0.03, 0.5, 0.97, 0.5, 0.5])
    two = random.random((N, D - 1)) < rates
    X = np.where(two, UPPER[:-1], LOWER[:-1])
    X = np.column_stack([X, np.minimum(random.exponential(4, size=N), 1000)])
    margin = 4 * X[:, 0] - 3 * X[:, 1] + X[:, 3] + 0.2 * X[:, 7] - 1.5
    return X, margin, random


def fitted(task, X, margin, random, **settings):
    common = {"epsilon": 20.0, "delta": 1e-5, "n_nonzero": D, "random_state": 0} | settings
    if task == "linear":
        return SparseLinearRegression(target_bounds=(-10, 10), **common).fit(X, margin)
    if task == "count":
        y = random.poisson(np.exp(np.clip(margin, -5, 2)))
        return SparsePoissonRegressor(max_count=20, **common).fit(X, y)
    y = (random.random(N) < 1 / (1 + np.exp(-margin))).astype(int)
    if task == "multinomial":
        return SparseLogisticRegression(classes=range(3), **common).fit(X, y + (margin > 1))
    return SparseLogisticRegression(classes=(0, 1), **common).fit(X, y)


def margins(model, X):
    """Before the link."""
    if isinstance(model, SparsePoissonRegressor):
        return np.log(model.predict(X))
    return model.predict(X) if np.ndim(model.coef_) == 1 else model.decision_function(X)


def plain(model, X):
    found = X @ np.atleast_2d(model.coef_).T + model.intercept_
    for bend in model.bends_:
        found = found + bend.at(X[:, bend.feature])
    lower, upper = model.clip_bounds_
    units = unit_values(np.clip(X, lower, upper), lower, upper)
    for pair in model.interactions_:
        found = found + pair.at(units[:, pair.first], units[:, pair.second])
    return found.reshape(np.shape(margins(model, X)))


SHAPES = [
    {},
    {"fit_intercept": False},
    {"row_norm": 30.0},
    {"row_norm": 30.0, "fit_intercept": False},
    {"layout": sparse.csr_array},
    {"solver": Screened(Pursuit(), n_keep=D)},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("task", ["binary", "linear", "multinomial", "count"])
def test_columns_of_two_values_have_ordinary_coefficients(task, shape):
    settings = dict(shape)
    row_norm, layout = settings.pop("row_norm", None), settings.pop("layout", np.array)
    X, margin, random = records()
    X = X.copy()
    if row_norm is not None or layout is sparse.csr_array:
        X[:, 5] -= 1  # both need bounds that contain zero
    lower, upper = np.minimum(LOWER, X.min(axis=0)), UPPER - (X[:, 5].max() < 3) * np.eye(D)[5]
    bounds = Bounds(lower, upper, row_norm=row_norm, binary=range(D - 1))
    model = fitted(task, layout(X), margin, random, bounds=bounds, **settings)
    assert set(model.clipped_) <= {D - 1}
    low, high = model.clip_bounds_
    within = np.clip(X, low, high)  # clips the last column alone
    np.testing.assert_array_equal(within[:, :-1], X[:, :-1])
    bound = np.log(20) if task == "count" else np.inf
    most = len(model.path_.order)
    for k in (min(D // 2, most), most):
        part = model.path_.model(k)
        found, written = margins(part, layout(X)), np.minimum(plain(part, within), bound)
        np.testing.assert_allclose(found, written, rtol=1e-9, atol=1e-9)
        assert np.abs(np.atleast_2d(part.coef_)[:, :-1]).max() < 12


def test_without_the_declaration_a_rare_column_is_clipped_and_named():
    X, margin, random = records()
    names = [f"f{j}" for j in range(D)]
    frame = pd.DataFrame(X, columns=names)
    model = fitted("binary", frame, margin, random, bounds=Bounds(LOWER, UPPER))
    assert {"f0", "f1", "f7"} <= set(model.clipped_)
    assert model.clipped_["f0"] == (0, 1 / 128)
    assert any("'f0'" in note for note in model.privacy_.notes)
    assert any("binary" in note for note in model.privacy_.notes)
    form = model.linear_form_
    off = np.abs(
        frame.to_numpy() @ form.coef[0] + np.ravel(form.intercept) - model.decision_function(frame)
    )
    assert off.max() <= form.largest_difference * (1 + 1e-9)
    published = PublishedModel.from_estimator(model).linear_form()
    np.testing.assert_array_equal(published.coef[0], form.coef[0][form.coef[0] != 0])
    # Unused features are not published: fewer terms, summed in another order.
    assert published.largest_difference == pytest.approx(form.largest_difference, rel=1e-12)


def test_no_note_where_nothing_was_tightened():
    X, margin, random = records()
    bounds = Bounds(LOWER[:-1], UPPER[:-1], binary=True)
    model = fitted("binary", X[:, :-1], margin, random, bounds=bounds, n_nonzero=4)
    assert model.clipped_ == {}
    assert model.linear_form_.largest_difference == 0
    assert not any("tightened" in note for note in model.privacy_.notes)
    np.testing.assert_allclose(
        X[:, :-1] @ model.coef_[0] + np.ravel(model.intercept_), model.decision_function(X[:, :-1])
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("released", [(0, 1 / 128), (127 / 128, 1), (0.25, 0.5), (0, 1)])
def test_putting_bounds_back_changes_no_prediction(intercept, released):
    """What a solver released about a 0/1 column, in the box of its own bounds."""
    X = np.array([[0.0, 3.0], [1.0, 7.0]])
    declared = Bounds([0, 0], [1, 10], binary=[0])
    data = Dataset.clip(X, [0, 1], declared, intercept=intercept)
    weights = np.array([0.7, -0.4, 0.3])[: 2 + intercept]
    tight = Bounds([released[0], 2], [released[1], 5])
    solution = Solution(weights, bounds=tight)
    found = Coefficients.of(solution, Problem(data, Logistic(), Classes((0, 1))))
    expected = data.tightened(tight).matvec(weights)
    written = np.clip(X, *found.clip_bounds) @ found.coef[0] + found.intercept[0]
    np.testing.assert_allclose(written, expected, rtol=1e-12)
    put_back = (found.clip_bounds[0][0], found.clip_bounds[1][0]) == (0, 1)
    assert put_back == (intercept or released[0] == 0)
    assert (found.clip_bounds[0][1], found.clip_bounds[1][1]) == (2, 5)


def test_a_missing_value_is_the_same_in_fit_and_prediction():
    """The middle of the declared bounds, then clipped: not the middle of tightened ones."""
    X, margin, random = records()
    bounds = Bounds(LOWER, UPPER, binary=range(D - 1))
    model = fitted("binary", X, margin, random, bounds=bounds, invalid="replace")
    assert model.clipped_
    missing, middle = np.full((1, D), np.nan), ((LOWER + UPPER) / 2)[None]
    assert model.decision_function(missing) == model.decision_function(middle)
    published = PublishedModel.from_estimator(model)
    assert published.decision_function(missing) == model.decision_function(missing)
