"""Where a fit starts that was given a public model: its weights in unit coordinates."""

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.fit.problem import Problem


class LinearModel(Protocol):
    """A fitted linear model, of any library, in the units of the features and the target."""

    @property
    def coef_(self) -> ArrayLike:
        """Of shape (n_features,) or (n_outputs, n_features)."""
        ...

    @property
    def intercept_(self) -> ArrayLike:
        """A number, or one per output."""
        ...


def initial_weights(model: LinearModel | None, problem: Problem) -> np.ndarray | None:
    """Weights of a fitted public model in unit coordinates; checks that it fits the data.

    For regression the model predicts in the target's units and is mapped to [-1, 1] likewise.
    """
    if model is None:
        return None
    data, n_outputs = problem.data, problem.loss.n_outputs
    try:
        coef = np.atleast_2d(np.asarray(model.coef_, dtype=float))
        intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),))
    except AttributeError:
        raise ValueError(
            f"initial_model must be a fitted linear model with coef_ and intercept_, got {model!r}"
        ) from None
    if coef.shape != (n_outputs, data.n_features):
        raise ValueError(
            f"initial_model has coefficients of shape {coef.shape}, this fit needs "
            f"{(n_outputs, data.n_features)}: the public data must have the same features and "
            "classes, in the same order"
        )
    names, ours = getattr(model, "feature_names_in_", None), data.feature_names
    if names is not None and ours is not None and tuple(names) != tuple(ours):
        raise ValueError(
            "initial_model was fitted to other features, or to these in another order: fit it to "
            "columns of the same names in the order of the private records"
        )
    if not data.intercept and np.any(intercept != 0):
        raise ValueError("initial_model has an intercept, but fit_intercept=False")
    if problem.target.interval is not None:
        low, high = problem.target.interval
        coef, intercept = (2 / (high - low) * part for part in (coef, intercept - (high + low) / 2))
    weights, constant = data.unit_map.from_original(coef.T, intercept + problem.shift)
    stacked = np.vstack([weights, constant]) if data.intercept else weights
    return stacked[:, 0] if n_outputs == 1 else stacked
