"""One trial of a private search: fit on some records, score with noise on the others."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.products import column_sums
from sparsedp.data.sums.weighed import weighed
from sparsedp.fit.monotone import directions_of
from sparsedp.fit.plan import Plan, public_facts
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import door, margins_of, private_solution
from sparsedp.losses.loss import squared_error
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import (
    Charges,
    Event,
    Perturb,
    Schedule,
    Sensitivity,
    zcdp_rho,
)
from sparsedp.privacy.account.feasibility import records_needed
from sparsedp.privacy.account.repeat import events_at
from sparsedp.solvers import Solution

SCORE = Schedule((Perturb(name="score"),))
ONE_RECORD = Sensitivity(add_remove=1.0, replace_one=1.0)
"""A record's score lies between 0 and 1."""


@dataclass(frozen=True)
class Trial:
    """A candidate, ready to be fitted and scored any number of times at rho-zCDP each."""

    settings: Settings
    problem: Problem
    """With the records that train."""
    validation: Dataset
    """The records that score."""
    plan: Plan
    schedule: Schedule
    events: tuple[Event, ...]
    score_events: tuple[Event, ...]

    @classmethod
    def of(cls, settings: Settings, problem: Problem, scoring: np.ndarray, rho: float) -> "Trial":
        """Plan a candidate's trial within rho; draws nothing.

        Raises
        ------
        ValueError
            If what the candidate's solver will ask for cannot be held to rho-zCDP.
        """
        training, validation = problem.data.rows(~scoring), problem.data.rows(scoring)
        problem = replace(problem, data=training)
        monotone = directions_of(settings.monotone, problem)
        public = public_facts(settings, problem)
        plan = Plan.of(settings.solver, problem.loss, public, monotone)
        if not isinstance(plan.schedule, Schedule) or settings.solver.caveats:
            raise ValueError("a private search needs solvers with calibration='sound'")
        # A little below rho, so that rounding does not lift the recounted cost above it.
        within = rho * (1 - 1e-9)
        events, score_events = events_at(plan.schedule, within), events_at(SCORE, within)
        trial = cls(settings, problem, validation, plan, plan.schedule, events, score_events)
        if not trial.cost <= rho:
            raise ValueError(f"{type(plan.solver).__name__} would cost more than a trial may")
        return trial

    @property
    def cost(self) -> float:
        """Recounted zCDP cost; a record takes part in the fit or in the score, not in both."""
        return max(zcdp_rho(self.events), zcdp_rho(self.score_events))

    @property
    def n_records(self) -> int:
        """Records, or persons, of training and scoring together. PRIVATE under add/remove."""
        return self.problem.data.n_persons + self.validation.n_persons

    def needed(self, validation_fraction: float) -> int:
        """Records below which the noise of a trial promises nothing; only some of them train."""
        return math.ceil(records_needed(self.events, self.plan.public) / (1 - validation_fraction))

    def run(self, stream: KeyStream) -> tuple[Solution, float]:
        """A model and its noisy score; a record takes part in one of the two only."""
        charges = Charges(self.schedule, self.events)
        solution = private_solution(self.plan, charges, self.problem.data, stream)
        with door(Charges(SCORE, self.score_events), self.plan.public, stream) as curator:
            score = curator.perturb(np.array([self._score(solution)]), ONE_RECORD)[0]
        return solution, float(score)

    def _score(self, solution: Solution) -> float:
        """Sum over validation records of how well each is predicted, from 0 to 1 (private)."""
        data = self.validation
        margins = margins_of(data, solution)
        scores = 1 - squared_error(self.problem.loss, margins, data.target)
        # Weights that are not finite leave some records without a score: they add nothing.
        scores = np.where(scores >= 0, np.minimum(scores, 1), 0)
        return float(column_sums(weighed(scores, data.weights)))
