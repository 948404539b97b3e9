"""Blocks of records vote for features, then a private fit on the winners (proof: two_stage.md)."""

from dataclasses import dataclass, field, replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator, NoiselessCurator
from sparsedp.privacy import (
    PublicFacts,
    PublishedSchedule,
    Schedule,
    Select,
    Sensitivity,
    VoteSelect,
)
from sparsedp.sets import L0Ball
from sparsedp.solvers.frank_wolfe.frank_wolfe import FrankWolfe
from sparsedp.solvers.objective.objective import ObjectivePerturbation
from sparsedp.solvers.solver import (
    Solution,
    Solver,
    check_calibration,
    check_inside,
    check_needs,
    check_positive_integer,
    check_share,
    refuse_initial_model,
)


@dataclass(frozen=True)
class TwoStage:
    """Let blocks of records vote for features, then fit on those that win.

    The method of Kifer et al. (2012): each block fits a sparse model without noise and votes for
    its features; how many blocks want a feature hardly depends on one record. It needs blocks large
    enough to find the features and alike enough to agree: with correlated features their votes
    scatter, and noise decides.

    Parameters
    ----------
    n_nonzero : int or None
        Features that a block votes for and that the model uses; None takes the estimator's.
    n_blocks : int
        Blocks. The noise on the votes does not depend on it, so more blocks drown the noise, and
        each sees fewer records.
    voter : Solver
        Fitted without noise on each block; its heaviest features get the votes.
    solver : ObjectivePerturbation
        Fitted on the chosen features.
    vote_share : float
        Part of the budget for the votes.
    calibration : {"sound", "proven", "published"}
        "published" takes Laplace noise on all votes at half of epsilon, and for the fit that of
        Kifer et al. (2012) at the other half. "proven" changes nothing but the noise, of votes and
        fit, which share the budget evenly. For both ``vote_share`` is not used. "sound" differs
        from "proven" in that share, and in the regularization of the fit.

    Notes
    -----
    *Privacy.* A record sits in one block and can change that block's votes only: each feature's
    number of votes moves by at most one. Under add/remove a secret coin assigns each record to its
    block: blocks cut by position would all shift when a record goes. Persons have such a coin under
    either relation, one for all of their rows.
    """

    n_nonzero: int | None = None
    n_blocks: int = 50
    voter: Solver = field(default_factory=FrankWolfe)
    solver: ObjectivePerturbation = field(default_factory=ObjectivePerturbation)
    vote_share: float = 0.5
    calibration: str = "sound"

    def __post_init__(self) -> None:
        check_calibration(self.calibration)
        if not isinstance(self.solver, ObjectivePerturbation):
            raise TypeError(
                "TwoStage's solver fits the features that were voted for and must be an "
                f"ObjectivePerturbation, got {type(self.solver).__name__}"
            )
        if self.n_nonzero is not None:
            check_positive_integer("n_nonzero", self.n_nonzero)
        check_positive_integer("n_blocks", self.n_blocks)
        check_share("vote_share", self.vote_share)

    @property
    def needs(self) -> tuple[type, ...]:
        """What the solvers inside need."""
        return (*self.voter.needs, *self.solver.needs)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Those of the fit on the chosen features; the votes are proven as published."""
        return self.solver.caveats

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """One selection per feature, and the fit's request."""
        refuse_initial_model(public, "TwoStage")
        check_needs(self, public)
        check_inside(self.voter, public)
        count = self._n_chosen(public)
        if count > public.n_features:
            raise ValueError(f"n_nonzero={count} is more than the {public.n_features} features")
        if public.n_records is not None and self.n_blocks > public.n_records:
            raise ValueError(
                f"n_blocks={self.n_blocks} is more than the {public.n_records} records: "
                "take fewer blocks"
            )
        published = self.calibration == "published"
        vote_share = self.vote_share if self.calibration == "sound" else 0.5
        share = 1 - vote_share
        inner = self.solver.schedule_with_share(replace(public, n_features=count), share)
        if published and isinstance(inner, PublishedSchedule):
            return PublishedSchedule((VoteSelect(count, fraction=0.5), *inner.requests))
        if not published and isinstance(inner, Schedule):
            return Schedule((Select(count, vote_share, name="votes"), *inner.requests))
        raise ValueError(
            f"{self.calibration} votes need a {self.calibration} fit: "
            "give both the same calibration"
        )

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Vote, choose, fit."""
        public = curator.public
        count = self._n_chosen(public)
        votes = self._votes(data, loss, curator, count)  # private
        # One block changes its mind: at most one vote up for some features, one down for others.
        sensitivity = Sensitivity(add_remove=2.0, replace_one=2.0)
        chosen = np.sort(curator.select_many(votes, sensitivity, count, name="votes"))  # released
        fitted = self.solver.solve(data.features(chosen), loss, curator)
        weights = np.zeros(public.weights_shape)
        weights[chosen] = fitted.weights[:count]
        weights[public.n_features :] = fitted.weights[count:]
        return Solution(weights=weights)

    def _n_chosen(self, public: PublicFacts) -> int:
        return public.n_nonzero if self.n_nonzero is None else self.n_nonzero

    def _votes(self, data: Dataset, loss: Loss, curator: Curator, count: int) -> np.ndarray:
        """How many blocks want each feature (private)."""
        public = curator.public
        if public.n_records is None or public.unit == "person":
            block = data.per_person(lambda n: curator.partition(n, self.n_blocks))
        else:
            block = np.arange(data.n_records) % self.n_blocks
        ball = L0Ball(count, public.n_features)
        votes = np.zeros(public.n_features)
        for k in range(self.n_blocks):
            model = self.voter.solve(data.rows(block == k), loss, NoiselessCurator(public))
            wanted = ball.threshold(model.weights)[: public.n_features] != 0
            votes += wanted if wanted.ndim == 1 else wanted.any(axis=1)
        return votes
