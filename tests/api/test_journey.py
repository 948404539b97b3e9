"""A messy table through init, plan, fit, predict, evaluate, report, with a schema and no Python.

The same in Python from pandas, polars and Arrow; predictions are equal to the last bit.
"""

import csv
import io
import json
import re
from pathlib import Path

import click
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv
import pytest
from click.testing import CliRunner

from sparsedp import Ledger, Schema, SparseLogisticRegression
from sparsedp.cli import main
from sparsedp.release import PublishedModel
from tests.api import messy

N_PEOPLE = 700
BUDGET = ("--epsilon", "2", "--delta", "1e-5")


def run(*arguments: object, code: int = 0) -> click.testing.Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError("a bug, not bad input") from result.exception
    assert result.exit_code == code, result.output
    return result


def init(*more: object) -> str:
    run("init", "t.csv", "--target", "Rückfall", "--codebook", "codebook.csv", "--force", *more)
    return Path("schema.toml").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The table, its code book and a ledger, and the shell in it."""
    monkeypatch.chdir(tmp_path)
    messy.write(tmp_path / "t.csv", N_PEOPLE)
    messy.write(tmp_path / "later.csv", 50, seed=8)
    (tmp_path / "codebook.csv").write_text(messy.CODEBOOK, encoding="utf-8")
    Ledger(5.0, 1e-4, tmp_path / "budget.ledger")
    return tmp_path


@pytest.fixture
def schema(folder) -> str:
    """The schema that init wrote."""
    init("--person", "Patienten-Nr")
    return "schema.toml"


def frames() -> dict[str, object]:
    """The later records as three libraries read them."""
    arrow = pyarrow.csv.read_csv(
        "later.csv",
        parse_options=pyarrow.csv.ParseOptions(delimiter=";", newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True),
    )
    return {
        "pandas": pd.read_csv("later.csv", sep=";", encoding="utf-8-sig"),
        "pandas texts": pd.read_csv("later.csv", sep=";", encoding="utf-8-sig", dtype=str),
        "polars": pl.read_csv("later.csv", separator=";"),
        "arrow": arrow,
    }


def test_a_messy_table_goes_all_the_way(schema):
    assert "Protects  each person" in run("plan", "t.csv", "--schema", schema, *BUDGET).stdout
    checked = run("fit", "t.csv", "--schema", schema, "--check")
    assert "Nothing was charged" in checked.stderr
    how = ("--schema", schema, *BUDGET, "--seed", 1, "--ledger", "budget.ledger", "-o", "m")
    fitted = run("fit", "t.csv", *how)
    assert len(Ledger(path="budget.ledger").history()) == 1
    assert "ja" in Path("m/report.html").read_text(encoding="utf-8")
    printed = run("predict", "m", "later.csv").stdout
    found = json.loads(run("evaluate", "m", "later.csv", "--epsilon", 5, "--json").stdout)
    ids = pd.read_csv("later.csv", sep=";", encoding="utf-8-sig", dtype=str).iloc[:, 0].dropna()
    assert ids.nunique() + 40 < len(ids)
    # Persons are counted, not rows; noise of 68 cells goes beyond 20 once in 1e11 times (Chernoff).
    assert abs(np.sum(found["table"]) - ids.nunique()) < 20
    scores = json.loads(run("evaluate", "m", "later.csv", "--exact-not-private", "--json").stdout)
    assert scores["metrics"]["AUC"]["model"] > 0.6
    Path("scores.json").write_text(json.dumps(scores))
    run("report", "m", "--evaluation", "scores.json", "-o", "r.html")
    run("verify", "m")
    for text in (fitted.stdout, *(path.read_text() for path in Path("m").iterdir())):
        assert not re.search(r"(?<![\w.])P\d{5}", text)
        assert str(Path.cwd()) not in text

    rows = list(csv.DictReader(io.StringIO(printed)))
    probability = np.array([float(row["probability of ja"]) for row in rows])
    model = PublishedModel.load("m/model.json")
    fit = pd.read_csv("t.csv", sep=";", encoding="utf-8-sig")
    own = SparseLogisticRegression(
        epsilon=2, delta=1e-5, schema=Schema.from_toml(schema), random_state=1
    ).fit(fit)
    for name, frame in frames().items():
        assert np.array_equal(model.predict_proba(frame)[:, 1], probability), name
        assert np.array_equal(own.predict_proba(frame)[:, 1], probability), name
        assert model.predict(frame).tolist() == [row["prediction"] for row in rows]
