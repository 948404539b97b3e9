"""The candidates of a private search: what a grid may vary, and what it may not."""

from collections.abc import Mapping
from dataclasses import dataclass

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from sparsedp.estimators.border import Estimator, Grid
from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.estimators.poisson import SparsePoissonRegressor
from sparsedp.estimators.regressor import SparseLinearRegression
from sparsedp.fit.settings import Settings

TUNABLE = ("bounds", "fit_intercept", "initial_model", "monotone", "n_nonzero", "shapes", "solver")
"""Parameters that a grid may vary: public choices about the model. All others are refused, also
those that are added one day: each belongs to the guarantee (epsilon, delta, neighbors, holdout,
ledger, random_state), or says which problem is solved (schema, classes, class_weight,
target_bounds, offset_bounds, invalid), and candidates that solve different problems cannot be
compared by their scores."""


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: an estimator that is ready to be fitted, and its checked settings."""

    params: dict[str, object]
    estimator: SparseLogisticRegression | SparseLinearRegression | SparsePoissonRegressor
    settings: Settings


def candidates(estimator: Estimator, param_grid: Grid, **guarantee: object) -> list[Candidate]:
    """Read the grid once and make an estimator of each point.

    Parameters
    ----------
    estimator : SparseLogisticRegression, SparseLinearRegression or SparsePoissonRegressor
    param_grid : dict or list of dict
    **guarantee
        Epsilon, delta, ledger and random_state of the search: the same for every candidate.

    Raises
    ------
    ValueError
        For an estimator or a grid that would decide about the guarantee.
    """
    _check_estimator(estimator)
    points = _points(param_grid)
    base = clone(estimator).set_params(**guarantee)
    made = [(params, clone(base).set_params(**params)) for params in points]
    return [Candidate(params, each, Settings.of(each)) for params, each in made]


def _check_estimator(estimator: Estimator) -> None:
    ours = SparseLogisticRegression, SparseLinearRegression, SparsePoissonRegressor
    if not isinstance(estimator, ours):
        raise ValueError(
            f"a private search fits {', '.join(each.__name__ for each in ours)} itself, got "
            f"{type(estimator).__name__}: steps of a Pipeline would see the records outside of the "
            "guarantee; put the search into the Pipeline, as its last step"
        )
    if getattr(estimator, "intervals", False) is not False:
        raise ValueError(
            "a search publishes the best of several models, and intervals do not know that: leave "
            "intervals out, and fit the settings that were found with intervals=True"
        )
    if estimator.ledger is not None:
        raise ValueError(
            "give the ledger to the search, not to its estimator: the search is charged once, as "
            "a whole"
        )
    if estimator.holdout is not None:
        raise ValueError(
            "a private search takes no holdout: its trials score on records that others of them "
            "train on. Leave holdout out, and evaluate the best model on other records"
        )


def _points(param_grid: Grid) -> list[dict[str, object]]:
    grids = [param_grid] if isinstance(param_grid, Mapping) else list(param_grid)
    names = sorted({str(name) for grid in grids for name in grid})
    refused = [name for name in names if name not in TUNABLE]
    if refused:
        raise ValueError(
            f"the grid of a private search may vary {', '.join(TUNABLE)}, not "
            f"{', '.join(refused)}: what sets the guarantee or the problem is the same for all "
            "candidates; set it on the search or on its estimator"
        )
    points = list(ParameterGrid(grids))
    if not points:
        raise ValueError("the grid of a private search is empty: give settings to try")
    return points
