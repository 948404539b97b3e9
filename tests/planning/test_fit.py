"""What a fit does with a plan: one line, a question before it pays, and numbers in the model."""

import json
import tomllib

import numpy as np
import pytest
from click.testing import CliRunner, Result

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.release import PublishedModel

SCHEMA = """
unit = "row"
[target]
column = "ill"
classes = ["no", "yes"]
[features.age]
lower = 0
upper = 100
[features.dose]
lower = 0
upper = 1
"""
FIT = ("fit", "t.csv", "--schema", "schema.toml", "--epsilon", 1, "--delta", 1e-6, "--quiet")
PLANNED = ("--records", 20_000, "--ceiling", "0.80:0.88", "--rate", 0.2)
HOPELESS = ("--records", 20, "--ceiling", "0.55:0.60", "--rate", 0.02)


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    write(tmp_path, 60)
    return tmp_path


def write(folder, n):
    rng = np.random.default_rng(2)
    rows = [
        f"{100 * age:.1f},{dose:.3f},{'yes' if dose > 0.5 else 'no'}"
        for age, dose in rng.uniform(0, 1, (n, 2))
    ]
    (folder / "t.csv").write_text("\n".join(["age,dose,ill", *rows]))


def test_the_line_and_what_is_kept_of_it(folder):
    result = run(*FIT, *PLANNED, "-o", "m")
    assert "Planned: AUC about" in result.stderr
    model = PublishedModel.load("m")
    assert model.planned is not None
    assert model.planned["metric"] == "AUC"
    assert f"at least {model.planned['at_least']:.2f} in 19 of 20" in result.stderr
    assert model.planned["ceiling"] == [0.8, 0.88]
    assert PublishedModel.load("m").to_json() == model.to_json()
    settings = tomllib.loads((folder / "m" / "run.toml").read_text())["fit"]
    assert (settings["records"], settings["ceiling"], settings["rate"]) == (
        20_000,
        [0.8, 0.88],
        0.2,
    )
    report = (folder / "m" / "report.html").read_text()
    assert "planned, at least this in 19 of 20" in report
    again = run("fit", "t.csv", "--config", "m/run.toml", "--quiet", "-o", "again")
    assert "Planned: AUC about" in again.stderr


def test_the_records_are_not_counted(folder):
    first = run(*FIT, *PLANNED, "-o", "a").stderr
    write(folder, 90)
    assert run(*FIT, *PLANNED, "-o", "b").stderr == first
    assert "Planned" not in run(*FIT, "-o", "c").stderr
    assert PublishedModel.load("c").planned is None
    assert "planned, at least" not in (folder / "c" / "report.html").read_text()


def test_a_number_that_looks_counted_is_refused(folder):
    result = run(*FIT, "--records", 20_137, "-o", "m", code=2)
    assert "private" in result.stderr
    run(*FIT, "--records", 20_137, "--neighbors", "replace_one", "-o", "m")  # there it is public
    # That of persons is public there, that of their rows never is.
    (folder / "t.csv").write_text("id,age,dose,ill\n1,50,0.2,no\n2,60,0.7,yes\n2,61,0.7,yes\n")
    persons = ("--person", "id", "--neighbors", "replace_one", "-o", "p")
    result = run(*FIT, "--records", 20_137, *persons, code=2)
    assert "rows of persons" in result.stderr


def test_hopeless_fits_are_not_paid_for_unasked(folder):
    budget = ("--ledger", "l.ledger", "--ledger-epsilon", 3, "--ledger-delta", 1e-5)
    result = run(*FIT, *HOPELESS, *budget, "-o", "m", code=2)
    assert "nothing better than guessing" in result.stderr
    assert not (folder / "m").exists()
    assert Ledger(path=folder / "l.ledger").history() == []
    run(*FIT, *HOPELESS, *budget, "--yes", "-o", "m")
    assert len(Ledger(path=folder / "l.ledger").history()) == 1
    assert "yes" not in tomllib.loads((folder / "m" / "run.toml").read_text())["fit"]


def test_planned_achieved_and_guessing_side_by_side(folder):
    write(folder, 2000)
    holdout = ("--records", 300, "--ceiling", "0.90:0.99", "--rate", 0.5, "--holdout", 0.5)
    run(*FIT[:5], 9, *FIT[6:], *holdout, "-o", "m")
    report = (folder / "m" / "report.html").read_text()
    start = report.index("Quality: planned and achieved")
    section = report[start : report.index("</table>", start)]
    for row in ("planned, at least", "achieved", "by guessing"):
        assert row in section
    run(*FIT[:5], 9, *FIT[6:], *holdout[:-2], "-o", "n")
    promised = [PublishedModel.load(name).planned["at_least"] for name in ("m", "n")]
    assert promised[0] < promised[1]  # half of the records are for the scores


def test_settings_without_a_law_are_fitted_without_a_promise():
    others = {
        "a": ("--n-nonzero", 1),
        "b": ("--no-intercept",),
        "c": ("--monotone", "age=increasing"),
        "d": ("--intervals",),
    }
    for name, other in others.items():
        result = run(*FIT, *HOPELESS, *other, "-o", name)
        assert "no prediction" in result.stderr
        assert other[0] in result.stderr
        assert PublishedModel.load(name).planned is None


@pytest.mark.parametrize(
    "planned",
    [
        {"metric": "AUC"},
        {"metric": "<b>", "expected": 1, "at_least": 1, "null": 0, "ceiling": [1, 1]},
        {"metric": "AUC", "expected": "x", "at_least": 1, "null": 0, "ceiling": [1, 1]},
        {"metric": "AUC", "expected": 1, "at_least": 1, "null": 0, "ceiling": [1]},
        7,
    ],
)
def test_a_plan_from_strangers_is_checked(planned, folder):
    run(*FIT, "-o", "m")
    content = json.loads((folder / "m" / "model.json").read_text())
    (folder / "m" / "model.json").write_text(json.dumps(content | {"planned": planned}))
    with pytest.raises(ValueError, match="planned"):
        PublishedModel.load("m")
