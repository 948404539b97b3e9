"""From unit coordinates, where solvers work, to the units that users declared."""

from dataclasses import dataclass, replace

import numpy as np

from sparsedp.fit.problem import Problem
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
    def of(cls, solution: Solution, problem: Problem) -> "Coefficients":
        """Carry unit weights back by the public (or released) bounds."""
        data, interval = problem.data, problem.target.interval
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
        found = cls(
            np.ascontiguousarray(coef.T),
            np.atleast_1d(intercept),
            bounds.arrays(d),
            path.order,
            path_coefs.transpose(0, 2, 1),
            path_intercepts,
        )
        if interval is None:
            return found
        low, high = interval
        return found.scaled((high - low) / 2, (high + low) / 2)
