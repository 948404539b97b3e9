"""How a fit with intervals spends its budget, and how far out records count in full."""

import math
from dataclasses import dataclass, fields, replace
from typing import Literal

from sparsedp.losses import Inferable, Loss
from sparsedp.privacy import PublicFacts
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.plan import Plan

Asked = Literal["auto", "same", "split"]
"""Whether the records that choose features also estimate."""


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of a budget; together 1 before they are scaled."""

    counts: float
    bounds: float
    selection: float
    gram: float
    middle: float
    """Steps between selections."""
    start: float
    """Steps to where scores are released."""
    score: float
    hessian: float
    spread: float
    """Squares of the score's terms."""

    def more(self, share: float) -> "Shares":
        """With a share that is left over, which goes to all that comes after the bounds."""
        later = ("gram", "middle", "start", "score", "hessian", "spread")
        factor = 1 + share / sum(getattr(self, name) for name in later)
        return replace(self, **{name: factor * getattr(self, name) for name in later})

    def times(self, factor: float) -> "Shares":
        """All of them multiplied."""
        return Shares(**{f.name: factor * getattr(self, f.name) for f in fields(self)})


ALL = Shares(
    counts=0.02,
    bounds=0.08,
    selection=0.0,
    gram=0.15,
    middle=0.0,
    start=0.20,
    score=0.36,
    hessian=0.13,
    spread=0.06,
)
"""Where all features are taken."""

SPLIT = Shares(
    counts=0.02,
    bounds=0.06,
    selection=0.42,
    gram=0.12,
    middle=0.12,
    start=0.26,
    score=0.0,
    hessian=0.0,
    spread=0.0,
)
"""Of those who choose features for others ..."""

OTHERS = Shares(
    counts=0.0,
    bounds=0.0,
    selection=0.0,
    gram=0.0,
    middle=0.0,
    start=0.0,
    score=0.70,
    hessian=0.22,
    spread=0.08,
)
"""... and of those who then estimate."""

CENTERING = 0.03
"""Part of a step's share that centers the residuals of a regression before a selection."""

MOST_TAKEN, N_CHOSEN = 30, 10
"""Up to so many features are all taken where nobody says how many; of more, so many are chosen."""

LEAST_REACH, MOST_REACH = 1.0, 2.5
"""Over the root mean square norm of records: how far out they count in full."""


def default_features(n_features: int) -> int:
    """Features of a model with intervals, where nobody says how many."""
    return n_features if n_features <= MOST_TAKEN else N_CHOSEN


@dataclass(frozen=True)
class IntervalPlan:
    """What is decided before any data are seen.

    Parameters
    ----------
    pursuit : Plan
        How features are taken or chosen.
    divides : bool
        Whether some of the persons choose and start, and the others estimate.
    """

    pursuit: Plan
    divides: bool

    @classmethod
    def of(cls, public: PublicFacts, size: int, records: Asked) -> "IntervalPlan":
        """Plan with the facts that everybody may know; refuses what has not been studied."""
        for refused, why in (
            (
                not isinstance(public.loss, Inferable | None),
                "two classes and for numbers with the squared loss: leave intervals out, or "
                "change the loss",
            ),
            (public.row_norm is not None, "features with bounds of their own: leave row_norm out"),
            (not public.intercept, "models with an intercept: set fit_intercept=True"),
            (public.initial_weights is not None, "models that start anew: leave initial_model out"),
            (public.shapes == "additive", "lines: take shapes='linear'"),
        ):
            if refused:
                raise ValueError(f"intervals are for {why}")
        plan = Plan.of(replace(public, shapes="linear"), size)
        if records == "same" and not plan.takes_all:
            raise ValueError(
                "intervals='same' is for models that take all their features: records that chose "
                "some would make them look better than they are. Take intervals='split', or "
                f"n_nonzero={public.n_features}"
            )
        return cls(plan, divides=records == "split" or not plan.takes_all)

    @property
    def size(self) -> int:
        """Features of the model."""
        return self.pursuit.size

    @property
    def takes_all(self) -> bool:
        """Whether all features are taken: there is nothing to choose."""
        return self.pursuit.takes_all

    @property
    def shares(self) -> Shares:
        """Of the Gaussian request, which does not pay for selections."""
        if not self.divides:
            return ALL
        if self.takes_all:
            return replace(SPLIT, selection=0.0, middle=0.0).times(1 / (1 - self.selection))
        return SPLIT.times(1 / (1 - SPLIT.selection))

    @property
    def selection(self) -> float:
        """Share of the budget that choices, and the steps between them if there are none, leave."""
        return SPLIT.selection + (SPLIT.middle if self.takes_all else 0.0)


def reach(
    moments: Moments, norm: float, information: float, size: int, shares: Shares, loss: Loss
) -> float:
    """How far out records count in full, C: as far as noise allows.

    The noise of a score is then at most about what sampling does to it, and that of the Hessian
    half of the Hessian.

    Parameters
    ----------
    moments : Moments
    norm : float
        Root mean square norm of records.
    information : float
        Number of records times a typical curvature. Released.
    size : int
        Columns.
    shares : Shares
    loss : Loss
    """
    unit = moments.deviation(1.0, 1.0)
    if unit == 0:
        return MOST_REACH * norm
    tails = loss.residual_tails if isinstance(loss, Inferable) else 1.0
    score = math.sqrt(shares.score * max(information, 0.0)) / (unit * norm * tails)
    most = information * math.sqrt(shares.hessian) / (2 * unit * math.sqrt(2 * size))
    hessian = math.sqrt(max(most, 0.0) / (loss.curvature_bound * norm**2))
    return min(max(min(score, hessian), LEAST_REACH), MOST_REACH) * norm
