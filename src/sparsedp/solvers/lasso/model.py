"""Minimize a quadratic under an L1 penalty or over an L1 ball, by coordinate descent."""

from functools import partial
from typing import Protocol

import numpy as np

from sparsedp.solvers.lasso.columns import Columns, kernels

EPOCHS = 30
"""Passes of coordinate descent between two attempts to solve for the non-zero weights at once."""

MOST_ATTEMPTS = 40

MOST_DROPPED = 20
"""Weights that may become zero in one attempt."""

MOST_EPOCHS = 300
"""Passes of coordinate descent where there is no matrix to solve with."""

MOST_PENALTIES = 60
"""Tried for one ball; each halves the bracket or is a Newton step inside it."""

RIDGE = 1e-12
"""Relative to the largest curvature: makes linear systems of equal columns solvable."""


ON_BALL = 1e-9
"""Relative excess of the norm over the radius that is left to rescaling."""


class Model(Protocol):
    """A quadratic with a minimum to be found."""

    weights: np.ndarray

    @property
    def slope(self) -> float | None:
        """Derivative of the norm of the last minimum in the penalty; None if not known."""
        ...

    def minimize(self, penalty: float, tolerance: float) -> None:
        """Move the weights to the minimum under an L1 penalty, gradient within the tolerance."""
        ...


class GramModel:
    """A quadratic given by its matrix: descend, then solve for the non-zero weights exactly.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
    gradient : ndarray of shape (m,)
        At the weights.
    weights : ndarray of shape (m,)
    """

    def __init__(self, gram: np.ndarray, gradient: np.ndarray, weights: np.ndarray) -> None:
        gram[np.diag_indices_from(gram)] += RIDGE * max(gram.diagonal().max(), RIDGE)
        self.gram = gram
        self.weights = weights.copy()
        self._pull = gram @ weights - gradient
        self._residual = -gradient
        self._rounding = 1e-9 * float(np.abs(self._pull).max())
        self.slope: float | None = None

    def minimize(self, penalty: float, tolerance: float) -> None:
        """Descend until the non-zero weights are known, then solve for them."""
        self.slope = None
        for _ in range(MOST_ATTEMPTS):
            kernels.descend_gram(
                self.gram, self._residual, self.weights, penalty, EPOCHS, tolerance
            )
            if self._solve(penalty):
                return

    def _solve(self, penalty: float) -> bool:
        """Go to the minimum among weights of the present signs: is it that among all weights?

        On the way a weight that would change its sign becomes zero and stays there. The objective
        only falls.
        """
        for _ in range(MOST_DROPPED):
            free = np.flatnonzero(self.weights)
            signs = np.sign(self.weights[free])
            right = np.column_stack([self._pull[free], signs])
            try:
                base, change = np.linalg.solve(self.gram[np.ix_(free, free)], right).T
            except np.linalg.LinAlgError:
                return False
            present, found = self.weights[free], base - penalty * change
            crossing = found * signs <= 0
            if not crossing.any():
                self.weights[free] = found
                break
            share = present[crossing] / (present[crossing] - found[crossing])
            present += share.min() * (found - present)
            present[np.flatnonzero(crossing)[share == share.min()]] = 0.0
            self.weights[free] = present
        self._residual = self._pull - self.gram[:, free] @ self.weights[free]
        if crossing.any() or np.abs(self._residual).max() > penalty + self._rounding:
            return False
        self.slope = -float(signs @ change)
        return True


class ColumnModel:
    """A quadratic given by columns of the data, separate for every output.

    For supports whose matrix would be too large. Slow where columns are much alike, as those of
    sparse data become by centering.

    Parameters
    ----------
    columns : Columns
    residual, curvature : ndarray of shape (n,) or (n, K)
        Of the mean loss in the margins.
    weights : ndarray of shape (m,)
    """

    slope: float | None = None

    def __init__(
        self,
        columns: Columns,
        residual: np.ndarray,
        curvature: np.ndarray,
        weights: np.ndarray,
    ) -> None:
        self.weights = weights.copy()
        n = len(residual)
        indptr, indices, values = columns.compressed()
        self._parts = []
        for c, chosen in enumerate(columns.by_output):
            place = columns.place[chosen]
            spans = [np.arange(indptr[j], indptr[j + 1]) for j in place]
            entries = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
            descend = partial(
                kernels.descend_columns,
                np.concatenate([[0], np.cumsum(np.diff(indptr)[place])]).astype(np.int64),
                indices[entries],
                values[entries],
                columns.factor[place],
                columns.offset[place],
                np.ascontiguousarray(residual.reshape(n, -1)[:, c]),
                np.ascontiguousarray(curvature.reshape(n, -1)[:, c]),
            )
            self._parts.append((chosen, descend, np.zeros(n), np.zeros(2)))

    def minimize(self, penalty: float, tolerance: float) -> None:
        """Descend."""
        for chosen, descend, moved, sums in self._parts:
            w = self.weights[chosen]
            descend(w, moved, sums, penalty, MOST_EPOCHS, tolerance)
            self.weights[chosen] = w


def minimize_over_ball(model: Model, radius: float, penalty: float, tolerance: float) -> float:
    """Move a model's weights to its minimum over an L1 ball.

    The norm of the minimum falls with the penalty. The penalty is searched for by Newton steps
    where the model knows the slope, by regula falsi where not, always inside a bracket.

    Parameters
    ----------
    model : Model
    radius : float
    penalty : float
        A first guess.
    tolerance : float
        On the gradient.

    Returns
    -------
    float
        The penalty; next to zero if the minimum lies inside.
    """
    low, low_norm, high, high_norm = 0.0, np.inf, np.inf, 0.0
    for attempt in range(MOST_PENALTIES):
        model.minimize(penalty, tolerance)
        norm = float(np.abs(model.weights).sum())
        # Inside the ball the Frank-Wolfe gap is the penalty times what is left of the radius.
        if -ON_BALL * radius <= radius - norm <= tolerance * radius / penalty:
            break
        if norm > radius:
            low, low_norm = penalty, norm
        else:
            high, high_norm = penalty, norm
        if high <= low * (1 + 1e-14):
            break
        slope = model.slope
        if slope is None and attempt % 3 and 0 < low < high < np.inf:
            slope = (high_norm - low_norm) / (high - low)
        penalty = _next_penalty(slope, norm - radius, penalty, low, high)
    norm = float(np.abs(model.weights).sum())
    if norm > radius:
        model.weights *= radius / norm
    return penalty


def _next_penalty(
    slope: float | None, excess: float, penalty: float, low: float, high: float
) -> float:
    newton = penalty - excess / slope if slope else 0.0
    if high == np.inf:
        return newton if penalty < newton < 10 * penalty else 10 * penalty
    if low == 0:
        # The minimum may lie inside the ball: then the penalty goes to zero, but not at once,
        # as a quadratic without penalty may have many minima.
        return newton if high / 10 < newton < high else high / 10
    return newton if low < newton < high else (low * high) ** 0.5
