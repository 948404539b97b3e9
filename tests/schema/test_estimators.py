"""Estimators on raw tables, and the schema as a step of a pipeline."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsedp import (
    Bounds,
    PrivateSearchCV,
    Schema,
    SchemaTransformer,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.estimators.records import Given
from sparsedp.fit.settings import Settings

PATIENTS = Schema.from_toml("""
[target]
column = "readmitted"
classes = ["no", "yes"]
[features.age]
lower = 0
upper = 120
missing = "indicator"
[features.sex]
categories = ["F", "M"]
[features.ward]
categories = ["A", "B", "C"]
other = true
""")


def patients(n=60, seed=0):
    rng = np.random.default_rng(seed)
    ages = [str(age) if age > 20 else "" for age in rng.integers(1, 100, n)]
    return {
        "age": ages,
        "sex": rng.choice(["F", "M"], n).tolist(),
        "ward": rng.choice(["A", "B", "C", "D"], n).tolist(),
        "readmitted": rng.choice(["no", "yes"], n).tolist(),
        "stay": rng.integers(0, 9, n).astype(str).tolist(),
        "who": rng.integers(0, n // 2, n).astype(str).tolist(),
    }


TABLE = patients()


def fitted(table=TABLE, schema=PATIENTS, estimator=SparseLogisticRegression, **settings):
    return estimator(
        epsilon=1.0, delta=1e-6, schema=schema, random_state=0, n_nonzero=3, **settings
    ).fit(table)


def test_a_schema_is_the_same_as_its_columns_and_bounds():
    by_schema = fitted()
    X, y = PATIENTS.encode(TABLE), TABLE["readmitted"]
    by_bounds = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=PATIENTS.bounds, classes=("no", "yes"), random_state=0,
        n_nonzero=3,
    ).fit(X, y)  # fmt: skip
    assert by_schema.coef_.tobytes() == by_bounds.coef_.tobytes()
    assert by_schema.predict_proba(TABLE).tobytes() == by_bounds.predict_proba(X).tobytes()
    assert by_schema.score(TABLE) == by_schema.score(TABLE, y) == by_bounds.score(X, y)
    assert by_schema.feature_names_in_.tolist() == ["age", "sex", "ward"]
    assert by_schema.n_features_in_ == 3
    assert by_schema.coef_names_.tolist() == list(PATIENTS.feature_names)
    assert by_schema.coef_.shape == (1, 7)
    assert by_schema.classes_.tolist() == ["no", "yes"]
    assert by_schema.privacy_.target["classes_from_data"] is False


def test_any_container_gives_the_same_model_and_predictions():
    expected = fitted()
    for frame in (pd.DataFrame(TABLE), pl.DataFrame(TABLE), pa.table(TABLE)):
        model = fitted(frame)
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        for other in (TABLE, frame):
            found = model.decision_function(other)
            assert found.tobytes() == expected.decision_function(TABLE).tobytes()
    # Columns that no prediction needs may be there or not, in any order.
    few = pd.DataFrame(TABLE)[["ward", "age", "sex"]]
    assert expected.predict(few).tolist() == expected.predict(TABLE).tolist()
    with pytest.raises(ValueError, match="no column 'age'"):
        expected.predict(few[["ward"]])
    with pytest.raises(ValueError, match="A schema needs named columns"):
        expected.predict(np.zeros((1, 3)))


def test_what_does_not_fit_raises_or_is_replaced_in_fit_and_predictions():
    wrong = {**TABLE, "sex": ["x", *TABLE["sex"][1:]]}
    with pytest.raises(ValueError, match="column 'sex' has cells that are not among its declared"):
        fitted(wrong)
    with pytest.raises(ValueError, match="column 'sex'"):
        fitted().predict(wrong)
    model = fitted(wrong, invalid="replace")
    assert len(model.predict(wrong)) == len(TABLE["sex"])
    assert fitted({k: v[:0] for k, v in TABLE.items()}, invalid="replace").coef_.shape == (1, 7)
    with pytest.raises(ValueError, match="there are no records"):
        fitted({k: v[:0] for k, v in TABLE.items()})


def test_targets_people_and_weights_come_from_the_schema():
    tables = {**PATIENTS.to_dict(), "target": {"column": "stay", "lower": 0, "upper": 9}}
    line = fitted(schema=Schema.from_dict(tables), estimator=SparseLinearRegression)
    assert (line.privacy_.target["lower"], line.privacy_.target["upper"]) == (0.0, 9.0)
    assert line.score(TABLE) == line.score(TABLE, TABLE["stay"])
    tables["target"] = {"column": "stay", "max_count": 8}
    count = fitted(schema=Schema.from_dict(tables), estimator=SparsePoissonRegressor)
    assert count.predict(TABLE).max() <= 8
    tables = {**PATIENTS.to_dict(), "person": {"column": "who"}, "weight": {"column": "w"}}
    table = {**TABLE, "w": [str(1 / (1 + i % 2)) for i in range(60)]}
    model = SparseLogisticRegression(epsilon=1.0, delta=1e-6, schema=Schema.from_dict(tables))
    data = model._problem(Given(table), Settings.of(model)).data
    weights = [float(w) for w in table["w"]]
    plain = clone(model).set_params(schema=PATIENTS)
    given = Given(TABLE, None, TABLE["who"], weights)
    same = plain._problem(given, Settings.of(plain)).data
    assert data.weights.tobytes() == same.weights.tobytes()
    assert len(set(data.weights.tolist())) > 2
    assert data.persons is not None
    with pytest.raises(ValueError, match="fit was given groups too"):
        model.fit(table, groups=TABLE["who"])
    with pytest.raises(ValueError, match="fit was given sample_weight too"):
        model._problem(Given(table, None, None, weights), Settings.of(model))


def test_bounds_or_a_schema_and_not_two_answers():
    make = SparseLogisticRegression(epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="declare a schema=Schema"):
        make.fit(TABLE)
    with pytest.raises(ValueError, match="not both"):
        clone(make).set_params(bounds=1.0, schema=PATIENTS).fit(TABLE)
    with pytest.raises(ValueError, match="schema must be a sparsedp"):
        clone(make).set_params(schema="patients.toml").fit(TABLE)
    with pytest.raises(ValueError, match="classes and the target of the schema differ"):
        clone(make).set_params(schema=PATIENTS, classes=("a", "b")).fit(TABLE)
    with pytest.raises(ValueError, match="no target"):
        clone(make).set_params(schema=Schema(features={"age": {"bins": [3]}})).fit({"age": ["1"]})


def test_a_later_fit_without_schema_forgets_it():
    model = fitted()
    model.set_params(schema=None, bounds=Bounds(0, 1), classes=(0, 1), n_nonzero=1)
    model.fit(np.eye(4), [0, 1, 0, 1])
    assert model.predict(np.eye(4)).shape == (4,)
    assert not hasattr(model, "coef_names_")
    assert not hasattr(model, "feature_names_in_")


def test_columns_that_are_not_declared_are_numbers_within_the_limits_for_all():
    schema = Schema.from_toml("[bounds]\nlower=0\nupper=9\n[target]\ncolumn='y'\nclasses=[0, 1]")
    table = {"a": [1, 2, 3], "b": ["4", "5", "6"], "y": [0, 1, 0]}
    model = SparseLogisticRegression(epsilon=1.0, delta=1e-6, schema=schema).fit(table)
    assert model.coef_names_.tolist() == ["a", "b"]
    assert model.predict({"b": [1], "a": [2]}).shape == (1,)
    assert SchemaTransformer(schema).fit(table).transform(table).tolist() == [
        [1, 4],
        [2, 5],
        [3, 6],
    ]


def test_clone_pickle_and_search():
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    assert again.predict_proba(TABLE).tobytes() == model.predict_proba(TABLE).tobytes()
    assert clone(model).schema == PATIENTS
    frame, y = pd.DataFrame(TABLE), TABLE["readmitted"]
    search = GridSearchCV(clone(model), {"n_nonzero": [1, 2]}, cv=2).fit(frame, y)
    assert search.best_estimator_.coef_.shape == (1, 7)
    private = PrivateSearchCV(
        SparseLogisticRegression(schema=PATIENTS), {"n_nonzero": [1, 2]}, epsilon=9.0, delta=1e-6,
        random_state=0,
    ).fit(frame)  # fmt: skip
    assert private.predict(frame).shape == (60,)


def test_the_transformer_in_pipelines():
    frame, y = pd.DataFrame(TABLE), TABLE["readmitted"]
    step = SchemaTransformer(PATIENTS)
    X = step.transform(frame)  # nothing to learn
    assert X.tobytes() == PATIENTS.encode(TABLE).tobytes() == step.fit_transform(frame).tobytes()
    assert step.get_feature_names_out().tolist() == list(PATIENTS.feature_names)
    settings = {"epsilon": 1.0, "delta": 1e-6, "classes": ("no", "yes"), "random_state": 0}
    last = SparseLogisticRegression(bounds=step.bounds_, n_nonzero=3, **settings)
    piped = make_pipeline(step, last).fit(frame, y)
    assert piped[-1].coef_.tobytes() == fitted().coef_.tobytes()
    assert piped.predict(frame).tolist() == fitted().predict(frame).tolist()
    assert pickle.loads(pickle.dumps(piped)).predict(frame).shape == (60,)
    assert clone(piped)[0].schema == PATIENTS
    with pytest.raises(ValueError, match="schema is required"):
        SchemaTransformer().fit(frame)


def test_the_transformer_names_its_output():
    frame = pd.DataFrame(TABLE)
    for kind, module in (("pandas", pd), ("polars", pl)):
        out = SchemaTransformer(PATIENTS).set_output(transform=kind).fit_transform(frame)
        assert isinstance(out, module.DataFrame)
        assert list(out.columns) == list(PATIENTS.feature_names)
    columns = ColumnTransformer(
        [
            ("raw", SchemaTransformer(PATIENTS), ["age", "sex", "ward"]),
            ("stay", FunctionTransformer(lambda x: x.astype(float), feature_names_out="one-to-one"),
             ["stay"]),
        ],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")  # fmt: skip
    out = columns.fit_transform(frame)
    assert list(out.columns) == [*PATIENTS.feature_names, "stay"]
    # Named output and named bounds go together by name.
    bounds = SchemaTransformer(PATIENTS).bounds_
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=bounds, classes=("no", "yes"), random_state=0, n_nonzero=3
    ).fit(out[list(PATIENTS.feature_names)[::-1]], TABLE["readmitted"])
    assert model.feature_names_in_.tolist() == list(PATIENTS.feature_names)[::-1]
