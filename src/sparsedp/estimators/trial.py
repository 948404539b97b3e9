"""One trial of a private search: fit on some records, score with noise on the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from sparsedp.data.dataset import Dataset
from sparsedp.data.products import column_sums
from sparsedp.estimators.fit import public_facts
from sparsedp.estimators.settings import Settings
from sparsedp.losses import Logistic, Loss, Multinomial
from sparsedp.mechanisms import KeyStream, NoisyCurator
from sparsedp.privacy import Budget, Perturb, PublicFacts, Schedule, Sensitivity
from sparsedp.privacy.repeat import events_at
from sparsedp.solvers import Solution

SCORE = Schedule((Perturb(name="score"),))
ONE_RECORD = Sensitivity(add_remove=1.0, replace_one=1.0)
"""A record's score lies between 0 and 1."""


@dataclass(frozen=True)
class Trial:
    """A candidate, ready to be fitted and scored any number of times at rho-zCDP each."""

    estimator: Any
    settings: Settings
    training: Dataset
    validation: Dataset
    loss: Loss
    declared: dict[str, Any]
    public: PublicFacts
    schedule: Schedule
    rho: float

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, scoring: np.ndarray, rho: float) -> "Trial":
        """Let the records through the candidate's gate and plan; draws nothing."""
        settings = Settings.of(estimator)
        data, loss, declared = estimator._problem(X, y, settings)
        training, validation = data.rows(~scoring), data.rows(scoring)
        public = public_facts(settings, training, loss)
        schedule = settings.solver.schedule(public)
        if not isinstance(schedule, Schedule):
            raise ValueError("a private search needs solvers with calibration='sound'")
        events_at(schedule, rho)  # refuses what cannot be tuned
        return cls(estimator, settings, training, validation, loss, declared, public, schedule, rho)

    def run(self, stream: KeyStream) -> tuple[Solution, float]:
        """A model and its noisy score; a record takes part in one of the two only."""
        budget = Budget.of(self.schedule, events_at(self.schedule, self.rho))
        curator = NoisyCurator(budget, self.public, stream)
        solution = self.settings.solver.solve(self.training, self.loss, curator)
        curator.close()
        curator = NoisyCurator(Budget.of(SCORE, events_at(SCORE, self.rho)), self.public, stream)
        score = curator.perturb(np.array([self._score(solution)]), ONE_RECORD)[0]
        curator.close()
        return solution, float(score)

    def _score(self, solution: Solution) -> float:
        """Sum over validation records of one minus a Brier score or squared error (private)."""
        data = self.validation
        if solution.bounds is not None:
            data = data.tightened(solution.bounds)
        margins, target = data.matvec(solution.weights), data.target
        if isinstance(self.loss, Logistic):
            return float(column_sums(1 - (expit(margins) - target) ** 2))
        if isinstance(self.loss, Multinomial):
            distance = softmax(margins, axis=1)
            distance[np.arange(len(target)), target] -= 1
            return float(column_sums(1 - (distance**2).sum(axis=1) / 2))
        return float(column_sums(1 - (np.clip(margins, -1, 1) - target) ** 2 / 4))
