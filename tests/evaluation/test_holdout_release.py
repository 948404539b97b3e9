"""Scores of those who were held out, in the model file, the report and the terminal."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp.cli import main
from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.release.read import HASH, content_hash
from sparsedp.release.report import render_report
from sparsedp.release.scores import pictures_of
from tests.evaluation.test_holdout import TASKS, estimator, records

N = 6000


@pytest.fixture(scope="module", params=TASKS)
def fitted(request):
    return estimator(request.param, epsilon=4.0).fit(*records(request.param, N))


def test_the_file_has_the_table_and_scores_are_computed_anew(fitted, tmp_path):
    model = PublishedModel.from_estimator(fitted)
    again = PublishedModel.load(model.save(tmp_path))
    assert np.array_equal(again.table, fitted.evaluation_.table)
    assert again.scores.scores == fitted.evaluation_.scores
    assert again.scores.null == fitted.evaluation_.null
    assert again.scores.share == 0.5
    found = verify(tmp_path)
    assert found.problems == ()
    assert found.verdict.private
    report = render_report(again)
    for name, score in again.scores.scores.items():
        assert name in report
        assert f"{score.value:.3g}" in report
    assert report.count("<figure>") >= len(pictures_of(again.scores))
    assert "fit: " in report
    assert "test: table" in report


def changed(folder, change):
    content = json.loads((folder / "model.json").read_text())
    content.pop(HASH)
    change(content)
    content[HASH] = content_hash(content)
    (folder / "model.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["evaluation"].update(table=[[1.0]]), "another shape"),
        (lambda c: c["evaluation"]["table"][0].__setitem__(0, "1"), "must be numbers"),
        (lambda c: c["evaluation"]["table"][0].__setitem__(0, 1e300), "must be numbers"),
        (lambda c: c["evaluation"].update(scores={}), "unknown fields"),
        (lambda c: c.update(evaluation=3), "not an object"),
        (lambda c: c["privacy"]["events"][0]["parts"][1].update(name="x"), "no release"),
        (lambda c: c["privacy"]["events"][0]["parts"][1]["events"][0].update(cells=9), "cells"),
        (
            lambda c: c["privacy"].update(events=c["privacy"]["events"][0]["parts"][0]["events"]),
            "no",
        ),
    ],
)
def test_a_table_that_was_not_released_is_refused(change, message, tmp_path):
    model = estimator("binary").fit(*records("binary", 300))
    PublishedModel.from_estimator(model).save(tmp_path)
    changed(tmp_path, change)
    with pytest.raises(ValueError, match=message):
        PublishedModel.load(tmp_path)


def test_scores_that_were_taken_out_are_missed(tmp_path):
    model = estimator("binary").fit(*records("binary", 300))
    PublishedModel.from_estimator(model).save(tmp_path)
    changed(tmp_path, lambda content: content.pop("evaluation"))
    assert any("lists scores" in problem for problem in verify(tmp_path).problems)


def test_a_part_that_costs_more_than_is_stated_is_found_out(tmp_path):
    model = estimator("binary").fit(*records("binary", 300))
    PublishedModel.from_estimator(model).save(tmp_path)

    def dearer(content):
        content["privacy"]["events"][0]["parts"][1]["events"][0]["epsilon"] = 2.5

    found = verify(changed(tmp_path, dearer))
    assert found.verdict.level == "contradicted"
    assert found.verdict.epsilon == pytest.approx(2.5)


def another_part(content):
    parts = content["privacy"]["events"][0]["parts"]
    parts[1]["share"] -= 0.25
    parts.append({**parts[1], "name": "more", "share": 0.25})


@pytest.mark.parametrize(
    "change",
    [
        another_part,
        lambda c: c["privacy"]["events"][0]["parts"][1]["events"][0].update(epsilon=0.5),
        lambda c: c["privacy"]["events"][0]["parts"][1]["events"][0].update(name="x"),
        lambda c: c["privacy"]["events"][0]["parts"].reverse(),
    ],
)
def test_parts_that_no_fit_releases_are_found_out(change, tmp_path):
    model = estimator("binary").fit(*records("binary", 300))
    PublishedModel.from_estimator(model).save(tmp_path)
    found = verify(changed(tmp_path, change))
    assert any("one table about those" in problem for problem in found.problems)


def test_pictures_stay_in_their_frames(fitted):
    for picture in pictures_of(PublishedModel.from_estimator(fitted).scores):
        numbers = [float(n) for pair in picture.points.split() for n in pair.split(",")]
        numbers += [n for mark in picture.marks for n in (mark.x, mark.y, mark.top, mark.bottom)]
        assert numbers
        assert all(math.isfinite(n) and 0 <= n <= picture.size for n in numbers)


def test_fit_on_the_command_line(tmp_path):
    X, y = records("binary", 2000)
    data = tmp_path / "data.csv"
    rows = [",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True)]
    data.write_text("\n".join(["a,b,c,d,y", *rows]))
    fit = ["fit", str(data), "--schema=-1,1", "--target", "y", "--classes", "a,b"]
    fit += ["--epsilon", "2", "--delta", "1e-6", "--unit", "row"]
    ledger = ["--ledger", str(tmp_path / "l.sqlite"), "--ledger-epsilon", "2"]
    ledger += ["--ledger-delta", "1e-6"]
    out = tmp_path / "model"
    run = CliRunner().invoke(main, [*fit, "--holdout", "0.3", *ledger, "-o", str(out)])
    assert run.exit_code == 0, run.output
    assert "Private scores, on rows that were held out" in run.output
    assert "AUC" in run.output
    assert "holdout = 0.3" in (out / "run.toml").read_text()
    assert "ROC curve" in (out / "report.html").read_text()
    for verb in (
        ["verify", str(out), "--ledger", str(tmp_path / "l.sqlite")],
        ["report", str(out)],
    ):
        shown = CliRunner().invoke(main, verb)
        assert shown.exit_code == 0, shown.output
    assert shown is not None
    assert "AUC" in shown.output
    # Without a ledger, as its budget is used up; what is told says of which share scores are.
    run = CliRunner().invoke(main, [*fit, "--holdout", "0.3", "-o", str(tmp_path / "b"), "--json"])
    assert json.loads(run.stdout)["evaluation"]["share"] == 0.3
    bad = CliRunner().invoke(main, [*fit, "--holdout", "1.5", "-o", str(tmp_path / "no")])
    assert bad.exit_code == 2
    assert "strictly between" in bad.output
