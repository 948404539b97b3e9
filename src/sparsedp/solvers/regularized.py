"""A regularized sum of losses, minimized until a certificate says that it is done.

The certificate is the norm of a subgradient: with strong convexity ``regularization`` the weights
are within that norm over ``regularization`` of the exact minimum, whatever path led there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logsumexp, softmax

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic, Loss, Multinomial, Squared

MOST_NEWTON_STEPS = 100
"""After these only the slow method with a guaranteed rate goes on."""

MOST_FREE = 2_000
"""Weights whose second derivative is kept as a matrix, where there is a penalty."""

MOST_STEPS = 200_000
"""Beyond what the guaranteed rate needs; more means that double precision is too coarse."""


@dataclass(frozen=True, eq=False)
class RegularizedObjective:
    """Losses of records, a quadratic around a public point and an L1 penalty.

    Parameters
    ----------
    data : Dataset
        Private.
    loss : Loss
    row_norm : float
        Rows longer than this are shrunk to it, the constant column included.
    clip : float
        Of the squared loss, which becomes ``clip^2 log cosh(residual / clip)``; infinite for none.
    l1 : float
        Weight of the L1 penalty; the intercept has none.
    relative_regularization : float
        Regularization over ``curvature`` where there is no noise to choose it.
    center : ndarray or None
        Point that the quadratic pulls to; None for zero. Public.
    """

    data: Dataset
    loss: Loss
    row_norm: float
    clip: float
    l1: float
    relative_regularization: float
    center: np.ndarray | None = None

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        outputs = () if self.loss.n_outputs == 1 else (self.loss.n_outputs,)
        return (self.data.n_columns, *outputs)

    @property
    def gradient_bound(self) -> float:
        """L2 bound on one record's gradient: of its derivative times that of its row."""
        match self.loss:
            case Logistic():
                return self.row_norm
            case Squared():
                return self.row_norm * (self.clip if np.isfinite(self.clip) else 1.0)
            case _:
                return self.row_norm * 2**0.5

    @property
    def curvature(self) -> float:
        """Largest eigenvalue of one record's second derivative: of the loss times the row's."""
        match self.loss:
            case Logistic():
                return self.row_norm**2 / 4
            case Squared():
                return self.row_norm**2
            case _:
                return self.row_norm**2 / 2

    @property
    def regularization(self) -> float:
        """Curvature of the regularization where there is no noise to choose it."""
        return self.relative_regularization * self.curvature

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the records' gradients (private)."""
        return self._back(self._derivative(self._margins(weights)))

    def minimum(self, linear: np.ndarray, regularization: float, tolerance: float) -> np.ndarray:
        """Weights (private) whose least subgradient has at most the norm ``tolerance``.

        Newton steps on the weights that are free to move, each accepted only if it brings the
        value or the subgradient down; if they do not get there, accelerated proximal steps do, with
        a guaranteed rate (Nesterov 2013).
        """
        center = 0.0 if self.center is None else self.center

        def smooth(w: np.ndarray, margins: np.ndarray) -> np.ndarray:
            gradient = self._back(self._derivative(margins))
            return gradient + linear + regularization * (w - center)

        def value(w: np.ndarray, margins: np.ndarray) -> float:
            quadratic = regularization / 2 * float(np.sum((w - center) ** 2))
            penalty = float(np.sum(self._penalty * np.abs(w)))
            return self._loss(margins) + quadratic + penalty + float(np.vdot(linear, w))

        w = np.zeros(self.weights_shape) + center
        margins = self._margins(w)
        gradient = smooth(w, margins)
        residual = self._subgradient(w, gradient)
        height = value(w, margins)
        for _ in range(MOST_NEWTON_STEPS):
            size = np.linalg.norm(residual)
            if size <= tolerance:
                return w
            if self.l1 == 0:
                newton = self._newton_step(margins, residual, regularization)
            elif np.count_nonzero((w != 0) | (residual != 0)) <= MOST_FREE:
                newton = self._penalized_step(w, margins, gradient, regularization)
            else:
                break
            for halvings in range(12):
                part = 0.5**halvings
                moved = w + part * newton
                moved_margins = self._margins(moved)
                slope = smooth(moved, moved_margins)
                found = self._subgradient(moved, slope)
                reached = value(moved, moved_margins)
                # Close to the minimum the value is too coarse to see progress, its slope is not.
                if height - reached >= 1e-12 * abs(height):
                    break
                if np.linalg.norm(found) < (1 - 0.1 * part) * size:
                    break
            else:
                break
            w, margins, gradient, residual, height = moved, moved_margins, slope, found, reached
        return self._proximal(w, smooth, regularization, tolerance)

    def _proximal(
        self,
        w: np.ndarray,
        smooth: Callable[[np.ndarray, np.ndarray], np.ndarray],
        regularization: float,
        tolerance: float,
    ) -> np.ndarray:
        """Accelerated proximal steps: the error falls by a fixed factor, for any data."""
        squares = np.square(np.minimum(self._norms, self.row_norm)).sum()
        steepest = self.curvature / self.row_norm**2 * squares + regularization
        root = np.sqrt(regularization / steepest)
        ahead = w
        for _ in range(MOST_STEPS):
            gradient = smooth(ahead, self._margins(ahead))
            after = ahead - gradient / steepest
            after = np.sign(after) * np.maximum(np.abs(after) - self._penalty / steepest, 0.0)
            residual = self._subgradient(after, smooth(after, self._margins(after)))
            if np.linalg.norm(residual) <= tolerance:
                return after
            ahead, w = after + (1 - root) / (1 + root) * (after - w), after
        raise ArithmeticError(
            "double precision does not reach the minimum to the tolerance that the noise covers; "
            "nothing was released. Take more regularization"
        )

    def _newton_step(
        self, margins: np.ndarray, residual: np.ndarray, regularization: float
    ) -> np.ndarray:
        """Minimize the quadratic model without a penalty, by conjugate gradients."""
        bends = self._second_derivative(margins)
        step = np.zeros_like(residual)
        left = -residual
        direction, square = left, float(np.vdot(left, left))
        goal = square * min(0.01, np.sqrt(square)) ** 2
        for _ in range(250):
            change = self._margins(direction)
            if change.ndim == 1:
                bent = self._back(bends * change)
            else:
                bent = self._back(np.einsum("ikl,il->ik", bends, change))
            bent += regularization * direction
            length = square / float(np.vdot(direction, bent))
            step = step + length * direction
            left = left - length * bent
            previous, square = square, float(np.vdot(left, left))
            if square <= goal:
                break
            direction = left + square / previous * direction
        return step

    def _penalized_step(
        self, w: np.ndarray, margins: np.ndarray, gradient: np.ndarray, regularization: float
    ) -> np.ndarray:
        """Minimize the quadratic model with the penalty, on the weights not held at zero by it."""
        free = np.flatnonzero((w != 0) | (np.abs(gradient) > self._penalty))
        H = self._hessian(margins, free, regularization)
        v, g, penalty = w.ravel()[free], gradient.ravel()[free], self._penalty.ravel()[free]
        linear = g - H @ v  # the model is v'Hv / 2 + linear'v
        steepest = min(np.linalg.norm(H), np.linalg.norm(H, np.inf))
        root = np.sqrt(regularization / steepest)
        size = np.linalg.norm(self._subgradient(w, gradient))
        goal = size * min(0.01, size)
        ahead, bend_ahead = v, H @ v
        for _ in range(20_000):
            after = ahead - (bend_ahead + linear) / steepest
            after = np.sign(after) * np.maximum(np.abs(after) - penalty / steepest, 0.0)
            # A prox step shorter than this leaves a subgradient below the goal.
            done = steepest * np.linalg.norm(after - ahead) <= goal / 2
            ahead, v = after + (1 - root) / (1 + root) * (after - v), after
            if done:
                break
            bend_ahead = H @ ahead
        step = np.zeros_like(w)
        step.flat[free] = v - w.ravel()[free]
        return step

    def _hessian(self, margins: np.ndarray, free: np.ndarray, regularization: float) -> np.ndarray:
        """Second derivative in some weights (numbered row by row), a few columns at a time."""
        outputs = self.loss.n_outputs
        bends = self._second_derivative(margins).reshape(-1, outputs, outputs)
        shrink = np.square(self._shrink.reshape(-1, 1))
        column, output = np.divmod(free, outputs)
        H = np.empty((free.size, free.size))
        for start in range(0, free.size, 64):
            some = slice(start, start + 64)
            X = shrink * self.data.columns(column[some])
            for k in range(outputs):
                own = output == k
                block = self.data.rmatvec(bends[:, k, output[some]] * X)
                H[own, some] = block[column[own]]
        H[np.diag_indices(free.size)] += regularization
        return H

    def _subgradient(self, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The least element of the subdifferential."""
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self._penalty, 0.0)
        return np.where(w != 0, gradient + self._penalty * np.sign(w), at_zero)

    @cached_property
    def _penalty(self) -> np.ndarray:
        penalty = np.full(self.weights_shape, self.l1)
        penalty[self.data.n_features :] = 0.0
        return penalty

    @cached_property
    def _norms(self) -> np.ndarray:
        return self.data.row_norms()

    @cached_property
    def _shrink(self) -> np.ndarray:
        shrink = np.minimum(1.0, self.row_norm / np.maximum(self._norms, np.finfo(float).tiny))
        return shrink if self.loss.n_outputs == 1 else shrink[:, None]

    def _margins(self, w: np.ndarray) -> np.ndarray:
        return self._shrink * self.data.matvec(w)

    def _back(self, r: np.ndarray) -> np.ndarray:
        return self.data.rmatvec(self._shrink * r)

    def _loss(self, margins: np.ndarray) -> float:
        """Sum of the losses (private)."""
        target = self.data.target
        match self.loss:
            case Logistic():
                losses = np.logaddexp(0, margins) - target * margins
            case Squared():
                residual = margins - target
                if np.isfinite(self.clip):
                    size = np.abs(residual) / self.clip  # log cosh without overflow
                    losses = self.clip**2 * (size + np.log1p(np.exp(-2 * size)))
                else:
                    losses = residual**2 / 2
            case _:
                losses = logsumexp(margins, axis=1) - margins[np.arange(len(target)), target]
        return float(losses.sum())

    def _derivative(self, margins: np.ndarray) -> np.ndarray:
        derivative = self.loss.derivative(margins, self.data.target)
        if isinstance(self.loss, Squared) and np.isfinite(self.clip):
            return self.clip * np.tanh(derivative / self.clip)
        return derivative

    def _second_derivative(self, margins: np.ndarray) -> np.ndarray:
        """Of each record's loss in its margins: (n,), or (n, K, K) for several outputs."""
        match self.loss:
            case Logistic():
                return expit(margins) * expit(-margins)
            case Squared():
                if not np.isfinite(self.clip):
                    return np.ones_like(margins)
                return 1 - np.tanh((margins - self.data.target) / self.clip) ** 2
            case Multinomial():
                p = softmax(margins, axis=1)
                bends = -p[:, :, None] * p[:, None, :]
                k = np.arange(p.shape[1])
                bends[:, k, k] += p
                return bends
        raise ValueError(f"no second derivative is known for {self.loss}")
