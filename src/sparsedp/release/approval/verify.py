"""Does a model file keep what it says? Everything that can be counted anew is.

What cannot be found from the file alone is said in docs/verify.md: a forger may write any file
that a fit could have written. The ledger knows which fits there were.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from sparsedp import solvers
from sparsedp.data.files.opened import parse_json, read_text
from sparsedp.data.schema import Schema
from sparsedp.evaluation.holdout import TEST
from sparsedp.fit.parts import FIT
from sparsedp.losses import Poisson, from_record
from sparsedp.privacy.events import listed_in, parts_of
from sparsedp.privacy.ledger import Ledger, LedgerError, Receipt
from sparsedp.privacy.ledger.sides import side_of
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.schedule import PublishedSchedule
from sparsedp.privacy.verdict import ROUNDING, Verdict, contradicted, made_by_0_1
from sparsedp.release.document import Object, Record, Target
from sparsedp.release.model import FILE, PublishedModel
from sparsedp.release.read import HASH, content_hash
from sparsedp.solvers import Pursuit, Solver


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was found.

    Parameters
    ----------
    verdict : Verdict
        How far the records are protected: by the listed releases, or not at all if the file has
        problems.
    problems : tuple of str
        What the file says and does not hold; empty if it keeps its word.
    notes : tuple of str
        What could not be checked.
    """

    verdict: Verdict
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def verify(path: str | Path, ledger: Ledger | None = None) -> Verification:
    """Check a model file, and that a ledger knows it.

    Parameters
    ----------
    path : str or Path
        A model.json, or the folder that holds it.
    ledger : Ledger, optional
        That the fit was charged to.

    Returns
    -------
    Verification

    Raises
    ------
    ValueError
        If this is no model file at all.
    """
    path = Path(path)
    path = path / FILE if path.is_dir() else path
    model = PublishedModel.load(path)
    text = read_text(path, "a model file")
    content, verdict = parse_json(text, str(path), "a model file"), model.verdict()
    problems = [*verdict.reasons] if verdict.level == "contradicted" else []
    problems += _claims(model.privacy, verdict)
    problems += _consistent(model)
    problems += [] if model.schema is None else _against_schema(model, model.schema)
    notes = []
    if HASH not in content:
        notes.append("The file carries no hash of its content: it was written before 0.2.")
    elif content.pop(HASH) != content_hash(content):
        problems.append("The content does not have the hash that the file states.")
    try:
        problems += _against_schedule(model) + _against_pairs(model) + _against_intervals(model)
    except Exception:
        if model.privacy["solver"]["name"] in solvers.__all__ and not made_by_0_1(model.privacy):
            problems.append("The solver cannot have had the settings that the file states.")
        notes.append("The solver's schedule could not be rebuilt, to compare the releases with it.")
    if ledger is not None:
        fingerprint = hashlib.sha256(text.encode()).hexdigest()
        problems += _against_ledger(model.privacy, fingerprint, ledger, notes)
    elif model.privacy.get("ledger") is not None:
        notes.append("The fit was charged to a ledger, which was not given: use --ledger FILE.")
    shown = contradicted(verdict, problems)
    return Verification(verdict=shown, problems=tuple(problems), notes=tuple(notes))


def _claims(record: Record, verdict: Verdict) -> list[str]:
    """What the record says of itself, against what was counted."""
    found = []
    # Version 0.1 had other words, and its verdict was its own: its files are never called private.
    told = not made_by_0_1(record)
    if told and record["private"] != verdict.private:
        found.append(f"The file says private = {record['private']}; what holds is not that.")
    if told and record["statement"] != verdict.statement:
        found.append("The statement in the file is not the one that its releases prove.")
    proven, stated = float(record["proven_epsilon"]), float(record["epsilon"])
    if record["calibration"] == "sound" and proven != stated:
        found.append("Stated and proven epsilon differ in a record that says 'sound'.")
    if record["calibration"] == "published" and not proven >= verdict.epsilon * (1 - ROUNDING):
        found.append(
            f"The file says that epsilon = {proven:.4g} is proven; the listed releases prove "
            f"{verdict.epsilon:.4g}."
        )
    if record["calibration"] == "none" and (record["events"] or not math.isinf(proven)):
        found.append("A model without noise lists releases or proves an epsilon.")
    return found


def _consistent(model: PublishedModel) -> list[str]:
    """Parts of the file that say the same thing twice."""
    record, found = model.privacy, []
    if {key: value for key, value in model.target.items() if key != "name"} != record["target"]:
        found.append("Model and record differ in what was declared about the target.")
    if record["model"]["n_features"] != model.n_features:
        found.append("Model and record differ in the number of features.")
    try:
        loss = from_record(record["loss"])
        if loss.task != model.task:
            found.append("The loss in the record does not belong to this kind of model.")
        elif isinstance(loss, Poisson) and loss.limit != model.target.get("upper"):
            found.append("The loss in the record has another limit of counts than the target.")
    except ValueError:
        found.append("The record names a loss that does not exist, or not with these settings.")
    if record["calibration"] == "sound" and _mentions(record["solver"], "published"):
        found.append("The solver was set to published noise, and the record says 'sound'.")
    if model.table is None and TEST in parts_of(record["events"]):
        found.append("The record lists scores of the model, and the file does not have them.")
    return found + _held_out(record) + _effects(model)


def _held_out(record: Record) -> list[str]:
    """Whether what is listed about those who were held out is what a fit releases about them."""
    parts = parts_of(record["events"])
    if FIT not in parts and TEST not in parts:
        return []
    tables = [
        (event.get("event"), event.get("name"), event.get("epsilon"))
        for event in listed_in(record["events"], TEST)
    ]
    if parts != [FIT, TEST] or tables != [("LaplaceTable", "table", float(record["epsilon"]))]:
        return ["A fit releases one table about those who are held out, at the whole epsilon."]
    return []


def _effects(model: PublishedModel) -> list[str]:
    """Whether effects bend, rise and fall only as the record says that they were asked to."""
    asked, found = model.privacy["model"], []
    if asked.get("shapes", "linear") == "linear" and any(f.knots for f in model.features):
        found.append("Effects bend in the model, and the record says that they are lines.")
    if model.interactions and not asked.get("interactions"):
        found.append("Features interact in the model, and the record says that effects add up.")
    features = {feature.index: feature for feature in model.features}
    for direction, positions in asked.get("monotone", {}).items():
        sign = 1 if direction == "increasing" else -1
        for feature in (features[j] for j in positions if j in features):
            steps = sign * np.diff(feature.shape.values, axis=0)
            if not (steps >= -ROUNDING * np.abs(feature.shape.values).max()).all():
                found.append(f"An effect is not {direction} although the record says so.")
    return found


def _against_schema(model: PublishedModel, schema: Schema) -> list[str]:
    """Whether schema and record promise the same about features, target and people."""
    found, record = [], model.privacy
    bounds = {name: value for name, value in asdict(schema.bounds).items() if value is not None}
    told = {**record["bounds"]}
    if _plain(bounds) != _plain(told):
        found.append("Schema and record differ in what was promised about the features.")
    target = schema.target
    limits = None if target is None else target.bounds
    if target is not None and (
        (target.classes is not None and list(target.classes) != record["target"].get("classes"))
        or (limits is not None and not _within(limits, record["target"]))
    ):
        found.append("Schema and record differ in what was declared about the target.")
    offset = schema.offset
    if offset is not None and record["model"].get("offset_bounds") != [offset.lower, offset.upper]:
        found.append("Schema and record differ in the limits of the offset.")
    if schema.weight is not None and record["model"].get("weighting", "unit") == "unit":
        found.append("The schema names a column of weights, and the record has none.")
    if schema.person is not None and record.get("unit", "row") != "person":
        found.append("The schema names the column of a person, and the record protects rows.")
    return found


def _within(limits: tuple[float, float], target: Target) -> bool:
    """Whether the limits in force contain those declared, as they do where they were widened."""
    return target.get("lower", math.inf) <= limits[0] and limits[1] <= target.get(
        "upper", -math.inf
    )


def _mentions(described: Mapping[str, object], calibration: str) -> bool:
    return described.get("calibration") == calibration or any(
        _mentions(value, calibration) for value in described.values() if isinstance(value, dict)
    )


def _against_intervals(model: PublishedModel) -> list[str]:
    """Whether there are releases that intervals can come from, about the persons that they name."""
    fitted = listed_in(model.privacy["events"], "fit")
    if "intervals" in parts_of(model.privacy["events"]):
        fitted = list(model.privacy["events"])
    divided = "intervals" in parts_of(fitted)
    asked = model.privacy["solver"].get("name") == "IntervalPursuit"
    if (model.intervals is not None) != asked:
        return ["Intervals are there without a fit that asked for them, or the other way round."]
    if model.intervals is None or model.privacy["calibration"] == "none":
        return []
    if divided != (model.intervals.method == "split"):
        return ["The listed releases are about other persons than the intervals say."]
    return []


def _against_schedule(model: PublishedModel) -> list[str]:
    """Whether the releases are those that this solver asks for, in kind, order and number."""
    record = model.privacy
    # Of those who are fitted to, and of those among them who choose features, if there are such.
    events = listed_in(listed_in(record["events"], "fit"), "fit")
    kinds = [event.get("event") for event in events]
    if record["calibration"] == "none" or kinds == ["RepeatAndSelect"]:
        return []
    schedule = _rebuilt(record["solver"]).schedule(_facts(model))
    asked = [(request.name, getattr(request, "count", None)) for request in schedule.requests]
    listed = [(event["name"], event.get("count")) for event in events]
    if [name for name, _ in asked] != [name for name, _ in listed]:
        return ["The listed releases are not those that this solver asks for with these settings."]
    if isinstance(schedule, PublishedSchedule):
        return []
    if kinds != [request.becomes for request in schedule.requests]:
        return ["The listed releases are of other kinds than this solver asks for."]
    if any(a != b for (_, a), (_, b) in zip(asked, listed, strict=True) if a and b):
        return ["The solver asks for another number of releases than are listed."]
    return []


def _against_pairs(model: PublishedModel) -> list[str]:
    """Whether the solver takes in pairs of features, with the settings of the record."""
    if not model.interactions:
        return []
    solver = _rebuilt(model.privacy["solver"])
    if isinstance(solver, Pursuit) and solver.interacts(_facts(model)):
        return []
    return ["Features interact in the model, which they do not with these settings."]


def _facts(model: PublishedModel) -> PublicFacts:
    """What the solver was told, as far as the file says it."""
    record = model.privacy
    facts = PublicFacts(
        n_features=model.n_features,
        n_nonzero=record["model"]["n_nonzero"],
        n_outputs=len(model.intercept),
        intercept=record["model"]["fit_intercept"],
        neighbors=record["neighbors"],
        n_records=1000 if record["neighbors"] == "replace_one" else None,
        row_norm=record["bounds"].get("row_norm"),
        loss=from_record(record["loss"]),
        unit=record.get("unit", "row"),
        weighting=record["model"].get("weighting", "unit"),
        rows_per_unit=1 if record.get("unit", "row") == "row" else None,
        shapes=record["model"].get("shapes", "linear"),
        interactions=record["model"].get("interactions", False),
    )
    if record["model"].get("from_public_model"):
        object.__setattr__(facts, "initial_weights", np.zeros(facts.weights_shape))
    return facts


def _rebuilt(described: Object) -> Solver:
    """A solver from its name and settings."""
    if described["name"] not in solvers.__all__:
        raise ValueError("not a solver of this package")
    settings = {
        key: _rebuilt(value) if isinstance(value, dict) else value
        for key, value in described.items()
        if key != "name"
    }
    return getattr(solvers, described["name"])(**settings)


def _against_ledger(
    record: Record, fingerprint: str, ledger: Ledger, notes: list[str]
) -> list[str]:
    """Whether the ledger is whole and has this charge, for this model."""
    charged = record.get("ledger")
    if charged is None:
        return ["The file names no charge to a ledger."]
    receipt = Receipt(charged["id"], charged["line"], charged["head"])
    try:
        ledger.verify([receipt])
    except LedgerError as error:
        return [f"{error}."]
    charge = next((c for c in ledger.history() if c.line == receipt.line), None)
    if charge is None:
        return ["The line of the ledger that the file names is no charge."]
    found = []
    stated = max(float(record["epsilon"]), float(record["proven_epsilon"]))
    if (charge.epsilon, charge.delta) != (stated, float(record["delta"])):
        found.append("The ledger was charged another epsilon or delta than the file states.")
    if charge.neighbors != record["neighbors"]:
        found.append("The ledger was charged for other neighbors than the file states.")
    if charge.unit != record.get("unit", "row"):
        found.append("The ledger was charged for another unit of protection than the file states.")
    if charge.seeded is not None and charge.seeded != record["seeded"]:
        found.append("File and ledger differ in whether the noise came from a seed.")
    one_side = side_of(charge.what) is not None
    listed = listed_in(record["events"], FIT) if one_side else record["events"]
    if _plain(charge.events) != _plain(listed):
        found.append("The ledger lists other releases than the file.")
    models = ledger.models().get(receipt.line, set())
    if models and fingerprint not in models:
        found.append("The ledger knows another model of this charge: the file was changed.")
    elif not models:
        notes.append("The ledger knows the charge, not the file: coefficients were not compared.")
    return found


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True)
