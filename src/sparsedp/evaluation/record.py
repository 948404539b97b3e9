"""The privacy record of an evaluation: what is guaranteed, and what it rests on."""

import math
from dataclasses import asdict

from sparsedp.evaluation.predictions import Predictions
from sparsedp.fit.record import versions
from sparsedp.privacy import Budget, PrivacyRecord, PublicFacts

ASSUMPTIONS = (
    "The model is public, or private by itself: it was not fitted to these records without "
    "privacy. The classes or limits of the target and all settings are public too.",
    "What the model predicts for a record depends on that record alone. Models of this library do; "
    "of others, and of columns of predictions, it is assumed.",
    "Intervals cover sampling and noise, for records that were drawn at random and not used to "
    "choose the model; they are no part of the privacy guarantee.",
)

TEST = "test"
"""Name of the part of the persons that scores, where some are held out of a fit."""

HELD_OUT = (
    "By a secret coin of its own everybody was in the fit or in these scores, never in both: the "
    "charge of the model pays for both."
)


def private_record(
    public: PublicFacts,
    found: Predictions,
    target: dict[str, object],
    name: str,
    budget: Budget,
    *,
    seeded: bool,
) -> PrivacyRecord:
    """Of scores with noise."""
    events = tuple(
        {"name": request, **event.to_dict()}
        for request, event in zip(budget.names, budget.events, strict=True)
    )
    epsilon = budget.epsilon
    return _record(public, found, target, name, epsilon, "sound", epsilon, events, seeded)


def exact_record(
    public: PublicFacts, found: Predictions, target: dict[str, object], name: str
) -> PrivacyRecord:
    """Of exact scores: nothing is guaranteed."""
    return _record(public, found, target, name, math.inf, "none", math.inf, (), False)


def _record(
    public: PublicFacts,
    found: Predictions,
    target: dict[str, object],
    name: str,
    epsilon: float,
    calibration: str,
    proven: float,
    events: tuple[dict[str, object], ...],
    seeded: bool,
) -> PrivacyRecord:
    return PrivacyRecord(
        epsilon=epsilon,
        delta=0.0,
        neighbors=public.neighbors,
        unit=public.unit,
        calibration=calibration,
        proven_epsilon=proven,
        events=events,
        bounds={key: value for key, value in asdict(found.bounds).items() if value is not None},
        target=target,
        solver={"name": "evaluation"},
        loss={"name": found.design.task},
        model={"name": name, "method": found.method},
        seeded=seeded,
        notes=ASSUMPTIONS,
        versions=dict(versions()),
    )
