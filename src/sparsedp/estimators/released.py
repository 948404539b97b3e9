"""Between unit coordinates, where solvers work, and the units that users declared."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.solvers import Solution, SolutionPath


@dataclass(frozen=True)
class Coefficients:
    """A model in declared units: the last step from a solution to what users see."""

    coef: np.ndarray
    """Of shape (n_outputs, n_features)."""
    intercept: np.ndarray
    """Of shape (n_outputs,)."""
    clip_bounds: tuple[np.ndarray, np.ndarray]
    """Features are clipped to these before they are multiplied."""
    order: np.ndarray
    """Used features, in the order in which they enter the path."""
    path_coefs: np.ndarray
    """Of shape (k, n_outputs, k): coefficients of the first 1, 2, ... features of the order."""
    path_intercepts: np.ndarray
    """Of shape (k, n_outputs)."""

    def scaled(self, factor: float, offset: float) -> "Coefficients":
        """The same model for a target in other units: factor times prediction plus offset."""
        return replace(
            self,
            coef=factor * self.coef,
            intercept=factor * self.intercept + offset,
            path_coefs=factor * self.path_coefs,
            path_intercepts=factor * self.path_intercepts + offset,
        )

    @classmethod
    def of(cls, solution: Solution, data: Dataset) -> "Coefficients":
        """Carry unit weights back by the public (or released) bounds."""
        d = data.n_features
        bounds = data.bounds if solution.bounds is None else solution.bounds
        weights = solution.weights.reshape(data.n_columns, -1)
        intercept = weights[d] if data.intercept else np.zeros(weights.shape[1])
        unit_map = bounds.unit_map(d, centered=data.intercept)
        coef, intercept = unit_map.to_original(weights[:d], intercept)
        path = solution.path or SolutionPath.by_weight(solution.weights, d)
        half_width, center = unit_map.half_width[path.order], unit_map.center[path.order]
        path_coefs = path.weights / half_width[:, None]
        path_intercepts = path.intercepts - np.einsum("kfo,f->ko", path_coefs, center)
        return cls(
            np.ascontiguousarray(coef.T),
            np.atleast_1d(intercept),
            bounds.arrays(d),
            path.order,
            path_coefs.transpose(0, 2, 1),
            path_intercepts,
        )


def initial_weights(model: Any, data: Dataset, n_outputs: int) -> np.ndarray | None:
    """Weights of a fitted public model in unit coordinates; checks that it fits the data.

    For regression the model predicts in the target's units and is mapped to [-1, 1] likewise.
    """
    if model is None:
        return None
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
    if data.target_bounds is not None:
        low, high = data.target_bounds
        coef, intercept = (2 / (high - low) * part for part in (coef, intercept - (high + low) / 2))
    weights, constant = data.unit_map.from_original(coef.T, intercept)
    stacked = np.vstack([weights, constant]) if data.intercept else weights
    return stacked[:, 0] if n_outputs == 1 else stacked
