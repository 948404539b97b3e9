"""One trial of a private search: fit on some records, score with noise on the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.products import column_sums
from sparsedp.estimators.fit import describe, public_facts
from sparsedp.estimators.grid import Candidate
from sparsedp.estimators.settings import Settings
from sparsedp.losses import Logistic, Loss, Multinomial
from sparsedp.mechanisms import KeyStream, NoisyCurator
from sparsedp.privacy import (
    Charges,
    Event,
    Perturb,
    PublicFacts,
    Schedule,
    Sensitivity,
    zcdp_rho,
)
from sparsedp.privacy.account.repeat import events_at
from sparsedp.solvers import Solution

SCORE = Schedule((Perturb(name="score"),))
ONE_RECORD = Sensitivity(add_remove=1.0, replace_one=1.0)
"""A record's score lies between 0 and 1."""


@dataclass(frozen=True)
class Problem:
    """A candidate and the records that have come through its gate."""

    estimator: Any
    settings: Settings
    data: Dataset
    loss: Loss
    declared: dict[str, Any]

    @classmethod
    def of(cls, candidate: Candidate, X: Any, y: Any) -> "Problem":
        """Let the records through the candidate's gate."""
        estimator, settings = candidate.estimator, candidate.settings
        return cls(estimator, settings, *estimator._problem(X, y, settings))


@dataclass(frozen=True)
class Trial:
    """A candidate, ready to be fitted and scored any number of times at rho-zCDP each."""

    problem: Problem
    training: Dataset
    validation: Dataset
    public: PublicFacts
    schedule: Schedule
    events: tuple[Event, ...]
    score_events: tuple[Event, ...]

    @classmethod
    def of(cls, problem: Problem, scoring: np.ndarray, rho: float) -> "Trial":
        """Plan a candidate's trial within rho; draws nothing.

        Raises
        ------
        ValueError
            If what the candidate's solver will ask for cannot be held to rho-zCDP.
        """
        solver = problem.settings.solver
        training, validation = problem.data.rows(~scoring), problem.data.rows(scoring)
        public = public_facts(problem.settings, training, problem.loss)
        schedule = solver.schedule(public)
        if not isinstance(schedule, Schedule) or solver.caveats:
            raise ValueError("a private search needs solvers with calibration='sound'")
        # A little below rho, so that rounding does not lift the recounted cost above it.
        within = rho * (1 - 1e-9)
        events, score_events = events_at(schedule, within), events_at(SCORE, within)
        trial = cls(problem, training, validation, public, schedule, events, score_events)
        if not trial.cost <= rho:
            raise ValueError(f"{describe(solver)['name']} would cost more than a trial may")
        return trial

    @property
    def cost(self) -> float:
        """Recounted zCDP cost; a record takes part in the fit or in the score, not in both."""
        return max(zcdp_rho(self.events), zcdp_rho(self.score_events))

    @np.errstate(all="ignore")  # no record may end a trial, whatever the caller wants of NumPy
    def run(self, stream: KeyStream) -> tuple[Solution, float]:
        """A model and its noisy score; a record takes part in one of the two only."""
        curator = NoisyCurator(Charges(self.schedule, self.events), self.public, stream)
        solution = self.problem.settings.solver.solve(self.training, self.problem.loss, curator)
        curator.close()
        curator = NoisyCurator(Charges(SCORE, self.score_events), self.public, stream)
        score = curator.perturb(np.array([self._score(solution)]), ONE_RECORD)[0]
        curator.close()
        return solution, float(score)

    def _score(self, solution: Solution) -> float:
        """Sum over validation records of one minus a Brier score or squared error (private)."""
        data = self.validation
        if solution.bounds is not None:
            data = data.tightened(solution.bounds)
        margins, target = data.matvec(solution.weights), data.target
        loss, known = self.problem.loss, ~np.isnan(margins)
        # Probability minus label, by kernels that see nothing but the record.
        if isinstance(loss, Logistic):
            scores = 1 - loss.derivative(margins, target) ** 2
        elif isinstance(loss, Multinomial):
            scores = 1 - sum((loss.derivative(margins, target) ** 2).T) / 2
            known = known.all(axis=1)
        else:
            scores = 1 - (np.clip(margins, -1, 1) - target) ** 2 / 4
        # Weights that are not finite leave some records without a score: they add nothing.
        return float(column_sums(np.where(known & (scores >= 0), np.minimum(scores, 1), 0)))
