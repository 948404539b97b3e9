"""A regularized sum of losses, minimized until a certificate says that it is done.

The certificate is the norm of a subgradient: with strong convexity ``regularization`` the weights
are within that norm over ``regularization`` of the exact minimum, whatever path led there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Lipschitz, Loss, Perturbable
from sparsedp.losses.clip import clipped
from sparsedp.privacy import PublicFacts
from sparsedp.privacy.events.perturbed_minimum import check_rows
from sparsedp.solvers.clipping import shortened
from sparsedp.solvers.solver import check_positive_integer, check_size

MOST_NEWTON_STEPS = 100
"""After these only the slow method with a guaranteed rate goes on."""

MOST_FREE = 2_000
"""Weights whose hessian is kept as a matrix, where there is a penalty."""

STEPS_PER_ROOT = 100
"""Proximal steps, over the root of the condition number, within which the guaranteed rate is sure
to reach the tolerance: the error has to fall by a factor of exp(-92) at most (objective.md)."""

FARTHEST_START = 1e3
"""Margins of the public model are cut off here: beyond, doubles are too far apart."""

SMALLEST_CLIP, LARGEST_CLIP = 1e-3, 1e3
"""Of residuals: with a smaller one rounding in margins would count beside the clip."""

LONGEST_START = 1e3
"""L2 norm of a public model: beyond, adding to its weights would lose what noise has to cover."""


def check_residual_clip(clip: object) -> None:
    """Raise ValueError unless the squared loss can turn linear at this residual."""
    check_size("clip", clip, least=SMALLEST_CLIP, most=LARGEST_CLIP)


def check_start(public: PublicFacts) -> None:
    """Raise ValueError if a public model is too long to start from: known before any charge."""
    if public.initial_weights is None:
        return
    if not np.linalg.norm(public.initial_weights) <= LONGEST_START:
        raise ValueError(
            f"the public model has weights of L2 norm above {LONGEST_START:g} (features mapped to "
            "[-1, 1]): next to these what the records say would be lost. Regularize it more"
        )


def perturbed_shape(public: PublicFacts) -> str:
    """What the accountant may know about the loss; "any" covers labels and numbers."""
    if public.loss is not None:
        return perturbable(public.loss).shape
    return "any" if public.n_outputs == 1 else "multinomial"


def check_cap(rows_per_person: int | None) -> None:
    """Raise ValueError unless this many rows of a person can count; None for no cap."""
    if rows_per_person is not None:
        check_positive_integer("rows_per_person", rows_per_person)
        check_rows(int(rows_per_person))


def capped(data: Dataset, rows_per_person: int | None) -> Dataset:
    """Each person's first rows, where there are persons and a cap."""
    return data if rows_per_person is None else data.first_rows(int(rows_per_person))


def refuse_people(public: PublicFacts, solver: str) -> None:
    """Raise ValueError if people are to be protected by a paper's noise for single records."""
    if public.unit != "row":
        raise ValueError(
            f"the published calibration of {solver} is for rows, not for people with several; "
            "use calibration='sound'"
        )


def perturbable(loss: Loss) -> Perturbable:
    """The loss, of which `check_needs` has made sure."""
    if not isinstance(loss, Perturbable):
        raise ValueError(f"the minimum of the loss {loss} cannot be perturbed")
    return loss


@dataclass(frozen=True, eq=False)
class RegularizedObjective:
    """Losses of records by their weights, a quadratic around a public point and an L1 penalty.

    Parameters
    ----------
    data : Dataset
        Private.
    loss : Loss
        `Lipschitz` where the minimum is to be released.
    row_norm : float
        The loss of a record whose row, constant column included, is longer than this is multiplied
        by the square of row_norm over its length: its gradient is then no longer, and its curvature
        no larger, than those of a row of this norm. The row itself stays as it is, since
        predictions are made for it.
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
        """L2 bound on one record's gradient: of its residual times that of its row."""
        # Without noise nothing is bounded, and tolerances are in units of a residual of one.
        return self.row_norm * (self.loss.lipschitz if isinstance(self.loss, Lipschitz) else 1.0)

    @property
    def curvature(self) -> float:
        """Largest eigenvalue of one record's second derivative: of the loss times the row's."""
        return self.row_norm**2 * self.loss.curvature_bound

    @property
    def regularization(self) -> float:
        """Curvature of the regularization where there is no noise to choose it."""
        return self.relative_regularization * self.curvature

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the records' gradients (private)."""
        start = 0.0 if self.center is None else self.center
        return self._back(self._residual(self._margins(weights - start)))

    def minimum(self, linear: np.ndarray, regularization: float, tolerance: float) -> np.ndarray:
        """Weights (private) whose least subgradient has at most the norm ``tolerance``.

        Newton steps on the weights that are free to move, each accepted only if it brings the
        value or the subgradient down; if they do not get there, accelerated proximal steps do, with
        a guaranteed rate (Nesterov 2013). All of it in weights v = w - center, whose margins are
        added to those of the center: what is small is not lost beside what is large.
        """
        center = np.zeros(self.weights_shape) if self.center is None else self.center

        def smooth(v: np.ndarray, margins: np.ndarray) -> np.ndarray:
            gradient = self._back(self._residual(margins))
            return gradient + linear + regularization * v

        def value(v: np.ndarray, margins: np.ndarray) -> float:
            quadratic = regularization / 2 * float(np.sum(v**2))
            penalty = float(np.sum(self._penalty * np.abs(center + v)))
            return self._loss(margins) + quadratic + penalty + float(np.vdot(linear, v))

        v = np.zeros(self.weights_shape)
        margins = self._margins(v)
        gradient = smooth(v, margins)
        residual = self._subgradient(center + v, gradient)
        height = value(v, margins)
        for _ in range(MOST_NEWTON_STEPS):
            size = np.linalg.norm(residual)
            if size <= tolerance:
                return center + v
            w = center + v
            if self.l1 == 0:
                newton = self._newton_step(margins, residual, regularization)
            elif np.count_nonzero((w != 0) | (residual != 0)) <= MOST_FREE:
                newton = self._penalized_step(w, margins, gradient, regularization)
            else:
                break
            for halvings in range(12):
                part = 0.5**halvings
                moved = v + part * newton
                moved_margins = self._margins(moved)
                moved_gradient = smooth(moved, moved_margins)
                found = self._subgradient(center + moved, moved_gradient)
                reached = value(moved, moved_margins)
                # Close to the minimum the value is too coarse to see progress, its gradient is not.
                if height - reached >= 1e-12 * abs(height):
                    break
                if np.linalg.norm(found) < (1 - 0.1 * part) * size:
                    break
            else:
                break
            v, margins, gradient, residual, height = (
                moved,
                moved_margins,
                moved_gradient,
                found,
                reached,
            )
        return center + self._proximal(v, center, smooth, regularization, tolerance)

    def _proximal(
        self,
        v: np.ndarray,
        center: np.ndarray,
        smooth: Callable[[np.ndarray, np.ndarray], np.ndarray],
        regularization: float,
        tolerance: float,
    ) -> np.ndarray:
        """Accelerated proximal steps: the error falls by a fixed factor, for any data."""
        steepest = self.curvature * self.data.total_weight + regularization
        root = float(np.sqrt(regularization / steepest))
        ahead = v
        for _ in range(STEPS_PER_ROOT + int(min(STEPS_PER_ROOT / root, 1e9))):
            gradient = smooth(ahead, self._margins(ahead))
            w = center + (ahead - gradient / steepest)
            w = np.sign(w) * np.maximum(np.abs(w) - self._penalty / steepest, 0.0)
            after = w - center
            residual = self._subgradient(w, smooth(after, self._margins(after)))
            if np.linalg.norm(residual) <= tolerance:
                return after
            ahead, v = after + (1 - root) / (1 + root) * (after - v), after
        raise ArithmeticError(
            "double precision does not reach the minimum to the tolerance that the noise covers; "
            "nothing was released. Take more regularization"
        )

    def _newton_step(
        self, margins: np.ndarray, residual: np.ndarray, regularization: float
    ) -> np.ndarray:
        """Minimize the quadratic model without a penalty, by conjugate gradients."""
        curvatures = self._curvature(margins)
        step = np.zeros_like(residual)
        left = -residual
        direction, square = left, float(np.vdot(left, left))
        goal = square * min(0.01, np.sqrt(square)) ** 2
        for _ in range(250):
            change = self.data.matvec(direction)
            if change.ndim == 1:
                product = self._back(curvatures * change)
            else:
                product = self._back(np.einsum("ikl,il->ik", curvatures, change))
            product += regularization * direction
            length = square / float(np.vdot(direction, product))
            step = step + length * direction
            left = left - length * product
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
        ahead, product = v, H @ v
        for _ in range(20_000):
            after = ahead - (product + linear) / steepest
            after = np.sign(after) * np.maximum(np.abs(after) - penalty / steepest, 0.0)
            # A prox step shorter than this leaves a subgradient below the goal.
            done = steepest * np.linalg.norm(after - ahead) <= goal / 2
            ahead, v = after + (1 - root) / (1 + root) * (after - v), after
            if done:
                break
            product = H @ ahead
        step = np.zeros_like(w)
        step.flat[free] = v - w.ravel()[free]
        return step

    def _hessian(self, margins: np.ndarray, free: np.ndarray, regularization: float) -> np.ndarray:
        """Hessian in some weights (numbered row by row), a few columns at a time."""
        outputs = self.loss.n_outputs
        curvatures = self._curvature(margins).reshape(-1, outputs, outputs)
        shares = self._shares.reshape(-1, 1)
        column, output = np.divmod(free, outputs)
        H = np.empty((free.size, free.size))
        for start in range(0, free.size, 64):
            some = slice(start, start + 64)
            X = shares * self.data.columns(column[some])
            for k in range(outputs):
                own = output == k
                block = self.data.rmatvec(curvatures[:, k, output[some]] * X)
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
    def _shares(self) -> np.ndarray:
        """What the loss of each record is multiplied by, at most 1 (private)."""
        shares = np.square(shortened(self.data.row_norms(), self.row_norm))
        return shares if self.loss.n_outputs == 1 else shares[:, None]

    @cached_property
    def _start(self) -> np.ndarray | float:
        """Margins of the center (private); a function of each record alone."""
        if self.center is None:
            return 0.0
        return clipped(self.data.matvec(self.center), FARTHEST_START)

    def _margins(self, v: np.ndarray) -> np.ndarray:
        return self._start + self.data.matvec(v)

    def _back(self, r: np.ndarray) -> np.ndarray:
        return self.data.rmatvec(self._shares * r)

    def _loss(self, margins: np.ndarray) -> float:
        """Sum of the losses (private): it steers the search, and bounds nothing."""
        each = weighed(self.loss.value(margins, self.data.target), self.data.weights)
        return float(np.vdot(self._shares, each))

    def _residual(self, margins: np.ndarray) -> np.ndarray:
        return self.loss.residual(margins, self.data.target)

    def _curvature(self, margins: np.ndarray) -> np.ndarray:
        return self.loss.curvature(margins, self.data.target)
