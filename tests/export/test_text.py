"""What exported models are written as: names from strangers, models without a schema, the verb."""

import json
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import Bounds, Schema, SparseLogisticRegression
from sparsedp.cli import main
from sparsedp.release import PublishedModel
from sparsedp.release.export.export import export
from sparsedp.release.export.sql import DIALECTS
from tests.export.models import fitted

HOSTILE = "a\"'`; DROP TABLE x; --\n*/ \\ ${1} \u2028 {0}"


def plain(bounds: Bounds, invalid: str = "raise") -> tuple[PublishedModel, np.ndarray]:
    """A model without a schema."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (300, 3))
    y = (X[:, 0] + np.abs(X[:, 1]) > 0.3).astype(int)
    estimator = SparseLogisticRegression(
        epsilon=20.0, delta=1e-6, bounds=bounds, classes=(0, 1), invalid=invalid, random_state=0
    )
    return PublishedModel.from_estimator(estimator.fit(X, y)), X


@pytest.mark.parametrize("invalid", ["raise", "replace"])
def test_models_without_a_schema(invalid):
    model, X = plain(Bounds(-1, 1), invalid)
    assert any(feature.knots for feature in model.features)
    if invalid == "replace":
        X = np.vstack([X[:40], np.full(3, np.nan), np.full(3, np.inf)])
    module: dict = {}
    exec(export(model, "python"), module)
    found = [module["predict"]({f"x{j}": x for j, x in enumerate(row)}) for row in X]
    shares = [row["probability of 1"] for row in found]
    np.testing.assert_allclose(shares, model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


def test_names_of_strangers_are_data():
    schema = Schema.from_dict({"features": {HOSTILE: {"categories": [HOSTILE, "b", "c"]}}})
    estimator = SparseLogisticRegression(
        epsilon=float("inf"), delta=1e-6, schema=schema, classes=(HOSTILE, "no"), random_state=0
    )
    cells, y = [HOSTILE, "b", "c"] * 20, [HOSTILE, "no", "no"] * 20
    model = PublishedModel.from_estimator(estimator.fit({HOSTILE: cells}, y))
    expected = model.predict({HOSTILE: cells[:3]}).tolist()
    assert expected[0] == HOSTILE
    module: dict = {}
    exec(export(model, "python"), module)
    assert [module["predict"]({HOSTILE: cell})["prediction"] for cell in cells[:3]] == expected
    name = '"' + HOSTILE.replace('"', '""') + '"'
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE records ({name} VARCHAR)")
        connection.executemany("INSERT INTO records VALUES (?)", [[cell] for cell in cells[:3]])
        query = export(model, "sql", dialect="duckdb", keep=[HOSTILE])
        assert sorted(row[1] for row in connection.execute(query).fetchall()) == sorted(expected)
    written = export(model, "js")
    assert json.dumps(HOSTILE) in written
    assert all(line.startswith("// ") for line in written.splitlines()[:3])
    with pytest.raises(ValueError, match="name of a column"):
        export(model, "sql", dialect="bigquery")


def test_classes_that_read_alike_keep_their_probabilities():
    model, X = plain(Bounds(-1, 1))
    module: dict = {}
    exec(export(replace(model, classes=(1, "1")), "python"), module)
    found = module["predict"]({f"x{j}": x for j, x in enumerate(X[0])})
    assert list(found) == ["prediction", "probability of 1", "probability of 1'"]
    assert found["probability of 1'"] == pytest.approx(model.predict_proba(X[:1])[0, 1], abs=1e-12)


def test_comments_hold_no_text_of_the_model():
    model = fitted("linear")
    other = replace(model, target={**model.target, "name": HOSTILE})
    assert export(other, "python").splitlines()[1:] == export(model, "python").splitlines()[1:]


def test_hashed_words_are_refused():
    schema = Schema.from_dict({"features": {"note": {"kind": "text", "words": 8}}})
    estimator = SparseLogisticRegression(
        epsilon=float("inf"), delta=1e-6, schema=schema, classes=(0, 1), random_state=0
    )
    model = PublishedModel.from_estimator(estimator.fit({"note": ["a b", "c"] * 20}, [0, 1] * 20))
    with pytest.raises(ValueError, match="free text"):
        export(model, "python")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_do_not_grow_beyond_bounds(dialect):
    """Each step is written once, and engines are told to compute it once."""
    query = export(fitted("binary"), "sql", dialect=dialect)
    assert len(query) < 100_000
    assert dialect == "bigquery" or query.count(" AS MATERIALIZED (") == query.count("  SELECT\n")


def test_the_verb(tmp_path):
    model, X = plain(Bounds(-1, 1))
    model.save(tmp_path)
    run = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "python"])
    assert run.exit_code == 0
    module: dict = {}
    exec(run.output, module)
    found = module["predict"]({f"x{j}": x for j, x in enumerate(X[0])})
    assert found["prediction"] == model.predict(X[:1])[0]
    path = tmp_path / "score.sql"
    more = ["--to", "sql", "--table", "lab.visits", "--keep", "id", "-o", str(path)]
    run = CliRunner().invoke(main, ["export", str(tmp_path), *more])
    assert (run.exit_code, run.output) == (0, f"Wrote {path}\n")
    assert '"lab"."visits"' in path.read_text()
    run = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "onnx"])
    assert (run.exit_code, "-o FILE" in run.output) == (2, True)
    more = ["--to", "onnx", "-o", str(tmp_path / "score.onnx")]
    assert CliRunner().invoke(main, ["export", str(tmp_path), *more]).exit_code == 0
    run = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "fortran"])
    assert run.exit_code == 2
