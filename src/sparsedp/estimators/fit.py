"""From validated records to released weights and their record: the fit all estimators share."""

import math
import sys
import warnings
from dataclasses import asdict, is_dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

import sparsedp
from sparsedp._kernels import COMPILED
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.estimators.charge import charge, finish
from sparsedp.estimators.progress import Progress
from sparsedp.estimators.released import initial_weights
from sparsedp.estimators.settings import Settings
from sparsedp.estimators.stopped import after_charge
from sparsedp.losses import Loss
from sparsedp.mechanisms import NoiselessCurator, NoisyCurator
from sparsedp.privacy import Budget, PrivacyRecord, PublicFacts, UnprovenGuarantee
from sparsedp.privacy.account.feasibility import TooFewRecords, records_needed, shortage
from sparsedp.solvers import Solution

ASSUMPTIONS = (
    "Feature bounds, the label set or target bounds, the number and names of features, and all "
    "settings are public: they must not have been chosen by looking at these records.",
    "One person is one record. Someone with several records is protected less.",
    "Noise is drawn exactly (no floating-point shortcuts) on a fixed grid; sums of records in "
    "floating point are covered by a factor 1 + 1e-6 on every sensitivity. The running time and "
    "memory of the computation are not protected.",
)


def public_facts(settings: Settings, data: Dataset, loss: Loss) -> PublicFacts:
    """What the solver may know; raises if more features are asked for than there are."""
    d = data.n_features
    if settings.n_nonzero is not None and settings.n_nonzero > d:
        raise ValueError(
            f"n_nonzero={settings.n_nonzero} is more than the {d} features of the data"
        )
    return PublicFacts(
        n_features=d,
        n_nonzero=settings.n_nonzero or min(d, max(1, round(1.5 * math.sqrt(d)))),
        n_outputs=loss.n_outputs,
        intercept=data.intercept,
        neighbors=settings.neighbors,
        n_records=data.n_records if settings.neighbors == "replace_one" else None,
        row_norm=data.bounds.row_norm,
        half_width=float(np.median(data.unit_map.half_width)),
        loss=type(loss).__name__,
        initial_weights=initial_weights(settings.initial_model, data, loss.n_outputs),
    )


def private_fit(
    settings: Settings, data: Dataset, loss: Loss, target: dict[str, Any]
) -> tuple[Solution, PrivacyRecord]:
    """Plan, charge, solve and write the record; then let go of the records.

    Nothing is charged if planning fails.

    Parameters
    ----------
    settings : Settings
    data : Dataset
        Private.
    loss : Loss
    target : dict
        What was declared about the target, for the record.
    """
    try:
        return _fitted(settings, data, loss, target)
    finally:
        data.close()


def _fitted(
    settings: Settings, data: Dataset, loss: Loss, target: dict[str, Any]
) -> tuple[Solution, PrivacyRecord]:
    public = public_facts(settings, data, loss)
    if public.n_records == 0:
        raise ValueError("there are no records, which is public under neighbors='replace_one'")
    schedule = settings.solver.schedule(public)
    if math.isinf(settings.epsilon):
        if settings.ledger is not None:
            raise ValueError("a fit with infinite epsilon cannot draw from a ledger")
        progress = Progress(None, settings.verbose)
        curator = NoiselessCurator(public, progress)
        data.watched(progress.reading)
        with np.errstate(all="ignore"):
            solution = settings.solver.solve(data, loss, curator)
        return solution, privacy_record(settings, public, data, loss, target, None, seeded=False)
    budget = Budget(
        schedule, epsilon=settings.epsilon, delta=settings.delta, neighbors=settings.neighbors
    )
    stream = settings.stream()
    record = privacy_record(settings, public, data, loss, target, budget, seeded=stream.seeded)
    if budget.calibration == "published":
        warnings.warn(
            f"published calibration: the paper claims epsilon={settings.epsilon:g}; what we can "
            f"prove is epsilon={record.proven_epsilon:.4g} at delta={settings.delta:g} under "
            f"{settings.neighbors}. Use calibration='sound' for a proven guarantee",
            UnprovenGuarantee,
            stacklevel=4,
        )
    needed = records_needed(budget.events, public)
    # Only where the number of records is public: a warning is seen by others than the holder.
    if public.n_records is not None and public.n_records < needed:
        warnings.warn(
            f"{shortage(needed, public)} Here are {public.n_records}: use more records, a larger "
            "epsilon or fewer features",
            TooFewRecords,
            stacklevel=4,
        )
    record = charge(settings, record, data)
    progress = Progress(budget.charges.n_releases, settings.verbose)
    curator = NoisyCurator(budget, public, stream, progress)
    data.watched(progress.reading)

    def solved() -> Solution:
        # Whatever the caller wants of NumPy: an underflow in one record must not end the fit.
        with np.errstate(all="ignore"):
            solution = settings.solver.solve(data, loss, curator)
        curator.close()
        return solution

    solution = after_charge(solved)
    finish(settings, record, solution.weights)
    return solution, replace(record, notes=(*solution.notes, *record.notes))


def privacy_record(
    settings: Settings,
    public: PublicFacts,
    data: Dataset,
    loss: Loss,
    target: dict[str, Any],
    budget: Budget | None,
    *,
    seeded: bool,
) -> PrivacyRecord:
    """What is guaranteed and what was promised; without a budget, nothing is guaranteed."""
    if budget is None:
        events, calibration, proven, needs = (), "none", math.inf, ()
    else:
        events = tuple(
            {"name": name, **event.to_dict()}
            for name, event in zip(budget.names, budget.events, strict=True)
        )
        needs = (shortage(records_needed(budget.events, public), public),)
        calibration = budget.calibration
        proven = settings.epsilon if calibration == "sound" else budget.proven_epsilon()
    return PrivacyRecord(
        epsilon=settings.epsilon,
        delta=settings.delta,
        neighbors=settings.neighbors,
        calibration=calibration,
        proven_epsilon=proven,
        events=events,
        bounds=_describe_bounds(data.bounds),
        target=target,
        solver=describe(settings.solver),
        loss=describe(loss),
        model={
            "n_features": public.n_features,
            "n_nonzero": public.n_nonzero,
            "fit_intercept": settings.fit_intercept,
            "from_public_model": public.initial_weights is not None,
            "invalid": settings.invalid,
        },
        seeded=seeded,
        notes=(*settings.solver.caveats, *needs, *ASSUMPTIONS),
        versions=dict(_versions()),
    )


def describe(thing: Any) -> dict[str, Any]:
    """Name and settings of a solver or loss."""
    described: dict[str, Any] = {"name": type(thing).__name__}
    for name, value in vars(thing).items():
        described[name] = describe(value) if is_dataclass(value) else value
    return described


def _describe_bounds(bounds: Bounds) -> dict[str, Any]:
    return {name: value for name, value in asdict(bounds).items() if value is not None}


@cache
def _versions() -> dict[str, str]:
    return {
        "sparsedp": sparsedp.__version__,
        "kernels": "compiled" if COMPILED else "reference",
        "python": sys.version.split()[0],
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "cryptography")},
    }
