"""Model files of every released version: still read, verified, reported, and used to predict.

The files are in ``tests/data/models``; ``events/contract.md`` has the rule that they watch over.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp import __version__
from sparsedp.cli import main
from sparsedp.release import PublishedModel
from tests.data.write_models import CASES, points

STORED = Path(__file__).parents[1] / "data" / "models"
VERSIONS = sorted(path.name for path in STORED.iterdir() if path.is_dir())
FILES = sorted(path for path in STORED.glob("*/*.json") if path.name != "expected.json")
NAMES = [f"{path.parent.name}/{path.stem}" for path in FILES]

LEVELS = {
    "minimum": "weak",
    "minimum_squared": "seeded",
    "laplace_selections": "published",
    "gaussian_releases": "published",
    "gaussian_releases_unproven": "published",
    "laplace_votes": "published",
    "without_noise": "none",
}
"""What a file is called at best; all others are private."""

TIGHTER = {"minimum_squared": 0.9}
"""Part of what was stated that is proven today, where a proof became tighter (contract.md)."""

NO_HASH = "The file carries no hash of its content: it was written before 0.2."


def level_of(version: str, name: str) -> str:
    """What a file is called today."""
    level = LEVELS.get(name, "private")
    if version == "0.1.0" and level in ("private", "weak"):
        return "advisory"  # fits of 0.1 did not always keep their word, see CHANGELOG.md
    return level


def expected(path: Path) -> dict:
    return json.loads((path.parent / "expected.json").read_text())[path.stem]


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout


def test_every_version_and_kind_has_its_files():
    assert __version__ in VERSIONS, "write the files of this version: tests/data/write_models.py"
    assert {tuple(name.split("/")) for name in NAMES} == {
        (version, case) for version in VERSIONS for case in CASES
    }


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_predicts_what_it_predicted_when_it_was_written(path):
    model = PublishedModel.load(path)
    margins = np.array(expected(path)["margins"])
    np.testing.assert_allclose(model.decision_function(points()), margins, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_is_verified(path):
    code, shown = run("verify", path, "--json")
    found = json.loads(shown)
    assert (code, found["holds"], found["problems"]) == (0, True, [])
    assert found["notes"] == ([NO_HASH] if path.parent.name == "0.1.0" else [])
    assert found["level"] == level_of(path.parent.name, path.stem)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_costs_what_it_cost_when_it_was_written(path):
    model = PublishedModel.load(path)
    counted, stated = model.verdict().epsilon, float(expected(path)["proven_epsilon"])
    if model.privacy["calibration"] == "sound":
        assert TIGHTER.get(path.stem, 0.99) * stated <= counted <= stated
    else:
        assert counted == pytest.approx(stated, rel=1e-12)
    kept = json.loads((STORED / "counted.json").read_text())[f"{path.parent.name}/{path.stem}"]
    assert counted == pytest.approx(math.inf if kept == "inf" else kept, rel=1e-12)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_is_reported(path, tmp_path):
    code, _ = run("report", path, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert code == 0
    assert "cannot be read" not in page
    for event in PublishedModel.load(path).privacy["events"]:
        assert event["name"] in page
