"""What a loss promises: its mathematics for one record, each bound with its proof.

A loss acts on margins (a record times the weights) of features in the unit box. Everything here is
for one record at a time and knows nothing of tables: sums over records are in ``data/sums``. The
results depend on the record alone, to the last bit, wherever it stands in an array: nothing but
single IEEE operations and the exponential of ``_kernels/sums`` may be used (summation.md).

`Loss` is what every loss has. The other protocols name what only some have; a solver lists those it
needs, and refuses a loss without them before anything is charged.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np


class Loss(Protocol):
    """A convex function of a record's margins and its target; a frozen dataclass of settings.

    Targets are labels 0, 1, ... or numbers in [-1, 1]. Margins have shape (n,), or (n, n_outputs)
    where there are several outputs; so have residuals.
    """

    @property
    def task(self) -> str:
        """Kind of model that it makes, as model files call it."""
        ...

    @property
    def n_outputs(self) -> int:
        """Columns of the weights: 1, or one per class."""
        ...

    @property
    def n_classes(self) -> int | None:
        """Labels that a target may have; None for a number in [-1, 1]."""
        ...

    @property
    def typical_curvature(self) -> float:
        """Second derivative that first steps are made for; at most `curvature_bound`."""
        ...

    @property
    def curvature_bound(self) -> float:
        """Largest eigenvalue of the second derivative in the margins, anywhere."""
        ...

    @property
    def margin_curvature_bound(self) -> float:
        """Largest second derivative along one margin, anywhere."""
        ...

    @property
    def residual_lipschitz(self) -> float:
        """How fast residuals, clipped to any bound, move with the margins: an L2 bound."""
        ...

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record, not negative (private): for searches and references."""
        ...

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Derivative of each record's loss in its margins (private).

        Where a margin is not a number it is zero, or not one either: clipping makes that zero.
        """
        ...

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Second derivative of each record's loss: (n,), or (n, K, K) (private)."""
        ...

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals with no entry beyond ``bound``, in place; NaN becomes zero (private)."""
        ...

    def residual_bound(self, weights: np.ndarray) -> float:
        """Largest absolute entry of a residual over the unit box at these weights: public.

        Grows with the weights: it is least where all are zero.
        """
        ...

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """Expected target, or probabilities, at these margins: the inverse of the link."""
        ...

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """Margins at which the target has this expectation, kept away from where they end."""
        ...


@runtime_checkable
class Lipschitz(Protocol):
    """Residuals are bounded at any margins, not only in a box."""

    @property
    def lipschitz(self) -> float:
        """Largest L2 norm of a record's residual."""
        ...


@runtime_checkable
class Perturbable(Protocol):
    """A loss whose minimum can be perturbed: twice differentiable, residuals bounded.

    ``shape`` is how the accountant calls the way in which residual and curvature go together
    (``privacy/events``, PerturbedMinimum).
    """

    @property
    def shape(self) -> str:
        """One of the shapes that the accountant has a proof for."""
        ...

    def bounded(self, clip: float) -> "BoundedLoss":
        """Itself, or a smooth relative of it whose residuals stay below ``clip``."""
        ...


class BoundedLoss(Loss, Lipschitz, Protocol):
    """A loss with bounded residuals."""


@dataclass(frozen=True)
class BallBounds:
    """What holds for one record whose margin u lies within a radius (solvers' screening rule).

    Parameters
    ----------
    residual : float
        Largest absolute residual.
    product_range : tuple of float
        Least and largest value of u times its residual.
    gap_range : tuple of float
        Least and largest value of (u - v) times the residual at u, v any other such margin.
    stiffness : float
        Smoothness over the root of strong convexity.
    stated_residual : float
        What Khanna et al. (2024) take for the largest residual.
    """

    residual: float
    product_range: tuple[float, float]
    gap_range: tuple[float, float]
    stiffness: float
    stated_residual: float


@runtime_checkable
class StronglyConvex(Protocol):
    """Strongly convex where margins are bounded."""

    def over_ball(self, radius: float) -> BallBounds:
        """Bounds where no absolute margin exceeds the radius."""
        ...


@runtime_checkable
class CompiledWalk(Protocol):
    """Known to the compiled kernel of walks by a name."""

    @property
    def walk_name(self) -> str:
        """Loss of the kernel that has the same residuals once they are clipped."""
        ...


@runtime_checkable
class ScalingBound(Protocol):
    """A residual hardly moves when its margin is scaled, however large the margin is."""

    @property
    def scaling_bound(self) -> float:
        """Largest product of a margin and the curvature there."""
        ...


@runtime_checkable
class Coded(Protocol):
    """Least squares can be fitted to its targets: to numbers themselves, to labels by codes."""

    @property
    def code_slope(self) -> float:
        """Margins over codes: what the weights of a fit to the codes are multiplied by."""
        ...

    def codes(self, target: np.ndarray) -> np.ndarray:
        """What least squares is fitted to, of norm at most 1: (n,) or (n, n_outputs) (private)."""
        ...


@runtime_checkable
class Inferable(Protocol):
    """Its coefficients can have intervals."""

    @property
    def residual_tails(self) -> float:
        """How large a residual may be over a typical one, before it is clipped for intervals."""
        ...


def squared_error(loss: Loss, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Squared error of each record's prediction, between 0 and 1; NaN where a margin is (private).

    For labels half the squared distance of the probabilities from the label's (Brier's score),
    for numbers a quarter of the squared distance in [-1, 1].
    """
    known = ~np.isnan(margins) if margins.ndim == 1 else ~np.isnan(margins).any(axis=1)
    if loss.n_classes is None:
        error = (np.clip(loss.mean(margins), -1, 1) - target) ** 2 / 4
    elif loss.n_outputs == 1:
        error = loss.residual(margins, target) ** 2
    else:  # in the order of the classes, so that a record's sum depends on it alone
        error = sum((loss.residual(margins, target) ** 2).T) / 2
    return np.where(known, error, np.nan)
