"""The published JSON Schema of model files: all real files satisfy it, damaged ones do not."""

import copy
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.release import PublishedModel
from sparsedp.release.read import fields_of
from tests.api.test_stored_models import FILES, NAMES
from tests.export.models import fitted

SCHEMA = json.loads((files("sparsedp.release") / "model.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def rich() -> dict[str, Any]:
    """A fresh file with scores and intervals."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (3000, 3))
    y = (X[:, 0] + rng.logistic(size=3000) / 3 > 0).astype(int)
    settings = {"shapes": "linear", "intervals": True, "holdout": 0.3, "random_state": 0}
    estimator = SparseLogisticRegression(
        epsilon=8.0, delta=1e-6, bounds=Bounds(-1, 1), classes=(0, 1), **settings
    )
    content = json.loads(PublishedModel.from_estimator(estimator.fit(X, y)).to_json())
    assert {"intervals", "evaluation"} <= set(content)
    return content


def accepted(content: object) -> bool:
    """By the library itself."""
    try:
        fields_of(json.dumps(content), "a file")
    except ValueError:
        return False
    return True


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_of_all_versions(path):
    VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("task", ["binary", "multinomial", "linear", "count"])
def test_fresh_files_with_schema_shapes_and_interactions(task):
    content = json.loads(fitted(task).to_json())
    assert {"schema", "shapes", "interactions"} <= set(content)
    VALIDATOR.validate(content)


def test_a_fresh_file_with_scores_and_intervals(rich):
    VALIDATOR.validate(rich)


DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "another format": lambda m: m.update(format="sparsedp-model/2"),
    "unknown key": lambda m: m.update(extra=1),
    "no privacy": lambda m: m.pop("privacy"),
    "no events": lambda m: m["privacy"].pop("events"),
    "unknown task": lambda m: m.update(task="ranking"),
    "three classes": lambda m: m.update(classes=[0, 1, 2]),
    "no classes": lambda m: m.update(classes=None),
    "classes twice": lambda m: m.update(classes=[1, 1]),
    "two intercepts": lambda m: m.update(intercept=[0.0, 1.0]),
    "text as a number": lambda m: m["features"][0].update(coef=["1"]),
    "no limits": lambda m: m["features"][0].pop("lower"),
    "negative index": lambda m: m["features"][0].update(index=-1),
    "no epsilon": lambda m: m["privacy"].update(epsilon=None),
    "epsilon 0": lambda m: m["privacy"].update(epsilon=0),
    "infinite epsilon": lambda m: m["privacy"].update(epsilon="inf"),
    "delta 1": lambda m: m["privacy"].update(delta=1),
    "unknown neighbors": lambda m: m["privacy"].update(neighbors="friends"),
    "unknown unit": lambda m: m["privacy"].update(unit="family"),
    "private by a seed": lambda m: m["privacy"].update(private=True, seeded=True),
    "an event of text": lambda m: m["privacy"]["events"].append("gaussian"),
    "charged nowhere": lambda m: m["privacy"].update(ledger={"id": "a"}),
    "text for bounds": lambda m: m["privacy"]["bounds"].update(lower="-1"),
    "unknown shapes": lambda m: m["privacy"]["model"].update(shapes="round"),
    "two knots": lambda m: m.update(shapes=[{"feature": 0, "knots": [0, 1], "bends": [[0, 0]]}]),
    "a pair of one": lambda m: m.update(interactions=[{"features": [0], "weights": [1]}]),
    "a feature with itself": lambda m: m.update(
        interactions=[{"features": [0, 0], "weights": [1]}]
    ),
    "a pair without weight": lambda m: m.update(
        interactions=[{"features": [0, 1], "weights": [0.0]}]
    ),
    "interactions in text": lambda m: m["privacy"]["model"].update(interactions="yes"),
    "error 0": lambda m: m["intervals"]["standard_errors"].__setitem__(0, 0),
    "certain": lambda m: m["intervals"].update(confidence=1),
    "scores beside the table": lambda m: m["evaluation"].update(AUC=0.9),
    "unknown metric": lambda m: m.update(planned={"metric": "F1"}),
    "a number of categories": lambda m: m.update(categories={"color": 3}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files_are_refused(name, rich):
    content = copy.deepcopy(rich)
    DAMAGE[name](content)
    assert not accepted(content)
    assert not VALIDATOR.is_valid(content)


def test_what_the_library_reads_satisfies_the_schema(rich):
    """Single changes at random, outside what is counted anew or only repeated."""
    rng = np.random.default_rng(11)
    values = [None, True, -1, 0, 0.5, 1e308, "", "a", [], [0.0], {}, {"a": 1}]
    read = 0
    for _ in range(300):
        content = copy.deepcopy(rich)
        here: Any = content
        keys = [key for key in content if key not in ("privacy", "target", "schema")]
        key: Any = keys[rng.integers(len(keys))]
        while isinstance(here[key], list | dict) and here[key] and rng.random() < 0.8:
            here = here[key]
            inner = list(here) if isinstance(here, dict) else list(range(len(here)))
            key = inner[rng.integers(len(inner))]
        if isinstance(here, dict) and rng.random() < 0.1:
            del here[key]
        else:
            here[key] = values[rng.integers(len(values))]
        if accepted(content):
            read += 1
            VALIDATOR.validate(content)
    assert read > 30


def test_the_page_explains_every_key():
    page = (DOCS / "model-file.md").read_text(encoding="utf-8")
    tables = [SCHEMA, *SCHEMA["$defs"].values(), SCHEMA["$defs"]["record"]["properties"]["model"]]
    for table in tables:
        for key in table["properties"]:
            assert f"| `{key}` |" in page, key
