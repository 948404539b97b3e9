"""A messy table through init, plan, fit, predict, evaluate, report, with a schema and no Python.

The same in Python from pandas, polars and Arrow; predictions are equal to the last bit.
"""

import csv
import io
import json
import re
import tomllib
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
    Ledger(9.0, 1e-3, tmp_path / "budget.ledger")
    Ledger(9.0, 1e-3, tmp_path / "people.ledger", unit="person")
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
    how = ("--schema", schema, *BUDGET, "--seed", 1, "--ledger", "people.ledger", "-o", "m")
    fitted = run("fit", "t.csv", *how)
    assert len(Ledger(path="people.ledger").history()) == 1
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


def test_the_unit_of_protection_comes_first(folder):
    assert 'unit = "?"' in init()
    refused = run("fit", "t.csv", "--schema", "schema.toml", *BUDGET, code=2)
    assert "say who is protected" in refused.stderr
    assert "--person" in refused.stderr
    assert 'unit = "row"' in init("--unit", "row")
    assert (
        "--unit row that there is no"
        in run(
            *("init", "t.csv", "--unit", "row", "--person", "Größe", "-o", "x.toml"), code=2
        ).stderr
    )


def test_init_asks_at_a_terminal(folder, monkeypatch):
    monkeypatch.setattr("sparsedp.cli.init._is_terminal", lambda data: True)
    answer = CliRunner().invoke(main, ["init", "t.csv"], input="nobody\nPatienten-Nr\n")
    assert "Whose data are protected?" in answer.output
    text = Path("schema.toml").read_text(encoding="utf-8")
    assert '[person]\ncolumn = "Patienten-Nr"' in text
    CliRunner().invoke(main, ["init", "t.csv", "--force"], input="row\n")
    assert 'unit = "row"' in Path("schema.toml").read_text(encoding="utf-8")


def test_init_reads_no_record(folder):
    """Records that no reader could take do not matter."""
    header, _ = Path("t.csv").read_bytes().split(b"\r\n", 1)
    before = init("--person", "Patienten-Nr")
    Path("t.csv").write_bytes(header + b'\r\n"\xff\xfe;;;')
    assert init("--person", "Patienten-Nr") == before


@pytest.mark.parametrize("form", ["list", "object"])
def test_code_books_in_json(folder, form):
    book = [
        {"name": "Größe", "type": "integer", "min": 50, "max": 250, "label": "in cm"},
        {"name": "Geschlecht", "type": "factor", "values": {"w": "weiblich", "m": "männlich"}},
        {"name": "Raucher", "type": "boolean", "yes": ["J"], "no": ["N"]},
        {"name": "Patienten-Nr", "type": "id"},
    ]
    content = book if form == "list" else {entry.pop("name"): entry for entry in book}
    Path("codebook.json").write_text(json.dumps(content))
    run("init", "t.csv", "--codebook", "codebook.json", "--unit", "row")
    text = Path("schema.toml").read_text(encoding="utf-8")
    assert '[features."Größe"]\nkind = "whole"\nlower = 50\nupper = 250\n' in text
    assert '[features.Geschlecht]\nkind = "category"\ncategories = ["w", "m"]\n' in text
    assert "[features.Patienten-Nr]\ndrop = true\n" in text
    assert "# [features.Gewicht]" in text


@pytest.mark.parametrize(
    ("head", "rows", "sources"),
    [
        (
            "name,kind,lower,upper",
            ["Größe,number,50,250", "Gewicht,number,2,300", "Raucher,drop,,"],
            ["code book names.csv", "code book names.csv", None],
        ),
        (
            "name,kind,lower,upper,source",
            ["Größe,number,50,250,the scale", "Gewicht,number,2,300,", "Raucher,drop,,,"],
            ["the scale", None, None],
        ),
    ],
    ids=["its name", "its own words"],
)
def test_limits_name_the_code_book_and_not_its_folder(folder, head, rows, sources):
    away = folder / "secret-project"
    away.mkdir()
    (away / "names.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    run("init", "t.csv", "--codebook", away / "names.csv", "--unit", "row")
    text = Path("schema.toml").read_text(encoding="utf-8")
    said = tomllib.loads(text)["features"]
    assert [said[row.split(",")[0]].get("source") for row in rows] == sources
    assert "secret-project" not in text


BAD_BOOKS = {
    "kind,lower\nnumber,0\n": "needs a column called name",
    "name,kind\n,number\n": "needs the name of a column",
    "name,kind\na,number\na,whole\n": "stands twice",
    "name,kind,lower,upper\na,number,9,1\n": "[features.a]",
    "name,kind,limit\na,number,9\n": "limit",
    "name,kind\na,colour\n": "kind must be one of",
    "name,kind\n": "has no entries",
}


@pytest.mark.parametrize("text", BAD_BOOKS)
def test_bad_code_books_get_one_sentence(folder, text):
    Path("bad.csv").write_text(text)
    refused = run("init", "t.csv", "--codebook", "bad.csv", code=2)
    assert BAD_BOOKS[text] in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not Path("schema.toml").exists()


SMALL = """
unit = "row"
[target]
column = "y"
classes = ["no", "yes"]
[features.sex]
categories = ["F", "M"]
{other}
[features.age]
lower = 0
upper = 100
"""


def small(cells: list[str], other: str = "") -> None:
    """A table of two columns, whose first is as given."""
    rows = [f"{cell},{20 + i % 50},{('no', 'yes')[i % 2]}" for i, cell in enumerate(cells)]
    Path("s.csv").write_text("\n".join(["sex,age,y", *rows]) + "\n")
    Path("s.toml").write_text(SMALL.format(other=other))


SMALL_FIT = ("fit", "s.csv", "--schema", "s.toml", *BUDGET, "--ledger", "budget.ledger")


@pytest.mark.parametrize("how", ["replace", "other"])
def test_a_value_that_is_written_otherwise_stops_the_fit(folder, how):
    small(["F", "m"] * 40, "other = true" if how == "other" else "")
    more = ("--invalid", "replace") if how == "replace" else ()
    refused = run(*SMALL_FIT, *more, code=2)
    assert "'sex': a declared value never occurs" in refused.stderr
    assert "--allow-unmatched" in refused.stderr
    assert "private" in refused.stderr
    assert re.search(r"sex +40 (not as declared|under other); never 'M'", refused.stderr)
    quiet = run(*SMALL_FIT, *more, "--quiet", code=2)
    assert "40" not in quiet.stderr
    assert Ledger(path="budget.ledger").history() == []
    assert not Path("model").exists()
    run(*SMALL_FIT, *more, "--allow-unmatched")
    assert len(Ledger(path="budget.ledger").history()) == 1


def test_what_the_holder_sees_is_stored_nowhere(folder):
    small(["F", "M", "X"] * 51)
    counts = r"(?<![\w.])(51|153)(?![\w.])"
    fitted = run(*SMALL_FIT, "--invalid", "replace", "-o", "m")
    assert re.search(r"sex +51 not as declared", fitted.stderr)
    assert not re.search(counts, fitted.stdout)
    for path in Path("m").iterdir():
        assert not re.search(counts, path.read_text(encoding="utf-8")), path
    quiet = run(*SMALL_FIT, "--invalid", "replace", "-o", "n", "--quiet")
    assert quiet.stderr == ""


def test_check_charges_and_writes_nothing(folder):
    small(["F", "M", ""] * 20)
    before = sorted(Path().iterdir())
    checked = run("fit", "s.csv", "--schema", "s.toml", "--check")
    assert re.search(r"sex +20 missing", checked.stderr)
    assert checked.stdout == ""
    assert sorted(Path().iterdir()) == before


MESSAGES = {
    "missing": ("F,,no", ('missing = "indicator"', "'age'", "--invalid replace", "mean")),
    "malformed": ("F,secret4711,no", ("'age'", "--invalid replace")),
    "undeclared": ("secret4711,30,no", ("'sex'", "other = true")),
    "label": ("F,30,secret4711", ("declared classes", "--invalid replace")),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages_say_what_to_declare_and_quote_no_cell(folder, name):
    line, words = MESSAGES[name]
    small(["F", "M"] * 20)
    with Path("s.csv").open("a") as file:
        file.write(line + "\n")
    refused = run(*SMALL_FIT, "--quiet", code=2)
    for word in words:
        assert word in refused.stderr
    assert "4711" not in refused.output
    assert "imputer" not in refused.stderr.lower()
    assert Ledger(path="budget.ledger").history() == []
    # With a public value in its place the same file is fitted, predicted and scored.
    run(*SMALL_FIT, "--quiet", "--invalid", "replace", "-o", "m")
    run("predict", "m", "s.csv")
    run("evaluate", "m", "s.csv", "--exact-not-private")


def test_a_column_that_is_dropped_may_have_limits(folder):
    small(["F", "M"] * 40)
    run(*SMALL_FIT, "--drop", "age", "--quiet", "-o", "m")
    assert PublishedModel.load("m").schema.columns == ("sex",)


def test_the_line_of_the_report_works(folder):
    """``PublishedModel.load("model.json").predict(X)``, for a model with categories."""
    small(["F", "M"] * 40)
    run(*SMALL_FIT, "--quiet", "-o", "m")
    assert 'PublishedModel.load("model.json").predict(X)' in Path("m/report.html").read_text()
    X = pd.read_csv("s.csv")
    predicted = PublishedModel.load("m/model.json").predict(X)
    printed = run("predict", "m", "s.csv").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in printed] == predicted.tolist()


def test_a_ledger_that_a_fit_makes_protects_whom_the_fit_protects(schema):
    how = ("--schema", schema, *BUDGET, "--quiet", "--in-blocks", "--ledger", "new.ledger")
    run("fit", "t.csv", *how, "--ledger-epsilon", 3, "--ledger-delta", 1e-4, "-o", "m")
    assert "protects every person" in run("ledger", "new.ledger").stdout
    assert PublishedModel.load("m").privacy["unit"] == "person"


def test_init_tells_programs_the_columns(folder):
    told = json.loads(run("init", "t.csv", "--codebook", "codebook.csv", "--json").stdout)
    assert told["schema"] == "schema.toml"
    assert told["columns"][:2] == ["Patienten-Nr", "Größe"]
    assert told["not_columns"] == ["Unbekannt"]


def test_progress_goes_through_pipes_on_request(folder):
    small(["F", "M"] * 40)
    assert "releases" not in run(*SMALL_FIT, "--json", "-o", "m").stderr
    told = run(*SMALL_FIT, "--json", "--progress", "-o", "n")
    assert re.search(r"\d+/\d+ releases", told.stderr)
    assert json.loads(told.stdout)["private"] is True
    assert "progress" not in Path("n/run.toml").read_text()
