"""What readers see of interactions: report, words, drawings, the terminal."""

import re
from dataclasses import replace

import numpy as np
import pytest

from sparsedp.cli import show
from sparsedp.release import PublishedModel, report
from sparsedp.release.effects import joint_effects_of
from sparsedp.release.export.export import export
from sparsedp.release.panels import pair_panels_of
from sparsedp.release.panels.scale import HEIGHT, TOP, WIDTH
from sparsedp.release.report import render_report
from tests.additive.test_pairs_release import PAIRS, TASKS, alone, fitted, published


def heavier(model, *weights):
    """The same with these weights of its pairs."""
    pairs = zip(model.interactions, weights, strict=True)
    return replace(model, interactions=tuple(replace(pair, weights=(w,)) for pair, w in pairs))


@pytest.mark.parametrize("loss", TASKS)
def test_the_report_tells_and_draws_each_pair(loss):
    model = published(loss)
    text, n_outputs = render_report(model), len(model.outputs)
    assert "; 3 pairs of features that interact" in text
    assert "and pairs of features may interact" in text
    assert "+ sum of weight × u × v over pairs" in text
    assert text.count("<figure>") == 3 + 3
    assert text.count("<polyline") == 3 * n_outputs + 3 * 2
    assert "<b>" not in text
    for each in joint_effects_of(model):
        assert each.label.replace("<b>", "&lt;b&gt;") in text
        assert (each.alike in text and each.unlike in text) == (n_outputs == 1 or not each.alike)
    assert text.count("<span>alone:</span> <span>nothing</span>") == len(alone(model)) * (
        n_outputs == 1
    )
    plain = render_report(published(loss, shapes="additive"))
    assert plain.count("<figure>") == 3
    assert "nteract" not in re.sub("(?s)<style>.*?</style>", "", plain)


def test_words_say_what_is_added_at_both_kinds_of_ends():
    model = heavier(published("squared"), 0.5, -2.0, 0.25)
    found = joint_effects_of(model)
    assert [each.label for each in found] == [
        "dose <b> × height",
        "age × dose <b>",
        "bmi × age x dose <b>",
    ]
    assert [(each.alike, each.unlike) for each in found[:2]] == [("−2", "+2"), ("+0.5", "−0.5")]
    (each, *_) = joint_effects_of(heavier(published(), 0.1, np.log(2), 0.2))
    assert (each.alike, each.unlike) == ("odds × 2", "odds × 0.5")


@pytest.mark.parametrize("loss", TASKS)
def test_panels_are_predictions_at_both_ends_of_the_other_feature(loss):
    model = PublishedModel.from_estimator(fitted(loss)[0])
    panels = pair_panels_of(model, joint_effects_of(model))
    assert len(panels.shown) == len(PAIRS)
    middle = np.zeros(6)
    for feature in model.features:
        middle[feature.index] = (feature.lower + feature.upper) / 2
    pixel = (panels.scale.high - panels.scale.low) / (HEIGHT - 2 * TOP)
    for panel in panels.shown:
        knots = panel.feature.shape.knots
        X = np.tile(middle, (len(knots), 1))
        X[:, panel.feature.index] = knots
        output = model.outputs.index(panel.output)
        for line, end in ((panel.low, panel.other.lower), (panel.high, panel.other.upper)):
            X[:, panel.other.index] = end
            margins = np.reshape(model.decision_function(X), (len(X), -1))[:, output]
            points = np.array([point.split(",") for point in line.points.split()], dtype=float)
            assert (points >= 0).all()
            assert (points <= [WIDTH, HEIGHT]).all()
            drawn = panels.scale.low + (HEIGHT - TOP - points[1:-1, 1]) * pixel
            np.testing.assert_allclose(drawn, margins - margins[0], atol=0.06 * pixel)


def test_hostile_numbers_do_not_break_what_readers_see():
    model = published("squared")
    for weights in ((1e308, -1e308, 5e-324), (8e307, -8e307, 1e-300), (1e308, 1e308, 1e308)):
        hostile = heavier(model, *weights)
        assert (len(pair_panels_of(hostile, joint_effects_of(hostile)).shown) == 3) == (
            max(weights) < 1e308
        )
        wild = tuple(replace(feature, coef=(-1.7e308,)) for feature in hostile.features)
        for each in (hostile, replace(hostile, features=wild)):
            card, page = export(each, "card"), render_report(each)
            for text in (
                card.split("### Interactions")[1].split("\n## ")[0],
                page.split("<h3>Interactions</h3>")[1].split('<p class="remark">')[0],
            ):
                assert not re.search(r"\b(nan|inf)\b", text)
                assert "1e+308" in text or "8e+307" in text
            for line in (*show.pair_lines(each), *show.coefficient_lines(each)):
                assert len(line) < 80


def test_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(report, "MOST_PAIRS", 2)
    monkeypatch.setattr(show, "MOST_PAIRS", 2)
    assert "1 more in the model file." in render_report(published())
    lines = show.pair_lines(published())
    assert len(lines) == 3
    assert lines[-1] == "  ... and 1 more in the report"
    assert show.pair_lines(published("multinomial"))[0].split() == ["0", "1", "2", "3"]
    assert show.pair_lines(published(shapes="additive")) == []
