"""Models as plain pipelines of scikit-learn: same predictions, raw frames, no sparsedp."""

import pickle
import subprocess
import sys
import types
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from sparsedp import Bounds, Schema, SparseLogisticRegression, SparsePoissonRegressor
from sparsedp.release import PublishedModel
from sparsedp.release.export.export import export
from tests.export.models import KINDS, fitted, records
from tests.export.test_engines import INVALID, TASKS
from tests.export.test_text import HOSTILE, plain


def built(model: PublishedModel) -> Pipeline:
    module: dict = {"__name__": "exported"}
    exec(export(model, "sklearn"), module)
    return module["build"]()


def frame_of(table: list[dict]) -> pd.DataFrame:
    frame = pd.DataFrame(table, columns=list(KINDS))
    return frame.assign(seen=pd.to_datetime(frame["seen"], format="%Y-%m-%d"))


@pytest.fixture(scope="module")
def table() -> list[dict]:
    return records(300, seed=41)


@pytest.mark.parametrize("task", TASKS)
def test_agreement(task, table):
    model = fitted(task, seed=TASKS.index(task))
    pipeline, frame = built(model), frame_of(table)
    raw = {name: [record[name] for record in table] for name in KINDS}
    expected = model.predict(raw)
    assert is_classifier(pipeline) == (model.classes is not None)
    if model.classes is None:
        np.testing.assert_allclose(pipeline.predict(frame), expected, rtol=1e-12, atol=1e-12)
        return
    assert pipeline.predict(frame).tolist() == expected.tolist()
    assert pipeline.classes_.tolist() == list(model.classes)
    shares = pipeline.predict_proba(frame)
    np.testing.assert_allclose(shares, model.predict_proba(raw), rtol=0, atol=1e-12)
    other = pl.DataFrame(table, schema_overrides={"seen": pl.String})
    np.testing.assert_allclose(pipeline.predict_proba(other), shares, rtol=0, atol=1e-12)


def test_a_plain_model_takes_arrays_and_frames():
    model, X = plain(Bounds(-1, 1))
    pipeline = built(model)
    assert type(pipeline[-1]) is LogisticRegression
    expected = model.predict_proba(X)
    np.testing.assert_allclose(pipeline.predict_proba(X), expected, rtol=0, atol=1e-12)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).astype("Float64")
    np.testing.assert_allclose(pipeline.predict_proba(frame), expected, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="columns of the fit"):
        pipeline.predict(X[:, :2])
    frame.loc[0, "x0"] = pd.NA
    with pytest.raises(ValueError, match="x0: missing"):
        pipeline.predict(frame)
    constant = replace(model, features=(), interactions=())
    assert built(constant).predict(X).tolist() == constant.predict(X).tolist()


def test_offsets_beside_a_feature_of_that_name():
    rng = np.random.default_rng(8)
    schema = Schema.from_dict(
        {
            "features": {"offset": {"lower": 0, "upper": 9}},
            "offset": {"column": "months", "lower": 0, "upper": 3},
        }
    )
    raw = {"offset": rng.uniform(0, 9, 200).tolist(), "months": rng.uniform(0, 4, 200).tolist()}
    estimator = SparsePoissonRegressor(
        epsilon=float("inf"), delta=1e-6, schema=schema, max_count=20, random_state=0
    )
    model = PublishedModel.from_estimator(estimator.fit(raw, rng.poisson(2, 200)))
    found = built(model).predict(pd.DataFrame(raw))
    np.testing.assert_allclose(found, model.predict(raw), rtol=1e-12)


def test_names_of_strangers_are_data():
    schema = Schema.from_dict({"features": {HOSTILE: {"categories": [HOSTILE, "b", "c"]}}})
    estimator = SparseLogisticRegression(
        epsilon=float("inf"), delta=1e-6, schema=schema, classes=(HOSTILE, "no"), random_state=0
    )
    frame = pd.DataFrame({HOSTILE: [HOSTILE, "b", "c"] * 20})
    model = PublishedModel.from_estimator(estimator.fit(frame, [HOSTILE, "no", "no"] * 20))
    pipeline = built(model)
    assert pipeline.predict(frame[:3]).tolist() == [HOSTILE, "no", "no"]
    with pytest.raises(ValueError, match="data frame"):
        pipeline.predict(frame.to_numpy())


def test_cells_that_do_not_fit(table):
    record = next(record for record in table if record["visits"] is not None)
    replaced, strict = fitted("binary", "replace"), fitted("binary")
    tolerant, refusing = built(replaced), built(strict)
    for name, cell in INVALID.items():
        row = {**record, name: cell}
        raw = {column: [value] for column, value in row.items()}
        share = tolerant.predict_proba(frame_of([row]))
        np.testing.assert_allclose(share, replaced.predict_proba(raw), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="visits: not a whole number"):
        refusing.predict(frame_of([{**record, "visits": 2.5}]))
    with pytest.raises(KeyError):
        refusing.predict(frame_of([record]).drop(columns="visits"))


def test_it_needs_no_sparsedp_and_can_be_pickled(tmp_path, monkeypatch):
    model, X = plain(Bounds(-1, 1))
    (tmp_path / "score.py").write_text(export(model, "sklearn"), encoding="utf-8")
    np.save(tmp_path / "X.npy", X[:20])
    program = (
        "import sys; sys.modules['sparsedp'] = None; import numpy as np, score;"
        "print(score.build().predict_proba(np.load('X.npy'))[:, 1].tolist())"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    expected = model.predict_proba(X[:20])
    np.testing.assert_allclose(eval(run.stdout), expected[:, 1], rtol=0, atol=1e-12)
    module = types.ModuleType("exported_score")
    monkeypatch.setitem(sys.modules, "exported_score", module)
    exec(export(model, "sklearn"), vars(module))
    again = pickle.loads(pickle.dumps(module.build()))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
