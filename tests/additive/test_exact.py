"""Fits without noise are a ceiling: features bend as far as records tell, and no further."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsedp import (
    Bounds,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.losses import Logistic, Multinomial, Squared
from sparsedp.solvers.pursuit.exact import LeftOut, NewtonSums
from sparsedp.solvers.pursuit.records import Targets

BOX = Bounds(-1.0, 1.0)
INF = float("inf")


def lines(n, d, n_outputs, seed):
    """Features, and margins that are lines in all of them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, d))
    return rng, X, X @ rng.normal(size=(d, n_outputs))


def scores(model, X, y, seen):
    """On records that the fit has not seen, bent as it likes and straight."""
    bent = model.fit(X[:seen], y[:seen]).score(X[seen:], y[seen:])
    straight = model.set_params(shapes="linear").fit(X[:seen], y[:seen])
    return bent, straight.score(X[seen:], y[seen:])


def test_few_records_of_numbers_are_not_overfitted():
    rng, X, margins = lines(5200, 12, 1, 0)
    y = margins[:, 0] + rng.normal(size=len(X))
    model = SparseLinearRegression(
        epsilon=INF, delta=1e-6, bounds=BOX, target_bounds=(-12, 12), random_state=0
    )
    bent, straight = scores(model, X, y, 200)
    assert bent > straight - 0.02


@pytest.mark.parametrize("n_classes", [2, 5])
def test_few_records_of_classes_are_not_overfitted(n_classes):
    rng, X, margins = lines(5400, 12, n_classes, 1)
    y = np.argmax(margins + rng.gumbel(size=margins.shape), axis=1)
    model = SparseLogisticRegression(
        epsilon=INF, delta=1e-6, bounds=BOX, classes=range(n_classes), random_state=0
    )
    bent, straight = scores(model, X, y, 400)
    assert bent > straight - 0.02


def test_few_counts_are_not_overfitted():
    rng, X, margins = lines(5200, 12, 1, 2)
    y = np.minimum(rng.poisson(np.exp(0.5 * margins[:, 0])), 40)
    model = SparsePoissonRegressor(
        epsilon=INF, delta=1e-6, bounds=BOX, max_count=40, random_state=0
    )
    bent, straight = scores(model, X, y, 200)
    assert bent > straight - 0.02


def test_what_bends_is_still_found():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (3000, 6))
    y = np.cos(4 * X[:, 0]) + np.abs(X[:, 1]) + 0.3 * rng.normal(size=len(X))
    model = SparseLinearRegression(
        epsilon=INF, delta=1e-6, bounds=BOX, target_bounds=(-4, 4), random_state=0
    )
    bent, straight = scores(model, X, y, 2000)
    assert bent > 0.85
    assert straight < 0.2


@pytest.mark.parametrize("loss", [Logistic(), Multinomial(3), Squared()])
@pytest.mark.parametrize("weighed", [False, True])
def test_records_left_out_are_those_of_fits_without_them(loss, weighed):
    """One Newton step from the fit, by sums over all records but one, record by record."""
    rng = np.random.default_rng(4)
    n, d, outputs = 40, 3, loss.n_outputs
    storage = rng.uniform(-1, 1, (n, d))
    kinds = 2 if loss.n_classes is None else loss.n_classes
    values = rng.integers(0, kinds, n)
    if loss.n_classes is None:
        values = values.astype(float)
    counted = rng.uniform(0.2, 1, n) if weighed else None

    def some(rows):
        weights = None if counted is None else counted[rows]
        part = ColumnSubset(
            storage[rows], 1, np.arange(d), np.zeros(d), np.ones(d), weights=weights
        )
        return part, Targets(values[rows], weights)

    everyone, kept = np.arange(n), np.ones(1 + d, dtype=bool)
    weights = np.zeros((1 + d, outputs))
    ridge = 0.1 * np.eye((1 + d) * outputs)
    _, gradient, hessian = NewtonSums(loss, weights, kept)(*some(everyone))
    for _ in range(200):
        step = np.linalg.solve(hessian + ridge, gradient.T.ravel() + ridge @ weights.T.ravel())
        weights = weights - 0.5 * step.reshape(outputs, -1).T
        _, gradient, hessian = NewtonSums(loss, weights, kept)(*some(everyone))
    inverse = np.linalg.inv(hessian + ridge).reshape(outputs, 1 + d, outputs, 1 + d)
    total = 0.0
    for i in everyone:
        _, gradient, hessian = NewtonSums(loss, weights, kept)(*some(np.delete(everyone, i)))
        step = np.linalg.solve(hessian + ridge, gradient.T.ravel() + ridge @ weights.T.ravel())
        value = NewtonSums(loss, weights - step.reshape(outputs, -1).T, kept)(*some(everyone[[i]]))[
            0
        ]
        total += float(value)
    assert_allclose(LeftOut(loss, weights, kept, inverse)(*some(everyone)), total, rtol=1e-6)
