"""Strict reading of a model file: what is not exactly a model is refused with a reason."""

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any

from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import parse_json
from sparsedp.privacy.neighbors import NEIGHBORS

FORMAT = "sparsedp-model/1"
HASH = "sha256"
"""Of all else in the file. It shows damage; whoever changes a file on purpose can compute it."""
N_CLASSES = {"binary": "2", "multinomial": "3 or more", "linear": "no"}
CALIBRATIONS = ("sound", "published", "none")
PRIVACY = {
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


def content_hash(content: dict[str, Any]) -> str:
    """SHA-256 of a model file's content, however it is laid out."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fields_of(text: str, where: str) -> dict[str, Any]:
    """Check a model file's text and return the fields of a PublishedModel.

    Parameters
    ----------
    text : str
    where : str
        The file, for messages.

    Returns
    -------
    dict
        ``features`` holds a dict per feature, lists have become tuples.
    """

    def need(condition: bool, reason: str) -> None:
        if not condition:
            raise ValueError(f"{where} is not a model that sparsedp can read: {reason}")

    content = parse_json(text, where, "a model that sparsedp can read")
    need(isinstance(content, dict), "it is not a JSON object")
    need(isinstance(content.pop(HASH, ""), str), f"its {HASH} must be text")
    found = content.pop("format", None)
    need(found == FORMAT, f'its format is {found!r:.40}, not "{FORMAT}"')
    known = {"task", "target", "classes", "n_features", "features", "intercept", "categories"}
    _check_keys(content, known | {"privacy"}, "the file", need)
    task = content["task"]
    need(isinstance(task, str) and task in N_CLASSES, f"unknown task {task!r:.40}")
    _check_target(content["target"], need)
    _check_privacy(content["privacy"], need)
    n_outputs = _check_classes(content["task"], content["classes"], need)
    need(
        content["classes"] == content["target"].get("classes"),
        "classes and the classes of the target differ",
    )
    intercept, n_features = content["intercept"], content["n_features"]
    need(_numbers(intercept, n_outputs), f"intercept must list {n_outputs} finite numbers")
    need(_whole(n_features) and n_features >= 1, "n_features must be a whole number above 0")
    limits().check("features", n_features, where)
    features = content["features"]
    need(isinstance(features, list), "features must be a list")
    for item in features:
        _check_feature(item, n_features, n_outputs, need)
    indices = [item["index"] for item in features]
    need(indices == sorted(set(indices)), "features must be listed once each, by index")
    names = [item["name"] for item in features if item["name"] is not None]
    need(len(names) in (0, len(features)), "either all features have names or none")
    need(len(set(names)) == len(names), "two features share a name")
    categories = content["categories"]
    _check_counts(content["classes"], categories, where, need)
    need(
        isinstance(categories, dict)
        and all(
            isinstance(values, list) and all(isinstance(value, str) for value in values)
            for values in categories.values()
        ),
        "categories must list the values of text columns",
    )
    return content | {
        "intercept": tuple(map(float, intercept)),
        "classes": None if content["classes"] is None else tuple(content["classes"]),
        "features": [
            item
            | {"coef": tuple(map(float, item["coef"]))}
            | {key: float(item[key]) for key in ("lower", "upper")}
            for item in features
        ],
        "categories": {name: tuple(values) for name, values in categories.items()},
    }


def _check_privacy(privacy: Any, need: Callable[[bool, str], None]) -> None:
    need(isinstance(privacy, dict), "privacy must be an object")
    _check_ledger(privacy.get("ledger"), need)
    named = {key: value for key, value in privacy.items() if key != "ledger"}
    _check_keys(named, set(PRIVACY), "privacy", need)
    for name, kind in PRIVACY.items():
        right = isinstance(privacy[name], kind) and (
            kind is bool or not isinstance(privacy[name], bool)
        )
        need(right, f"privacy.{name} is a {type(privacy[name]).__name__}")
    for name in ("epsilon", "proven_epsilon"):
        value = privacy[name]
        right = value == "inf" if isinstance(value, str) else _finite(value) and value > 0
        need(right, f"privacy.{name} is {value!r:.40}")
    need(1e-300 <= privacy["delta"] < 1, f"privacy.delta is {privacy['delta']!r:.40}")
    need(privacy["neighbors"] in NEIGHBORS, "privacy.neighbors is unknown")
    need(privacy["calibration"] in CALIBRATIONS, "privacy.calibration is unknown")
    # The verdict is counted anew by whoever shows it; this only finds the plainest contradiction.
    sound = privacy["calibration"] == "sound" and not privacy["seeded"]
    need(sound or not privacy["private"], "privacy.private contradicts calibration and seeded")
    need(
        (privacy["epsilon"] == "inf") == (privacy["calibration"] == "none"),
        "privacy.epsilon contradicts privacy.calibration",
    )
    need(all(isinstance(event, dict) for event in privacy["events"]), "an event is not an object")
    _check_target(privacy["target"], need)
    _check_described(privacy, need)


def _check_target(target: Any, need: Callable[[bool, str], None]) -> None:
    """What was declared about the target."""
    need(isinstance(target, dict), "target must be an object")
    need(isinstance(target.get("name", ""), str), "the target's name must be text")
    pair = [target.get("lower"), target.get("upper")]
    need(pair == [None, None] or _numbers(pair, 2), "the target's limits must be numbers")


def _check_described(privacy: dict[str, Any], need: Callable[[bool, str], None]) -> None:
    """What the report writes down as it is: bounds, solver, loss, model, notes and versions."""
    bounds = privacy["bounds"]
    for key in ("lower", "upper"):
        value = bounds.get(key)
        need(
            _numbers([value], 1) or (isinstance(value, list) and _numbers(value, len(value))),
            f"privacy.bounds.{key} must be a finite number or a list of them",
        )
    need(_numbers([bounds.get("row_norm", 1)], 1), "privacy.bounds.row_norm must be a number")
    for key in ("solver", "loss"):
        need(isinstance(privacy[key].get("name"), str), f"privacy.{key} has no name")
    need(
        {"n_features", "n_nonzero", "fit_intercept"} <= set(privacy["model"]),
        "privacy.model lacks a field",
    )
    texts = [*privacy["notes"], *privacy["versions"].values()]
    need(all(isinstance(text, str) for text in texts), "notes and versions must be texts")


def _check_counts(
    classes: Any, categories: Any, where: str, need: Callable[[bool, str], None]
) -> None:
    limits().check("classes", len(classes or ()), where)
    need(isinstance(categories, dict), "categories must list the values of text columns")
    values = [values for values in categories.values() if isinstance(values, list)]
    limits().check("categories", sum(map(len, values)), where)


def _check_ledger(charged: Any, need: Callable[[bool, str], None]) -> None:
    """Where the fit was charged; models from before version 0.2 do not say so."""
    if charged is None:
        return
    need(isinstance(charged, dict), "privacy.ledger must be an object")
    _check_keys(charged, {"id", "line", "head"}, "privacy.ledger", need)
    right = all(isinstance(charged[name], str) for name in ("id", "head"))
    need(right and type(charged["line"]) is int and charged["line"] > 0, "privacy.ledger is wrong")


def _check_classes(task: str, classes: Any, need: Callable[[bool, str], None]) -> int:
    """Check the labels; return the number of outputs."""
    count = len(classes) if isinstance(classes, list) else 0
    right = {"binary": count == 2, "multinomial": count > 2, "linear": classes is None}[task]
    need(right, f"a {task} model has {N_CLASSES[task]} classes")
    if classes is None:
        return 1
    need(
        all(isinstance(label, str) or _numbers([label], 1) for label in classes)
        and len(set(classes)) == count,
        "classes must be distinct texts or numbers",
    )
    return 1 if count == 2 else count


def _check_feature(
    item: Any, n_features: int, n_outputs: int, need: Callable[[bool, str], None]
) -> None:
    _check_keys(item, {"index", "name", "lower", "upper", "coef"}, "a feature", need)
    index, name = item["index"], item["name"]
    need(_whole(index) and 0 <= index < n_features, f"no feature has the index {index!r:.40}")
    where = f"feature {index}"
    need(name is None or isinstance(name, str), f"{where}: the name must be text or null")
    need(
        _numbers([item["lower"], item["upper"]], 2) and item["lower"] < item["upper"],
        f"{where}: lower must be a number below upper",
    )
    need(_numbers(item["coef"], n_outputs), f"{where}: coef must list {n_outputs} finite numbers")


def _check_keys(item: Any, known: set[str], where: str, need: Callable[[bool, str], None]) -> None:
    need(isinstance(item, dict), f"{where} is not an object")
    missing, unknown = sorted(known - set(item)), sorted(set(item) - known)
    need(not missing, f"{where} lacks {', '.join(missing)}")
    need(not unknown, f"{where} has unknown fields {', '.join(unknown):.80}")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _numbers(values: Any, count: int) -> bool:
    return (
        isinstance(values, list)
        and len(values) == count
        and all(
            isinstance(value, int | float) and not isinstance(value, bool) and _finite(value)
            for value in values
        )
    )


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond floating point
        return False
