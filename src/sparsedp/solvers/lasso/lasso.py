"""The LASSO without privacy: the reference for private solvers (method: lasso.md)."""

import warnings
from dataclasses import dataclass
from typing import NoReturn, cast

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, PublishedSchedule
from sparsedp.privacy.kind import PublishedRequest
from sparsedp.sets import L1Ball, n_features_used
from sparsedp.solvers.lasso.descent import LassoProblem, Minimum, by_column
from sparsedp.solvers.lasso.goal import Ball, Penalty
from sparsedp.solvers.solver import (
    Solution,
    check_positive_integer,
    check_size,
    refuse_initial_model,
)

SMALLEST_PENALTY = 1e-6
"""Where a search for more features ends, relative to the penalty at which there are none."""

PATH_FACTOR = 0.7
"""Of the penalty from one point of the path to the next."""

MOST_POINTS = 60
"""Of the path: more than it has by its factors."""

FINEST = 1.005
"""Ratio of two penalties between which the path is not searched further."""

REFUSAL = (
    "Lasso adds no noise and protects nobody: it fits only with epsilon=float('inf'). "
    "With a finite epsilon use FrankWolfe(radius=...) or Pursuit()"
)


class DidNotConverge(UserWarning):
    """A minimum was not found to the wanted precision."""


@dataclass(frozen=True)
class Unprotected:
    """A request that no budget covers."""

    name: str = "model"

    def event(self, epsilon: float, delta: float, neighbors: str) -> NoReturn:
        """Refuse."""
        raise ValueError(REFUSAL)


@dataclass(frozen=True, kw_only=True)
class Lasso:
    """Minimize the mean loss with an L1 constraint or penalty, without any privacy.

    What private solvers are compared with, and what :class:`Sparsifier` counts the features of.
    Coordinate descent on a working set, to a certified precision. Give at most one of the first
    three settings; with none of them the model has the estimator's number of features.

    Parameters
    ----------
    radius : float or None
        Of an L1 ball in unit coordinates; the intercept counts too, as in :class:`FrankWolfe`.
    penalty : float or None
        Factor of the L1 norm that is added to the mean loss; the intercept counts too.
    n_nonzero : int or None
        Features of the model: the least penalty at which there are not more. Where several enter
        at once there may be fewer.
    tolerance : float
        The objective is at most this above its least value, relative to the mean loss of zero
        weights. A warning says so if that was not reached.

    Notes
    -----
    *Privacy.* None. It refuses every finite epsilon before data are read.
    """

    radius: float | None = None
    penalty: float | None = None
    n_nonzero: int | None = None
    tolerance: float = 1e-6

    needs = ()

    def __post_init__(self) -> None:
        given = [v for v in (self.radius, self.penalty, self.n_nonzero) if v is not None]
        if len(given) > 1:
            raise ValueError("give only one of radius, penalty and n_nonzero")
        if self.radius is not None:
            L1Ball(self.radius)
        check_size("penalty", self.penalty, optional=True)
        if self.n_nonzero is not None:
            check_positive_integer("n_nonzero", self.n_nonzero)
        if not 1e-12 <= self.tolerance < 1:
            raise ValueError(f"tolerance must be from 1e-12 to 1, got {self.tolerance!r}")

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: without a finite epsilon nothing is claimed."""
        return ()

    def schedule(self, public: PublicFacts) -> PublishedSchedule:
        """A request that every finite epsilon refuses."""
        refuse_initial_model(public, "Lasso")
        if self.n_nonzero is not None and self.n_nonzero > public.n_features:
            raise ValueError(
                f"n_nonzero={self.n_nonzero} is more than the {public.n_features} features"
            )
        return PublishedSchedule((cast(PublishedRequest, Unprotected()),))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Find the minimum."""
        if not curator.noiseless:
            raise ValueError(REFUSAL)
        public = curator.public
        if data.total_weight == 0:
            return Solution(weights=np.zeros(public.weights_shape))
        problem = LassoProblem(by_column(data), loss, self.tolerance)
        if self.radius is not None:
            minimum = problem.minimize(Ball(self.radius))
        elif self.penalty is not None:
            minimum = problem.minimize(Penalty(self.penalty))
        else:
            minimum = self._on_path(problem, self.n_nonzero or public.n_nonzero)
        if not minimum.gap <= problem.wanted:
            warnings.warn(
                # No numbers: a voter of TwoStage sees private records.
                "Lasso stopped before it was as close to the least value as its tolerance asks "
                "for: use a smaller radius, a larger penalty or a larger tolerance",
                DidNotConverge,
                stacklevel=2,
            )
        return Solution(weights=minimum.weights.reshape(public.weights_shape))

    def _on_path(self, problem: LassoProblem, n_nonzero: int) -> Minimum:
        """The least penalty with at most this many features, by bisection along the path."""
        d, n_columns = problem.data.n_features, problem.data.n_columns
        high = problem.largest_penalty()
        smallest = SMALLEST_PENALTY * high
        best = Minimum(np.zeros(problem.size), 0.0)
        low = None
        for _ in range(MOST_POINTS):
            if not (high > smallest and (low is None or high / low > FINEST)):
                break
            middle = PATH_FACTOR * high if low is None else (low * high) ** 0.5
            found = problem.minimize(Penalty(middle), best.weights)
            if not found.gap <= problem.wanted:
                return found  # a smaller penalty is harder still, and the caller warns
            if n_features_used(found.weights.reshape(n_columns, -1), d) <= n_nonzero:
                best, high = found, middle
            else:
                low = middle
        return best
