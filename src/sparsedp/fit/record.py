"""The privacy record of a fit: what is guaranteed, what was promised, and what it rests on."""

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib.metadata import version

import sparsedp
from sparsedp._kernels import COMPILED
from sparsedp.fit.monotone import DIRECTIONS, directions_of
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import Settings
from sparsedp.privacy import Budget, PrivacyRecord, PublicFacts
from sparsedp.privacy.account.feasibility import records_needed, shortage
from sparsedp.solvers import Pursuit

ONE_UNIT = {
    "row": "One person is one row. Someone with several rows is protected less: pass the id of "
    "the person that each row belongs to (groups=...) to protect persons.",
    "person": "One person, one id. All rows with the same id are protected together; someone with "
    "several ids is protected less. A row's weight, if it has one, depends on its person alone.",
}
ASSUMPTIONS = (
    "Feature bounds, the label set or target bounds, the number and names of features, and all "
    "settings are public: they must not have been chosen by looking at these records.",
    "Noise is drawn exactly (no floating-point shortcuts) on a fixed grid; sums of records in "
    "floating point are covered by a factor 1 + 1e-6 on every sensitivity. The running time and "
    "memory of the computation are not protected.",
)


def assumptions(public: PublicFacts) -> tuple[str, ...]:
    """What the guarantee rests on."""
    return (ONE_UNIT[public.unit], *ASSUMPTIONS)


def private_record(
    settings: Settings, problem: Problem, public: PublicFacts, budget: Budget, *, seeded: bool
) -> PrivacyRecord:
    """Of a fit with noise: what the budget costs, and what the accountant proves for it."""
    sound = budget.calibration == "sound"
    return _record(
        settings,
        problem,
        public,
        calibration=budget.calibration,
        proven_epsilon=settings.epsilon if sound else budget.proven_epsilon(),
        events=tuple(
            {"name": name, **event.to_dict()}
            for name, event in zip(budget.names, budget.events, strict=True)
        ),
        seeded=seeded,
        notes=(
            *([] if settings.rho is None else [_concentrated(settings.rho, sound=sound)]),
            shortage(records_needed(budget.events, public), public),
            *assumptions(public),
        ),
    )


def _concentrated(rho: float, *, sound: bool) -> str:
    who = "All releases together are" if sound else "The paper claims that its releases are"
    return f"{who} rho-zero-concentrated differentially private with rho = {rho:g}."


def exact_record(settings: Settings, problem: Problem, public: PublicFacts) -> PrivacyRecord:
    """Of a fit without noise: nothing is guaranteed."""
    return _record(
        settings,
        problem,
        public,
        calibration="none",
        proven_epsilon=math.inf,
        events=(),
        seeded=False,
        notes=assumptions(public),
    )


def search_record(
    settings: Settings,
    problem: Problem,
    public: PublicFacts,
    event: Mapping[str, object],
    *,
    needed: int,
    seeded: bool,
) -> PrivacyRecord:
    """Of a private search, as if the one candidate were its best."""
    return _record(
        settings,
        problem,
        public,
        calibration="sound",
        proven_epsilon=settings.epsilon,
        events=(dict(event),),
        seeded=seeded,
        notes=(
            shortage(needed, public),
            *assumptions(public),
            "Settings were chosen privately, at the price shown as 'search'.",
        ),
    )


def _record(
    settings: Settings,
    problem: Problem,
    public: PublicFacts,
    *,
    calibration: str,
    proven_epsilon: float,
    events: tuple[dict[str, object], ...],
    seeded: bool,
    notes: tuple[str, ...],
) -> PrivacyRecord:
    bounds = asdict(problem.data.bounds)
    return PrivacyRecord(
        epsilon=settings.epsilon,
        delta=settings.delta,
        neighbors=settings.neighbors,
        calibration=calibration,
        proven_epsilon=proven_epsilon,
        events=events,
        bounds={name: value for name, value in bounds.items() if value is not None},
        target=problem.target.declared(),
        solver=describe(settings.solver),
        loss=describe(problem.loss),
        model={
            "n_features": public.n_features,
            "n_nonzero": public.n_nonzero,
            "fit_intercept": settings.fit_intercept,
            "from_public_model": public.initial_weights is not None,
            "invalid": settings.invalid,
            **_offset(problem),
            **_shapes(settings, problem, public),
            **({} if public.weighting == "unit" else {"weighting": public.weighting}),
        },
        unit=public.unit,
        seeded=seeded,
        notes=(*settings.solver.caveats, *notes),
        versions=dict(versions()),
    )


def _offset(problem: Problem) -> dict[str, object]:
    limits = problem.data.offset_bounds
    return {} if limits is None else {"offset_bounds": list(limits)}


def _shapes(settings: Settings, problem: Problem, public: PublicFacts) -> dict[str, object]:
    said: dict[str, object] = {} if public.shapes == "linear" else {"shapes": public.shapes}
    if isinstance(settings.solver, Pursuit) and settings.solver.interacts(public):
        said["interactions"] = True
    directions = directions_of(settings.monotone, problem)
    if directions:
        said["monotone"] = {
            direction: [j for j, found in directions.items() if found == direction]
            for direction in DIRECTIONS
            if direction in directions.values()
        }
    return said


def describe(thing: object) -> dict[str, object]:
    """Name and settings of a solver or loss."""
    described: dict[str, object] = {"name": type(thing).__name__}
    for name, value in vars(thing).items():
        described[name] = describe(value) if is_dataclass(value) else value
    return described


@cache
def versions() -> dict[str, str]:
    """Of the software that a release was made by."""
    return {
        "sparsedp": sparsedp.__version__,
        "kernels": "compiled" if COMPILED else "reference",
        "python": sys.version.split()[0],
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "cryptography")},
    }
