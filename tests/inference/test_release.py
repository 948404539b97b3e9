"""Intervals in model files, reports and on the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp.cli import main
from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.release.read import HASH, content_hash
from sparsedp.release.report import render_report
from tests.inference.test_intervals import classifier, regressor, table, wide


@pytest.fixture(scope="module")
def models():
    X, labels, numbers = table()
    wider, chosen, _ = wide()
    return {
        "same": classifier().fit(X, labels),
        "numbers": regressor().fit(X, numbers),
        "split": classifier(bounds=1.0, holdout=0.2).fit(wider, chosen),
        "drowned": classifier(epsilon=0.05).fit(X[:50], labels[:50]),
    }


@pytest.mark.parametrize("which", ["same", "numbers", "split", "drowned"])
def test_a_model_file_keeps_every_bit_and_verifies(models, which, tmp_path):
    fitted = models[which]
    path = PublishedModel.from_estimator(fitted).save(tmp_path)
    loaded = PublishedModel.load(path)
    order = [feature.index for feature in loaded.features]
    np.testing.assert_array_equal(loaded.intervals.intervals[:-1], fitted.intervals_[order])
    np.testing.assert_array_equal(loaded.intervals.p_values[:-1], fitted.p_values_[order])
    assert loaded.to_json() == path.read_text(encoding="utf-8")
    assert verify(path).problems == ()
    assert "std err" in str(loaded.summary())


@pytest.mark.parametrize("which", ["same", "split", "drowned"])
def test_the_report_says_which_features_are_certain(models, which):
    model = PublishedModel.from_estimator(models[which])
    page = render_report(model)
    assert model.intervals.sentence([f.label for f in model.features]) in page.replace("&#39;", "'")
    assert page.count('<tr class="certain"') == int(model.intervals.nonzero.sum())
    assert ("no interval" in page) is bool(np.isnan(model.intervals.standard_errors[:-1]).any())
    assert ("A secret coin divided the rows" in page) is (which == "split")
    X, labels, _ = table(n=500)
    without = classifier(intervals=False).fit(X, labels)
    plain = render_report(PublishedModel.from_estimator(without))
    assert "How well the coefficients are known" not in plain


FORGED = {
    "a shorter list": (lambda c: c["standard_errors"].pop(), "standard_errors must list 5"),
    "no error at all": (lambda c: c["standard_errors"].__setitem__(0, 0.0), "above zero"),
    "negative": (lambda c: c["standard_errors"].__setitem__(0, -1.0), "above zero"),
    "not finite": (lambda c: c["standard_errors"].__setitem__(0, 10**400), "numbers or null"),
    "text": (lambda c: c["noise_shares"].__setitem__(0, "0.1"), "numbers or null"),
    "beyond one": (lambda c: c["noise_shares"].__setitem__(0, 1.5), "between 0 and 1"),
    "null on one side": (lambda c: c["noise_shares"].__setitem__(0, None), "where errors are"),
    "confidence": (lambda c: c.__setitem__("confidence", 1.0), "confidence"),
    "method": (lambda c: c.__setitem__("method", "magic"), "method"),
    "more": (lambda c: c.__setitem__("n_records", 5000), "unknown fields"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_stranger_s_file_is_refused(models, how, tmp_path):
    change, message = FORGED[how]
    content = json.loads(PublishedModel.from_estimator(models["same"]).to_json())
    change(content["intervals"])
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        PublishedModel.load(tmp_path)


def test_intervals_that_no_release_can_have_made_are_seen(models, tmp_path):
    content = json.loads(PublishedModel.from_estimator(models["same"]).to_json())
    content["intervals"]["method"] = "split"
    del content[HASH]
    content[HASH] = content_hash(content)
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    assert "other persons" in " ".join(verify(tmp_path / "model.json").problems)
    del content["intervals"], content[HASH]
    content[HASH] = content_hash(content)
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    assert "without a fit that asked" in " ".join(verify(tmp_path / "model.json").problems)


def test_the_command_line_prints_the_table(tmp_path):
    X, labels, _ = table(n=3000)
    rows = [f"{a},{b},{int(c)},{d},{y}" for (a, b, c, d), y in zip(X, labels, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,y", *rows]), encoding="utf-8")
    given = ["fit", str(tmp_path / "t.csv"), "--bounds=-8,8", "--target", "y", "--classes", "0,1"]
    given += [
        "--intervals",
        "--epsilon",
        "3",
        "--delta",
        "1e-6",
        "--seed",
        "1",
        "-o",
        str(tmp_path / "m"),
    ]
    done = CliRunner().invoke(main, [*given, "--quiet", "--yes"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "std err" in done.output
    assert "Non-zero in this model: " in done.output
    assert "3000" not in done.output
