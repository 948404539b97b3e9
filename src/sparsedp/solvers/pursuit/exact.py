"""The counterpart of Pursuit without noise: forward selection and exact Newton steps."""

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import mean_loss
from sparsedp.data.sums.weighed import mean, weighed
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator

N_STEPS = 3
"""Newton steps after each choice."""

N_LAST_STEPS = 30
RIDGE = 1e-6
"""Keeps the Hessian away from singular and weights of separable data finite."""

LONGEST_STEP = 5.0
"""Root mean square change of the margins in one step."""

MOST_HALVINGS = 30
"""Of a step that does not lower the loss; beyond that rounding decides, and steps end."""


def forward_selection(data: Dataset, loss: Loss, curator: Curator, size: int) -> np.ndarray:
    """Add the feature with the steepest gradient, fit, and repeat.

    Parameters
    ----------
    data : Dataset
    loss : Loss
    curator : Curator
        Answers exactly.
    size : int
        Features to use.

    Returns
    -------
    ndarray
        Weights in unit coordinates, shaped as `curator.public.weights_shape`.
    """
    d, n_outputs = data.n_features, loss.n_outputs
    features = np.zeros(0, dtype=np.intp)
    rows = np.concatenate([np.full(int(data.intercept), d), features])
    weights = _newton(data, loss, rows, np.zeros((len(rows), n_outputs)), N_STEPS)
    while len(features) < size:
        margins = _margins(data, data.columns(rows), weights)
        gradient = data.rmatvec(_residual(data, loss, margins))[:d]
        scores = np.linalg.norm(gradient, axis=1)
        features = np.append(features, curator.select(scores, 1.0, excluded=features))
        rows = np.append(rows, features[-1])
        weights = _newton(data, loss, rows, np.vstack([weights, np.zeros(n_outputs)]), N_STEPS)
    full = np.zeros((data.n_columns, n_outputs))
    full[rows] = _newton(data, loss, rows, weights, N_LAST_STEPS)
    return full.reshape(curator.public.weights_shape)


def _newton(
    data: Dataset, loss: Loss, rows: np.ndarray, weights: np.ndarray, n_steps: int
) -> np.ndarray:
    if not len(rows):
        return weights
    columns, counted = data.columns(rows), data.weights
    size, n_outputs = weights.shape
    ridge = RIDGE * max(data.total_weight, 1)
    value = _objective(data, loss, rows, weights)
    for _ in range(n_steps):
        margins = _margins(data, columns, weights)
        gradient = columns.T @ weighed(_residual(data, loss, margins), counted)
        curvature = weighed(_curvature(data, loss, margins), counted)
        hessian = np.zeros((n_outputs, size, n_outputs, size))
        for c in range(n_outputs):
            for e in range(n_outputs):
                hessian[c, :, e] = columns.T @ (curvature[:, c, e, None] * columns)
        hessian = hessian.reshape(n_outputs * size, -1)
        hessian[np.diag_indices_from(hessian)] += ridge
        flat = gradient.T.ravel() + ridge * weights.T.ravel()
        step = np.linalg.solve(hessian, flat).reshape(n_outputs, size).T
        change = float(np.sqrt(mean(np.square(columns @ step), counted)))
        step *= min(1.0, LONGEST_STEP / max(change, 1e-300))
        # Where classes are rare a full step may overshoot, and the next one back again.
        for _ in range(MOST_HALVINGS):
            reached = _objective(data, loss, rows, weights - step)
            if reached <= value:
                break
            step /= 2
        else:
            break
        weights, value = weights - step, reached
    return weights


def _objective(data: Dataset, loss: Loss, rows: np.ndarray, weights: np.ndarray) -> float:
    full = np.zeros((data.n_columns, loss.n_outputs))
    full[rows] = weights
    penalty = RIDGE / 2 * float(np.sum(np.square(weights)))
    if data.total_weight == 0:
        return penalty
    return mean_loss(data, loss, full[:, 0] if loss.n_outputs == 1 else full) + penalty


def _margins(data: Dataset, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    scores = columns @ weights
    return scores if data.offset is None else scores + data.offset[:, None]


def _residual(data: Dataset, loss: Loss, margins: np.ndarray) -> np.ndarray:
    if loss.n_outputs == 1:
        return loss.residual(margins[:, 0], data.target)[:, None]
    return loss.residual(margins, data.target)


def _curvature(data: Dataset, loss: Loss, margins: np.ndarray) -> np.ndarray:
    """Second derivative of each record's loss in its margins, as (n, n_outputs, n_outputs)."""
    if loss.n_outputs == 1:
        return loss.curvature(margins[:, 0], data.target)[:, None, None]
    return loss.curvature(margins, data.target)
