"""Half of those in a fit choose features and start, the others estimate (events/parallel.md)."""

from dataclasses import dataclass, replace

from sparsedp.data.dataset import Dataset
from sparsedp.fit.parts.beside import FIT
from sparsedp.fit.parts.coins import parts_by_coins
from sparsedp.fit.plan import Plan, planned
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import OnRelease, door
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import Budget, Parallel, Part
from sparsedp.solvers import IntervalPursuit, Solution

INTERVALS = "intervals"
"""Name of the part that estimates the coefficients of features that the other one chose."""


@dataclass(frozen=True, eq=False)
class Halves:
    """Two parts of the persons of a fit, each with a plan and the whole budget.

    Parameters
    ----------
    solver : IntervalPursuit
    plans : tuple of Plan
        They differ in the number of persons, where that is public.
    budgets : tuple of Budget
    parts : tuple of Dataset
        Private.
    """

    solver: IntervalPursuit
    plans: tuple[Plan, Plan]
    budgets: tuple[Budget, Budget]
    parts: tuple[Dataset, Dataset]

    @classmethod
    def of(
        cls, settings: Settings, problem: Problem, plan: Plan, budget: Budget, stream: KeyStream
    ) -> "Halves | None":
        """Divide by coins where the plan asks for it, by public numbers alone; else None."""
        solver = plan.solver
        if not isinstance(solver, IntervalPursuit) or not solver.divides(plan.public):
            return None
        first, second = parts_by_coins(problem.data, (0.5, 0.5), stream)
        later = Budget(
            solver.later,
            epsilon=settings.epsilon,
            delta=settings.delta,
            neighbors=settings.neighbors,
        )
        one, other = (planned(settings, replace(problem, data=part)) for part in (first, second))
        return cls(solver, (one, other), (budget, later), (first, second))

    @property
    def event(self) -> Parallel:
        """What is released about each part."""
        named = zip((FIT, INTERVALS), self.budgets, strict=True)
        return Parallel(
            tuple(
                Part(name, 0.5, tuple(zip(budget.names, budget.events, strict=True)))
                for name, budget in named
            )
        )

    def solution(self, stream: KeyStream, on_release: OnRelease | None = None) -> Solution:
        """Each part through a door of its own."""
        loss = self.plans[0].loss
        with door(self.budgets[0], self.plans[0].public, stream, on_release) as curator:
            start = self.solver.begun(self.parts[0], loss, curator)
        with door(self.budgets[1], self.plans[1].public, stream) as curator:
            return self.solver.ended(start, self.parts[1], curator)
