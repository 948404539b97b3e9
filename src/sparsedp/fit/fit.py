"""A fit from beginning to end: plan, charge, solve, record."""

import math
from contextlib import closing
from dataclasses import replace

from sparsedp.fit.charge import charge, finish, model_by
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.plan import Plan, planned, warn_about_noise
from sparsedp.fit.problem import Problem
from sparsedp.fit.progress import Progress
from sparsedp.fit.record import exact_record, private_record
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import exact_solution, private_solution
from sparsedp.fit.stopped import after_charge
from sparsedp.privacy import PrivacyRecord


def private_fit(settings: Settings, problem: Problem) -> tuple[Coefficients, PrivacyRecord]:
    """Plan, charge, solve and write the record; then let go of the records.

    Parameters
    ----------
    settings : Settings
    problem : Problem
        Private. Its records are closed, whatever happens.

    Notes
    -----
    *Privacy.* Whatever can be refused is refused by the plan: nothing is charged then. The charge
    comes before the first noise. The record says what was charged.
    """
    with closing(problem.data) as data:
        plan = planned(settings, problem)  # raises if anything is impossible
        if math.isinf(settings.epsilon):
            return _exact_fit(settings, problem, plan)
        budget, stream = plan.budget(settings.epsilon, settings.delta), settings.stream()
        record = private_record(settings, problem, plan.public, budget, seeded=stream.seeded)
        warn_about_noise(plan.public, budget, record)  # raises where users make errors of warnings
        # Raises if the ledger has not enough left.
        record = charge(settings.ledger, record, data, what=model_by(record))

        progress = Progress(budget.charges.n_releases, settings.verbose)
        data.watched(progress.reading)
        solution = after_charge(
            lambda: private_solution(plan, budget, data, stream, progress)  # noise: here only
        )
        finish(settings.ledger, record, solution.weights)
        released = Coefficients.of(solution, problem, settings.confidence)
        notes = (*solution.notes, *released.clipped(data), *record.notes)
        return released, replace(record, notes=notes)


def _exact_fit(
    settings: Settings, problem: Problem, plan: Plan
) -> tuple[Coefficients, PrivacyRecord]:
    """Without privacy there is nothing to charge, and the record says so."""
    if settings.ledger is not None:
        raise ValueError("a fit with infinite epsilon cannot draw from a ledger")
    progress = Progress(None, settings.verbose)
    problem.data.watched(progress.reading)
    solution = exact_solution(plan, problem.data, progress)
    released = Coefficients.of(solution, problem, settings.confidence)
    return released, exact_record(settings, problem, plan.public)
