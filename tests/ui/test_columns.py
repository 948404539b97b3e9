"""The form of columns says what the schema says, there and back; commands are ones that exist."""

import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from sparsedp.cli import main
from sparsedp.cli.declared.codebook import read_codebook
from sparsedp.cli.declared.template import template
from sparsedp.ui.answers import Answers
from sparsedp.ui.columns import (
    FIELDS,
    book,
    columns_of,
    posted_columns,
    posted_target,
    tables,
    target_of,
)
from sparsedp.ui.commands import DIALECTS, EXPORTS, Commands, shown

SCHEMA = """
[person]
column = "id"
[target]
column = "y"
classes = ["<=50K", ">50K"]
[features.age]
kind = "whole"
lower = 18
upper = 110
missing = 40
source = "code book of 2024"
[features.income]
kind = "number"
lower = 0
upper = 1e6
transform = "log1p"
missing = "indicator"
[features."at, ward"]
kind = "category"
categories = ["Married, civil", "1"]
other = true
[features.when]
kind = "date"
lower = 2020-01-01
upper = 2024-12-31
format = "%d.%m.%Y"
parts = ["year", "month"]
[features.hour]
kind = "cyclic"
period = 24
[features.notes]
kind = "text"
words = 64
[features.smoker]
kind = "yes_no"
yes = ["J"]
no = ["N"]
[features.rest]
drop = true
"""
NAMES = ("id", "age", "income", "at, ward", "when", "hour", "notes", "smoker", "rest", "y")


def through_the_form(path: Path, **typed: str) -> dict:
    """What init writes from a form that nobody touched but for these fields."""
    found = tables(path)
    columns = columns_of(found, NAMES, ["y", "id"])
    form = {f"{column.key}-kind": column.kind for column in columns}
    form |= {f"{c.key}-{field}": c.fields[field] for c in columns for field in FIELDS}
    target = target_of(found, is_count=False)
    form |= {"target-kind": target.kind, "target-classes": target.classes}
    form |= {"target-lower": target.lower, "target-upper": target.upper}
    form |= {key.replace("_", "-"): text for key, text in typed.items()}
    written = book(posted_columns(columns, form), posted_target(form), "y", found)
    (path.parent / "columns.json").write_text(written)
    entries = read_codebook(path.parent / "columns.json")
    return tomllib.loads(template("t.csv", NAMES, target="y", person="id", unit=None, book=entries))


def test_a_form_that_nobody_touched_changes_nothing(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA)
    again = through_the_form(path)
    assert again.pop("bounds") == {}
    assert again == tomllib.loads(SCHEMA)


def test_limits_that_were_typed_are_not_said_to_come_from_a_code_book(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA)
    age = tomllib.loads(SCHEMA)["features"]["age"]
    typed = through_the_form(path, c1_upper="120")["features"]["age"]
    assert typed == {**{k: v for k, v in age.items() if k != "source"}, "upper": 120}


def test_a_number_is_predicted(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(SCHEMA.replace('classes = ["<=50K", ">50K"]', "lower = -2.5\nupper = 90"))
    assert through_the_form(path)["target"] == {"column": "y", "lower": -2.5, "upper": 90}


SAID = Answers(
    data="./-o.csv",
    encoding="cp1252",
    delimiter=";",
    unit="person",
    person="id; rm -rf",
    target="--seed",
    codebook="b.csv",
    is_count=True,
    n_nonzero="5",
    records="500",
    ceiling="0.8:0.9",
    rate="0.2",
    intervals=True,
    allow_unmatched=True,
    yes=True,
    ledger="a.ledger",
    who="--force",
)


@pytest.mark.parametrize(
    "name", ["x\x15echo owned #", "a\nb", "y\u202egnp.exe", "it's \\x\x07", "\x00"[:0], "\x7fé"]
)
def test_a_shell_reads_what_was_run(name):
    """Pasted into a terminal, a strange name ends no quotes and shows no other command."""
    text = shown(["init", "t.csv", "--target", name])
    assert text.isprintable()
    read = subprocess.run(
        ["bash", "-c", text.replace("sparsedp", "printf '%s\\0'", 1)],
        capture_output=True,
        check=True,
    )
    assert read.stdout.decode().split("\0")[:-1] == ["init", "t.csv", "--target", name]


@pytest.mark.parametrize("said", [SAID, Answers(data="t.csv", unit="row", ledger="a.ledger")])
def test_commands_are_understood_as_they_were_meant(said, tmp_path, monkeypatch):
    """Names that look like options stay names; nothing is run."""
    monkeypatch.chdir(tmp_path)
    for name in ("-o.csv", "t.csv", "b.csv", "a.ledger", "w/model", "w/columns.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    commands = Commands(said, "w")
    made = [commands.look(), commands.draft(), commands.plan(), commands.plan(by_default=True)]
    made += [commands.show_ledger(), commands.make_ledger(), commands.fit(), commands.resume()]
    made += [commands.verify(), *(commands.export(to, DIALECTS[0], "t") for to in EXPORTS)]
    parsed = {}
    for command in made:
        assert shlex.split(shown(command)) == ["sparsedp", *command]
        verb = main.get_command(click.Context(main), command[0])
        assert verb is not None
        with verb.make_context(command[0], list(command[1:])) as context:
            parsed[tuple(command)] = context.params
    fit = parsed[tuple(commands.fit())]
    assert str(fit["data"]) == said.data.removeprefix("./")
    assert (fit["who"] or "") == said.who
    assert (fit["force"], fit["seed"], fit["quiet"]) == (False, None, True)
    assert (parsed[tuple(commands.draft())]["target"] or "") == said.target
