"""Strict reading of a model file: what is not exactly a model is refused with a reason."""

import hashlib
import json
from collections.abc import Mapping
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import parse_json
from sparsedp.data.schema import Schema
from sparsedp.inference import CoefficientTable
from sparsedp.release.checks import (
    NotAModel,
    are_numbers,
    checked_fields,
    checked_object,
    is_number,
    is_whole,
    need,
)
from sparsedp.release.document import Json, Label, Planned, Record, Target
from sparsedp.release.feature import Feature
from sparsedp.release.intervals.stored import checked_intervals
from sparsedp.release.pair import Pair
from sparsedp.release.read_record import checked_record, checked_target
from sparsedp.release.read_shapes import checked_pairs, with_shapes
from sparsedp.release.scores.held_out import checked_table

FORMAT = "sparsedp-model/1"
HASH = "sha256"
"""Of all else in the file. It shows damage; whoever changes a file on purpose can compute it."""
METRICS = ("AUC", "R2", "accuracy")
"""By which quality may have been planned."""

N_CLASSES = {"binary": "2", "multinomial": "3 or more", "linear": "no", "count": "no"}
FIELDS = (
    *("task", "target", "classes", "n_features", "features", "intercept", "categories"),
    "privacy",
)


class Fields(TypedDict):
    """The fields of a PublishedModel."""

    task: str
    n_features: int
    features: tuple[Feature, ...]
    interactions: tuple[Pair, ...]
    intercept: tuple[float, ...]
    classes: tuple[Label, ...] | None
    target: Target
    privacy: Record
    categories: dict[str, tuple[str, ...]]
    schema: Schema | None
    planned: Planned | None
    table: NDArray[np.float64] | None
    intervals: CoefficientTable | None


def content_hash(content: Mapping[str, object]) -> str:
    """SHA-256 of a model file's content, however it is laid out."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def fields_of(text: str, where: str) -> Fields:
    """Check a model file's text and return the fields of a PublishedModel.

    Parameters
    ----------
    text : str
    where : str
        The file, for messages.

    Returns
    -------
    Fields
    """
    content = parse_json(text, where, "a model that sparsedp can read")
    try:
        return _fields(content, where)
    except NotAModel as error:
        reason = str(error)
    raise ValueError(f"{where} is not a model that sparsedp can read: {reason}")


def _fields(document: Json, where: str) -> Fields:
    content = dict(checked_object(document, "it is not a JSON object"))
    need(isinstance(content.pop(HASH, ""), str), f"its {HASH} must be text")
    found = content.pop("format", None)
    need(found == FORMAT, f'its format is {found!r:.40}, not "{FORMAT}"')
    stored = content.pop("schema", None)  # models of plain numbers have none
    shapes = content.pop("shapes", None)
    pairs = content.pop("interactions", None)  # where effects only add up there are none
    scores = content.pop("evaluation", None)  # where nobody was held out there are none
    intervals = content.pop("intervals", None)  # where the fit did not ask for any
    planned = content.pop("planned", None)  # where nothing was planned
    checked_fields(content, FIELDS, "the file")
    task = content["task"]
    if not isinstance(task, str) or task not in N_CLASSES:
        raise NotAModel(f"unknown task {task!r:.40}")
    target, record = checked_target(content["target"]), checked_record(content["privacy"])
    classes = _classes(task, content["classes"])
    need(
        content["classes"] == target.get("classes"), "classes and the classes of the target differ"
    )
    _check_limits(task, target)
    n_outputs = 1 if classes is None or len(classes) == 2 else len(classes)
    intercept, n_features = content["intercept"], content["n_features"]
    if not are_numbers(intercept, n_outputs):
        raise NotAModel(f"intercept must list {n_outputs} finite numbers")
    if not is_whole(n_features) or n_features < 1:
        raise NotAModel("n_features must be a whole number above 0")
    limits().check("features", n_features, where)
    _check_bounds(record, n_features)
    features = _features(content["features"], n_features, n_outputs)
    features = with_shapes(shapes, features, n_outputs)
    interactions = checked_pairs(pairs, features, n_outputs)
    limits().check("classes", len(classes or ()), where)
    return {
        "task": task,
        "n_features": n_features,
        "features": features,
        "interactions": interactions,
        "intercept": tuple(map(float, intercept)),
        "classes": classes,
        "target": target,
        "privacy": record,
        "categories": _categories(content["categories"], where),
        "schema": None if stored is None else _schema(stored, features, n_features),
        "table": checked_table(scores, classes, target, record),
        "planned": None if planned is None else _planned(planned),
        "intervals": checked_intervals(intervals, task, features, intercept, interactions),
    }


def _planned(content: Json) -> Planned:
    """What was planned: a few numbers and the name of a score."""
    names = ("metric", "expected", "at_least", "null", "ceiling")
    found = checked_fields(content, names, "planned")
    metric, ceiling = found["metric"], found["ceiling"]
    if metric not in METRICS:
        raise NotAModel(f"planned.metric must be one of {', '.join(METRICS)}")
    if not are_numbers([found[name] for name in names[1:4]], 3) or not are_numbers(ceiling, 2):
        raise NotAModel("planned must hold finite numbers, and two for the ceiling")
    return cast("Planned", found)


def _schema(content: Json, features: tuple[Feature, ...], n_features: int) -> Schema:
    """The schema, if it makes the features that the model names."""
    try:
        schema = Schema.from_dict(checked_object(content, "its schema must be an object"))
    except ValueError as error:
        raise NotAModel(f"its schema is none: {error}") from None
    need(schema.n_columns == n_features, "its schema makes another number of features")
    names = schema.feature_names
    need(
        all(feature.name == names[feature.index] for feature in features),
        "its schema makes features of other names",
    )
    return schema


def _classes(task: str, classes: Json) -> tuple[Label, ...] | None:
    count = len(classes) if isinstance(classes, list) else 0
    right = {"binary": count == 2, "multinomial": count > 2}.get(task, classes is None)
    need(right, f"a {task} model has {N_CLASSES[task]} classes")
    if not isinstance(classes, list):
        return None
    labels = [label for label in classes if isinstance(label, str) or is_number(label)]
    need(
        len(labels) == count and len(set(labels)) == count,
        "classes must be distinct texts or numbers",
    )
    return tuple(labels)


def _check_limits(task: str, target: Target) -> None:
    """Predictions of numbers lie within limits; those of counts are logarithms up to theirs."""
    if task not in ("linear", "count"):
        return
    lower, upper = target.get("lower"), target.get("upper")
    if lower is None or upper is None or not lower < upper:
        raise NotAModel(f"a {task} model has a target with a lower limit below an upper one")
    need(task == "linear" or (lower == 0 and upper >= 1), "counts have limits from 0 to 1 or more")


def _check_bounds(record: Record, n_features: int) -> None:
    """Bounds of single features are there for each of them."""
    for name in ("lower", "upper"):
        limit = record["bounds"][name]
        need(
            not isinstance(limit, list) or len(limit) == n_features,
            f"privacy.bounds.{name} must be one number, or one for each of n_features",
        )
    binary = record["bounds"].get("binary", [])
    if isinstance(binary, list):
        need(all(j < n_features for j in binary), "privacy.bounds.binary names no such feature")
    promised = (j for each in record["model"].get("monotone", {}).values() for j in each)
    need(all(j < n_features for j in promised), "privacy.model.monotone names no such feature")


def _features(items: Json, n_features: int, n_outputs: int) -> tuple[Feature, ...]:
    if not isinstance(items, list):
        raise NotAModel("features must be a list")
    features = tuple(_feature(item, n_features, n_outputs) for item in items)
    indices = [feature.index for feature in features]
    need(indices == sorted(set(indices)), "features must be listed once each, by index")
    names = [feature.name for feature in features if feature.name is not None]
    need(len(names) in (0, len(features)), "either all features have names or none")
    need(len(set(names)) == len(names), "two features share a name")
    return features


def _feature(content: Json, n_features: int, n_outputs: int) -> Feature:
    item = checked_fields(content, ("index", "name", "lower", "upper", "coef"), "a feature")
    index, name, coef = item["index"], item["name"], item["coef"]
    if not is_whole(index) or not 0 <= index < n_features:
        raise NotAModel(f"no feature has the index {index!r:.40}")
    if not (name is None or isinstance(name, str)):
        raise NotAModel(f"feature {index}: the name must be text or null")
    lower, upper = item["lower"], item["upper"]
    if not (is_number(lower) and is_number(upper) and lower < upper):
        raise NotAModel(f"feature {index}: lower must be a number below upper")
    if not are_numbers(coef, n_outputs):
        raise NotAModel(f"feature {index}: coef must list {n_outputs} finite numbers")
    return Feature(
        index=index,
        name=name,
        lower=float(lower),
        upper=float(upper),
        coef=tuple(map(float, coef)),
    )


def _categories(content: Json, where: str) -> dict[str, tuple[str, ...]]:
    otherwise = "categories must list the values of text columns"
    columns = checked_object(content, otherwise)
    lists = [values for values in columns.values() if isinstance(values, list)]
    limits().check("categories", sum(map(len, lists)), where)
    need(
        len(lists) == len(columns)
        and all(isinstance(value, str) for values in lists for value in values),
        otherwise,
    )
    return {name: tuple(values) for name, values in cast("dict[str, list[str]]", columns).items()}
