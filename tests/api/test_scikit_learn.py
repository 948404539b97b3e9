"""The scikit-learn contract, with no expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsedp import (
    Bounds,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.solvers import FrankWolfe, Sparsifier

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
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
