"""Public pre-training: a model of public records, for a private fit to start from."""

from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

from sparsedp.data.bounds import UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Storage
from sparsedp.estimators.border import Features, Targets
from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.estimators.regressor import SparseLinearRegression
from sparsedp.fit.settings import BoundsLike

Task = Literal["classification", "regression"]
TASKS = ("classification", "regression")


def fit_public_model(
    X: Features,
    y: Targets,
    *,
    bounds: BoundsLike,
    task: Task = "classification",
    penalty: float = 1.0,
    fit_intercept: bool = True,
    n_nonzero: int | None = None,
) -> LogisticRegression | Ridge:
    """Fit an ordinary linear model to public records, to be the ``initial_model`` of a private fit.

    Any fitted linear model with ``coef_`` and ``intercept_`` in the units of the features will do;
    this one is regularized in the coordinates of the private fit, so that features in different
    units are treated alike. A dense one suits ``noisy_gd``. ``pursuit`` gives the heaviest features
    of the model a head start: it takes a dense one too, but in a sparse one no weight is large by
    accident (benchmarks/pretraining.md compares them).

    Parameters
    ----------
    X : array, SciPy sparse array or matrix, or data frame
        Public records, with the features of the private ones in the same order.
    y : array of shape (n,)
        Labels or numeric targets.
    bounds : Bounds, float or pair
        As declared for the private fit.
    task : {"classification", "regression"}
        Which estimator will start from it.
    penalty : float
        Strength of the L2 penalty on weights of unit features.
    fit_intercept : bool
        As in the private fit.
    n_nonzero : int or None
        Features to use, chosen by forward selection; None uses all.

    Returns
    -------
    LogisticRegression or Ridge
        Of scikit-learn, with coefficients in the units of X.

    Notes
    -----
    *Privacy.* None: everything about these records may show in the model. What starts from it is
    private for the private records only as long as nobody is in both sets.

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.8, 0.3]], [0, 1, 0, 1]
    >>> fit_public_model(X, y, bounds=(0, 1)).predict([[0.9, 0.1]])
    array([1])
    """
    y = np.asarray(y)
    _check(y, task, penalty)
    features, unit_map = _unit_features(X, len(y), bounds)
    if n_nonzero is not None:
        used = _chosen(X, y, task, bounds, fit_intercept, n_nonzero)
        # A column of zeros gets the weight zero.
        features = features @ sparse.diags_array(used.astype(float))
    return _fitted(features, y, task, penalty, fit_intercept, unit_map)


def _check(y: np.ndarray, task: Task, penalty: float) -> None:
    if task not in TASKS:
        raise ValueError(f"task must be one of {TASKS}, got {task!r}")
    if not 0 < penalty < float("inf"):
        raise ValueError(f"penalty must be a positive number, got {penalty!r}")
    if task == "classification" and len(np.unique(y)) < 2:
        raise ValueError("the public records have only one class, a classifier needs two or more")


def _fitted(
    features: Storage,
    y: np.ndarray,
    task: Task,
    penalty: float,
    fit_intercept: bool,
    unit_map: UnitMap,
) -> LogisticRegression | Ridge:
    """Fit to unit features and carry the coefficients back to declared units."""
    if task == "regression":
        model = Ridge(alpha=penalty, fit_intercept=fit_intercept)
    else:
        model = LogisticRegression(C=1 / penalty, fit_intercept=fit_intercept, max_iter=1000)
    model.fit(features, y)
    weights, constant = unit_map.to_original(np.transpose(model.coef_), model.intercept_)
    model.coef_ = np.ascontiguousarray(weights.T)
    model.intercept_ = float(constant) if task == "regression" else np.asarray(constant)
    return model


def _chosen(
    X: Features, y: np.ndarray, task: Task, bounds: BoundsLike, fit_intercept: bool, n_nonzero: int
) -> np.ndarray:
    """Which features forward selection takes, without noise."""
    if task == "regression":
        chooser = SparseLinearRegression(target_bounds=(y.min(), y.max()))
    else:
        chooser = SparseLogisticRegression()
    chooser.set_params(
        epsilon=float("inf"),
        delta=0.5,  # not used
        bounds=bounds,
        n_nonzero=n_nonzero,
        fit_intercept=fit_intercept,
    )
    return np.asarray(np.atleast_2d(chooser.fit(X, y).coef_).any(axis=0))


def _unit_features(X: Features, n: int, bounds: BoundsLike) -> tuple[Storage, UnitMap]:
    """Clipped features scaled to half-widths, not centered: that would fill sparse matrices."""
    data = Dataset.clip(X, np.zeros(n), bounds).declared_units()
    lower, upper = data.bounds.arrays(data.n_features)
    half_width = (upper - lower) / 2
    unit_map = UnitMap(center=np.zeros(data.n_features), half_width=half_width)
    if isinstance(data.storage, np.ndarray):
        return data.columns(np.arange(data.n_features)) / half_width, unit_map
    return data.storage @ sparse.diags_array(1 / half_width), unit_map
