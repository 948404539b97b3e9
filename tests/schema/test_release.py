"""Models that carry their schema: files, predictions from raw tables, verification, report."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sparsedp import Schema, SparseLinearRegression, SparseLogisticRegression
from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.release.read import HASH, content_hash
from sparsedp.release.report import render_report
from tests.schema.tables import CELLS, HOSPITAL
from tests.schema.test_estimators import PATIENTS, TABLE, fitted


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    model = fitted()
    path = PublishedModel.from_estimator(model).save(tmp_path_factory.mktemp("model"))
    return model, path


def test_predictions_from_the_file_are_those_of_the_estimator_to_the_last_bit(saved):
    model, path = saved
    published = PublishedModel.load(path)
    assert published.schema == PATIENTS
    assert published.target["name"] == "readmitted"
    expected = model.decision_function(TABLE)
    for frame in (TABLE, pd.DataFrame(TABLE), pl.DataFrame(TABLE), pa.table(TABLE)):
        assert published.decision_function(frame).tobytes() == expected.tobytes()
        assert published.predict(frame).tolist() == model.predict(frame).tolist()
        assert published.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    # Only the raw columns behind the chosen features are needed; encoded tables go as ever.
    needed = PATIENTS.needs(list(published.coef))
    few = {name: TABLE[name] for name in needed}
    assert published.decision_function(few).tobytes() == expected.tobytes()
    X = PATIENTS.encode(TABLE)
    assert np.array_equal(published.decision_function(X), expected)
    named = pd.DataFrame(X, columns=list(PATIENTS.feature_names))
    assert np.array_equal(published.decision_function(named), expected)
    with pytest.raises(ValueError, match=f"the model needs the columns '{needed[0]}'"):
        published.predict(pd.DataFrame({"other": [1]}))


def test_what_does_not_fit_raises_at_prediction_or_is_replaced_as_in_the_fit(saved):
    _, path = saved
    wrong = {**TABLE, "sex": ["S3CRET"] * 60, "age": ["S3CRET"] * 60, "ward": [None] * 60}
    with pytest.raises(ValueError, match="column") as error:
        PublishedModel.load(path).predict(wrong)
    assert "S3CRET" not in str(error.value)
    model = fitted(invalid="replace")
    published = PublishedModel.from_estimator(model)
    assert published.decision_function(wrong).tobytes() == model.decision_function(wrong).tobytes()


def test_verification_finds_a_schema_that_contradicts_the_record(saved, tmp_path):
    _, path = saved
    assert verify(path).problems == ()

    def changed(change):
        content = json.loads(path.read_text(encoding="utf-8"))
        content.pop(HASH)
        change(content)
        content[HASH] = content_hash(content)
        other = tmp_path / "model.json"
        other.write_text(json.dumps(content), encoding="utf-8")
        return other

    wider = changed(lambda c: c["schema"]["features"]["age"].update(upper=130))
    assert "about the features" in " ".join(verify(wider).problems)
    labels = changed(lambda c: c["schema"]["target"].update(classes=["nein", "ja"]))
    assert "about the target" in " ".join(verify(labels).problems)
    binary = changed(lambda c: c["privacy"]["bounds"].pop("binary"))
    assert "about the features" in " ".join(verify(binary).problems)
    for change in (lambda c: c["privacy"].pop("unit"), lambda c: c["privacy"].update(unit="row")):

        def rows(content, change=change):
            content["schema"]["person"] = {"column": "patient"}
            change(content)

        assert "the record protects rows" in " ".join(verify(changed(rows)).problems)
    limits = {"column": "days", "lower": 0, "upper": 1}
    offset = changed(lambda c: c["schema"].update(offset=limits))
    assert "limits of the offset" in " ".join(verify(offset).problems)
    weight = changed(lambda c: c["schema"].update(weight={"column": "w"}))
    assert "column of weights" in " ".join(verify(weight).problems)
    for change in (
        lambda c: c["schema"]["features"].pop("sex"),
        lambda c: c["schema"]["features"].update(more={"bins": [1]}),
        lambda c: c["schema"]["features"]["ward"].update(categories=["X", "B", "C", "Y"]),
        lambda c: c["schema"]["features"].update(age={"kind": "text", "words": 10**9}),
        lambda c: c["schema"]["features"].update(age={"kind": "date", "format": "%999999999Y"}),
        lambda c: c["schema"]["features"].update(age={"kind": "date", "format": "%d%d"}),
        lambda c: c["schema"].update(features=[1]),
        lambda c: c["schema"].update(features={"a": 1}),
        lambda c: c["schema"].update(interactions={"pairs": [["age", "age"]]}),
        lambda c: c["schema"].update(interactions={"pairs": 3}),
        lambda c: c["schema"].update(numbers={"decimal": 3}),
        lambda c: c["schema"].update(person={"column": 3}),
        lambda c: c.update(schema=[]),
        lambda c: c.update(schema={"unknown": {}}),
    ):
        with pytest.raises(ValueError, match="is not a model that sparsedp can read: its schema"):
            PublishedModel.load(changed(change))


def test_a_schema_cannot_make_more_columns_than_a_file_may_have():
    features = {f"c{i}": {"categories": [f"{j}" for j in range(1500)]} for i in range(2)}
    with pytest.raises(ValueError, match="columns are limited"):
        Schema.from_dict({"features": features, "interactions": {"pairs": [["c0", "c1"]]}})
    many = {"c": {"categories": [f"v{j}" for j in range(10_001)]}}
    with pytest.raises(ValueError, match="categories are limited"):
        Schema.from_dict({"features": many})


def test_every_kind_goes_into_the_file_and_the_report(tmp_path):
    tables = Schema.from_toml(HOSPITAL).to_dict()
    tables = {key: tables[key] for key in tables if key not in ("person", "weight")}
    tables["target"] = {"column": "visits2", "lower": 0, "upper": 9}
    schema = Schema.from_dict(tables)
    table = {**CELLS, "visits2": ["1", "2", "3", "4"]}
    settings = {"epsilon": 1.0, "delta": 1e-6, "n_nonzero": 40, "random_state": 0}
    model = SparseLinearRegression(schema=schema, **settings).fit(table)
    path = PublishedModel.from_estimator(model).save(tmp_path)
    published = PublishedModel.load(path)
    assert published.schema == schema
    assert published.predict(table).tobytes() == model.predict(table).tobytes()
    assert verify(path).problems == ()
    page = render_report(published)
    for words in (
        "What the columns hold",
        "a number from 0 to 120",
        "one of F, M; any other value counts as other",
        "a date, by its year, month, weekday, day of year, days",
        "text, as 16 hashed words",
        "2015-06-30",
    ):
        assert words in page


def test_models_without_a_schema_have_none():
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=1.0, classes=(0, 1), n_nonzero=1, random_state=0
    ).fit(np.eye(4), [0, 1, 0, 1])
    published = PublishedModel.from_estimator(model)
    assert published.schema is None
    assert "schema" not in json.loads(published.to_json())
    assert "What the columns hold" not in render_report(published)
