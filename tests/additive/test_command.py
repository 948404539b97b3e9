"""Shapes and monotone effects from raw tables: by the command line, and by a schema in Python."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import Ledger, Schema, SparseLogisticRegression
from sparsedp.cli import main
from sparsedp.cli.declared import solver as solvers
from sparsedp.release import PublishedModel
from tests.bent import Bent

SCHEMA = """
[target]
column = "ill"
classes = [0, 1]

[features.age]
lower = 0
upper = 100

[features.dose]
lower = 0
upper = 10

[features.color]
categories = ["red", "green", "blue"]
"""
FIT = ("fit", "t.csv", "--schema", "s.toml", "--epsilon", "5", "--delta", "1e-5", "--quiet")


def table(n=300):
    random = np.random.default_rng(0)
    age, dose = random.integers(0, 101, size=n), random.integers(0, 11, size=n)
    color = random.choice(["red", "green", "blue"], size=n)
    ill = (np.abs(age - 50) > 25).astype(int)
    columns = {"age": age, "dose": dose, "color": color, "ill": ill}
    return {name: column.tolist() for name, column in columns.items()}


@pytest.fixture
def bent(tmp_path, monkeypatch):
    """A folder with a table and its schema, and the solver that bends under a name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(solvers.BY_NAME, "bent", Bent)
    rows = zip(*table().values(), strict=True)
    text = "age,dose,color,ill\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    Path("t.csv").write_text(text)
    Path("s.toml").write_text(SCHEMA)


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_fit_predict_report_and_repeat(bent):
    more = ("--solver", "bent", "--shapes", "additive", "--n-nonzero", 2, "--seed", 3)
    asked = ("--monotone", "dose=increasing", "--monotone", "color=red=decreasing")
    said = json.loads(run(*FIT, *more, *asked, "-o", "m", "--json").stdout)
    model = PublishedModel.load("m")
    shaped = {feature.label: feature for feature in model.features if feature.knots}
    assert shaped
    assert set(said["shapes"]) == set(shaped)
    for name, shape in said["shapes"].items():
        assert shape["knots"] == list(shaped[name].knots)
        np.testing.assert_array_equal(np.transpose(shape["values"]), shaped[name].shape.values)
    names = model.privacy["bounds"]["features"]
    positions = {"increasing": [names.index("dose")], "decreasing": [names.index("color=red")]}
    assert model.privacy["model"]["monotone"] == positions
    assert model.privacy["model"]["shapes"] == "additive"
    run("predict", "m", "t.csv", "-o", "p.csv")
    run("report", "m", "-o", "r.html")
    assert "<polyline" in Path("r.html").read_text()
    settings = tomllib.loads(Path("m/run.toml").read_text())["fit"]
    assert settings["shapes"] == "additive"
    assert settings["monotone"] == ["dose=increasing", "color=red=decreasing"]
    shown = run("fit", "t.csv", "--config", "m/run.toml", "-o", "again", "--quiet").stdout
    assert "  ~ is a piecewise linear effect" in shown
    assert Path("again/model.json").read_text() == Path("m/model.json").read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--monotone", "dose"), "write NAME=increasing"),
        (("--monotone", "dose=up"), "'up', not one of"),
        (("--monotone", "sugar=increasing"), "'sugar', which is no feature"),
        (("--monotone", "1=increasing"), "'1', which is no feature"),
        (("--solver", "noisy_gd", "--shapes", "additive"), "takes the solver 'pursuit'"),
        (("--shapes", "wavy"), "'wavy' is not one of"),
    ],
)
def test_what_is_refused_is_not_charged(bent, more, message):
    Ledger(10, 1e-3, "l.ledger")
    result = run(*FIT, *more, "--ledger", "l.ledger", "-o", "m", code=2)
    assert message in result.output
    assert Ledger(path="l.ledger").history() == []
    assert not Path("m").exists()


def test_a_plan_knows_shapes(bent):
    asked = ("plan", "--n-features", 9, "--epsilon", 1, "--delta", 1e-6)
    run(*asked, "--shapes", "linear")
    result = run(*asked, "--solver", "noisy_gd", "--shapes", "additive", code=2)
    assert "takes the solver 'pursuit'" in result.output


def test_features_without_names_go_by_number(bent):
    X = np.random.default_rng(0).random((50, 3))
    np.savez("x.npz", X=X, y=(X[:, 0] > 0.5).astype(int))
    asked = ("--target", "y", "--classes", "0,1", "--bounds", "0,1", "--monotone", "2=increasing")
    run("fit", "x.npz", *asked, "--solver", "bent", *FIT[4:], "-o", "m")
    assert PublishedModel.load("m").privacy["model"]["monotone"] == {"increasing": [2]}


def test_columns_of_a_schema_go_by_name():
    frame = table()
    schema = Schema.from_toml(SCHEMA)
    model = SparseLogisticRegression(
        epsilon=5,
        delta=1e-5,
        schema=schema,
        n_nonzero=4,
        shapes="additive",
        monotone={"age": "increasing"},
        solver=Bent(),
    ).fit(frame)
    assert set(model.shapes_) <= set(schema.feature_names)
    assert model.shape_("age").knots[-1] == 100
    assert (np.diff(model.shape_("age").values[:, 0]) >= -1e-12).all()
    file = PublishedModel.from_estimator(model)
    assert file.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
