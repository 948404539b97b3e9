"""sparsedp verify and report: a file that claims more than its releases prove is found out."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import Bounds, Ledger, SparseLogisticRegression, SparsePoissonRegressor
from sparsedp.cli import main
from sparsedp.release import PublishedModel
from sparsedp.release.read import content_hash
from sparsedp.solvers import BY_NAME
from tests.cases import target_words

ANY = ("--bounds", "0,1", "--target", "y", "--epsilon", 1, "--delta", 1e-5)
FIT = (*ANY, "--classes", "0,1")
QUICK = ("--solver", "sparsifier", "--set", "n_steps=20")


def run(*arguments: object):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with a private model, charged to a ledger."""
    folder = tmp_path_factory.mktemp("verify")
    X = np.random.default_rng(0).integers(0, 2, (300, 5))
    np.savez(folder / "t.npz", X=X, y=X[:, 0])
    ledger = ("--ledger", folder / "l.ledger", "--ledger-epsilon", 9, "--ledger-delta", 1e-2)
    for more in (("-o", folder / "m"), ("-o", folder / "seeded", "--seed", 1)):
        result = run("fit", folder / "t.npz", *FIT, *QUICK, *ledger, *more)
        assert result.exit_code == 0, result.output
    return folder


def changed(made: Path, change, *, rehash: bool = True, name: str = "m") -> Path:
    """A copy of the model after a forger's change."""
    content = json.loads((made / name / "model.json").read_text())
    change(content)
    if rehash:
        del content["sha256"]
        content["sha256"] = content_hash(content)
    path = made / "forged.json"
    path.write_text(json.dumps(content))
    return path


def test_an_honest_file_keeps_its_word(made):
    for name in ("m", "seeded"):
        result = run("verify", made / name, "--ledger", made / "l.ledger")
        assert result.exit_code == 0, result.output
        found = json.loads(run("verify", made / name, "--json").stdout)
        assert found["holds"]
        assert found["private"] == (name == "m")
        assert "ledger" in found["notes"][0]
    assert "claims no more" in run("verify", made / "m").stdout


@pytest.mark.parametrize("solver", sorted(BY_NAME))
def test_every_solver_lists_what_it_asks_for(solver, made, tmp_path):
    for more in ((), ("--neighbors", "replace_one")):
        how = (*ANY, *target_words(solver), "--solver", solver, *more)
        run("fit", made / "t.npz", *how, "-o", tmp_path / "m", "--force")
        found = json.loads(run("verify", tmp_path / "m", "--json").stdout)
        assert found["problems"] == []
        assert found["notes"] == []


def record(key: str, value: object):
    return lambda content: content["privacy"].update({key: value})


def event(**changes: object):
    return lambda content: content["privacy"]["events"][0].update(changes)


def quiet(content: dict) -> None:
    """Twice the cost, and every number of the file says that this was meant."""
    content["privacy"]["events"][0]["epsilon0"] *= 2
    content["privacy"]["proven_epsilon"] = content["privacy"]["epsilon"]


def fewer(content: dict) -> None:
    content["privacy"]["events"][0]["count"] = 1


def renamed(content: dict) -> None:
    content["privacy"]["solver"] = {"name": "Pursuit"}


FORGED = {
    "epsilon lowered": record("epsilon", 0.1),
    "both epsilons lowered": lambda c: c["privacy"].update(epsilon=0.1, proven_epsilon=0.1),
    "delta lowered": record("delta", 1e-9),
    "events emptied": record("events", []),
    "an event repeated": lambda c: c["privacy"]["events"].append(c["privacy"]["events"][0]),
    "noise halved": quiet,
    "one selection listed": fewer,
    "negative count": event(count=-20),
    "no cost": event(epsilon0=0),
    "another kind": event(event="Gaussians"),
    "unknown kind": event(event="Nothing"),
    "another purpose": event(name="other"),
    "another solver": renamed,
    "calibration published": lambda c: c["privacy"].update(calibration="published", private=False),
    "statement": record("statement", "Absolutely private."),
    "statement of a smaller epsilon": lambda c: c["privacy"].update(
        statement=c["privacy"]["statement"].replace("(1,", "(0.1,")
    ),
    "flag": record("private", False),
    "proven": record("proven_epsilon", 0.5),
    "loss": record("loss", {"name": "Squared"}),
    "width": lambda c: c.update(n_features=6),
    "labels": lambda c: c["privacy"]["target"].update(classes_from_data=True),
    "settings that no solver has": lambda c: (fewer(c), c["privacy"]["solver"].update(no=1)),
    "features that are no number": lambda c: (fewer(c), c["privacy"]["model"].update(n_nonzero="")),
    "solver with published noise": lambda c: c["privacy"]["solver"].update(calibration="published"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_found_out(name, made, tmp_path):
    path = changed(made, FORGED[name])
    result = run("verify", path)
    assert result.exit_code == 1, result.output
    found = json.loads(run("verify", path, "--json").stdout)
    assert not found["holds"]
    # The report says the same in the terminal and in HTML, and its exit code too.
    shown = run("report", path, "-o", tmp_path / "r.html")
    assert shown.exit_code == 1
    headline = shown.stdout.splitlines()[0]
    assert f">{headline}</p>" in (tmp_path / "r.html").read_text()
    assert headline.startswith("NOT PROVEN")
    assert found["level"] == "contradicted"
    assert not found["private"]


def test_the_limit_of_a_loss_is_that_of_its_counts(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (300, 5))
    settings = {"epsilon": 1.0, "delta": 1e-5, "bounds": Bounds(0, 1), "max_count": 9}
    fitted = SparsePoissonRegressor(**settings).fit(X, X[:, 0])
    PublishedModel.from_estimator(fitted).save(tmp_path / "m")
    assert run("verify", tmp_path / "m").exit_code == 0
    path = changed(tmp_path, lambda c: c["privacy"]["loss"].update(limit=5))
    result = run("verify", path)
    assert result.exit_code == 1
    assert "another limit of counts" in " ".join(result.output.split())


def test_a_name_that_stands_twice_is_refused(made):
    text = (made / "m" / "model.json").read_text()
    path = made / "twice.json"
    path.write_text(text.replace('"epsilon":', '"epsilon": 0.01, "epsilon":', 1))
    result = run("verify", path)
    assert result.exit_code == 2
    assert "stands twice" in result.output


@pytest.mark.parametrize("verb", ["verify", "report"])
def test_half_of_a_character_is_refused(made, verb):
    text = (made / "m" / "model.json").read_text()
    path = made / "half.json"
    path.write_text(text.replace('"epsilon":', '"\\ud800": 0, "epsilon":', 1))
    result = run(verb, path)
    assert result.exit_code == 2
    assert "half of a character" in result.output


def test_a_stale_hash_shows_damage(made):
    def nudge(content: dict) -> None:
        content["intercept"][0] += 1

    assert run("verify", changed(made, nudge, rehash=False)).exit_code == 1
    assert run("verify", changed(made, nudge)).exit_code == 0  # a forger computes it anew ...
    result = run("verify", changed(made, nudge), "--ledger", made / "l.ledger")
    assert result.exit_code == 1  # ... and the ledger knows better
    assert "another model" in result.output


def test_the_ledger_knows_seed_and_neighbors(made):
    def secret(content: dict) -> None:
        content["privacy"].update(seeded=False, private=True)
        honest = json.loads((made / "m" / "model.json").read_text())["privacy"]
        content["privacy"]["statement"] = honest["statement"]

    path = changed(made, secret, name="seeded")
    assert run("verify", path).exit_code == 0  # no fact in the file tells
    result = run("verify", path, "--ledger", made / "l.ledger")
    assert result.exit_code == 1
    assert "seed" in result.output
    path = changed(made, lambda c: c["privacy"]["ledger"].update(head="0" * 64))
    assert run("verify", path, "--ledger", made / "l.ledger").exit_code == 1
    path = changed(made, record("ledger", None))
    assert "no charge" in run("verify", path, "--ledger", made / "l.ledger").output


def test_a_file_of_before_is_read(made):
    def old(content: dict) -> None:
        del content["sha256"]
        content["privacy"].pop("ledger")
        content["privacy"]["versions"]["sparsedp"] = "0.1.0"

    content = json.loads((made / "m" / "model.json").read_text())
    old(content)
    (made / "old.json").write_text(json.dumps(content))
    result = run("verify", made / "old.json")
    assert result.exit_code == 0
    assert "advisories" in result.stdout
    assert "PRIVATE" not in result.stdout  # neither green nor called private
    found = json.loads(run("verify", made / "old.json", "--json").stdout)
    assert (found["level"], found["private"], found["problems"]) == ("advisory", False, [])
    run("report", made / "old.json", "-o", made / "old.html")
    assert ">IN DOUBT" in (made / "old.html").read_text()
    assert Ledger(path=made / "l.ledger").models().keys() == {1, 3}


def test_models_fitted_in_python_are_known_to_their_ledger(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, (300, 5))
    ledger = Ledger(3.0, 1e-4, tmp_path / "l")
    settings = {"epsilon": 1.0, "delta": 1e-5, "bounds": Bounds(0, 1), "classes": [0, 1]}
    fitted = SparseLogisticRegression(**settings, ledger=ledger).fit(X, X[:, 0])
    PublishedModel.from_estimator(fitted).save(tmp_path / "m")
    result = run("verify", tmp_path / "m", "--ledger", tmp_path / "l")
    assert result.exit_code == 0, result.output
    assert "coefficients were not compared" in " ".join(result.output.split())
