"""``sparsedp demo``: the whole way of a table, by the commands that it shows."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.release import PublishedModel


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A demo, made twice: the second takes the place of the first."""
    folder = tmp_path_factory.mktemp("demo") / "d"
    for _ in range(2):
        result = CliRunner().invoke(main, ["demo", "-o", str(folder)], catch_exceptions=False)
        assert result.exit_code == 0
    return folder, result.output


def test_two_fits_are_on_one_ledger_and_the_model_is_signed(made):
    folder, said = made
    ledger = Ledger(path=folder / "patients.ledger")
    assert len(ledger.history()) == 2
    assert ledger.remaining().epsilon == pytest.approx(1)
    assert "Signed by Data protection officer" in said
    assert "The file claims no more than its releases prove." in said
    assert "Not checked" not in said


def test_private_scores_and_intervals_are_there_and_near_the_truth(made):
    folder, said = made
    model = PublishedModel.load(folder / "model")
    low, high = map(float, re.search(r"AUC +\S+ +(\S+) to (\S+)", said).groups())
    truth = float(re.search(r"on new ones the AUC is (\S+)\.\n", said).group(1))
    # The noise is fresh: the half-width is four deviations of 0.019 more than the interval's two.
    assert low - 0.08 < truth < high + 0.08
    assert truth > 0.6
    assert model.scores is not None
    assert PublishedModel.load(folder / "effects").intervals is not None
    for name in ("model", "effects"):
        assert (folder / name / "report.html").is_file()


def test_every_command_that_is_shown_can_be_copied(made):
    folder, said = made
    shown = re.findall(r"^\$ sparsedp (\S+)", said, re.MULTILINE)
    assert shown == ["plan", "fit", "fit", "ledger", "sign", "verify", "report", "export"]
    assert "WITH cells AS" in (folder / "score.sql").read_text(encoding="utf-8")


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = CliRunner().invoke(main, ["demo", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "did not make" in result.output
    assert [path.name for path in Path(tmp_path).iterdir()] == ["mine.txt"]


def test_the_report_says_who_fitted_what_is_left_and_who_signed(made):
    folder, _ = made
    signed = (folder / "model" / "report.html").read_text(encoding="utf-8")
    for told in ("Quality office", "patients.csv", "by Data protection officer", "epsilon = 1,"):
        assert told in signed
    assert '<div class="lines">' not in signed
    unsigned = (folder / "effects" / "report.html").read_text(encoding="utf-8")
    assert "Quality office" in unsigned
    assert '<div class="lines">' in unsigned


def test_another_ledger_does_not_vouch_for_a_model(made, tmp_path):
    folder, _ = made
    Ledger(3.0, 1e-5, tmp_path / "other", unit="person")
    asked = ["report", str(folder / "model"), "--ledger", str(tmp_path / "other")]
    result = CliRunner().invoke(main, [*asked, "-o", str(tmp_path / "r.html")])
    assert result.exit_code == 2
    assert not (tmp_path / "r.html").exists()


def test_a_signature_of_another_file_is_told(made, tmp_path):
    folder, _ = made
    name = "model.json.signature"
    (tmp_path / name).write_bytes((folder / "model" / name).read_bytes())
    (tmp_path / "model.json").write_bytes((folder / "effects" / "model.json").read_bytes())
    result = CliRunner().invoke(main, ["report", str(tmp_path)])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert result.exit_code == 0
    assert "it is worth nothing" in page
    assert '<div class="lines">' in page
