"""A private search from beginning to end: plan, charge, try, record (search.md)."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from sparsedp.fit.charge import charge, finish, model_by
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.problem import Problem
from sparsedp.fit.record import search_record
from sparsedp.fit.search.trial import Trial
from sparsedp.fit.settings import Settings
from sparsedp.fit.stopped import after_charge
from sparsedp.fit.warned import warn_caller
from sparsedp.mechanisms import KeyStream
from sparsedp.mechanisms.samplers.trials import n_trials
from sparsedp.privacy import PrivacyRecord
from sparsedp.privacy.account.feasibility import TooFewRecords, shortage
from sparsedp.privacy.account.repeat import single_rho, trial_rho
from sparsedp.solvers import Solution

Distribution = Literal["logarithmic", "geometric"]
"""Of the number of trials."""


@dataclass(frozen=True)
class Price:
    """What a search and a single trial of it cost; known without data.

    Parameters
    ----------
    epsilon, delta : float
        Of the search.
    expected_trials : float
        Mean number of trials.
    rho_per_trial : float
        zCDP cost that a trial may have.
    noise_factor : float
        How much more noise each trial has than one fit with the whole budget and the same (zCDP)
        accounting.
    """

    epsilon: float
    delta: float
    expected_trials: float
    rho_per_trial: float
    noise_factor: float

    @classmethod
    def of(cls, settings: Settings, trials: float, distribution: Distribution) -> "Price":
        """The largest cost of a trial that the budget pays for."""
        if not trials > 1:
            raise ValueError(f"expected_trials must be larger than 1, got {trials!r}")
        epsilon, delta, trials = settings.epsilon, settings.delta, float(trials)
        rho = trial_rho(epsilon, delta, trials, distribution)
        return cls(epsilon, delta, trials, rho, math.sqrt(single_rho(epsilon, delta) / rho))


@dataclass(frozen=True)
class Found:
    """The best trial: all that a search releases."""

    candidate: int
    coefficients: Coefficients
    score: float
    record: PrivacyRecord


def private_search(
    candidates: Sequence[tuple[Settings, Problem]],
    price: Price,
    *,
    distribution: Distribution,
    validation_fraction: float,
) -> Found:
    """Plan every trial that can be drawn, charge the dearest, try, and write the record.

    Parameters
    ----------
    candidates : sequence of (Settings, Problem)
        Private. All with the same epsilon, delta, neighbors, ledger and seed.
    price : Price
    distribution : {"logarithmic", "geometric"}
        Of the number of trials.
    validation_fraction : float
        Part of the records that score instead of training.

    Notes
    -----
    *Privacy.* As in a single fit: nothing is charged if planning fails, and the charge comes before
    the first trial.
    """
    settings, problem = candidates[0]
    stream = settings.stream()
    # The same coins for every candidate: scores are compared on the same records.
    scoring = problem.data.per_person(lambda n: _coins(n, validation_fraction, stream))
    plans = [Trial.of(*candidate, scoring, price.rho_per_trial) for candidate in candidates]
    # What is charged and written down: the dearest trial that can be drawn.
    event: dict[str, object] = {"name": "search", "event": "RepeatAndSelect", **asdict(price)}
    event["rho_per_trial"] = max(plan.cost for plan in plans)
    event |= {"distribution": distribution, "n_candidates": len(plans)}
    _warn_if_short(plans, validation_fraction)

    def record_of(trial: Trial) -> PrivacyRecord:
        needed = trial.needed(validation_fraction)
        public, seeded = trial.plan.public, stream.seeded
        return search_record(
            trial.settings, trial.problem, public, event, needed=needed, seeded=seeded
        )

    first = record_of(plans[0])
    charged = charge(settings.ledger, first, problem.data, what=model_by(first))

    def tried() -> list[tuple[int, Solution, float]]:
        count = n_trials(price.expected_trials, distribution, stream)
        drawn = (stream.integer_below(len(plans)) for _ in range(count))
        return [(number, *plans[number].run(stream)) for number in drawn]

    best, solution, score = max(after_charge(tried), key=lambda trial: trial[2])
    record = record_of(plans[best])
    # Being the best of several may have changed what is likely about it.
    said = tuple(f"Of the best trial, taken by itself: {note}" for note in solution.notes)
    released = Coefficients.of(solution, plans[best].problem)
    notes = (*said, *released.clipped(problem.data), *record.notes)
    record = replace(record, notes=notes, ledger=charged.ledger)
    finish(settings.ledger, record, solution.weights)
    return Found(best, released, score, record)


def _coins(n: int, fraction: float, stream: KeyStream) -> np.ndarray:
    """For every record, or person, by itself: whether it scores instead of training."""
    return stream.words(n) < np.uint64(int(fraction * 2.0**64))


def _warn_if_short(plans: Sequence[Trial], validation_fraction: float) -> None:
    """Only where the number of records is public, and if no candidate needs fewer."""
    each = ((plan.needed(validation_fraction), plan) for plan in plans)
    needed, trial = min(each, key=lambda few: few[0])
    public = trial.plan.public
    if public.n_records is not None and trial.n_records < needed:
        warn_caller(
            f"{shortage(needed, public)} Here are {trial.n_records}: use more of them, a "
            "larger epsilon or fewer trials",
            TooFewRecords,
        )
