"""What a fit will ask for and what noise that takes: all of it public, none of it charged yet."""

import math
from dataclasses import dataclass, field

import numpy as np

from sparsedp.fit.monotone import Directions, Monotone, directions_of
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import Settings
from sparsedp.fit.start import initial_weights
from sparsedp.fit.warned import warn_caller, warn_if_slow
from sparsedp.losses import Logistic, Loss, Poisson
from sparsedp.privacy import (
    Budget,
    PrivacyRecord,
    PublicFacts,
    PublishedSchedule,
    Schedule,
    Shapes,
    UnprovenGuarantee,
)
from sparsedp.privacy.account.feasibility import TooFewRecords, records_needed, shortage
from sparsedp.solvers import FrankWolfe, IntervalPursuit, NoisyGD, Pursuit, Solver
from sparsedp.solvers.pursuit.inference.plan import default_features
from sparsedp.solvers.pursuit.plan import MOST_TOGETHER


@dataclass(frozen=True)
class Plan:
    """A solver, and what it said that it will ask for before it sees a record."""

    solver: Solver
    loss: Loss
    public: PublicFacts
    schedule: Schedule | PublishedSchedule
    monotone: Directions = field(default_factory=dict)
    """Effects that are made to rise or fall, once they are released."""

    @classmethod
    def of(
        cls,
        solver: Solver,
        loss: Loss,
        public: PublicFacts,
        monotone: Directions | None = None,
    ) -> "Plan":
        """Ask the solver; it raises ValueError for impossible settings."""
        schedule = solver.schedule(public)
        weighted = public.unit == "person" or public.weighting == "sub_unit"
        if weighted and isinstance(schedule, PublishedSchedule) and solver.caveats:
            raise ValueError(
                "calibration='published' is for records that all count alike: what it claims is "
                "not known for persons or weights; take calibration='sound'"
            )
        return cls(solver, loss, public, schedule, monotone or {})

    def budget(self, epsilon: float, delta: float) -> Budget:
        """A fresh budget, enough for one fit: the schedule with noise that costs so much."""
        return Budget(self.schedule, epsilon=epsilon, delta=delta, neighbors=self.public.neighbors)


def planned(settings: Settings, problem: Problem) -> Plan:
    """The plan of a fit; raises ValueError for whatever is known beforehand to be impossible."""
    public = public_facts(settings, problem)
    if public.n_records == 0:
        raise ValueError("there are no records, which is public under neighbors='replace_one'")
    monotone = directions_of(settings.monotone, problem)
    return Plan.of(settings.solver, problem.loss, public, monotone)


def _check_intervals(settings: Settings, problem: Problem) -> None:
    """Refuse intervals for what has not been studied; the solver refuses more."""
    if not isinstance(settings.solver, IntervalPursuit):
        return
    for refused, why in (
        (settings.shapes == "additive", "lines: leave shapes='auto', which is linear with them"),
        (settings.monotone, "effects that are free to rise and fall: leave monotone out"),
        (problem.target.class_weight is not None, "equal weights of classes: leave these out"),
        (problem.data.offset_bounds is not None, "models without an offset: leave it out"),
    ):
        if refused:
            raise ValueError(f"intervals are for {why}, or leave intervals out")


def _check_margins(settings: Settings, problem: Problem) -> None:
    """Refuse class weights and offsets where nothing takes them up, or where nothing is proven."""
    if problem.target.class_weight is not None and not settings.fit_intercept:
        raise ValueError(
            "class_weight shifts log-odds, which only an intercept can take back: set "
            "fit_intercept=True, or leave class_weight out"
        )
    if problem.data.offset_bounds is None:
        return
    if not isinstance(problem.loss, Logistic | Poisson):
        raise ValueError(
            "an offset is for counts and for two classes, where a margin has a link: for other "
            "targets leave it out"
        )
    solver = settings.solver
    # Others start from margins of zero, or bound residuals by weights alone.
    proven = isinstance(solver, Pursuit) or (
        isinstance(solver, NoisyGD | FrankWolfe) and solver.calibration == "sound"
    )
    if not proven:
        raise ValueError(
            "an offset is taken by the solvers 'pursuit', 'noisy_gd' and 'frank_wolfe' (with "
            f"calibration='sound'), not by {type(solver).__name__} as it is set"
        )


def shapes_in_force(shapes: Shapes, solver: Solver, *, intercept: bool) -> Shapes:
    """Whether effects may bend: with Pursuit, and where a constant can take up their means."""
    able = isinstance(solver, Pursuit) and intercept
    if shapes == "additive" and not able:
        raise ValueError(
            "shapes='additive' takes the solver 'pursuit' and fit_intercept=True: change these, or "
            "leave shapes='auto', which stays linear with them"
        )
    return shapes if able else "linear"


def interactions_in_force(shapes: Shapes, monotone: Monotone) -> bool:
    """Whether what a feature adds may depend on another one, by the shapes in force.

    Only where effects may bend and nobody said more about them: additive effects add up, and no
    effect is sure to rise where another feature decides how far.
    """
    return shapes == "auto" and not monotone


FEWEST_FEATURES, FEATURES_PER_ROOT = 16, 1.5
"""Features that a model keeps by default: so many, or this times the root of their number."""


def default_size(n_features: int, solver: Solver, *, labelled: bool) -> int:
    """Features that a model keeps at most, where nobody says how many.

    `Pursuit` fits all features at once, up to hundreds of them, and leaves out those that noise
    explains. Where some are chosen, numbers need more of the budget for each of them.
    """
    if isinstance(solver, IntervalPursuit):
        return default_features(n_features)
    if isinstance(solver, Pursuit) and n_features <= MOST_TOGETHER:
        return n_features
    if isinstance(solver, Pursuit) and labelled:
        return round(2 * FEATURES_PER_ROOT * math.sqrt(n_features))
    return min(n_features, max(FEWEST_FEATURES, round(FEATURES_PER_ROOT * math.sqrt(n_features))))


def public_facts(settings: Settings, problem: Problem) -> PublicFacts:
    """What the solver may know; raises if more features are asked for than there are."""
    _check_intervals(settings, problem)
    _check_margins(settings, problem)
    data, loss = problem.data, problem.loss
    d = data.n_features
    replaced = settings.neighbors == "replace_one" and settings.invalid == "replace"
    if data.unit == "person" and replaced:
        raise ValueError(
            "under neighbors='replace_one' the number of persons is public, and with "
            "invalid='replace' a missing id would change it: take neighbors='add_remove', or "
            "repair the records and take invalid='raise'"
        )
    if settings.n_nonzero is not None and settings.n_nonzero > d:
        raise ValueError(
            f"n_nonzero={settings.n_nonzero} is more than the {d} features of the data"
        )
    shapes = shapes_in_force(settings.shapes, settings.solver, intercept=settings.fit_intercept)
    return PublicFacts(
        n_features=d,
        n_nonzero=settings.n_nonzero
        or default_size(d, settings.solver, labelled=loss.n_classes is not None),
        n_outputs=loss.n_outputs,
        intercept=data.intercept,
        neighbors=settings.neighbors,
        n_records=data.n_persons if settings.neighbors == "replace_one" else None,
        row_norm=data.bounds.row_norm,
        half_width=float(np.median(data.unit_map.half_width)),
        loss=loss,
        initial_weights=initial_weights(settings.initial_model, problem),
        unit=data.unit,
        weighting=data.weighting,
        rows_per_unit=1 if data.unit == "row" else None,
        shapes=shapes,
        interactions=interactions_in_force(shapes, settings.monotone),
        epsilon=settings.epsilon,
        delta=settings.delta,
    )


def warn_about_noise(public: PublicFacts, budget: Budget, record: PrivacyRecord) -> None:
    """Say what users must know before they pay: noise that proves less, too few records."""
    warn_if_slow()
    if budget.calibration == "published":
        warn_caller(
            f"published calibration: the paper claims epsilon={record.epsilon:g}; what we can "
            f"prove is epsilon={record.proven_epsilon:.4g} at delta={record.delta:g} under "
            f"{record.neighbors}. Use calibration='sound' for a proven guarantee",
            UnprovenGuarantee,
        )
    needed = records_needed(budget.events, public)
    # Only where the number of records is public: a warning is seen by others than the holder.
    if public.n_records is not None and public.n_records < needed:
        warn_caller(
            f"{shortage(needed, public)} Here are {public.n_records}: use more of them, a larger "
            "epsilon or fewer features",
            TooFewRecords,
        )
