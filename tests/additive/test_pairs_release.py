"""Interactions in the model file and what is made of it: all bits come back, readers are told."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sparsedp import Bounds, PrivateSearchCV, SparseLogisticRegression
from sparsedp.cli import show
from sparsedp.cli.declared import solver as solvers
from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.release.card import Card
from sparsedp.release.effects import effects_of, joint_effects_of
from sparsedp.release.export.export import export
from sparsedp.release.export.program import design_of
from sparsedp.release.read_shapes import MOST_PAIRS
from tests.additive import test_bends
from tests.additive.test_command import FIT, bent, run  # noqa: F401
from tests.additive.test_release import forged
from tests.api.test_model_schema import VALIDATOR, accepted
from tests.bent import Bent
from tests.cases import BOUNDS, LOSSES

PAIRS = ((0, 1), (1, 4), (2, 5))
NAMES = ["age", "dose <b>", "bmi", "days", "height", "age x dose <b>"]
TASKS = ["logistic", "multinomial", "squared", "poisson"]


def fitted(loss="logistic", **settings):
    return test_bends.fitted(loss, **{"solver": Bent(tight=True, pairs=PAIRS)} | settings)


def saved(folder, loss="logistic", **settings):
    model, table = fitted(loss, **settings)
    return PublishedModel.from_estimator(model).save(folder), model, table


def published(loss="logistic", **settings):
    return PublishedModel.from_estimator(fitted(loss, **settings)[0], feature_names=NAMES)


def alone(model):
    """Features that do something only together with another one."""
    return [feature for feature in model.features if not any(feature.swing)]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_file_predicts_as_the_estimator_to_the_last_bit(loss, tmp_path):
    path, model, table = saved(tmp_path, loss)
    read = PublishedModel.load(path)
    assert read == PublishedModel.from_estimator(model)
    assert read.to_json() == path.read_text()
    assert read.fingerprint() == PublishedModel.from_estimator(model).fingerprint()
    assert read.predict(table.X).tobytes() == np.asarray(model.predict(table.X)).tobytes()
    assert tuple(pair.features for pair in read.interactions) == PAIRS
    for pair, each in zip(read.interactions, model.interactions_, strict=True):
        assert pair.weights == tuple(each.weights)
    assert read.linear_form().largest_difference == model.linear_form_.largest_difference
    without = replace(read, interactions=())
    assert without.to_json() != read.to_json()
    assert without.predict(table.X).tobytes() != read.predict(table.X).tobytes()


@pytest.mark.parametrize("loss", LOSSES)
def test_no_record_is_farther_from_the_line_than_is_said(loss):
    model, random = PublishedModel.from_estimator(fitted(loss)[0]), np.random.default_rng(0)
    parts = random.random((4000, 6))
    parts[:2000] = parts[:2000].round()  # corners of the declared bounds
    lower, upper = np.array(BOUNDS.lower), np.array(BOUNDS.upper)
    X, form = lower + (upper - lower) * parts, model.linear_form()
    line = X[:, [feature.index for feature in model.features]] @ form.coef.T + form.intercept
    off = np.abs(np.reshape(model.decision_function(X), line.shape) - line).max()
    assert 0.2 * form.largest_difference < off < form.largest_difference * (1 + 1e-12)


def test_a_feature_that_acts_in_a_pair_only_is_in_the_file(tmp_path):
    path, model, table = saved(tmp_path)
    read = PublishedModel.load(path)
    lone, effects = alone(read), effects_of(read)
    assert [feature.index for feature in lone] == [0, 2]
    for feature in lone:
        assert (effects[feature.index].step, effects[feature.index].change) == ("alone", "nothing")
        X = table.X.copy()
        X[:, feature.index] = 0
        assert not np.array_equal(read.decision_function(X), model.decision_function(table.X))
    # Zero, but in no pair: it is told as any other.
    effects = effects_of(replace(read, interactions=read.interactions[1:]))
    assert (effects[0].step, effects[0].change) == ("each 0.1 more", "odds × 1")


def test_files_without_interactions_are_as_before(tmp_path):
    for settings in ({"shapes": "additive"}, {"shapes": "linear"}, {"monotone": {0: "increasing"}}):
        path, _, _ = saved(tmp_path, **settings)
        assert "interactions" not in path.read_text()
        content = json.loads(path.read_text())
        content.pop("sha256")
        read = PublishedModel.load(path)
        for none in ([], None):
            path.write_text(json.dumps(content | {"interactions": none}))
            assert PublishedModel.load(path) == read
            assert "interactions" not in PublishedModel.load(path).to_json()


def pair(**changes):
    """The first pair, changed."""
    return lambda content: content["interactions"][0].update(changes)


def asked(**changes):
    """Another record of what was asked for."""
    return lambda content: content["privacy"]["model"].update(changes)


def with_intervals(content):
    del content["shapes"]
    content["intervals"] = {}


NOT_TWO = "not of two features that are listed"
NO_NUMBERS = "weights must list 1 finite numbers"
MAY_NOT = "needs shapes 'auto' and nothing monotone"
NO_TRUTH = "must be true or false"
BROKEN = {
    "no list": (lambda c: c.update(interactions={}), "interactions must be a list"),
    "no object": (lambda c: c.update(interactions=[[0, 1]]), "an interaction is not an object"),
    "unknown field": (pair(name="a x b"), "unknown fields name"),
    "missing field": (lambda c: c["interactions"][0].pop("weights"), "lacks weights"),
    "too many": (lambda c: c.update(interactions=[0] * (MOST_PAIRS + 1)), "more than 30,000"),
    "twice": (lambda c: c["interactions"].insert(0, c["interactions"][0]), "once each"),
    "out of order": (lambda c: c["interactions"].reverse(), "once each, by features"),
    "no features": (pair(features=None), NOT_TWO),
    "features in text": (pair(features="01"), NOT_TWO),
    "one feature": (pair(features=[0]), NOT_TWO),
    "three features": (pair(features=[0, 1, 2]), NOT_TWO),
    "not listed": (pair(features=[0, 3]), NOT_TWO),
    "beyond": (pair(features=[0, 6]), NOT_TWO),
    "negative": (pair(features=[-1, 0]), NOT_TWO),
    "by name": (pair(features=["0", "1"]), NOT_TWO),
    "true and false": (pair(features=[False, True]), NOT_TWO),
    "broken numbers": (pair(features=[0.0, 1.0]), NOT_TWO),
    "lists": (pair(features=[[], {}]), NOT_TWO),
    "reversed": (pair(features=[1, 0]), "features must be in their order"),
    "with itself": (pair(features=[1, 1]), "features must be in their order"),
    "one number": (pair(weights=0.5), NO_NUMBERS),
    "no weights": (pair(weights=[]), NO_NUMBERS),
    "one output more": (pair(weights=[0.5, 0.5]), NO_NUMBERS),
    "weight in text": (pair(weights=["1"]), NO_NUMBERS),
    "true weight": (pair(weights=[True]), NO_NUMBERS),
    "missing weight": (pair(weights=[None]), NO_NUMBERS),
    "infinite weight": (pair(weights=[10**400]), NO_NUMBERS),
    "zero": (pair(weights=[0]), "must not be zero"),
    "minus zero": (pair(weights=[-0.0]), "must not be zero"),
    "wide": (lambda c: c["features"][0].update(lower=-1e308, upper=1e308), "too far apart"),
    "intervals": (with_intervals, "a model with interactions has no intervals"),
    "asked in text": (asked(interactions="yes"), NO_TRUTH),
    "asked by a number": (asked(interactions=1), NO_TRUTH),
    "asked by nothing": (asked(interactions=None), NO_TRUTH),
    "lines": (lambda c: c["privacy"]["model"].pop("shapes"), MAY_NOT),
    "additive": (asked(shapes="additive"), MAY_NOT),
    "monotone": (asked(monotone={"increasing": [0]}), MAY_NOT),
}


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("model"))[0].read_text()


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_interaction_is_refused(name, text, tmp_path):
    change, message = BROKEN[name]
    content = json.loads(text)
    change(content)
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        PublishedModel.load(tmp_path)


def test_outputs_count_towards_the_most(tmp_path):
    path, _, _ = saved(tmp_path, "multinomial")
    content = json.loads(path.read_text())
    for count, message in ((7501, "more than 30,000"), (7500, "not an object")):
        path.write_text(json.dumps(content | {"interactions": [0] * count}))
        with pytest.raises(ValueError, match=message):
            PublishedModel.load(path)


@pytest.mark.parametrize("loss", TASKS)
def test_what_the_library_reads_satisfies_the_schema(loss, tmp_path):
    text, random = saved(tmp_path, loss)[0].read_text(), np.random.default_rng(3)
    VALIDATOR.validate(json.loads(text))
    values = [None, True, -1, 0, 1, 5, 0.5, 1e308, "", "a", [], [0.0], {}, {"a": 1}]
    read = 0
    for _ in range(200):
        content = json.loads(text)
        content.pop("sha256")
        where = content["interactions"][random.integers(len(PAIRS))]
        where = where[("features", "weights")[random.integers(2)]]
        where[random.integers(len(where))] = values[random.integers(len(values))]
        if accepted(content):
            read += 1
            VALIDATOR.validate(content)
    assert read > 20


HOW = {"epsilon": 8, "delta": 1e-6, "bounds": Bounds(-1, 1), "random_state": 0}


def crossed():
    """Classes that two features decide about together."""
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 4))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


def test_verify_asks_whether_features_may_interact(tmp_path):
    X, y = crossed()
    model = PublishedModel.from_estimator(SparseLogisticRegression(**HOW, classes=(0, 1)).fit(X, y))
    assert (0, 1) in [pair.features for pair in model.interactions]
    path = model.save(tmp_path)
    assert verify(path).problems == ()
    assert verify(path).notes == ()
    problems = forged(path, asked(interactions=False))
    assert "Features interact in the model, and the record says that effects add up." in problems
    path = model.save(tmp_path / "damaged")
    content = json.loads(path.read_text())
    content["interactions"][0]["weights"][0] *= 2
    path.write_text(json.dumps(content))
    assert any("does not have the hash" in problem for problem in verify(path).problems)


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["model"].update(n_nonzero=None),
        lambda record: record["model"].update(n_nonzero={}),
        lambda record: record["model"].update(n_nonzero=-3),
        lambda record: record["model"].update(n_nonzero=99),
        lambda record: record.update(solver={"name": "Pursuit", "n_nonzero": {}}),
        lambda record: record.update(solver={"name": "Pursuit", "n_nonzero": 99}),
        lambda record: record.update(solver={"name": "NoisyGD"}),
    ],
)
def test_settings_that_no_fit_had_are_a_problem_and_no_traceback(change, tmp_path):
    X, y = crossed()
    model = PublishedModel.from_estimator(SparseLogisticRegression(**HOW, classes=(0, 1)).fit(X, y))
    assert model.interactions
    assert forged(model.save(tmp_path), lambda content: change(content["privacy"]))


def with_pair(content):
    """A pair that no fit made, and the promise that would allow for it."""
    first, second = sorted(feature["index"] for feature in content["features"])[:2]
    content["privacy"]["model"]["interactions"] = True
    content["interactions"] = [{"features": [first, second], "weights": [3.0]}]


@pytest.mark.parametrize(
    "settings",
    [{"n_nonzero": 2}, {"bounds": Bounds(-1, 1, row_norm=2.0)}, {"fit_intercept": False}],
    ids=["chosen", "rows", "no constant"],
)
def test_verify_knows_where_pursuit_has_no_pairs(settings, tmp_path):
    """Shapes "auto" stand in all these records, but for fits without a constant."""
    X, y = crossed()
    model = SparseLogisticRegression(**HOW | settings, classes=(0, 1)).fit(X, y)
    assert "interactions" not in model.privacy_.model
    path = PublishedModel.from_estimator(model).save(tmp_path)
    assert verify(path).problems == ()

    def change(content):
        with_pair(content)
        content["privacy"]["model"]["shapes"] = "auto"

    problems = forged(path, change)
    assert "Features interact in the model, which they do not with these settings." in problems


def test_verify_trusts_the_pairs_of_a_private_search(tmp_path):
    X, y = crossed()
    model = SparseLogisticRegression(**HOW, classes=(0, 1))
    search = PrivateSearchCV(model, {"shapes": ["auto"]}, epsilon=30, delta=1e-6, random_state=0)
    found = PublishedModel.from_estimator(search.fit(X, y).best_estimator_)
    assert found.interactions
    assert verify(found.save(tmp_path)).problems == ()


def test_the_card_and_its_settings_say_it():
    for loss in TASKS:
        model = published(loss)
        card = Card.of(model)
        assert card.uses.endswith("piecewise linear; 3 pairs of features that interact")
        assert dict(card.settings)["effects"].endswith(", and pairs of features may interact")
        text = export(model, "card")
        rows = text.split("### Interactions")[1].split("\n## ")[0].count("\n| ")
        assert rows == len(PAIRS) + 1
        one = replace(model, interactions=model.interactions[:1])
        assert Card.of(one).uses.endswith("; 1 pair of features that interact")
        assert "### Interactions" not in export(replace(model, interactions=()), "card")


def test_columns_of_an_export_are_called_what_no_feature_is():
    model, table = published("squared"), fitted("squared")[1]
    names = list(design_of(model).program.outputs)
    assert names[-3:] == ["age x dose <b>'", "dose <b> x height", "bmi x age x dose <b>"]
    module: dict = {"__name__": "exported"}
    exec(export(model, "sklearn"), module)
    found = module["build"]().predict(pd.DataFrame(table.X, columns=NAMES))
    np.testing.assert_allclose(found, model.predict(table.X), rtol=1e-12, atol=1e-12)


@dataclass(frozen=True)
class Paired(Bent):
    """Under a name for the command line, which has no way to write pairs."""

    pairs: tuple[tuple[int, int], ...] = ((0, 1), (1, 3))


def test_a_fit_by_the_command_line(bent, monkeypatch):  # noqa: F811
    monkeypatch.setitem(solvers.BY_NAME, "paired", Paired)
    how = (*FIT, "--solver", "paired", "--n-nonzero", 2, "--seed", 3)
    said = json.loads(run(*how, "-o", "m", "--json").stdout)
    model = PublishedModel.load("m")
    assert [list(pair.features) for pair in model.interactions] == [[0, 1], [1, 3]]
    assert said["interactions"] == [
        {"features": list(each.names), "weights": list(each.pair.weights)}
        for each in joint_effects_of(model)
    ]
    shown = run("fit", "t.csv", "--config", "m/run.toml", "-o", "again", "--quiet").stdout
    assert Path("again/model.json").read_text() == Path("m/model.json").read_text()
    lines = shown.split("Pairs that add this where both are high or both low")[1].splitlines()
    assert lines[1:3] == show.pair_lines(model)
    run("predict", "m", "t.csv", "-o", "p.csv")
    run("report", "m", "-o", "r.html")
    assert "<h3>Interactions</h3>" in Path("r.html").read_text()
    more = ("--shapes", "additive", "-o", "n")
    assert json.loads(run(*how, *more, "--json").stdout)["interactions"] == []
    assert "Pairs" not in run(*how, "--monotone", "age=increasing", "-o", "o").stdout
