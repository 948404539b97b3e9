"""sparsedp plan with --records: what is printed, drawn and refused."""

import json

import numpy as np
import pytest
from click.testing import CliRunner, Result

from sparsedp import Ledger, plan
from sparsedp.cli import main

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
ASKED = ("--records", 20_000, "--epsilon", 1, "--ceiling", "0.80:0.88", "--rate", 0.2)


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return tmp_path


def test_the_same_as_in_python(folder):
    said = json.loads(run("plan", "--schema", "schema.toml", *ASKED, "--json").stdout)
    found = plan(n_records=20_000, n_features=2, epsilon=1, ceiling=(0.80, 0.88), rate=0.2)
    assert said["quality"] == json.loads(json.dumps(found.to_dict()))
    assert said["releases"]  # what the verb has always told
    text = run("plan", "--schema", "schema.toml", *ASKED, "--html", "plan.html").stdout
    assert f"at least {found.quality.at_least:.3f} in 19 of 20" in text
    assert "Gaussian releases" in text
    assert "<svg" in (folder / "plan.html").read_text()


def test_a_ledger_is_read_and_not_made(folder):
    ledger = Ledger(3.0, 1e-5, folder / "l.ledger")
    text = run("plan", "--n-features", 9, *ASKED, "--ledger", "l.ledger").stdout
    assert "remain epsilon = 2" in text
    assert ledger.history() == []
    run("plan", "--n-features", 9, *ASKED, "--ledger", "none.ledger", code=2)
    assert not (folder / "none.ledger").exists()


def test_other_settings_are_not_predicted():
    for other in (("--solver", "noisy_gd"), ("--n-nonzero", 2), ("--shapes", "linear")):
        text = run("plan", "--n-features", 9, *ASKED, *other).stdout
        assert "no prediction: quality was measured with the default settings" in text
        assert other[0] in text
        assert "19 of 20" not in text


def test_a_public_file_is_fitted_to(folder):
    rng = np.random.default_rng(2)
    rows = ["age,dose,ill"]
    for age, dose in rng.uniform(0, 1, (80, 2)):
        rows.append(f"{100 * age:.1f},{dose:.3f},{'yes' if dose > 0.5 else 'no'}")
    (folder / "public.csv").write_text("\n".join(rows))
    few = ("--records", 500, "--epsilon", 3, "--public", "public.csv")
    text = run("plan", "--schema", "schema.toml", *few).stdout
    assert "fits of the public sample" in text


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--records", "many"), "records"),
        (("--records", 500, "--ceiling", "high"), "range"),
        (("--records", 500, "--ceiling", "0.3:0.9"), "ceiling"),
        (("--html", "page.html"), "records"),
        (("--records", 500, "--n-nonzero", 2, "--html", "page.html"), "nothing to draw"),
    ],
)
def test_bad_input_is_one_sentence(arguments, word, folder):
    result = run("plan", "--n-features", 9, "--epsilon", 1, *arguments, code=2)
    assert word in result.stderr
    assert not (folder / "page.html").exists()
