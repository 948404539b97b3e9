"""What every fitted estimator holds and does, whatever it predicts."""

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsedp.data.gate import check_finite, missing_values, numbers, shape_of, unwrapped
from sparsedp.data.predict import linear_predictor
from sparsedp.estimators.border import Estimator, Features, Tags
from sparsedp.estimators.path import ModelPath
from sparsedp.fit.coefficients import Coefficients
from sparsedp.privacy import PrivacyRecord


def publish(estimator: Estimator, released: Coefficients, record: PrivacyRecord) -> None:
    """Take over what was released; coefficients are left to the estimator, which knows their shape.

    Parameters
    ----------
    estimator
        Gets ``clip_bounds_``, ``privacy_`` and what ``path_`` is made of.
    released : Coefficients
        In declared units.
    record : PrivacyRecord
    """
    estimator.clip_bounds_ = released.clip_bounds
    estimator._path = (released.order, released.path_coefs, released.path_intercepts)
    estimator.privacy_ = record


def path_of(estimator: Estimator) -> ModelPath:
    """The models with fewer features, at no further charge."""
    check_is_fitted(estimator)
    order, coefs, intercepts = estimator._path
    return ModelPath(order, coefs, intercepts, estimator)


def margins_of(estimator: Estimator, X: Features) -> np.ndarray:
    """Margins of shape (n, n_outputs), of clipped features; malformed ones as in the fit."""
    check_is_fitted(estimator)
    X = unwrapped(X)
    n, d = shape_of(X)
    if n == 0 or d == 0:
        raise ValueError(f"Found array with 0 {'sample' if d else 'feature'}(s).")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    values = numbers(X, estimator.invalid, copy=False)
    if estimator.invalid == "raise":
        check_finite(values, getattr(estimator, "feature_names_in_", None))
    lower, upper = estimator.clip_bounds_
    return linear_predictor(
        values,
        np.atleast_2d(estimator.coef_),
        np.atleast_1d(estimator.intercept_),
        lower,
        upper,
        missing_values(lower, upper, estimator.privacy_.bounds.get("row_norm")),
    )


def tagged(estimator: Estimator, tags: Tags) -> Tags:
    """What scikit-learn should know of every estimator here."""
    tags.input_tags.sparse = True
    tags.non_deterministic = estimator.random_state is None
    return tags
