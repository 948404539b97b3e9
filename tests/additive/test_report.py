"""What readers see of shapes: report, words, drawings, the terminal; and the closest line."""

import itertools
import math
import re
from dataclasses import replace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.optimize import linprog

from sparsedp import evaluate
from sparsedp.cli.show import coefficient_lines
from sparsedp.data.linear_form import linear_form
from sparsedp.release import PublishedModel
from sparsedp.release.effects import effects_of
from sparsedp.release.panels import HEIGHT, MOST_LINES, MOST_PANELS, WIDTH, panels_of
from sparsedp.release.report import by_effect, render_report
from tests.additive.test_bends import fitted
from tests.bent import bend

matplotlib.use("Agg")

NAMES = ["age", "dose <b>", "bmi", "days", "height", "weight"]
MARGINS = {
    "logistic": "log-odds of 1",
    "multinomial": "score of a class",
    "squared": "prediction",
    "poisson": "log of the count",
}
TASKS = list(MARGINS)


def published(loss="logistic", **settings):
    return PublishedModel.from_estimator(fitted(loss, **settings)[0], feature_names=NAMES)


@pytest.mark.parametrize("seed", range(20))
def test_no_line_is_closer_to_a_bent_effect(seed):
    random = np.random.default_rng(seed)
    low, high = -random.random(), random.random()
    one = bend(0, random.normal(size=(3, 1)))
    one = one.moved((low + high) / 2, (high - low) / 2, (low, high))
    lower, upper = np.array([low]), np.array([high])
    declared = lower - random.integers(0, 2) * random.random(), upper + seed % 2
    coef = random.normal(size=(1, 1)) * (seed % 3)
    form = linear_form(coef, np.zeros(1), (lower, upper), declared, (one,))
    x = np.concatenate([one.knots, *declared])
    y = coef[0, 0] * np.clip(x, lower, upper) + one.at(x)[:, 0]
    ones = np.ones_like(x)
    best = linprog(  # least e with |y - s x - b| <= e
        [0, 0, 1],
        A_ub=np.vstack([np.c_[-x, -ones, -ones], np.c_[x, ones, -ones]]),
        b_ub=np.r_[-y, y],
        bounds=[(None, None), (None, None), (0, None)],
    )
    assert form.largest_difference == pytest.approx(best.fun, abs=1e-9)
    off = y - form.coef[0, 0] * x - np.ravel(form.intercept)[0]
    assert np.abs(off).max() == pytest.approx(best.fun, abs=1e-9)


def test_the_largest_difference_is_attained_with_lines_and_bends_together():
    random = np.random.default_rng(0)
    declared = np.full(3, -2.0), np.full(3, 2.0)
    clip = np.array([-1.0, -1.0, -2.0]), np.array([1.0, 1.0, 2.0])
    bends = (bend(1, random.normal(size=(3, 2))),)
    coef, intercept = random.normal(size=(2, 3)), random.normal(size=2)
    form = linear_form(coef, intercept, clip, declared, bends)
    kinks = [[-2, -1, 1, 2], [-2, *bends[0].knots, 2], [-2, 2]]
    X = np.array(list(itertools.product(*kinks)), dtype=float)
    inside = np.clip(X, *clip)
    margins = inside @ coef.T + intercept + bends[0].at(inside[:, 1])
    off = margins - X @ form.coef.T - form.intercept
    np.testing.assert_allclose(off.max(axis=0), -off.min(axis=0), atol=1e-12)
    assert np.abs(off).max() == pytest.approx(form.largest_difference, abs=1e-12)


def test_words_say_where_an_effect_is_largest():
    model = published("squared")
    for feature in model.features:
        effect = effects_of(model)[feature.index]
        last, first = (float(x.replace("−", "-")) for x in effect.step.split(" instead of "))
        at = np.interp([last, first], feature.shape.knots, feature.shape.values[:, 0])
        assert last > first
        assert abs(at[0] - at[1]) == pytest.approx(feature.swing[0], rel=1e-3)
        assert float(effect.change.replace("−", "-")) == pytest.approx(at[0] - at[1], rel=6e-3)
    odds = published("logistic")
    for index, effect in effects_of(odds).items():
        swing = next(f.swing[0] for f in odds.features if f.index == index)
        factor = float(effect.change.removeprefix("odds × "))
        assert abs(math.log(factor)) == pytest.approx(swing, abs=6e-3)


@pytest.mark.parametrize("loss", TASKS)
def test_the_report_draws_each_shape_and_stays_one_safe_page(loss):
    model = published(loss)
    text = render_report(model)
    assert text.count("<figure>") == 3
    assert text.count("<polyline") == 3 * len(model.outputs)
    assert "<b>" not in text
    assert "<script" not in text
    assert "+ sum of bends" in text
    assert "piecewise linear" in text
    panels = panels_of(model, by_effect(model))
    for panel in panels.shown:
        for line in panel.lines:
            points = np.array([point.split(",") for point in line.points.split()], dtype=float)
            assert (points >= 0).all()
            assert (points <= [WIDTH, HEIGHT]).all()
            assert (np.diff(points[:, 0]) >= 0).all()
            assert len(points) == len(panel.feature.knots) + 2
    plain = published(loss, shapes="linear")
    text = render_report(plain)
    assert "<figure>" not in text
    assert "bends" not in text


def test_hostile_numbers_are_not_drawn():
    model = published()
    feature = model.features[0]
    bad = replace(feature, coef=(1e308,), lower=-1.0, upper=99.0, knots=(-1.0, 5.0, 99.0))
    bad = replace(bad, bends=((0.0, -1e308, 0.0),))
    hostile = replace(model, features=(bad, *model.features[1:]))
    panels = panels_of(hostile, by_effect(hostile))
    assert len(panels.shown) == 2
    assert panels.n_more == 1
    assert "1 more shape is in the model file" in render_report(hostile)
    assert MOST_PANELS >= 16
    assert "nan" not in re.sub(r"<rect[^>]*>|<line[^>]*>", "", render_report(hostile)).lower()


def test_many_classes_share_few_colors():
    model = published("multinomial")
    classes = tuple(range(6))
    features = tuple(
        replace(f, coef=(*f.coef, 9.0, 0.0), bends=(*f.bends, f.bends[0], f.bends[0]))
        for f in model.features
    )
    intercept = (*model.intercept, 0.0, 0.0)
    many = replace(model, classes=classes, features=features, intercept=intercept)
    panels = panels_of(many, list(many.features))
    assert panels.lines_left_out
    for panel in panels.shown:
        assert [line.number for line in panel.lines] == list(range(MOST_LINES))
        assert "4" in [line.output for line in panel.lines]


def test_the_terminal_marks_shapes():
    lines = coefficient_lines(published())
    assert sum("~~" in line for line in lines) >= 1
    assert lines[-1] == "  ~ is a piecewise linear effect, whose shape is in the report"
    assert "~" not in "".join(coefficient_lines(published(shapes="linear")))


@pytest.mark.parametrize("loss", TASKS)
def test_plots_show_each_effect(loss):
    model, _ = fitted(loss)
    figure = model.plot_shapes()
    seen = [ax for ax in figure.axes if ax.get_visible()]
    assert sorted(ax.get_title() for ax in seen) == sorted(f"x{j}" for j in model.shapes_)
    for ax in seen:
        shape = model.shape_(int(ax.get_title()[1:]))
        drawn = [line for line in ax.lines if len(line.get_xdata()) == len(shape.knots)]
        assert len(drawn) == shape.values.shape[1]
        for line, values in zip(drawn, shape.values.T, strict=True):
            np.testing.assert_array_equal(line.get_xdata(), shape.knots)
            np.testing.assert_array_equal(line.get_ydata(), values)
    assert figure.get_supylabel() == f"effect on the\n{MARGINS[loss]}"
    two = model.plot_shapes([5, 0])
    assert [ax.get_title() for ax in two.axes] == ["x5", "x0"]
    assert len([ax for ax in model.plot_shapes(most=1).axes if ax.get_visible()]) == 1
    plt.close("all")


def test_a_model_without_features_says_so():
    model, _ = fitted()
    model.coef_, model.bends_ = np.zeros_like(model.coef_), ()
    assert model.plot_shapes().get_suptitle() == "The model uses no feature."
    plt.close("all")


def test_private_scores_are_those_of_the_bent_model(tmp_path):
    """Evaluation asks for predictions alone, so a file and its estimator score the same."""
    model, table = fitted("logistic", epsilon=3.0, random_state=0)
    file = PublishedModel.from_estimator(model)
    scores = [
        evaluate(each, table.X, table.y, epsilon=2.0, delta=1e-6, random_state=0)
        for each in (model, file)
    ]
    found = [{k: v for k, v in score.to_dict().items() if k != "privacy"} for score in scores]
    assert found[0] == found[1]
