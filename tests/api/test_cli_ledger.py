"""``sparsedp ledger``: what it shows, what it finds, what it refuses."""

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.privacy.ledger.head import head_path


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (200, 4))
    np.savez(tmp_path / "t.npz", X=X, y=(X[:, 0] > 0).astype(int))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPARSEDP_WHO", raising=False)
    return tmp_path


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split()) if code else result.stdout


def fit(*more: object) -> None:
    budget = ("--epsilon", 0.5, "--delta", "1e-6", "--ledger", "l")
    run("fit", "t.npz", "--bounds", 1, "--classes", "0,1", "--n-nonzero", 2, *budget, *more)


def test_a_ledger_from_its_making_to_its_verification(folder):
    made = run("ledger", "l", "--create", "--epsilon", 2, "--delta", "1e-5", "--rule", "union")
    assert "rule union, protects every row, neighbors not fixed yet" in made
    assert "0 % of the budget is used." in made
    fit("-o", "a", "--who", "Ada")
    fit("-o", "b", "--seed", 1)
    Ledger(path="l").charge(0.1, 0, what="a count")
    shown = run("ledger", "l")
    rows = [line.split() for line in shown.splitlines() if line.startswith("  ")]
    assert rows[1][2:] == [
        *["Ada", "Logistic", "model", "by", "Pursuit", "t.npz", "#1", "row", "secret", "made"],
        *["0.5", "1e-06"],
    ]
    assert "SEEDED" in rows[2]
    assert "pending" in rows[3]
    assert "1 pending: charged, and no model has come of it" in shown
    assert "% of the budget is used" in shown
    content = json.loads(run("ledger", "l", "--json"))
    assert 0 < content["used"] < 0.55
    assert [line["seeded"] for line in content["history"]] == [False, True, None]
    assert "key" not in json.dumps(content)
    charged = json.loads(Path("a/model.json").read_text())["privacy"]["ledger"]
    assert charged["line"] == 1
    assert charged["head"] in Path("a/report.html").read_text()
    head = json.loads(run("ledger", "verify", "l", "--json"))
    assert head["line"] == content["head"]["line"] == 5
    assert "knows 2 given" in run("ledger", "verify", "l", "--model", "a", "--model", "b")


def test_verify_finds_a_ledger_that_is_not_what_it_was(folder):
    run("ledger", "l", "--create", "--epsilon", 2, "--delta", "1e-5")
    shutil.copy("l", "old")
    fit("-o", "a")
    shutil.copy("l", "new")
    with sqlite3.connect("l") as db:
        db.execute("UPDATE lines SET epsilon = '0.1' WHERE line = 1")
    db.close()
    assert "line 1 does not follow" in run("ledger", "verify", "l", code=1)
    assert "line 1 does not follow" in run("ledger", "l", code=2)
    shutil.copy("old", "l")
    assert "An old copy was put back" in run("ledger", "verify", "l", code=1)
    head_path(Path("l")).unlink()
    run("ledger", "verify", "l")  # nothing tells it from a new one, but for the model
    assert "a: the ledger" in run("ledger", "verify", "l", "--model", "a", code=1)
    shutil.copy("new", "l")
    run("ledger", "verify", "l", "--model", "a")


def test_what_is_refused(folder):
    assert "one ledger at a time" in run("ledger", "l", "k", code=2)
    assert "there is no ledger at verify" in run("ledger", "verify", code=2)
    run("ledger", "verify", "--create", "--epsilon", 1, "--delta", 0)  # a file of that name
    assert "Nothing has been charged" in run("ledger", "verify")
    assert "goes with verify" in run("ledger", "verify", "--model", "t.npz", code=2)
    assert "positive delta" in run(
        "ledger", "u", "--create", "--epsilon", 1, "--delta", 0, "--rule", "union", code=2
    )
    for option in (("--rule", "sum"), ("--unit", "person"), ("--neighbors", "add_remove")):
        assert "cannot be changed" in run("ledger", "verify", *option, code=2)
    Path("verify").unlink()
    assert "says that a ledger was here" in run(
        "ledger", "verify", "--create", "--epsilon", 9, "--delta", 0, code=2
    )


def test_an_old_ledger_is_converted(folder):
    with sqlite3.connect("o") as db:
        db.execute("CREATE TABLE budget (epsilon TEXT, delta TEXT)")
        db.execute(
            "CREATE TABLE charges "
            "(time TEXT, epsilon TEXT, delta TEXT, neighbors TEXT, what TEXT, events TEXT)"
        )
        db.execute("INSERT INTO budget VALUES ('2.0', '1e-05')")
        row = ("2026-01-02T03:04:05Z", "0.5", "0.0", "add_remove", "an old fit", "[]")
        db.execute("INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?)", row)
    db.close()
    assert "--upgrade" in run("ledger", "o", code=2)
    assert "an old fit" in run("ledger", "o", "--upgrade")
    assert "Left    epsilon = 1.5" in run("ledger", "o")
