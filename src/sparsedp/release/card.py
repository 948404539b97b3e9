"""The model card: what a reader must know before using or approving a model, as plain data."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import expit, logit

from sparsedp.privacy.events import Parallel, event_from_dict, flattened
from sparsedp.privacy.verdict import Verdict
from sparsedp.release.approval.threats import threat_model
from sparsedp.release.document import Limits, Record
from sparsedp.release.feature import label_text
from sparsedp.release.model import PublishedModel

PRIORS = (0.01, 0.1, 0.5, 0.9)
"""How sure someone may be beforehand, in the table of odds."""

NEIGHBORS = {
    ("add_remove", "row"): "with or without any one row (also the number of rows is protected)",
    ("replace_one", "row"): "with any one row changed to another (the number of rows is public)",
    ("add_remove", "person"): "with or without any one person, with all rows of that person (also "
    "the number of persons and of their rows is protected)",
    ("replace_one", "person"): "with all rows of any one person changed to others (the number of "
    "persons is public, that of their rows is protected)",
}

EFFECTS = {
    "linear": "lines",
    "additive": "piecewise linear",
    "auto": "lines or piecewise linear, by public numbers and released counts",
}
"""What was asked about the effects of features."""

NOT_PROTECTED = (
    "What the model says about groups or about the world: if smoking predicts illness, it does so "
    "for people who are not in the data too.",
    "Feature names, bounds, label set and settings, which are published as they were declared.",
    "The data themselves, wherever else they are kept or were shown.",
)


NOT_TOGETHER = {
    "row": "People with more than one row, and families or groups: k rows together are protected k "
    "times less (k times epsilon, and delta grows faster).",
    "person": "People with more than one id, and families or groups: k persons together are "
    "protected k times less (k times epsilon, and delta grows faster).",
}


UNREADABLE = "cannot be read"


@dataclass(frozen=True, kw_only=True)
class Release:
    """One line of the list of releases."""

    purpose: str
    kind: str
    count: int | None
    cost: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How far the model can move someone's belief about a record, at most."""

    before: float
    least: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Card:
    """The content of a model card.

    Parameters
    ----------
    title : str
    verdict : Verdict
        How far the records are protected, and why not further.
    predicts, uses : str
        What the model says, and from what.
    unit : {"row", "person"}
        What is protected as a whole.
    compares : str
        The tables that the guarantee compares.
    epsilon, delta : float
        What the listed releases prove, never less than what is stated (epsilon may be infinite).
    odds : tuple of Odds
        Empty if nothing is guaranteed.
    releases : tuple of Release
    bounds : str
        The promise about the features, in words.
    settings : tuple of (str, str)
    threats : str
        Who is trusted, and who can learn what.
    notes, not_protected : tuple of str
        Assumptions and limits.
    versions : dict
    fingerprint : str
        Of the model file.
    """

    title: str
    verdict: Verdict
    predicts: str
    uses: str
    unit: str
    compares: str
    epsilon: float
    delta: float
    odds: tuple[Odds, ...]
    releases: tuple[Release, ...]
    bounds: str
    settings: tuple[tuple[str, str], ...]
    threats: str
    notes: tuple[str, ...]
    not_protected: tuple[str, ...]
    versions: dict[str, str]
    fingerprint: str

    @classmethod
    def of(cls, model: PublishedModel, verdict: Verdict | None = None) -> "Card":
        """Write the card of a model; its verdict is counted anew unless its file was verified."""
        record, verdict = model.privacy, verdict or model.verdict()
        epsilon = max(float(record["epsilon"]), verdict.epsilon)
        guaranteed = math.isfinite(epsilon) and verdict.level not in ("seeded", "contradicted")
        name, unit = model.target.get("name"), record.get("unit", "row")
        return cls(
            title=f"Model of {name}" if name else "Published model",
            verdict=verdict,
            predicts=_predicts(model),
            uses=_uses(model),
            unit=unit,
            compares=NEIGHBORS[record["neighbors"], unit],
            epsilon=epsilon,
            delta=record["delta"],
            odds=_odds(epsilon) if guaranteed else (),
            releases=tuple(_releases(record["events"], record["neighbors"])),
            bounds=_bounds(record["bounds"], model.n_features),
            settings=_settings(record),
            threats=threat_model(record, guaranteed=guaranteed),
            notes=tuple(record["notes"]),
            not_protected=(NOT_TOGETHER[unit], *NOT_PROTECTED),
            versions=record["versions"],
            fingerprint=model.fingerprint(),
        )


def _uses(model: PublishedModel) -> str:
    used = f"{len(model.features)} of {model.n_features} features, and a constant"
    bent = sum(1 for feature in model.features if feature.knots)
    if bent:
        used += f"; {bent} of the effects {'is' if bent == 1 else 'are'} piecewise linear"
    pairs = len(model.interactions)
    if pairs:
        used += f"; {pairs} {'pair' if pairs == 1 else 'pairs'} of features that interact"
    return used


def _predicts(model: PublishedModel) -> str:
    name = model.target.get("name")
    if model.classes is None:
        low, high = (model.target.get(key) for key in ("lower", "upper"))
        limits = "" if low is None else f" (declared between {low:g} and {high:g})"
        if model.task == "count":
            return f"the expected count of {name or 'y'}{limits}, by Poisson regression"
        robust = " with Huber's loss" if model.privacy["loss"]["name"] == "Huber" else ""
        return f"the number {name or 'y'}{limits}, by linear regression{robust}"
    labels = [label_text(label) for label in model.classes]
    shown = ", ".join(labels[:12]) + (", ..." if len(labels) > 12 else "")
    what = f"the class {name or 'y'} of a record: {shown}"
    if model.task == "binary":
        return f"{what}, by logistic regression; positive margins speak for {labels[1]}"
    return f"{what}, by one multinomial logistic regression"


def _odds(epsilon: float) -> tuple[Odds, ...]:
    # Odds move by a factor e^epsilon at most, so log-odds by epsilon.
    return tuple(
        Odds(
            before=prior,
            least=float(expit(logit(prior) - epsilon)),
            most=float(expit(logit(prior) + epsilon)),
        )
        for prior in PRIORS
    )


def _releases(events: Sequence[dict[str, Any]], neighbors: str) -> Iterator[Release]:
    """A line for each; the releases of a part come after the line that says what parts are."""
    for listed in events:
        release = _release(listed, neighbors)
        yield release
        if listed.get("event") == Parallel.stored_as and release.kind != UNREADABLE:
            for part in listed["parts"]:
                for inner in _releases(part["events"], neighbors):
                    yield replace(inner, purpose=f"{part['name']}: {inner.purpose}")


def _release(listed: dict[str, Any], neighbors: str) -> Release:
    try:
        flattened([listed])  # raises where parts are within parts without end
        fields = {key: value for key, value in listed.items() if key != "name"}
        words = event_from_dict(fields).words(neighbors)
        return Release(
            purpose=listed["name"],
            kind=words.kind,
            count=words.count,
            cost=words.cost,
            meaning=words.meaning,
        )
    except (KeyError, TypeError, ValueError, ArithmeticError):
        name = str(listed.get("name", ""))[:40]
        return Release(purpose=name, kind=UNREADABLE, count=None, cost="unknown", meaning="")


def _bounds(bounds: Limits, n_features: int) -> str:
    lower, upper = bounds["lower"], bounds["upper"]
    if isinstance(lower, list):
        text = f"every one of the {n_features:,} features has limits of its own"
    else:
        text = f"all {n_features:,} features lie between {lower:g} and {upper:g}"
    if "row_norm" in bounds:
        text += f"; the L2 norm of a record is at most {bounds['row_norm']:g}"
    return text


def _settings(record: Record) -> tuple[tuple[str, str], ...]:
    rows = [
        ("epsilon", _text(record["epsilon"])),
        ("delta", f"{record['delta']:g}"),
        ("neighbors", record["neighbors"]),
        ("unit of protection", record.get("unit", "row")),
        ("calibration", record["calibration"]),
        ("noise", "from a seed" if record["seeded"] else "secret, cryptographic"),
        ("loss", call_text(record["loss"])),
        ("solver", call_text(record["solver"])),
        ("features to keep", f"{record['model']['n_nonzero']} of {record['model']['n_features']}"),
        ("constant term", "fitted" if record["model"]["fit_intercept"] else "none"),
    ]
    paired = ", and pairs of features may interact" if record["model"].get("interactions") else ""
    rows.append(("effects", EFFECTS[record["model"].get("shapes", "linear")] + paired))
    names = record["bounds"].get("features")
    for direction, positions in record["model"].get("monotone", {}).items():
        labels = (names[j] if names and j < len(names) else f"x{j}" for j in positions)
        rows.append((f"{direction} effects", ", ".join(labels)))
    weights = record["target"].get("class_weight")
    if weights is not None:
        rows.append(("class weights", ", ".join(f"{weight:g}" for weight in weights)))
    limits = record["model"].get("offset_bounds")
    if limits is not None:
        rows.append(("offset", f"between {limits[0]:g} and {limits[1]:g}, added to every margin"))
    charged = record.get("ledger")
    if charged is not None:
        rows.append(("charged to", f"ledger {charged['id']}, line {charged['line']}"))
        rows.append(("head of the ledger", charged["head"]))
    return tuple(rows)


def call_text(described: Mapping[str, object]) -> str:
    """A solver or loss as one would write it in Python, from its name and settings."""
    arguments = {name: value for name, value in described.items() if name != "name"}
    if "count_solver" in arguments and arguments.get("n_nonzero") != "count":
        # Settings of a private count that did not take place would only mislead.
        for unused in ("count_solver", "count_fraction", "precision", "alpha", "beta"):
            arguments.pop(unused, None)
    inside = ", ".join(f"{name}={_text(value)}" for name, value in arguments.items())
    return f"{described['name']}({inside})"


def _text(value: object) -> str:
    if isinstance(value, dict) and "name" in value:
        return call_text(value)
    return f"{value:g}" if isinstance(value, float) else repr(value).strip("'")
