"""The same model from every kind of source, through the command line; nothing shows an address."""

import json
import sqlite3
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.release import PublishedModel

SCHEMA = """
[person]
column = "id"
[target]
column = "y"
classes = ["no", "yes"]
[features.sex]
categories = ["F", "M"]
missing = "indicator"
[features.age]
lower = 0
upper = 100
[features.day]
kind = "date"
lower = 2020-01-01
upper = 2030-01-01
"""
FIT = ("--schema", "s.toml", "--epsilon", "2", "--delta", "1e-5", "--seed", "1", "--quiet")


def run(*arguments: str, code: int = 0, given: bytes | None = None) -> str:
    result = CliRunner().invoke(main, arguments, input=given)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def frame(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCHEMA)
    n = 300
    days = pd.date_range("2021-01-01", periods=n, freq="D")
    sex = [("F", "M", None)[i % 7 % 3] for i in range(n)]
    age = [20 + i * 7 % 60 for i in range(n)]
    return pd.DataFrame(
        {
            "id": [f"p{i // 2}" for i in range(n)],
            "sex": sex,
            "age": age,
            "day": days.strftime("%Y-%m-%d"),
            "y": ["yes" if a > 50 else "no" for a in age],
            "secret": ["MARK4711"] * n,
        }
    )


def excel(frame: pd.DataFrame) -> str:
    book = openpyxl.Workbook()
    dated = frame.assign(day=pd.to_datetime(frame["day"]).dt.to_pydatetime())
    for row in [list(dated), *dated.astype(object).where(dated.notna(), None).values.tolist()]:
        book.active.append(row)
    book.save("t.xlsx")
    return "t.xlsx"


def lines(frame: pd.DataFrame) -> str:
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    Path("t.jsonl").write_text("\n".join(map(json.dumps, records)))
    return "t.jsonl"


def database(frame: pd.DataFrame) -> str:
    with sqlite3.connect("t.db") as connection:
        frame.to_sql("people", connection, index=False)
    return "sqlite:///t.db?query=SELECT * FROM people WHERE secret = 'MARK4711'"


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(day=pd.to_datetime(frame["day"]))


SOURCES = {
    "excel": excel,
    "json lines": lines,
    "sqlite": database,
    "parquet": lambda frame: typed(frame).to_parquet("t.parquet") or "t.parquet",
    "feather": lambda frame: typed(frame).to_feather("t.feather") or "t.feather",
    "latin-1": lambda frame: frame.to_csv("l.csv", sep="|", encoding="latin-1") or "l.csv",
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_model(frame, name):
    frame.to_csv("t.csv", index=False)
    more = ("--drop", "secret")
    run("fit", "t.csv", *FIT, *more, "-o", "m")
    expected = run("predict", "m", "t.csv")
    source = SOURCES[name](frame)
    if name == "latin-1":
        more += ("--drop", "Unnamed: 0") if ",Unnamed" in Path(source).read_text()[:20] else ()
        more += ("--encoding", "latin-1")
    run("fit", source, *FIT, *more, "-o", "n")
    assert run("predict", "n", source) == expected
    first, second = PublishedModel.load("m"), PublishedModel.load("n")
    assert first.features == second.features
    for path in Path("n").iterdir():
        assert "MARK4711" not in path.read_text(encoding="utf-8")
        assert "SELECT" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["parquet", "json lines"])
def test_the_same_in_blocks(frame, name):
    source = SOURCES[name](frame)
    how = (*FIT, "--unit", "row", "--drop", "secret", "--drop", "id")
    run("fit", source, *how, "-o", "m")
    run("fit", source, *how, "-o", "n", "--in-blocks")
    assert PublishedModel.load("m").features == PublishedModel.load("n").features


def test_standard_input(frame):
    text = frame.to_csv(index=False, sep=";").encode()
    Path("t.csv").write_bytes(text)
    run("fit", "-", *FIT, "--drop", "secret", "-o", "m", given=text)
    assert 'data = "standard input"' in Path("m/run.toml").read_text()
    assert run("predict", "m", "-", given=text) == run("predict", "m", "t.csv")
    run("init", "-", "--unit", "row", given=text)
    assert "# [features.age]" in Path("schema.toml").read_text()


URL = "postgresql://bob:hunter2@localhost:1/db?query=SELECT 'MARK4711'"


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", URL, *FIT),
        ("fit", URL.replace("query", "qery"), *FIT),
        ("fit", URL.replace("postgresql", "oracle"), *FIT),
        ("init", URL),
        ("plan", URL, "--schema", "s.toml", "--epsilon", "1", "--delta", "1e-5"),
        ("fit", URL, *FIT, "--format", "npz"),
        ("fit", URL, *FIT, "--in-blocks"),
    ],
)
def test_no_message_shows_a_password_or_a_query(frame, arguments):
    said = run(*arguments, code=2)
    assert said.startswith("Error: ")
    assert said.count("\n") == 1
    for word in ("bob", "hunter2", "MARK4711", "localhost"):
        assert word not in said


def test_postgresql_from_init_to_report(frame, server):
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS visits")
        connection.execute(
            "CREATE TABLE visits (id text, sex text, age int, day date, y text, secret text)"
        )
        with connection.cursor().copy("COPY visits FROM STDIN") as copy:
            for row in frame.astype(object).where(frame.notna(), None).values.tolist():
                copy.write_row(row)
    frame.to_csv("t.csv", index=False)
    url = f"{server}&query=SELECT * FROM visits WHERE secret LIKE 'MARK%25'"
    said = run("init", url, "--person", "id", "--target", "y")
    Ledger(9.0, 1e-3, "l.ledger", unit="person")
    said += run("fit", url, *FIT, "--drop", "secret", "--ledger", "l.ledger", "-o", "m")
    run("fit", "t.csv", *FIT, "--drop", "secret", "-o", "n")
    assert PublishedModel.load("m").features == PublishedModel.load("n").features
    assert run("predict", "m", url) == run("predict", "n", "t.csv")
    said += (
        run("evaluate", "m", url, "--exact-not-private")
        + run("report", "m")
        + run("ledger", "l.ledger")
    )
    texts = [said, *(path.read_text(encoding="utf-8") for path in Path("m").iterdir())]
    texts.append(Path("schema.toml").read_text())
    password, folder = "hunter2-secret", server.rpartition("=")[2]
    for text in texts:
        for word in (password, "olga4711", folder, "SELECT", "MARK"):
            assert word not in text
    assert password.encode() not in Path("l.ledger").read_bytes()
