"""Steps without noise: exact Newton steps, by which a fit without privacy is a ceiling."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.columns.subset import ColumnSubset
from sparsedp.data.records import Derived
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Loss
from sparsedp.solvers.pursuit.records import Targets, residual_table

RIDGE = 1e-6
"""Keeps the Hessian away from singular and weights of separable data finite."""

LONGEST_STEP = 5.0
"""Root mean square change of the margins in one step."""

CONVERGED = 1e-9
"""A shorter step, in the same measure, is the last one."""

MOST_HALVINGS = 30
"""Of a step that does not lower the loss; beyond that rounding decides, and steps end."""


@dataclass(frozen=True, eq=False)
class NewtonSums:
    """Value, gradient and Hessian of the loss. Never released."""

    loss: Loss
    weights: np.ndarray

    def __call__(self, columns: ColumnSubset, targets: Targets) -> tuple[np.ndarray, ...]:
        """Sums over the block's records."""
        (size, n_outputs), loss, counted = self.weights.shape, self.loss, columns.weights
        margins = columns.margins(self.weights)
        table = columns.margins(np.eye(size))
        if columns.offset is not None:
            table = table - columns.offset[:, None]
        single = margins[:, 0] if n_outputs == 1 else margins
        value = weighed(loss.value(single, targets.values), counted).sum()
        residuals = weighed(residual_table(loss, margins, targets.values), counted)
        curvature = weighed(loss.curvature(single, targets.values), counted)
        curvature = curvature.reshape(-1, n_outputs, n_outputs)
        hessian = np.zeros((n_outputs, size, n_outputs, size))
        for c in range(n_outputs):
            for e in range(n_outputs):
                hessian[c, :, e] = table.T @ (curvature[:, c, e, None] * table)
        return np.array(value), table.T @ residuals, hessian.reshape(n_outputs * size, -1)


@dataclass(frozen=True, eq=False)
class Value:
    """Value of the loss. Never released."""

    loss: Loss
    weights: np.ndarray

    def __call__(self, columns: ColumnSubset, targets: Targets) -> np.ndarray:
        """Sum over the block's records."""
        margins = columns.margins(self.weights)
        single = margins[:, 0] if margins.shape[1] == 1 else margins
        return np.array(weighed(self.loss.value(single, targets.values), columns.weights).sum())


def newton(
    columns: Derived,
    targets: Derived,
    loss: Loss,
    weights: np.ndarray,
    n: float,
    n_steps: int,
    kept: np.ndarray,
) -> np.ndarray:
    """Take exact Newton steps on the chosen columns of ``n`` records, halved until they descend.

    The weights of columns that are not kept stay as they are.
    """
    size, n_outputs = weights.shape
    free = np.flatnonzero(np.tile(kept, n_outputs))
    ridge = RIDGE * max(n, 1.0)
    for _ in range(n_steps if size else 0):
        value, gradient, hessian = columns.total(NewtonSums(loss, weights), targets)
        value = float(value) + ridge / 2 * float(np.sum(np.square(weights)))
        hessian = hessian + ridge * np.eye(len(hessian))
        flat = gradient.T.ravel() + ridge * weights.T.ravel()
        step = np.zeros(len(flat))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], flat[free])
        # The Hessian is about the curvature times the Gram matrix: a length in margins.
        change = np.sqrt(max(float(step @ hessian @ step), 0.0) / max(n, 1.0))
        step = step.reshape(n_outputs, size).T * min(1.0, LONGEST_STEP / max(change, 1e-300))
        # Where classes are rare a full step may overshoot, and the next one back again.
        for _ in range(MOST_HALVINGS):
            moved = weights - step
            reached = float(columns.total(Value(loss, moved), targets))
            if reached + ridge / 2 * float(np.sum(np.square(moved))) <= value:
                break
            step /= 2
        else:
            break
        weights = moved
        if change < CONVERGED:
            break
    return weights
