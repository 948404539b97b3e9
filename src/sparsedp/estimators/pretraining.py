"""Public pre-training: a model of public records, for a private fit to start from."""

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge

from sparsedp.data.bounds import UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.estimators.classifier import SparseLogisticRegression
from sparsedp.estimators.regressor import SparseLinearRegression

TASKS = ("classification", "regression")


def fit_public_model(
    X: Any,
    y: Any,
    *,
    bounds: Any,
    task: Literal["classification", "regression"] = "classification",
    penalty: float = 1.0,
    fit_intercept: bool = True,
    n_nonzero: int | None = None,
) -> Any:
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
    if task not in TASKS:
        raise ValueError(f"task must be one of {TASKS}, got {task!r}")
    if not 0 < penalty < float("inf"):
        raise ValueError(f"penalty must be a positive number, got {penalty!r}")
    y = np.asarray(y)
    if task == "classification" and len(np.unique(y)) < 2:
        raise ValueError("the public records have only one class, a classifier needs two or more")
    features, unit_map = _unit_features(X, len(y), bounds)
    if n_nonzero is not None:
        common: dict[str, Any] = {
            "epsilon": float("inf"),
            "delta": 0.5,  # not used
            "bounds": bounds,
            "n_nonzero": n_nonzero,
            "fit_intercept": fit_intercept,
        }
        if task == "regression":
            chooser = SparseLinearRegression(target_bounds=(y.min(), y.max()), **common)
        else:
            chooser = SparseLogisticRegression(**common)
        used = np.atleast_2d(chooser.fit(X, y).coef_).any(axis=0)
        # A column of zeros gets the weight zero.
        features = features @ sparse.diags_array(used.astype(float))
    if task == "regression":
        model = Ridge(alpha=penalty, fit_intercept=fit_intercept).fit(features, y)
        weights, constant = unit_map.to_original(model.coef_, model.intercept_)
        model.coef_, model.intercept_ = weights, float(constant)
        return model
    model = LogisticRegression(C=1 / penalty, fit_intercept=fit_intercept, max_iter=1000)
    model.fit(features, y)
    weights, constant = unit_map.to_original(model.coef_.T, model.intercept_)
    model.coef_, model.intercept_ = np.ascontiguousarray(weights.T), np.asarray(constant)
    return model


def _unit_features(X: Any, n: int, bounds: Any) -> tuple[Any, UnitMap]:
    """Clipped features scaled to half-widths, not centered: that would fill sparse matrices."""
    data = Dataset.clip(X, np.zeros(n), bounds).declared_units()
    lower, upper = data.bounds.arrays(data.n_features)
    half_width = (upper - lower) / 2
    unit_map = UnitMap(center=np.zeros(data.n_features), half_width=half_width)
    if isinstance(data.storage, np.ndarray):
        return data.columns(np.arange(data.n_features)) / half_width, unit_map
    return data.storage @ sparse.diags_array(1 / half_width), unit_map
