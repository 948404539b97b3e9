"""PMML in a real evaluator (PMML4S, by pypmml and Java): the predictions of the model file."""

import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pypmml import Model

from sparsedp import Bounds
from sparsedp.release import PublishedModel
from sparsedp.release.export.export import export
from tests.export.models import KINDS, fitted, records
from tests.export.test_engines import TASKS, check
from tests.export.test_text import HOSTILE, plain

pytestmark = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")


def cell(name: str, value: Any) -> Any:
    if value is None or KINDS.get(name) != "date":
        return value
    return float(np.datetime64(value, "D").astype(int))


def in_pmml(model: PublishedModel, table: list[dict]) -> list[dict]:
    evaluator = Model.fromString(export(model, "pmml"))
    names = [name for name in evaluator.outputNames if not name.startswith("sparsedp:")]
    given = [{name: cell(name, value) for name, value in record.items()} for record in table]
    found = [evaluator.predict(record) for record in given]
    return [{name: record.get(name) for name in names} for record in found]


@pytest.mark.parametrize("task", TASKS)
def test_agreement(task):
    model, table = fitted(task, seed=TASKS.index(task)), records(60, seed=23)
    found = in_pmml(model, table)
    if model.classes is not None:
        labels = {str(label): label for label in model.classes}
        found = [{"prediction": labels[record.pop("prediction")], **record} for record in found]
    check(model, table, found)


INVALID = {
    "age": float("inf"),
    "visits": 2.5,
    "flag": 0.5,
    "sex": "X",
    "stage": "4",
    "smoker": "perhaps",
}


@pytest.mark.parametrize("task", ["linear", "multinomial"])
def test_cells_that_do_not_fit(task):
    """Their records have no predictions, or they count as missing: as in the fit."""
    strict, tolerant = fitted(task), fitted(task, "replace")
    table = [
        {**record, name: INVALID[name]}
        for record, name in zip(records(12, seed=3), list(INVALID) * 2, strict=True)
    ]
    found = [value for row in in_pmml(strict, table) for value in row.values()]
    assert all(value is None or value != value for value in found), found[:5]
    check(tolerant, table, in_pmml(tolerant, table))


def test_names_of_strangers_are_data():
    model, X = plain(Bounds(-1, 1))
    names = [f"{HOSTILE}<&> {feature.index}" for feature in model.features]
    features = (replace(f, name=name) for f, name in zip(model.features, names, strict=True))
    named = replace(model, features=tuple(features))
    found = in_pmml(named, [dict(zip(names, row, strict=True)) for row in X[:20].tolist()])
    shares = [row["probability of 1"] for row in found]
    expected = model.predict_proba(X[:20])[:, 1]
    np.testing.assert_allclose(shares, expected, rtol=0, atol=1e-12)
    alone = replace(model, interactions=())
    for wrong in ("bell \x07", "sparsedp:v0"):
        odd = replace(alone, features=(replace(model.features[0], name=wrong),))
        with pytest.raises(ValueError, match="XML cannot name"):
            export(odd, "pmml")
    odd = replace(alone, features=(replace(model.features[0], name="probability of 1"),))
    with pytest.raises(ValueError, match="name of an output"):
        export(odd, "pmml")
    with pytest.raises(ValueError, match="tell two of them apart"):
        export(replace(model, classes=(1, "1")), "pmml")
