"""The privacy record of a model file, checked field by field."""

from typing import cast

from sparsedp.data.gate.offset import LARGEST
from sparsedp.privacy.neighbors import NEIGHBORS
from sparsedp.privacy.public import SHAPES, UNITS, WEIGHTINGS
from sparsedp.release.checks import (
    are_numbers,
    checked_fields,
    checked_object,
    is_finite,
    is_number,
    is_whole,
    need,
)
from sparsedp.release.document import DIRECTIONS, Json, Object, Record, Target

CALIBRATIONS = ("sound", "published", "none")
FIELDS: dict[str, type | tuple[type, ...]] = {
    "epsilon": (int, float, str),
    "delta": (int, float),
    "neighbors": str,
    "calibration": str,
    "proven_epsilon": (int, float, str),
    "events": list,
    "bounds": dict,
    "target": dict,
    "solver": dict,
    "loss": dict,
    "model": dict,
    "seeded": bool,
    "notes": list,
    "versions": dict,
    "private": bool,
    "statement": str,
}


def checked_record(content: Json) -> Record:
    """The record, if it is one; what it claims is not believed but counted anew elsewhere."""
    found = checked_object(content, "privacy must be an object")
    _check_charge(found.get("ledger"))
    # Files from before there were units have none.
    need(found.get("unit", "row") in UNITS, "privacy.unit is unknown")
    named: Object = {key: value for key, value in found.items() if key not in ("ledger", "unit")}
    checked_fields(named, FIELDS, "privacy")
    for name, kind in FIELDS.items():
        right = isinstance(found[name], kind) and (
            kind is bool or not isinstance(found[name], bool)
        )
        need(right, f"privacy.{name} is a {type(found[name]).__name__}")
    record = cast("Record", found)
    for name in ("epsilon", "proven_epsilon"):
        value = record[name]
        right = value == "inf" if isinstance(value, str) else is_finite(value) and value > 0
        need(right, f"privacy.{name} is {value!r:.40}")
    need(1e-300 <= record["delta"] < 1, f"privacy.delta is {record['delta']!r:.40}")
    need(record["neighbors"] in NEIGHBORS, "privacy.neighbors is unknown")
    need(record["calibration"] in CALIBRATIONS, "privacy.calibration is unknown")
    # The verdict is counted anew by whoever shows it; this only finds the plainest contradiction.
    sound = record["calibration"] == "sound" and not record["seeded"]
    need(sound or not record["private"], "privacy.private contradicts calibration and seeded")
    need(
        (record["epsilon"] == "inf") == (record["calibration"] == "none"),
        "privacy.epsilon contradicts privacy.calibration",
    )
    need(all(isinstance(event, dict) for event in record["events"]), "an event is not an object")
    checked_target(found["target"])
    _check_described(record)
    return record


def checked_target(content: Json) -> Target:
    """What was declared about the target."""
    target = checked_object(content, "target must be an object")
    need(isinstance(target.get("name", ""), str), "the target's name must be text")
    limits = [target.get("lower"), target.get("upper")]
    need(limits == [None, None] or are_numbers(limits, 2), "the target's limits must be numbers")
    weights = target.get("class_weight")
    if weights is not None:
        classes = target.get("classes")
        n_classes = len(classes) if isinstance(classes, list) else 0
        need(
            are_numbers(weights, n_classes) and all(0 < weight <= 1 for weight in weights),
            "the target's class_weight must give each class a number above 0, up to 1",
        )
    return cast("Target", target)


def _check_charge(content: Json) -> None:
    """Where the fit was charged; models from before version 0.2 do not say so."""
    if content is None:
        return
    charge = checked_object(content, "privacy.ledger must be an object")
    checked_fields(charge, ("id", "line", "head"), "privacy.ledger")
    texts = all(isinstance(charge[name], str) for name in ("id", "head"))
    line = charge["line"]
    need(texts and type(line) is int and line > 0, "privacy.ledger is wrong")


def _check_described(record: Record) -> None:
    """What the report writes down as it is: bounds, solver, loss, model, notes and versions."""
    bounds = cast("Object", record["bounds"])
    for key in ("lower", "upper"):
        value = bounds.get(key)
        need(
            is_number(value) or (isinstance(value, list) and are_numbers(value, len(value))),
            f"privacy.bounds.{key} must be a finite number or a list of them",
        )
    need(is_number(bounds.get("row_norm", 1)), "privacy.bounds.row_norm must be a number")
    binary = bounds.get("binary", True)
    need(
        binary is True
        or (isinstance(binary, list) and all(is_whole(j) and j >= 0 for j in binary)),
        "privacy.bounds.binary must be true or a list of positions",
    )
    for key in ("solver", "loss"):
        need(isinstance(record[key].get("name"), str), f"privacy.{key} has no name")
    need(
        {"n_features", "n_nonzero", "fit_intercept"} <= set(record["model"]),
        "privacy.model lacks a field",
    )
    limits = cast("Json", record["model"].get("offset_bounds", [-1, 1]))
    need(
        are_numbers(limits, 2) and -LARGEST <= limits[0] < limits[1] <= LARGEST,
        "privacy.model.offset_bounds must be two numbers, the lower one first",
    )
    _check_shapes(cast("Object", record["model"]))
    weighting = record["model"].get("weighting", "unit")
    need(weighting in WEIGHTINGS, "privacy.model.weighting is unknown")
    texts = [*record["notes"], *record["versions"].values()]
    need(all(isinstance(text, str) for text in texts), "notes and versions must be texts")


def _check_shapes(model: Object) -> None:
    """What was asked about effects; files of lines do not say so."""
    need(model.get("shapes", "linear") in SHAPES, "privacy.model.shapes is unknown")
    joined = model.get("interactions", False)
    need(isinstance(joined, bool), "privacy.model.interactions must be true or false")
    asked = checked_object(model.get("monotone", {}), "privacy.model.monotone must be an object")
    # As fit/plan.py decides it: whoever asks for additive or monotone effects has them.
    may = model.get("shapes", "linear") == "auto" and not asked
    need(may or not joined, "privacy.model.interactions needs shapes 'auto' and nothing monotone")
    for direction, positions in asked.items():
        need(direction in DIRECTIONS, "privacy.model.monotone has an unknown direction")
        need(
            isinstance(positions, list) and all(is_whole(j) and j >= 0 for j in positions),
            "privacy.model.monotone must list positions of features",
        )
