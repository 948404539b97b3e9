"""The model card: front matter for machines, tables for people, and no markup of strangers."""

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from markdown_it import MarkdownIt

from sparsedp import Bounds, SparseLogisticRegression
from sparsedp.cli import main
from sparsedp.release import PublishedModel
from sparsedp.release.export.export import export
from tests.export.models import fitted
from tests.export.test_text import HOSTILE

STORED = Path(__file__).parents[1] / "data" / "models"


@pytest.fixture(scope="module")
def scored() -> PublishedModel:
    """A model with private scores and intervals; the seed is fixed, so it is marked as seeded."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (4000, 3))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=4000) / 3 > 0).astype(int)
    estimator = SparseLogisticRegression(
        epsilon=8.0,
        delta=1e-6,
        bounds=Bounds(-1, 1),
        classes=(0, 1),
        shapes="linear",
        intervals=True,
        holdout=0.3,
        random_state=0,
    )
    return PublishedModel.from_estimator(estimator.fit(X, y), target_name="relapse")


def parts(text: str) -> tuple[dict, str]:
    """Front matter as data, and the body as HTML."""
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), MarkdownIt("gfm-like", {"linkify": False}).render(body)


def test_front_matter_has_the_private_scores(scored):
    front, body = parts(export(scored, "card"))
    assert scored.scores is not None
    assert front["library_name"] == "sparsedp"
    assert front["pipeline_tag"] == "tabular-classification"
    assert "license" not in front
    assert "differential-privacy" not in front["tags"], "the noise came from a seed"
    (index,) = front["model-index"]
    (result,) = index["results"]
    assert index["name"] == "Model of relapse"
    assert set(result) == {"task", "dataset", "metrics"}
    found = {metric["type"]: metric["value"] for metric in result["metrics"]}
    assert found["roc_auc"] == pytest.approx(scored.scores.scores["AUC"].value, abs=1e-6)
    assert front["metrics"] == list(found)
    low = scored.scores.scores["AUC"].lower
    assert f"95 % interval {low:.4g} to" in result["metrics"][0]["name"]
    assert f"{low:.3g} to" in body


def test_the_card_says_what_is_guaranteed_and_known(scored):
    text = export(scored, "card")
    _, body = parts(text)
    assert "NOT PRIVATE: seeded" in body
    assert "Nothing is guaranteed" in body
    assert scored.intervals is not None
    for feature, (lower, upper) in zip(scored.features, scored.intervals.intervals, strict=False):
        assert f"<td>{feature.label}</td>" in body
        assert f"{lower:.3g} to {upper:.3g}" in body
    for section in ("What it predicts", "The guarantee", "Where not to use it", "How to load it"):
        assert f"<h2>{section}</h2>" in body
    assert body.count("<table>") >= 5
    assert scored.fingerprint() in body


@pytest.mark.parametrize("task", ["multinomial", "linear", "count"])
def test_all_tasks(task):
    model = fitted(task)
    front, body = parts(export(model, "card"))
    kind = "classification" if task == "multinomial" else "regression"
    assert front["pipeline_tag"] == f"tabular-{kind}"
    assert "What the columns hold" in body
    assert "epsilon, as counted" in body
    assert "infinite" in body  # fitted without noise, and it says so


def test_private_models_are_called_so():
    front, body = parts(export(PublishedModel.load(STORED / "0.2.0" / "selections.json"), "card"))
    assert front["tags"][0] == "differential-privacy"
    assert "PRIVATE as stated" in body


def test_names_of_strangers_are_text(scored):
    hostile = HOSTILE + "\n---\n# big <script> [a](http://b) | **c** <!-- \x07 $x$ www.evil.org"
    features = tuple(
        replace(feature, name=f"{hostile} {feature.index}") for feature in scored.features
    )
    model = replace(scored, features=features, target={**scored.target, "name": hostile})
    text = export(model, "card")
    front, body = parts(text)
    assert front["model-index"][0]["name"] == f"Model of {hostile}"
    assert text.count("\n---\n") == 1
    for tag in ("<script", "<a ", "<strong>c", "<h1>big", "<!--"):
        assert tag not in body
    shown = " ".join("".join(c if c.isprintable() else " " for c in f"{hostile} 0").split())
    assert shown in " ".join(unescape(body).split())
    rows = [line for line in text.splitlines() if line.startswith("| a")]
    assert len({line.replace("\\|", "").count("|") for line in rows[: len(features)]}) == 1


def test_the_verb_verifies_the_file_first(tmp_path, scored):
    scored.save(tmp_path)
    run = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "card"])
    assert (run.exit_code, run.output) == (0, export(scored, "card"))
    path = tmp_path / "model.json"
    content = json.loads(path.read_text())
    content["features"][0]["coef"][0] += 1
    path.write_text(json.dumps(content))
    card = tmp_path / "README.md"
    run = CliRunner().invoke(main, ["export", str(tmp_path), "--to", "card", "-o", str(card)])
    assert run.exit_code == 1
    assert "NOT PROVEN: do not rely on this file" in card.read_text()
