"""The effects of a fitted model, feature by feature."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sparsedp.data.bend import Shape, shape_of
from sparsedp.data.used import used
from sparsedp.estimators.border import Estimator


def names_or_positions(estimator: Estimator) -> list[str | int]:
    """What the columns of ``coef_`` are called; their positions where they have no names."""
    names = estimator.privacy_.bounds.get("features", getattr(estimator, "feature_names_in_", None))
    d = len(estimator.clip_bounds_[0])
    return list(range(d)) if names is None else [str(name) for name in names]


def shapes_of(estimator: Estimator) -> dict[str | int, Shape]:
    """The effect of each used feature, where those that it interacts with are in the middle."""
    check_is_fitted(estimator)
    named, features = names_or_positions(estimator), np.flatnonzero(used_by(estimator))
    return {named[j]: _shape(estimator, j) for j in features.tolist()}


def used_by(estimator: Estimator) -> NDArray[np.bool_]:
    """Features with an effect of their own or together with another: a mask."""
    return used(np.atleast_2d(estimator.coef_), estimator.bends_, estimator.interactions_)


def one_shape(estimator: Estimator, feature: str | int) -> Shape:
    """The effect of a feature by name or position; flat if the model does not use it."""
    check_is_fitted(estimator)
    named = names_or_positions(estimator)
    if isinstance(feature, str):
        j = named.index(feature) if feature in named else -1
    else:
        whole = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
        j = int(feature) if whole else -1
    if not 0 <= j < len(named):
        raise ValueError(f"the model has no feature {feature!r:.60}: give a name or a position")
    return _shape(estimator, j)


def _shape(estimator: Estimator, j: int) -> Shape:
    lower, upper = estimator.clip_bounds_
    bend = next((bend for bend in estimator.bends_ if bend.feature == j), None)
    return shape_of(np.atleast_2d(estimator.coef_)[:, j], float(lower[j]), float(upper[j]), bend)
