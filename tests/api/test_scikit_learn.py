"""The scikit-learn contract, with no expected failures but one that privacy asks for."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsedp import (
    Bounds,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.solvers import FrankWolfe, Lasso, Pursuit, Sparsifier

WIDE = Bounds(lower=-10, upper=10)
QUICK = Sparsifier(FrankWolfe(n_steps=20))


@parametrize_with_checks(
    [
        SparseLogisticRegression(epsilon=10.0, delta=1e-2, bounds=WIDE, solver=QUICK),
        SparseLogisticRegression(
            epsilon=float("inf"), delta=1e-6, bounds=WIDE, solver=FrankWolfe(n_steps=50)
        ),
        SparseLinearRegression(
            epsilon=1.0, delta=1e-6, bounds=WIDE, target_bounds=(-200, 200), solver=QUICK
        ),
        SparseLinearRegression(
            epsilon=float("inf"),
            delta=1e-6,
            bounds=WIDE,
            target_bounds=(-200, 200),
            solver=FrankWolfe(radius=3, n_steps=50),
        ),
        SparseLinearRegression(
            epsilon=1.0,
            delta=1e-6,
            bounds=WIDE,
            target_bounds=(-200, 200),
            loss="huber",
            solver=QUICK,
        ),
        SparsePoissonRegressor(epsilon=1.0, delta=1e-6, bounds=WIDE, max_count=200, solver=QUICK),
    ],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{kind}_data": (
            "a row with a weight of 3 would count as three rows, but at most one is protected"
        )
        for kind in ("dense", "sparse")
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", [FrankWolfe(n_steps=50), Lasso(radius=5), Pursuit()], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions_divided_by_a_constant(solver, n_classes):
    random = np.random.default_rng(n_classes)
    X, y = random.uniform(-9, 9, size=(80, 4)), random.integers(0, n_classes, 80)
    times = random.integers(0, 5, 80)
    model = SparseLogisticRegression(
        epsilon=float("inf"),
        delta=1e-6,
        bounds=WIDE,
        solver=solver,
        classes=range(n_classes),
        # How far features bend is told by records left out, and one that is there twice is not two.
        shapes="linear",
    )
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times)).coef_
    weighted = model.fit(X, y, sample_weight=times / 4).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-6 * np.abs(repeated).max())
