"""A fit from beginning to end: plan, charge, solve, record."""

import math
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.fit.charge import charge, finish, model_by
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.parts.beside import Beside, Listing, divided
from sparsedp.fit.parts.coins import held_out
from sparsedp.fit.parts.halves import Halves
from sparsedp.fit.parts.sides import charge_sides
from sparsedp.fit.plan import Plan, planned, warn_about_noise
from sparsedp.fit.problem import Problem
from sparsedp.fit.progress import Progress
from sparsedp.fit.record import exact_record, private_record
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import door, exact_solution, private_solution
from sparsedp.fit.stopped import after_charge
from sparsedp.fit.zcdp import check_held
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import Budget, PrivacyRecord
from sparsedp.solvers import Solution

Released = tuple[np.ndarray, PrivacyRecord]
"""What was released about those who were held out, and the record with the receipt of that."""


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
    with closing(problem.data):
        return _private_fit(settings, problem, None)[:2]


def divided_fit(
    settings: Settings, problem: Problem, beside: Beside
) -> tuple[Coefficients, PrivacyRecord, Released]:
    """The same on a part of the persons, and a release about all others; see `private_fit`.

    Parameters
    ----------
    settings : Settings
        With a holdout.
    problem : Problem
        Private: the records of both parts.
    beside : Beside
        What is released about those who are held out, once there is a model.

    Returns
    -------
    (Coefficients, PrivacyRecord, Released)

    Notes
    -----
    *Privacy.* Both together cost the epsilon and delta of the settings, by the coins
    (privacy/events/parallel.md), and are charged at once.
    """
    if settings.holdout is None or math.isinf(settings.epsilon):
        raise ValueError(
            "a holdout is for private scores of a private model: with epsilon=float('inf') leave "
            "holdout out, and call evaluate with epsilon=float('inf') on records of your choice"
        )
    with closing(problem.data):
        other = Budget(
            beside.schedule, epsilon=settings.epsilon, delta=0.0, neighbors=settings.neighbors
        )
        released, record, found = _private_fit(settings, problem, _Other(beside, other))
    assert found is not None
    return released, record, found


@dataclass(frozen=True, eq=False)
class _Other:
    """What is released beside a fit, and its budget."""

    beside: Beside
    budget: Budget

    def release(
        self, plan: Plan, problem: Problem, solution: Solution, stream: KeyStream
    ) -> np.ndarray:
        """Through a door of its own: what crosses it concerns its own part of the persons."""
        with door(self.budget, plan.public, stream) as curator:
            return self.beside.release(problem, solution, curator)


def _private_fit(
    settings: Settings, problem: Problem, other: _Other | None
) -> tuple[Coefficients, PrivacyRecord, Released | None]:
    data, stream, held = problem.data, settings.stream(), problem.data
    if other is not None and settings.holdout is not None:
        kept, held = held_out(data, settings.holdout, problem.held, stream)
        problem = replace(problem, data=kept)
    plan = planned(settings, problem)  # raises if anything is impossible
    if math.isinf(settings.epsilon):
        return *_exact_fit(settings, problem, plan), None
    budget = plan.budget(settings.epsilon, settings.delta)
    if settings.rho is not None:
        check_held(settings.rho, budget)
    record = private_record(settings, problem, plan.public, budget, seeded=stream.seeded)
    halves = Halves.of(settings, problem, plan, budget, stream)
    listed: Listing = tuple(zip(budget.names, budget.events, strict=True))
    if halves is not None:
        listed = (("parts", halves.event),)
        record = replace(record, events=({"name": "parts", **halves.event.to_dict()},))
    if other is not None and settings.holdout is not None:
        pair = divided(listed, other.beside, other.budget, settings.holdout.share)
        proven = max(record.proven_epsilon, settings.epsilon)
        events = ({"name": "holdout", **pair.to_dict()},)
        record = replace(record, proven_epsilon=proven, events=events)
    public = plan.public
    if public.n_records is not None:  # of all parts: nobody is told how many are in which
        public = replace(public, n_records=data.n_persons)
    warn_about_noise(public, budget, record)  # raises where users make errors of warnings
    # Raises if a ledger has not enough left.
    if settings.holdout is None or settings.holdout.ledger is None:
        record = paid = charge(settings.ledger, record, data, what=model_by(record))
    else:
        record, paid = charge_sides(settings.ledger, settings.holdout, record, data)

    progress = Progress(budget.charges.n_releases, settings.verbose)
    data.watched(progress.reading)

    def noisy() -> tuple[Solution, np.ndarray | None]:  # noise: here only
        if halves is not None:
            solution = halves.solution(stream, progress)
        else:
            solution = private_solution(plan, budget, problem.data, stream, progress)
        if other is None:
            return solution, None
        return solution, other.release(plan, replace(problem, data=held), solution, stream)

    solution, found = after_charge(noisy)
    finish(settings.ledger, record, solution.weights)
    if found is not None and settings.holdout is not None and paid is not record:
        finish(settings.holdout.ledger, paid, found)
    released = Coefficients.of(solution, problem, settings.confidence)
    notes = (*solution.notes, *released.clipped(problem.data), *record.notes)
    record = replace(record, notes=notes)
    return released, record, None if found is None else (found, replace(record, ledger=paid.ledger))


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
