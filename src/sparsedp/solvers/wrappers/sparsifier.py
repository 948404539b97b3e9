"""Keep the heaviest weights of another solver's model (proof: sparsifier.md)."""

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator, NoiselessCurator
from sparsedp.privacy import Count, PublicFacts, PublishedSchedule, RoundedCount, Schedule
from sparsedp.privacy.schedule import at_fraction
from sparsedp.sets import L0Ball, n_features_used
from sparsedp.solvers.frank_wolfe.frank_wolfe import FrankWolfe
from sparsedp.solvers.lasso.lasso import Lasso
from sparsedp.solvers.solver import (
    Solution,
    Solver,
    check_calibration,
    check_inside,
    check_needs,
    check_positive_integer,
    check_share,
    check_size,
    guaranteed,
)

GHOST = 1e-6
"""Weights below this part of the L1 norm are not counted: Frank-Wolfe never removes a vertex."""


@runtime_checkable
class WithRadius(Protocol):
    """A solver over an L1 ball."""

    @property
    def radius(self) -> float:
        """Of the ball."""
        ...


@dataclass(frozen=True)
class Sparsifier:
    """Fit with any solver, then keep the features with the heaviest weights.

    Parameters
    ----------
    solver : Solver
        Whose model is thinned out.
    n_nonzero : int, "count" or None
        Features to keep; None takes the estimator's. "count" asks the data privately how many
        features a non-private model uses, as Khanna et al. (2024) do. That is rarely a good idea:
        at the paper's budget the answer is a coin flip between the two ends of its range.
    count_fraction : float
        Part of epsilon that the count costs.
    count_solver : Solver or None
        Fitted without noise, to be counted. None takes :class:`Lasso` with the inner solver's
        radius (10 if it has none), ``FrankWolfe(n_steps=50_000)`` is what the paper does.
    precision : float
        The count is multiplied by this: below 1 for fewer false features, above 1 for fewer missed.
    alpha, beta : float or None
        Between these the count is clipped, before and after its noise; the data must have no say
        in them. None for the square root of the number of features, and twice that.
    calibration : {"sound", "proven", "published"}
        Of the count; the inner solver has its own, and both must agree. "published" clips at
        ``alpha`` and ``beta`` rounded, with noise for their distance before rounding; "proven" has
        noise for the distance of the rounded ones, and changes nothing else; "sound" clips at the
        outermost whole numbers between ``alpha`` and ``beta``.

    Notes
    -----
    *Privacy.* Thinning out is post-processing of the inner solver's release. The count is clipped
    to a public range, so no record moves it by more than the width of that range.
    """

    solver: Solver = field(default_factory=FrankWolfe)
    n_nonzero: int | str | None = None
    count_fraction: float = 0.05
    count_solver: Solver | None = None
    precision: float = 1.0
    alpha: float | None = None
    beta: float | None = None
    calibration: str = "sound"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)
        if isinstance(self.n_nonzero, str):
            if self.n_nonzero != "count":
                raise ValueError(f"n_nonzero must be a number or 'count', got {self.n_nonzero!r}")
        elif self.n_nonzero is not None:
            check_positive_integer("n_nonzero", self.n_nonzero)
        check_share("count_fraction", self.count_fraction)
        check_size("precision", self.precision)
        for name in ("alpha", "beta"):
            check_size(name, getattr(self, name), optional=True, least=1.0)
        if (self.alpha, self.beta) != (None, None) and self.n_nonzero != "count":
            raise ValueError("alpha and beta bound a count: set n_nonzero='count', or leave them")

    @property
    def needs(self) -> tuple[type, ...]:
        """What the solvers inside need."""
        if self.n_nonzero != "count":
            return self.solver.needs
        return (*self._counted().needs, *self.solver.needs)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Those of the inner solver, and of the published count."""
        if guaranteed(self.calibration) or self.n_nonzero != "count":
            return self.solver.caveats
        return (
            *self.solver.caveats,
            "The count of Khanna et al. (2024) has noise for its clipping range before rounding; "
            "rounding can widen the range.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """The inner solver's requests, and the count's if it is asked for."""
        check_needs(self, public)
        inner = self.solver.schedule(public)
        if self.n_nonzero != "count":
            if isinstance(self.n_nonzero, int) and self.n_nonzero > public.n_features:
                raise ValueError(
                    f"n_nonzero={self.n_nonzero} is more than the {public.n_features} features"
                )
            return inner
        check_inside(self._counted(), public)
        lower, upper = self._limits(public.n_features)
        if guaranteed(self.calibration) and isinstance(inner, Schedule):
            if self.count_fraction + inner.counted >= 1:
                raise ValueError(
                    f"n_nonzero='count' needs {self.count_fraction:g} of epsilon, but this "
                    f"{type(self.solver).__name__} leaves none, as its noise is pure: give "
                    "n_nonzero as a number, or choose another noise or solver"
                )
            return Schedule((Count(self.count_fraction), *inner.requests))
        if self.calibration == "published" and isinstance(inner, PublishedSchedule):
            count = RoundedCount(self.count_fraction, lower, upper)
            rest = 1 - self.count_fraction
            return PublishedSchedule((count, *(at_fraction(r, rest) for r in inner.requests)))
        raise ValueError(
            f"a {self.calibration} count needs a {self.calibration} inner solver: "
            "give both the same calibration"
        )

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Fit, then keep the heaviest."""
        public = curator.public
        kept = self._n_kept(data, loss, curator)  # released
        solution = self.solver.solve(data, loss, curator)
        sparse = L0Ball(kept, public.n_features).threshold(solution.weights)
        return replace(solution, weights=sparse, path=None)

    def _n_kept(self, data: Dataset, loss: Loss, curator: Curator) -> int:
        public = curator.public
        if self.n_nonzero is None:
            return public.n_nonzero
        if isinstance(self.n_nonzero, int):
            return self.n_nonzero
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a fit without noise says is private
            weights = self._counted().solve(data, loss, NoiselessCurator(public)).weights  # private
        weights = np.where(np.abs(weights) > GHOST * np.abs(weights).sum(), weights, 0)
        used = n_features_used(weights, public.n_features)  # private
        lower, upper = self._range(public.n_features)
        count = curator.count(used, lower, upper)  # released
        return min(round(count * self.precision), public.n_features)

    def _counted(self) -> Solver:
        if self.count_solver is not None:
            return self.count_solver
        return Lasso(radius=self.solver.radius if isinstance(self.solver, WithRadius) else 10.0)

    def _limits(self, n_features: int) -> tuple[float, float]:
        """Alpha and beta of the paper, which recommends sqrt(d) and 2 sqrt(d)."""
        lower = math.sqrt(n_features) if self.alpha is None else self.alpha
        upper = 2 * math.sqrt(n_features) if self.beta is None else self.beta
        if not lower < upper:
            raise ValueError(
                f"alpha must be below beta, got {lower:g} and {upper:g} for {n_features} features"
            )
        return lower, upper

    def _range(self, n_features: int) -> tuple[int, int]:
        lower, upper = self._limits(n_features)
        if self.calibration != "sound":
            return round(lower), round(upper)
        # Whole numbers inside the range keep the promise that the count moves by at most the width
        # that the noise is made for.
        return math.ceil(lower), max(math.ceil(lower), math.floor(upper))
