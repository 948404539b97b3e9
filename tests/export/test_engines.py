"""Exported models in the engines that run them: the same predictions as the model file's."""

import json
import shutil
import sqlite3
import subprocess
from typing import Any

import duckdb
import numpy as np
import onnxruntime
import psycopg
import pytest

from sparsedp.release import PublishedModel
from sparsedp.release.export.export import export, export_bytes
from tests.export.models import KINDS, fitted, records
from tests.files.conftest import server  # noqa: F401

TASKS = ("binary", "multinomial", "linear", "count")
N = 400
TYPES = {"number": "DOUBLE PRECISION", "text": "TEXT", "date": "DATE"}

Rows = list[dict[str, Any]]


def in_python(model: PublishedModel, table: Rows) -> Rows:
    module: dict = {}
    exec(export(model, "python"), module)
    return [module["predict"](record) for record in table]


def in_node(model: PublishedModel, table: Rows, folder) -> Rows:
    (folder / "model.mjs").write_text(export(model, "js"), encoding="utf-8")
    (folder / "table.json").write_text(json.dumps(table), encoding="utf-8")
    program = (
        "import {predict} from './model.mjs'; import fs from 'fs';"
        "const table = JSON.parse(fs.readFileSync('table.json', 'utf8'));"
        "console.log(JSON.stringify(table.map(predict)));"
    )
    (folder / "run.mjs").write_text(program)
    run = subprocess.run(
        ["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(run.stdout)


def in_sql(model: PublishedModel, table: Rows, dialect: str, connection, mark: str) -> Rows:
    """Make the table, ask the query, give back what it says by record."""
    query = export(model, "sql", dialect=dialect, table="raw records", keep=["id"])
    columns = ", ".join(f'"{name}" {TYPES[kind]}' for name, kind in KINDS.items())
    cursor = connection.cursor()
    cursor.execute('DROP TABLE IF EXISTS "raw records"')
    cursor.execute(f'CREATE TABLE "raw records" (id INTEGER, {columns})')
    rows = [(i, *(record[name] for name in KINDS)) for i, record in enumerate(table)]
    places = ", ".join([mark] * (len(KINDS) + 1))
    cursor.executemany(f'INSERT INTO "raw records" VALUES ({places})', rows)
    cursor.execute(query)
    names = [column[0] for column in cursor.description]
    found = sorted(cursor.fetchall())
    return [dict(zip(names[1:], row[1:], strict=True)) for row in found]


def check(model: PublishedModel, table: Rows, found: Rows) -> None:
    frame = {name: [record[name] for record in table] for name in KINDS}
    predicted = model.predict(frame).tolist()
    assert len(found) == len(table)
    if model.classes is None:
        numbers = [record["prediction"] for record in found]
        np.testing.assert_allclose(numbers, predicted, rtol=1e-12, atol=1e-12)
        return
    assert [record.pop("prediction") for record in found] == predicted
    shares = [list(record.values()) for record in found]
    np.testing.assert_allclose(shares, model.predict_proba(frame), rtol=0, atol=1e-12)
    assert list(found[0]) == [f"probability of {label}" for label in model.classes]


@pytest.fixture(scope="module", params=TASKS)
def model(request) -> PublishedModel:
    return fitted(request.param, seed=TASKS.index(request.param))


@pytest.fixture(scope="module")
def table() -> Rows:
    return records(N, seed=99)


def test_python(model, table):
    check(model, table, in_python(model, table))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_javascript(model, table, tmp_path):
    check(model, table, in_node(model, table, tmp_path))


def test_sqlite(model, table):
    with sqlite3.connect(":memory:") as connection:
        check(model, table, in_sql(model, table, "sqlite", connection, "?"))


def test_duckdb(model, table):
    with duckdb.connect(":memory:") as connection:
        check(model, table, in_sql(model, table, "duckdb", connection, "?"))


def test_postgresql(model, table, server):  # noqa: F811
    with psycopg.connect(server) as connection:
        check(model, table, in_sql(model, table, "postgresql", connection, "%s"))
        connection.rollback()


def in_onnx(model: PublishedModel, table: Rows) -> Rows:
    """Columns as vectors: NaN or an empty text where there is no value, dates as days."""
    session = onnxruntime.InferenceSession(export_bytes(model))
    feed = {}
    for name, kind in KINDS.items():
        cells = [record[name] for record in table]
        if kind == "text":
            texts = ["" if cell is None else cell.strip() for cell in cells]
            feed[name] = np.array(texts, dtype=object)
        elif kind == "date":
            days = [np.nan if c is None else np.datetime64(c, "D").astype(int) for c in cells]
            feed[name] = np.array(days, dtype=np.float64)
        else:
            feed[name] = np.array(cells, dtype=np.float64)
    names = [output.name for output in session.get_outputs()]
    columns = [column.tolist() for column in session.run(names, feed)]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def test_onnx(model, table):
    found = in_onnx(model, table)
    assert all(record.pop("valid") for record in found)
    check(model, table, found)


INVALID = {
    "age": float("inf"),
    "visits": 2.5,
    "flag": 0.5,
    "sex": "X",
    "stage": "4",
    "smoker": "perhaps",
    "pressure": float("-inf"),
    "hour": float("nan"),
}


@pytest.fixture(scope="module")
def spoiled(table) -> Rows:
    """One cell of each record does not fit, or is NaN; not an infinite number for SQLite."""
    names = list(INVALID)
    return [
        {**record, names[i % len(names)]: INVALID[names[i % len(names)]]}
        for i, record in enumerate(table[:80])
    ]


def test_cells_that_do_not_fit_are_replaced(spoiled):
    model = fitted("binary", "replace")
    check(model, spoiled, in_python(model, spoiled))
    for dialect, connect in (("sqlite", sqlite3.connect), ("duckdb", duckdb.connect)):
        with connect(":memory:") as connection:
            check(model, spoiled, in_sql(model, spoiled, dialect, connection, "?"))


def test_cells_that_do_not_fit_are_refused(spoiled):
    model = fitted("linear")
    module: dict = {}
    exec(export(model, "python"), module)
    with duckdb.connect(":memory:") as connection:
        found = in_sql(model, spoiled, "duckdb", connection, "?")
    n_refused = 0
    for record, row in zip(spoiled, found, strict=True):
        frame = {name: [cell] for name, cell in record.items()}
        try:
            expected = model.predict(frame)[0]
        except ValueError:
            n_refused += 1
            assert row["prediction"] is None
            with pytest.raises(ValueError, match=r"not a |missing"):
                module["predict"](record)
        else:
            assert abs(row["prediction"] - expected) < 1e-12
            assert abs(module["predict"](record)["prediction"] - expected) < 1e-12
    assert 20 < n_refused < 80


def test_onnx_says_which_records_do_not_fit(spoiled):
    model, refused = fitted("linear"), 0
    for record, row in zip(spoiled, in_onnx(model, spoiled), strict=True):
        try:
            expected = model.predict({name: [cell] for name, cell in record.items()})[0]
        except ValueError:
            refused += 1
            assert not row["valid"]
            assert np.isnan(row["prediction"])
        else:
            assert row["valid"]
            assert abs(row["prediction"] - expected) < 1e-12
    assert 20 < refused < 80


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_javascript_refuses_too(spoiled, tmp_path):
    with pytest.raises(subprocess.CalledProcessError) as failure:
        in_node(fitted("linear"), [{**spoiled[1], "visits": 2.5}], tmp_path)
    assert "visits: not a whole number" in failure.value.stderr
