"""The least mean loss over an L1 ball or under an L1 penalty, on a growing working set."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsedp.data.columns.transposed import by_columns
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.weighed import mean, weighed
from sparsedp.losses import Loss
from sparsedp.solvers.lasso.columns import Columns, stored_sparse
from sparsedp.solvers.lasso.goal import Goal
from sparsedp.solvers.lasso.model import ColumnModel, GramModel

LEAST_WORKING = 64
"""Entries of the first working set; later it is twice as large as the support."""

MOST_IN_GRAM = 2048
"""With more entries than these the hessian is not kept as a matrix."""

MOST_ROUNDS = 50
"""Working sets; a problem takes about ten."""

MOST_NEWTON_STEPS = 20
"""On one working set; about five are taken."""

MOST_HALVINGS = 40

LEAST_DESCENT = 1e-4
"""Part of the linear forecast that a step must gain."""

INNER = 0.1
"""A working set is left when its gap is this part of the gap over all entries."""


MODEL = 1e-3
"""A quadratic is minimized up to this part of the gap that its working set is to reach: near the
minimum what a step gains is far below the gap."""


@dataclass(frozen=True, eq=False)
class Minimum:
    """Weights and how good they are. Private.

    Parameters
    ----------
    weights : ndarray
        Flattened.
    gap : float
        The objective is at most this above its least value.
    """

    weights: np.ndarray
    gap: float


@dataclass(frozen=True, eq=False)
class LassoProblem:
    """A mean loss to be minimized over an L1 ball or with an L1 penalty.

    Parameters
    ----------
    data : Dataset
        Private; sparse storage should be CSC, see `by_column`.
    loss : Loss
    tolerance : float
        On the gap, relative to the mean loss of zero weights.
    """

    data: Dataset
    loss: Loss
    tolerance: float

    @property
    def size(self) -> int:
        """Entries of the weights."""
        return self.data.n_columns * self.loss.n_outputs

    @cached_property
    def target(self) -> np.ndarray:
        """Targets of the records."""
        return self.data.target

    @cached_property
    def weights(self) -> np.ndarray | None:
        """How much each record counts."""
        return self.data.weights

    @cached_property
    def wanted(self) -> float:
        """The gap to reach."""
        return self.tolerance * self.value(self._zeros())

    def largest_penalty(self) -> float:
        """Least penalty at which all weights are zero."""
        return float(np.abs(self._gradient(self._zeros())).max())

    def minimize(self, goal: Goal, start: np.ndarray | None = None) -> Minimum:
        """Find the minimum: a working set of entries, Newton steps on it, and a larger one."""
        weights = np.zeros(self.size) if start is None else start.copy()
        support = np.flatnonzero(weights)
        margins = Columns.of(self.data, support, self.loss.n_outputs).margins(weights[support])
        penalty = 0.0
        for _ in range(MOST_ROUNDS):
            gradient = self._gradient(margins)
            gap = goal.gap(weights, gradient, self.value(margins))
            if gap <= self.wanted:
                break
            working = _working_set(np.flatnonzero(weights), np.abs(gradient))
            columns = Columns.of(self.data, working, self.loss.n_outputs)
            target = max(INNER * gap, self.wanted / 4)
            weights[working], margins, penalty = self._on(
                columns, weights[working], goal, target, penalty
            )
        return Minimum(weights, gap)

    def value(self, margins: np.ndarray) -> float:
        """Mean loss."""
        return mean(self.loss.value(margins, self.target), self.weights)

    def _on(
        self,
        columns: Columns,
        weights: np.ndarray,
        goal: Goal,
        target: float,
        penalty: float,
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Newton steps on a working set until the gap is small: weights, margins and penalty."""
        margins = columns.margins(weights)
        value = self.value(margins)
        for _ in range(MOST_NEWTON_STEPS):
            residual = self._residual(margins)
            gradient = columns.gradient(weighed(residual, self.weights))
            if goal.gap(weights, gradient, value) <= target:
                break
            model = self._model(columns, margins, residual, gradient, weights)
            guess = penalty or float(np.abs(gradient).max()) / 2
            tolerance = MODEL * target / goal.norm_bound(weights, value)
            penalty = goal.minimize(model, guess, tolerance)
            step = model.weights - weights
            along = columns.margins(step)
            # A norm is convex: along the step it rises at most linearly.
            rise = goal.cost(model.weights) - goal.cost(weights)
            descent = float(gradient @ step) + rise
            length = 1.0
            for _ in range(MOST_HALVINGS):
                reached = self.value(margins + length * along)
                if reached + length * rise <= value + length * LEAST_DESCENT * descent:
                    break
                length /= 2
            else:
                break  # nothing to gain beyond rounding
            weights = model.weights if length == 1 else weights + length * step
            margins, value = margins + length * along, reached
        return weights, margins, penalty

    def _model(
        self,
        columns: Columns,
        margins: np.ndarray,
        residual: np.ndarray,
        gradient: np.ndarray,
        weights: np.ndarray,
    ) -> GramModel | ColumnModel:
        """The quadratic that has value, gradient and hessian of the mean loss at the weights."""
        n, target, each = self._total, self.target, self.weights
        small = len(weights) <= MOST_IN_GRAM
        if self.loss.n_outputs == 1:
            curvature = weighed(self.loss.curvature(margins, target) / n, each)
        else:  # several outputs are classes: from their probabilities, not as n matrices
            p = n * residual
            p[np.arange(len(p)), target] += 1
            if small:
                return GramModel(
                    columns.gram(lambda c, e: weighed(p[:, c] * ((c == e) - p[:, e]) / n, each)),
                    gradient,
                    weights,
                )
            # Twice the diagonal is above the whole matrix diag(p) - pp', row sums being zero.
            curvature = weighed(2 * p * (1 - p) / n, each)
        if small:
            return GramModel(columns.gram(lambda c, e: curvature), gradient, weights)
        return ColumnModel(columns, weighed(residual, each), curvature, weights)

    @cached_property
    def _total(self) -> float:
        return self.data.total_weight

    def _zeros(self) -> np.ndarray:
        n, n_outputs = self.data.n_records, self.loss.n_outputs
        return np.zeros(n if n_outputs == 1 else (n, n_outputs))

    def _residual(self, margins: np.ndarray) -> np.ndarray:
        return self.loss.residual(margins, self.target) / self._total

    def _gradient(self, margins: np.ndarray) -> np.ndarray:
        return self.data.rmatvec(self._residual(margins)).ravel()


def by_column(data: Dataset) -> Dataset:
    """Return the same records with sparse storage in columns, which is then a copy."""
    return by_columns(data) if stored_sparse(data) else data


def _working_set(support: np.ndarray, steepness: np.ndarray) -> np.ndarray:
    """The support and the steepest others, in increasing order.

    As long as there is room, no more than a hessian can be kept of.
    """
    most = max(MOST_IN_GRAM, len(support) + LEAST_WORKING)
    size = min(max(LEAST_WORKING, 2 * len(support)), most, len(steepness))
    ranked = steepness.copy()
    ranked[support] = np.inf
    return np.sort(np.argpartition(-ranked, size - 1)[:size])
