"""Where is the minimum of an objective to which a random linear term has been added?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from sparsedp.mechanisms.questions.question import Answer, Query, kept, unanswered
from sparsedp.mechanisms.samplers.gaussian import gaussian_release
from sparsedp.mechanisms.samplers.linear import (
    gamma_linear_term,
    gaussian_linear_term,
    laplace_release,
)
from sparsedp.mechanisms.slack import SUMMATION_SLACK
from sparsedp.privacy import Event, PerturbedMinimum, PureMinima, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy

MINIMUM_TOLERANCE = 1e-6
"""How far from zero the gradient at a minimum may be, in units of one record's largest gradient;
half of it is for the computation to reach, the other half for rounding in sums over records, which
is below a third for as many records as the gate lets in (solvers/objective/objective.md)."""

EXACT_TOLERANCE = 1e-8
"""The same where there is no noise."""

NEGLIGIBLE = 8
"""A released weight within this many standard deviations of rounding noise is set to zero."""


class Objective(Protocol):
    """A strongly convex sum over records plus a public regularization, to be minimized."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights. Public, like all properties."""
        ...

    @property
    def gradient_bound(self) -> float:
        """L2 bound on one record's gradient, at any weights."""
        ...

    @property
    def curvature(self) -> float:
        """Bound on the largest eigenvalue of the curvature of one record's loss."""
        ...

    @property
    def regularization(self) -> float:
        """Curvature of the regularization where there is no noise to choose it."""
        ...

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the records' gradients, without regularization (private)."""
        ...

    def minimum(self, linear: np.ndarray, regularization: float, tolerance: float) -> np.ndarray:
        """Weights (private) where a subgradient of the whole has at most the norm ``tolerance``.

        The whole is the sum over records, ``regularization / 2`` times the squared distance to
        a public point, any public convex penalty, and the product with ``linear``. Deterministic.
        """
        ...


MINIMIZING = (PerturbedMinimum, PureMinima)
"""Kinds of releases that can answer."""


@dataclass
class WatchedObjective:
    """Passes everything on to an objective, and keeps the random linear term that it was given."""

    objective: Objective
    linear: np.ndarray | None = None
    """Drawn by the door; None where answers come from a script."""
    strength: float = 0.0
    """Of the quadratic regularization."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights."""
        return self.objective.weights_shape

    @property
    def gradient_bound(self) -> float:
        """L2 bound on one record's gradient."""
        return self.objective.gradient_bound

    @property
    def curvature(self) -> float:
        """Bound on the curvature of one record's loss."""
        return self.objective.curvature

    @property
    def regularization(self) -> float:
        """Curvature of the regularization where there is no noise to choose it."""
        return self.objective.regularization

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the records' gradients (private)."""
        return self.objective.gradient(weights)

    def minimum(self, linear: np.ndarray, regularization: float, tolerance: float) -> np.ndarray:
        """The perturbed minimum (private)."""
        self.linear, self.strength = np.array(linear), regularization
        return self.objective.minimum(linear, regularization, tolerance)


@dataclass(frozen=True, eq=False)
class Minimum:
    """The minimum of an objective; see `Curator.minimize`."""

    objective: Objective

    free: ClassVar[bool] = False

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return MINIMIZING

    @property
    def steps(self) -> int:
        """One."""
        return 1

    def amount(self, event: Event) -> float:
        """One minimum."""
        return 1

    def noisy(self, event: Event | None, noise: "Noisy") -> np.ndarray:
        """With a random linear term, and noise for what the computation is off.

        Notes
        -----
        *Privacy.* The weights that the objective returns lie within ``off / 2`` of the exact
        minimum for a linear term of real numbers: the tolerance and the rounding of the linear term
        over the strong convexity. Noise for a sensitivity of ``off`` makes up for it.
        """
        if not isinstance(event, PerturbedMinimum | PureMinima):
            raise unanswered(self, event)
        objective, stream = self.objective, noise.stream
        gradient_bound = objective.gradient_bound * SUMMATION_SLACK
        size = int(np.prod(objective.weights_shape))
        regularization = objective.curvature / event.ratio
        if isinstance(event, PureMinima):
            linear, slip = gamma_linear_term(size, event.rate / gradient_bound, stream)
        else:
            shift = Sensitivity.of_sum(gradient_bound).under(noise.neighbors)
            linear, slip = gaussian_linear_term(size, shift / event.mu, stream)
        tolerance = MINIMUM_TOLERANCE * gradient_bound
        weights = objective.minimum(  # private
            linear.reshape(objective.weights_shape), regularization, tolerance / 2
        )
        off = 2 * (tolerance + slip) / regularization * SUMMATION_SLACK
        if isinstance(event, PureMinima):
            return laplace_release(weights, off, event.rounding_epsilon, stream)
        release = gaussian_release(weights, off, event.rounding_mu, stream)
        # Post-processing: zeros of a penalty become zeros again.
        release[np.abs(release) <= NEGLIGIBLE * off / event.rounding_mu] = 0.0
        return release

    def exact(self) -> np.ndarray:
        """The minimum itself."""
        objective = self.objective
        tolerance = EXACT_TOLERANCE * objective.gradient_bound
        return objective.minimum(
            np.zeros(objective.weights_shape), objective.regularization, tolerance
        )

    def observed(self) -> "Minimum":
        """With an objective that keeps its linear term."""
        return Minimum(WatchedObjective(self.objective))

    def queries(self, answer: np.ndarray, name: str | None) -> list[Query]:
        """The records' gradient at the released weights.

        That is what one record moves, and what the noise is made for.
        """
        objective = self.objective
        assert isinstance(objective, WatchedObjective), "recorded questions are observed"
        declared = Sensitivity.of_sum(objective.gradient_bound)
        settings = (objective.curvature, objective.regularization)
        gradient = objective.gradient(answer)
        return [kept("minimize", gradient, declared, settings, name, answer, objective=objective)]

    def scripted(self, following: Callable[[], Answer]) -> np.ndarray:
        """The next answer."""
        return following()
