"""Shapes in the model file: all bits come back, and what is no shape is refused with a reason."""

import json

import numpy as np
import pytest

from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.release.card import Card
from sparsedp.release.read import content_hash
from sparsedp.release.read_shapes import MOST_KNOTS, MOST_SHAPES
from tests.additive.test_bends import fitted
from tests.cases import LOSSES

KNOTS = [0.0, 0.125, 0.25, 0.5]


def saved(folder, loss="logistic", **settings):
    model, table = fitted(loss, **settings)
    return PublishedModel.from_estimator(model).save(folder), model, table


@pytest.mark.parametrize("loss", LOSSES)
def test_a_file_predicts_as_the_estimator_to_the_last_bit(loss, tmp_path):
    path, model, table = saved(tmp_path, loss)
    read = PublishedModel.load(path)
    assert read == PublishedModel.from_estimator(model)
    assert read.to_json() == path.read_text()
    assert read.predict(table.X).tobytes() == np.asarray(model.predict(table.X)).tobytes()
    assert [feature.knots != () for feature in read.features] == [True] * 3
    for feature in read.features:
        shape = model.shape_(feature.index)
        np.testing.assert_array_equal(feature.shape.knots, shape.knots)
        np.testing.assert_array_equal(feature.shape.values, shape.values)
        np.testing.assert_array_equal(feature.swing, np.ptp(shape.values, axis=0))
    assert read.linear_form().largest_difference == model.linear_form_.largest_difference


def test_a_feature_whose_chord_is_zero_is_in_the_file(tmp_path):
    model, table = fitted()
    j = model.bends_[0].feature
    model.coef_[0, j] = 0.0
    read = PublishedModel.load(PublishedModel.from_estimator(model).save(tmp_path))
    assert j in [feature.index for feature in read.features]
    assert read.decision_function(table.X).tobytes() == model.decision_function(table.X).tobytes()


def test_lines_have_no_shapes_in_their_file(tmp_path):
    path, _, _ = saved(tmp_path, shapes="linear")
    assert "shapes" not in path.read_text()
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"shapes": []}))
    assert PublishedModel.load(path).features == PublishedModel.load(path).features


def shape(**changes):
    def change(content):
        feature = next(f for f in content["features"] if f["index"] == 1)
        assert (feature["lower"], feature["upper"]) == (0, 0.5)
        whole = {"feature": 1, "knots": KNOTS, "bends": [[0.0, 1.0, 2.0, 0.0]]}
        content["shapes"] = [{k: v for k, v in (whole | changes).items() if v is not ...}]

    return change


def twice(content):
    content["shapes"] = [content["shapes"][0]] * 2


def reversed_order(content):
    content["shapes"] = content["shapes"][::-1]


def monotone(value):
    """Asked for in the record; features then do not interact."""
    return lambda content: content["privacy"]["model"].update(monotone=value, interactions=False)


def of_lines(content):
    """What the record of a model says whose effects are lines."""
    for name in ("shapes", "interactions"):
        content["privacy"]["model"].pop(name)


MANY = np.linspace(0, 0.5, MOST_KNOTS + 1).tolist()
BROKEN = {
    "no list": (lambda c: c.update(shapes={}), "must be a list"),
    "no object": (lambda c: c.update(shapes=[1]), "a shape is not an object"),
    "unknown field": (shape(extra=1), "unknown fields extra"),
    "missing field": (shape(bends=...), "lacks bends"),
    "another feature": (shape(feature=99), "no feature that is listed"),
    "feature by name": (shape(feature="1"), "no feature that is listed"),
    "true feature": (shape(feature=True), "no feature that is listed"),
    "a list of features": (shape(feature=[]), "no feature that is listed"),
    "twice": (twice, "once each"),
    "out of order": (reversed_order, "once each"),
    "too many": (lambda c: c.update(shapes=[0] * (MOST_SHAPES + 1)), "more than 30,000 shapes"),
    "two knots": (shape(knots=[0, 0.5], bends=[[0, 0]]), "knots must be 3 to"),
    "too many knots": (shape(knots=MANY, bends=[[0] * len(MANY)]), "knots must be 3 to"),
    "knots in text": (shape(knots=["0", 0.1, 0.2, 0.5]), "knots must be 3 to"),
    "knots descend": (shape(knots=[0, 0.25, 0.125, 0.5]), "must ascend"),
    "a knot twice": (shape(knots=[0, 0.25, 0.25, 0.5]), "must ascend"),
    "knots within": (shape(knots=[0.1, 0.2, 0.3, 0.5]), "span the limits"),
    "knots beyond": (shape(knots=[0, 0.2, 0.3, 0.6]), "span the limits"),
    "infinite knot": (shape(knots=[0, 0.1, 10**400, 0.5]), "knots must be 3 to"),
    "heights missing": (shape(bends=[[0.0, 1.0, 0.0]]), "for each knot"),
    "no heights": (shape(bends=[]), "for each knot"),
    "one output more": (shape(bends=[[0.0, 1.0, 2.0, 0.0]] * 2), "for each knot"),
    "heights in text": (shape(bends=[[0.0, "1", 2.0, 0.0]]), "for each knot"),
    "true height": (shape(bends=[[0.0, True, 2.0, 0.0]]), "for each knot"),
    "first not zero": (shape(bends=[[0.1, 1.0, 2.0, 0.0]]), "end at zero"),
    "last not zero": (shape(bends=[[0.0, 1.0, 2.0, 0.1]]), "end at zero"),
    "record's shapes": (lambda c: c["privacy"]["model"].update(shapes="wavy"), "shapes is unknown"),
    "record's monotone": (monotone([]), "must be an object"),
    "direction": (monotone({"up": [0]}), "unknown direction"),
    "by name": (monotone({"increasing": ["age"]}), "positions of features"),
    "beyond": (monotone({"increasing": [6]}), "no such feature"),
    "negative": (monotone({"increasing": [-1]}), "positions of features"),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("model"))[0].read_text()


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_shape_is_refused(name, text, tmp_path):
    change, message = BROKEN[name]
    path = tmp_path / "model.json"
    content = json.loads(text)
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        PublishedModel.load(path)


def test_whole_shapes_are_read(text, tmp_path):
    content = json.loads(text)
    shape()(content)
    (tmp_path / "model.json").write_text(json.dumps(content))
    feature = next(f for f in PublishedModel.load(tmp_path).features if f.index == 1)
    assert feature.knots == tuple(KNOTS)
    assert feature.bends == ((0.0, 1.0, 2.0, 0.0),)


def forged(path, change):
    content = json.loads(path.read_text())
    change(content)
    content.pop("sha256")
    path.write_text(json.dumps(content | {"sha256": content_hash(content)}))
    return verify(path).problems


def test_verify_compares_effects_with_what_was_asked(tmp_path):
    path, _, _ = saved(tmp_path, "poisson", monotone=dict.fromkeys(range(6), "decreasing"))
    assert not any("ffect" in problem for problem in verify(path).problems)
    swapped = {"increasing": list(range(6))}
    assert any("not increasing" in problem for problem in forged(path, monotone(swapped)))
    path, _, _ = saved(tmp_path)
    problems = forged(path, of_lines)
    assert "Effects bend in the model, and the record says that they are lines." in problems


def test_the_card_says_what_was_asked_and_what_came_of_it(tmp_path):
    path, _, _ = saved(tmp_path, "poisson", monotone={3: "decreasing", 0: "decreasing"})
    card = Card.of(PublishedModel.load(path))
    assert card.uses.endswith("features, and a constant; 3 of the effects are piecewise linear")
    assert ("decreasing effects", "x0, x3") in card.settings
    assert dict(card.settings)["effects"].startswith("lines or piecewise linear")
