"""The command line: every verb, what it prints, what it refuses, and that its page is complete."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import sparse
from sklearn import metrics

from sparsedp import Ledger
from sparsedp.cli import VERBS, main
from sparsedp.cli.declared.declared import Declared
from sparsedp.cli.declared.given import Said
from sparsedp.cli.declared.solver import build_solver
from sparsedp.release import PublishedModel
from sparsedp.solvers import BY_NAME, FrankWolfe, Sparsifier
from tests.cases import target_words

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
N = 619
PRIVACY = ("--epsilon", "2", "--delta", "1e-5")
QUICK = ("--solver", "sparsifier", "--set", "n_steps=20", "--seed", "1")

BOUNDS = """
[target]
column = "buys"
classes = ["no", "yes"]

[bounds]
lower = -1
upper = 1

[features."age"]
lower = 0
upper = 100

[features."color"]
categories = ["red", "green", "blue"]

[features."name, full"]
drop = true
"""


def run(*arguments: object, ok: bool = True) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if ok:
        assert result.exit_code == 0, result.output
    elif not isinstance(result.exception, SystemExit):
        raise AssertionError("a bug, not bad input") from result.exception
    return result


def refused(*arguments: object) -> str:
    """The one sentence on stderr."""
    result = run(*arguments, ok=False)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with data and bounds, and the shell in it."""
    random = np.random.default_rng(0)
    age, u, v = random.uniform(20, 90, N), random.uniform(-1, 1, N), random.uniform(-1, 1, N)
    color = random.choice(["red", "green", "blue", "blue"], N)
    buys = np.where(age / 50 + 2 * u + (color == "red") > 1.5, "yes", "no")
    with (tmp_path / "people.csv").open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["name, full", "age", "u", "color", "v", "buys", "price"])
        rows = zip(age, u, color, v, buys, 3 * u - v, strict=True)
        writer.writerows([f"person {i}", *row] for i, row in enumerate(rows))
    (tmp_path / "bounds.toml").write_text(BOUNDS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def people() -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path("people.csv").read_text())))


def fit(*more: object, data: str = "people.csv") -> Result:
    return run("fit", data, "--bounds", "bounds.toml", "--drop", "price", *PRIVACY, *QUICK, *more)


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from sparsedp.cli import main; main(['--help'], standalone_mode=False); "
        "print([name for name in ('numpy', 'scipy', 'sklearn', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for verb in VERBS:
        assert f"\n  {verb} " in done.stdout


@pytest.mark.parametrize("module", ["sparsedp", "sparsedp.cli"])
def test_it_runs_as_a_module(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True
    )
    assert done.stdout.startswith("sparsedp, version")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_and_option_is_documented(verb):
    page = PAGE.read_text(encoding="utf-8")
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    assert f"## `sparsedp {verb}" in page
    section = page.split(f"## `sparsedp {verb}")[1].split("\n## ")[0]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            for name in [*parameter.opts, *parameter.secondary_opts]:
                assert f"`{name}" in section, f"{verb} {name}"
        else:
            assert parameter.name is not None
            assert parameter.name.upper() in section
    assert main.get_command(click.Context(main), "unknown") is None


def test_from_init_to_report(folder):
    fit("-o", "m", "--n-nonzero", "4")
    assert sorted(path.name for path in Path("m").iterdir()) == [
        "model.json",
        "report.html",
        "run.toml",
    ]
    model = PublishedModel.load("m")
    assert model.target["name"] == "buys"
    assert model.schema.features["color"].categories == ("red", "green", "blue")
    page = Path("m/report.html").read_text(encoding="utf-8")
    assert "one of red, green, blue" in page
    assert "raw table" in page  # what X is in Python
    output = run("predict", "m", "people.csv").stdout
    rows = list(csv.DictReader(io.StringIO(output)))
    assert list(rows[0]) == ["prediction", "probability of no", "probability of yes"]
    assert len(rows) == N
    run("predict", "m/model.json", "people.csv", "-o", "p.csv")
    assert Path("p.csv").read_text() == output

    truth = [row["buys"] for row in people()]
    scores = json.loads(run("evaluate", "m", "people.csv", "--exact-not-private", "--json").stdout)
    yes = np.array([float(row["probability of yes"]) for row in rows])
    found = {name: row["model"] for name, row in scores["metrics"].items()}
    predicted = [row["prediction"] for row in rows]
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found["log loss"] == pytest.approx(metrics.log_loss(truth, yes))
    assert found["AUC"] == pytest.approx(metrics.roc_auc_score(np.array(truth) == "yes", yes))
    shown = run("evaluate", "m", "people.csv", "--target", "buys", "--exact-not-private").stdout
    assert "NOT private" in " ".join(shown.split())

    Path("scores.json").write_text(json.dumps(scores))
    shown = run("report", "m", "--evaluation", "scores.json", "-o", "r.html").stdout
    assert "Counted anew: epsilon = " in shown
    assert "log loss" in Path("r.html").read_text(encoding="utf-8")
    run("report", "m/model.json")


def test_a_record_in_the_place_of_the_header_is_not_taken_for_names(folder):
    """It would be published with the model; nor is it quoted."""
    Path("bare.csv").write_text("Mallory,41,yes\nAda,39,no\n")
    shown = refused("init", "bare.csv", "-o", "bare.toml")
    assert "line of names above it" in " ".join(shown.split())
    assert "Mallory" not in shown
    assert "41" not in shown
    assert not Path("bare.toml").exists()
    Path("years.csv").write_text("ward,2019,2020\na,1,2\n")
    refused("init", "years.csv", "-o", "years.toml")
    Path("book.json").write_text('[{"name": "2019"}, {"name": "2020"}]')
    run("init", "years.csv", "--codebook", "book.json", "-o", "years.toml")


def test_init_asks_for_what_fit_needs(folder):
    run("init", "people.csv", "--target", "buys")
    text = Path("schema.toml").read_text()
    assert 'column = "buys"' in text
    assert '# [features."name, full"]' in text
    assert "person 1" not in text
    assert "exists" in refused("init", "people.csv")
    run("init", "people.csv", "--force")
    assert "no column 'nope'" in refused("init", "people.csv", "--target", "nope", "--force")
    columns = ("--schema", "schema.toml", "--target", "buys")
    # Who is protected comes first.
    assert "say who is protected" in refused("fit", "people.csv", *columns, *PRIVACY)
    columns += ("--unit", "row")
    assert "labels" in refused("fit", "people.csv", *columns, *PRIVACY)
    sentence = refused("fit", "people.csv", *columns, "--classes", "no,yes", *PRIVACY)
    assert "'age'" in sentence
    assert "[features.NAME]" in sentence
    assert not Path("model").exists()


def test_fit_says_nothing_private(folder):
    result = fit("-o", "m")
    texts = [result.output, *(path.read_text(encoding="utf-8") for path in Path("m").iterdir())]
    for text in texts:
        assert re.search(rf"(?<![\w.]){N}(?![\w.])", text) is None
        assert "accuracy" not in text
        assert str(folder) not in text
    assert "NOT PRIVATE" in result.stdout
    assert "++++" in result.stdout


def test_a_run_can_be_repeated(folder):
    fit("-o", "first", "--n-nonzero", "3", "--no-intercept", "--neighbors", "replace_one")
    assert "run.toml" in Path("first/run.toml").read_text()
    result = run("fit", "people.csv", "--config", "first/run.toml", "-o", "second", "--json")
    assert json.loads(result.stdout)["private"] is False
    assert PublishedModel.load("first") == PublishedModel.load("second")
    assert Path("first/run.toml").read_text() == Path("second/run.toml").read_text()
    # The command line goes before the file.
    run("fit", "people.csv", "--config", "first/run.toml", "-o", "third", "--epsilon", "9")
    assert PublishedModel.load("third").privacy["epsilon"] == 9
    assert "no [fit] table" in refused("fit", "--config", "bounds.toml")
    Path("odd.toml").write_text("[fit]\nepsilom = 1\n")
    assert "epsilom" in refused("fit", "--config", "odd.toml")
    Path("odd.toml").write_text("[fit]\nintercept = 3\n")
    assert "intercept must be true or false" in refused("fit", "--config", "odd.toml")


def test_without_a_seed_the_model_is_private(folder):
    arguments = ("fit", "people.csv", "--bounds", "bounds.toml", "--drop", "price")
    result = run(*arguments, *PRIVACY, "--solver", "sparsifier", "--set", "n_steps=20")
    assert result.stdout.startswith("PRIVATE as stated\n  (2, 1e-05)-differential")
    assert "already holds a model" in refused(*arguments, *PRIVACY)
    run(*arguments, *PRIVACY, "--solver", "sparsifier", "--set", "n_steps=20", "--force")


def test_published_calibration_warns(folder):
    result = fit("-o", "m", "--calibration", "published", "--neighbors", "replace_one")
    assert "Warning: published calibration" in result.stderr
    assert PublishedModel.load("m").privacy["calibration"] == "published"
    assert "claims epsilon = 2" in " ".join(run("report", "m").stdout.split())


def test_a_ledger_is_charged_and_refuses(folder):
    assert "no ledger at l" in refused("ledger", "l")
    assert "no ledger at l" in refused(*_fit_arguments(), "--ledger", "l")
    fit("-o", "a", "--ledger", "l", "--ledger-epsilon", "3", "--ledger-delta", "1e-4")
    assert Ledger(path="l").remaining() == (1.0, 9e-5)
    sentence = refused(*_fit_arguments(), "--ledger", "l", "-o", "b")
    assert "nothing was charged" in sentence
    assert not Path("b").exists()
    assert len(Ledger(path="l").history()) == 1
    assert "Left    epsilon = 1, delta = 9e-05" in run("ledger", "l").stdout
    shown = json.loads(run("ledger", "l", "--json").stdout)
    assert shown["history"][0]["epsilon"] == 2
    assert "together" not in run("ledger", "l").stdout
    assert "made once" in refused("ledger", "l", "--create", "--epsilon", "9", "--delta", "0")
    assert "cannot be changed" in refused("ledger", "l", "--epsilon", "9")
    assert "Nothing has been" in run("ledger", "k", "--create", "--epsilon", 1, "--delta", 0).stdout
    Path("text").write_text("no database")
    assert "not a ledger" in refused("ledger", "text")


def test_a_ledger_shows_what_planned_charges_cost(folder):
    ledger = Ledger(20.0, 1e-5, folder / "many")
    for _ in range(100):
        ledger.charge(0.1, 1e-8)
    assert "together they cost\nepsilon = 4.33 at delta = 1e-05" in run("ledger", "many").stdout
    shown = json.loads(run("ledger", "many", "--json").stdout)
    assert shown["planned_total"] == ledger.planned_total()
    assert shown["remaining"]["epsilon"] == 10.0


def _fit_arguments() -> tuple[str, ...]:
    return ("fit", "people.csv", "--bounds", "bounds.toml", "--drop", "price", *PRIVACY, *QUICK)


LABELED = ("fit", "u.csv", "--bounds", "1", "--target", "y", "--classes", "0,1")

REFUSALS = {
    "no data": (("fit",), "DATA"),
    "no such file": (("fit", "nope.csv", "--bounds", "1", *PRIVACY), "nope.csv"),
    "no epsilon": (("fit", "people.csv", "--bounds", "1", "--delta", "1e-5"), "--epsilon"),
    "negative epsilon": (
        (
            "fit",
            "u.csv",
            "--bounds",
            "1",
            "--target",
            "y",
            "--classes",
            "0,1",
            "--epsilon",
            "-1",
            "--delta",
            "1e-5",
        ),
        "epsilon must be a positive",
    ),
    "no bounds": (("fit", "people.csv", *PRIVACY), "--bounds"),
    "bounds of no file": (("fit", "people.csv", "--bounds", "no.toml", *PRIVACY), "no such file"),
    "crossed bounds": (
        ("fit", "u.csv", "--bounds", "1,0", "--target", "y", *PRIVACY),
        "lower must be below upper",
    ),
    "no target": (("fit", "u.csv", "--bounds", "1", "--classes", "0,1", *PRIVACY), "--target"),
    "unknown target": (
        (*LABELED, "--target", "z", *PRIVACY),
        "'z'",
    ),
    "unknown solver": (
        (
            "fit",
            "u.csv",
            "--bounds",
            "1",
            "--target",
            "y",
            "--classes",
            "0,1",
            "--solver",
            "magic",
            *PRIVACY,
        ),
        "--solver must be one of",
    ),
    "unknown setting": (
        (
            "fit",
            "u.csv",
            "--bounds",
            "1",
            *("--target", "y", "--classes", "0,1"),
            "--solver",
            "sparsifier",
            "--set",
            "speed=3",
            *PRIVACY,
        ),
        "n_steps",
    ),
    "bad setting": (
        (
            "fit",
            "u.csv",
            "--bounds",
            "1",
            *("--target", "y", "--classes", "0,1"),
            "--solver",
            "sparsifier",
            "--set",
            "n_steps=many",
            *PRIVACY,
        ),
        "whole number of at least 1",
    ),
    "half a setting": (
        (
            "fit",
            "u.csv",
            "--bounds",
            "1",
            *("--target", "y", "--classes", "0,1"),
            "--solver",
            "sparsifier",
            "--set",
            "n_steps",
            *PRIVACY,
        ),
        "NAME=VALUE",
    ),
    "labels not declared": (
        ("fit", "u.csv", "--bounds", "1", "--target", "one", "--drop", "y", *PRIVACY),
        "declare what the target can be: its labels by --classes",
    ),
    "classification by limits": (
        (
            *("fit", "u.csv", "--bounds", "1", "--target", "y", "--target-bounds", "0,1"),
            *("--task", "classification", *PRIVACY),
        ),
        "declare what the target can be for classification",
    ),
    "one class": (
        ("fit", "u.csv", "--bounds", "1", "--target", "one", "--classes", "3", *PRIVACY),
        "at least two labels",
    ),
    "undeclared class": (
        ("fit", "u.csv", "--bounds", "1", "--target", "y", "--classes", "5,6", *PRIVACY, "--quiet"),
        "column 'y': a declared value never occurs",
    ),
    "regression without limits": (
        ("fit", "u.csv", "--bounds", "1", "--target", "y", "--task", "regression", *PRIVACY),
        "can be for regression",
    ),
    "odd limits": (
        ("fit", "u.csv", "--bounds", "1", "--target", "y", "--target-bounds", "1", *PRIVACY),
        "two numbers",
    ),
    "a ledger's budget without ledger": (
        (
            *("fit", "u.csv", "--bounds", "1", "--target", "y", "--classes", "0,1"),
            "--ledger-epsilon",
            "1",
            *PRIVACY,
        ),
        "--ledger FILE",
    ),
    "unknown verb": (("dance",), "dance"),
    "unknown option": (("plan", "--magic"), "--magic"),
    "impossible plan": (("plan", "--epsilon", "0", "--delta", "1", "--n-features", "3"), "epsilon"),
    "no model": (("predict", ".", "u.csv"), "no model here"),
    "not a model": (("report", "bounds.toml"), "not a model"),
    "unknown format": (("init", "folder.unknown", "-o", "new.toml"), "format"),
    "LIBSVM without width": (
        ("fit", "u.svm", "--bounds", "1", "--classes", "0,1", *PRIVACY),
        "--n-features",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_bad_input_gets_one_sentence(name, folder):
    Path("u.csv").write_text("a,b,one,y\n1,0,3,0\n0,1,3,1\n1,1,3,1\n")
    Path("u.svm").write_text("1 1:1\n0 2:1\n")
    Path("folder.unknown").write_text("")
    arguments, message = REFUSALS[name]
    assert message in refused(*arguments)
    assert not Path("model").exists()


BAD_BOUNDS = {
    "[bounds\n": "not a TOML file",
    "[bounds]\nlow = 1": "[bounds]",
    "[bound]\nlower = 1": "bounds",
    '[target]\nclasses = ["a", "b"]\nlower = 1': "one of classes",
    "[target]\nlower = 1": "both lower and upper",
    '[features.age]\ncategories = ["a"]\nlower = 1': "[features.age]",
    '[target]\nclasses = ["a", "b"]\n[bounds]\nlower = 0\nupper = 1\n[features.nope]\nlower = 0': (
        "no column 'nope'"
    ),
}


@pytest.mark.parametrize("text", BAD_BOUNDS)
def test_bad_bounds_files_are_refused(text, folder):
    Path("bad.toml").write_text(text)
    message = refused("fit", "people.csv", "--target", "buys", "--bounds", "bad.toml", *PRIVACY)
    assert BAD_BOUNDS[text] in message


@pytest.mark.parametrize("kind", ["text", "whole numbers"])
def test_values_of_a_target_are_not_published_as_labels(kind, folder):
    """A review finding: every salary became a label of the model, under a green badge."""
    salaries = [f"{10 * k}k" if kind == "text" else 1000 + k for k in range(299)]
    Path("t.csv").write_text(
        "a,salary\n" + "".join(f"{k % 100},{s}\n" for k, s in enumerate(salaries))
    )
    ledger = ("--ledger", "budget.ledger", "--ledger-epsilon", "3", "--ledger-delta", "1e-3")
    sentence = refused("fit", "t.csv", "--target", "salary", "--bounds", "0,100", *PRIVACY, *ledger)
    assert "--classes" in sentence
    assert "--target-bounds" in sentence
    assert not Path("budget.ledger").exists()
    assert not Path("model").exists()


NOTHING_SAID: Said = {
    "target": None,
    "classes": None,
    "target_bounds": None,
    "task": None,
    "drop": (),
    "person": None,
    "unit": None,
}


def test_the_command_line_goes_before_the_file(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(BOUNDS + '\n[features."a \\"quoted\\" name\\u007f"]\nlower = -0.5\n')
    declared = Declared.read(str(path), NOTHING_SAID)
    again = tmp_path / "again.toml"
    again.write_text(declared.to_toml(None))
    assert Declared.read(str(again), NOTHING_SAID).schema == declared.schema
    assert declared.task == "classification"
    assert declared.target == "buys"
    said: Said = {
        **NOTHING_SAID,
        "target": "age",
        "target_bounds": "0,9",
        "task": "count",
        "drop": ("color",),
        "person": "u",
    }
    other = Declared.read(str(path), said)
    assert (other.task, other.target) == ("count", "age")
    schema = other.completed(["age", "color", "name, full", "u", 'a "quoted" name\x7f'])
    assert schema.columns == ('a "quoted" name\x7f',)
    assert schema.target.max_count == 9
    assert schema.person.column == "u"


def test_regression(folder):
    bounds = ("--bounds", "bounds.toml", "--drop", "buys", "--target-bounds", "-4,4")
    run("fit", "people.csv", "--target", "price", *bounds, *PRIVACY, *QUICK, "-o", "m")
    model = PublishedModel.load("m")
    assert (model.task, model.target["upper"]) == ("linear", 4)
    rows = list(csv.DictReader(io.StringIO(run("predict", "m", "people.csv").stdout)))
    truth = [float(row["price"]) for row in people()]
    predicted = [float(row["prediction"]) for row in rows]
    asked = ("evaluate", "m", "people.csv", "--exact-not-private", "--json")
    scores = json.loads(run(*asked).stdout)["metrics"]
    assert scores["R2"]["model"] == pytest.approx(metrics.r2_score(truth, predicted))
    error = metrics.mean_absolute_error(truth, predicted)
    assert scores["mean absolute error"]["model"] == pytest.approx(error)


@pytest.mark.parametrize("kind", ["libsvm", "npz"])
def test_files_without_names(kind, folder):
    random = np.random.default_rng(1)
    X, y = random.integers(0, 2, (80, 5)).astype(float), np.arange(80) % 3
    if kind == "npz":
        sparse.save_npz("x.npz", sparse.csr_array(X))
        np.savez("data.npz", X=X, y=y)
        more = ("data.npz",)
    else:
        lines = [f"{c} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(x))
                 for c, x in zip(y, X, strict=True)]  # fmt: skip
        Path("data").write_text("\n".join(lines) + "\n")
        more = ("data", "--format", "libsvm")
    width = ("--n-features", "5") if kind == "libsvm" else ()
    run("fit", *more, *width, "--bounds", "0,1", "--classes", "0,1,2", *PRIVACY, *QUICK, "-o", "m")
    model = PublishedModel.load("m")
    assert (model.task, model.n_features) == ("multinomial", 5)
    rows = list(csv.DictReader(io.StringIO(run("predict", "m", *more).stdout)))
    assert [float(row["prediction"]) for row in rows] == model.predict(X).tolist()
    asked = ("evaluate", "m", *more, "--exact-not-private", "--json")
    scores = json.loads(run(*asked).stdout)["metrics"]
    expected = metrics.roc_auc_score(y, model.predict_proba(X), multi_class="ovr")
    assert scores["AUC"]["model"] == pytest.approx(expected)
    run("init", *more, "-o", "new.toml")
    assert "[bounds]" in Path("new.toml").read_text()


def test_plan_needs_no_data():
    arguments = ("plan", "--epsilon", 1, "--delta", 1e-4, "--n-features", 100)
    assert "Gaussian releases" in run(*arguments).stdout
    arguments += ("--solver", "sparsifier")
    text = run(*arguments, "--set", "n_steps=1000").stdout
    assert "1000 selections" in text
    assert "published Laplace" in text
    plan = json.loads(run(*arguments, "--set", "n_steps=1000", "--json").stdout)
    assert 0.99 < plan["proven_epsilon"] <= 1
    (release,) = plan["releases"]
    assert release["scale"] == pytest.approx(2 / release["epsilon0"])
    assert plan["published"]["laplace_scale"] == pytest.approx(np.sqrt(8000 * np.log(1e4)))
    twice = json.loads(run(*arguments, "--neighbors", "replace_one", "--json").stdout)
    assert twice["releases"][0]["scale"] == pytest.approx(4 / twice["releases"][0]["epsilon0"])
    assert "Laplace noise" in run(*arguments, "--calibration", "published").stdout
    assert "1 count" in run(*arguments, "--set", "n_nonzero=count").stdout


def test_settings_of_solvers_are_typed():
    solver = build_solver("sparsifier", ["radius=5", "n_steps=7", "n_nonzero=count", "precision=2"])
    inner = FrankWolfe(radius=5.0, n_steps=7)
    assert solver == Sparsifier(inner, n_nonzero="count", precision=2.0)
    assert build_solver("sparsifier", ["n_nonzero=none"]) == Sparsifier()
    published = build_solver("sparsifier", (), "published")
    assert published == Sparsifier(FrankWolfe(calibration="published"), calibration="published")


def test_demo_of_the_papers_shows_a_private_model(folder):
    result = run("demo", "--papers", "-o", "d")
    assert "PRIVATE as stated\n  (1, 0.0001)" in result.stdout
    assert "of 8 true features found" in result.stdout
    assert str(folder / "d" / "report.html") in result.stdout
    assert "synthetic test records" in Path("d/report.html").read_text(encoding="utf-8")


def test_a_bug_shows_its_traceback(folder, monkeypatch):
    def broken(path: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(PublishedModel, "load", broken)
    result = CliRunner().invoke(main, ["report", "bounds.toml"])
    assert isinstance(result.exception, RuntimeError)


@pytest.mark.parametrize("solver", sorted(BY_NAME))
def test_every_solver_can_be_planned_fitted_and_reported(solver, tmp_path):
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(300, 5))
    np.savez(tmp_path / "t.npz", X=X, y=(X[:, 0] > 0).astype(int))
    budget = ("--epsilon", 2, "--delta", 1e-4, "--solver", solver)
    for neighbors in ("add_remove", "replace_one"):
        text = run("plan", "--n-features", 5, *budget, "--neighbors", neighbors).stdout
        assert "(proven)" in text
        assert "nothing can be promised" in text
    data = (str(tmp_path / "t.npz"), "--bounds", "1", "--target", "y", *target_words(solver))
    run("fit", *data, *budget, "--n-nonzero", 3, "-o", str(tmp_path / "m"))
    page = (tmp_path / "m" / "report.html").read_text()
    assert "PRIVATE as stated" in page


def test_counts_go_all_the_way(tmp_path):
    random = np.random.default_rng(5)
    X = random.uniform(size=(4000, 3))
    visits = random.poisson(np.exp(0.5 + X[:, 0]))
    data, model = tmp_path / "visits.csv", tmp_path / "model"
    rows = [",".join(map(str, [*x, n])) for x, n in zip(X.tolist(), visits.tolist(), strict=True)]
    data.write_text("\n".join(["a,b,c,visits", *rows]))
    how = ("--target", "visits", "--task", "count", "--bounds", "0,1", "--seed", "1", *PRIVACY)
    huber = (*how, "--target-bounds", "0,9", "--loss", "huber", "-o", model)
    assert "--loss huber is for a regression" in refused("fit", data, *huber)
    assert "--target-bounds 0,MAX" in refused(
        "fit", data, *how, "--target-bounds", "2,9", "-o", model
    )
    run("fit", data, *how, "--target-bounds", "0,15", "--n-nonzero", "1", "-o", model)
    run("verify", model)
    run("predict", model, data, "-o", tmp_path / "predicted.csv")
    predicted = np.loadtxt(tmp_path / "predicted.csv", skiprows=1)
    assert np.corrcoef(predicted, np.exp(X[:, 0]))[0, 1] > 0.95
    run("report", model)
    page = (model / "report.html").read_text()
    assert "by Poisson regression" in page
    assert "at most 15" in page
    assert "R2" in run("evaluate", model, data, "--exact-not-private").output


def test_huber_is_an_option_of_regressions(tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("a,y\n" + "\n".join(f"{i / 500},{i % 7}" for i in range(500)))
    how = ("--bounds", "0,1", "--target", "y", "--target-bounds", "0,7", *PRIVACY)
    run("fit", data, *how, "--loss", "huber", "-o", tmp_path / "m")
    model = PublishedModel.load(tmp_path / "m")
    assert model.privacy["loss"] == {"name": "Huber", "threshold": 0.25}
    assert 'loss = "huber"' in (tmp_path / "m" / "run.toml").read_text()


def test_private_scores_are_charged_and_exact_ones_have_to_be_asked_for(folder):
    fit("-o", "m", "--ledger", "l.db", "--ledger-epsilon", "9", "--ledger-delta", "1e-5")
    before = Ledger(path="l.db").remaining()
    for more in ((), ("--epsilon", "1", "--exact-not-private"), ("--epsilon", "inf")):
        said = refused("evaluate", "m", "people.csv", *more)
        assert "--epsilon" in said
        assert "--exact-not-private" in said
        assert str(N) not in said
    assert Ledger(path="l.db").remaining() == before
    asked = ("evaluate", "m", "people.csv", "--epsilon", "3", "--ledger", "l.db")
    found = json.loads(run(*asked, "--json").stdout)
    assert found["privacy"]["private"]
    assert found["scores"]["accuracy"]["lower"] < found["scores"]["accuracy"]["upper"]
    left = Ledger(path="l.db").remaining()
    assert (left.epsilon, left.delta) == (pytest.approx(before.epsilon - 3), before.delta)
    shown = run(*asked).stdout
    assert "private scores" in shown
    assert "95 % interval" in shown
    assert "nothing was charged" in refused(*asked)  # the budget does not cover a third one
    missing = refused("evaluate", "m", "people.csv", "--epsilon", "1", "--ledger", "no.db")
    assert "there is no ledger at no.db" in missing
