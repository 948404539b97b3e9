"""What is to be minimal: the loss over a ball, or the loss and a penalty."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparsedp.solvers.lasso.model import Model, minimize_over_ball


class Goal(Protocol):
    """What the loss is to be minimal under."""

    def cost(self, weights: np.ndarray) -> float:
        """What is added to the mean loss."""
        ...

    def norm_bound(self, weights: np.ndarray, loss: float) -> float:
        """Bound on the L1 norm of the minimum, from any weights and their mean loss."""
        ...

    def gap(self, weights: np.ndarray, gradient: np.ndarray, loss: float) -> float:
        """Bound on how far the objective is above its least value; see lasso.md."""
        ...

    def minimize(self, model: Model, guess: float, tolerance: float) -> float:
        """Move a model's weights to its minimum, from a guess of the penalty; returns that."""
        ...


@dataclass(frozen=True)
class Ball:
    """Weights with at most this L1 norm."""

    radius: float

    def cost(self, weights: np.ndarray) -> float:
        """Nothing."""
        return 0.0

    def norm_bound(self, weights: np.ndarray, loss: float) -> float:
        """The radius."""
        return self.radius

    def gap(self, weights: np.ndarray, gradient: np.ndarray, loss: float) -> float:
        """The Frank-Wolfe gap."""
        return float(gradient @ weights) + self.radius * float(np.abs(gradient).max())

    def minimize(self, model: Model, guess: float, tolerance: float) -> float:
        """Search for the penalty with a minimum on the sphere."""
        return minimize_over_ball(model, self.radius, guess, tolerance)


@dataclass(frozen=True)
class Penalty:
    """A multiple of the L1 norm."""

    factor: float

    def cost(self, weights: np.ndarray) -> float:
        """The penalty."""
        return self.factor * float(np.abs(weights).sum())

    def norm_bound(self, weights: np.ndarray, loss: float) -> float:
        """Losses are not negative, so the minimum's penalty is at most the present objective."""
        return (loss + self.cost(weights)) / self.factor

    def gap(self, weights: np.ndarray, gradient: np.ndarray, loss: float) -> float:
        """The Frank-Wolfe gap of the penalized problem over all norms up to that bound."""
        steeper = max(float(np.abs(gradient).max()) - self.factor, 0.0)
        here = float(gradient @ weights) + self.cost(weights)
        return here + self.norm_bound(weights, loss) * steeper

    def minimize(self, model: Model, guess: float, tolerance: float) -> float:
        """Minimize at the given penalty."""
        model.minimize(self.factor, tolerance)
        return self.factor
