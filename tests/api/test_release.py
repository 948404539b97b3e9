"""Published models: the file keeps every bit and refuses what is no model; the report is true."""

import json
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsedp import (
    Bounds,
    SparseLinearRegression,
    SparseLogisticRegression,
    SparsePoissonRegressor,
)
from sparsedp.release import Card, PublishedModel, write_report
from sparsedp.release.report import render_report
from sparsedp.solvers import FrankWolfe, Sparsifier

N = 617  # a number that nothing else in a model file could be
D = 7
NAMES = ["age", "income <k>", "x&y", "été", "e", "f", "g"]
SOLVER = Sparsifier(FrankWolfe(n_steps=20))


def records(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(N, D)) * 2
    return X, np.clip((X[:, 0] - X[:, 1] + n_classes / 2).astype(int), 0, n_classes - 1)


def fitted(n_classes: int = 2, X=None, **changes):
    settings = {"epsilon": 3.0, "delta": 1e-5, "bounds": 1.5, "n_nonzero": 4, "solver": SOLVER}
    settings |= {"random_state": 0} | changes
    features, y = records(n_classes)
    X = features if X is None else X
    if n_classes == 0:
        y = features[:, 0] - features[:, 1]
        return SparseLinearRegression(target_bounds=(-5, 3), **settings).fit(X, y)
    return SparseLogisticRegression(classes=range(n_classes), **settings).fit(X, y)


def framed() -> pd.DataFrame:
    return pd.DataFrame(records(2)[0], columns=NAMES)


TASKS = {"linear": 0, "binary": 2, "multinomial": 4}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("layout", ["C", "F", "csr", "csc", "frame", "list"])
def test_predictions_equal_the_estimators_to_the_last_bit(task, layout, tmp_path):
    X, _ = records(2)
    if layout in ("C", "F"):
        X = np.array(X, order=layout)
    elif layout in ("csr", "csc"):
        X = sparse.csr_array(np.where(np.abs(X) > 1, X, 0)).asformat(layout)
    elif layout == "frame":
        X = framed()
    else:
        X = X.tolist()
    estimator = fitted(TASKS[task], X)
    model = PublishedModel.from_estimator(estimator)
    assert model.task == task
    model.save(tmp_path)
    loaded = PublishedModel.load(tmp_path)
    assert loaded == model
    assert loaded.fingerprint() == model.fingerprint()
    np.testing.assert_array_equal(loaded.predict(X), estimator.predict(X))
    if task != "linear":
        np.testing.assert_array_equal(loaded.predict_proba(X), estimator.predict_proba(X))
        np.testing.assert_array_equal(loaded.decision_function(X), estimator.decision_function(X))


def test_text_labels_survive(tmp_path):
    X, y = records(2)
    labels = np.array(["no", "yes"], dtype=object)[y]
    estimator = SparseLogisticRegression(
        epsilon=1, delta=1e-5, bounds=1.0, solver=SOLVER, random_state=0
    ).fit(X, labels)
    path = PublishedModel.from_estimator(estimator, target_name="smokes").save(tmp_path)
    model = PublishedModel.load(path)
    assert (model.predict(X) == estimator.predict(X)).all()
    assert model.target == {"classes": ["no", "yes"], "classes_from_data": True, "name": "smokes"}


def test_columns_go_by_name_and_only_the_used_ones_are_needed():
    X = framed()
    model = PublishedModel.from_estimator(fitted(2, X))
    expected = model.decision_function(X)
    used = list(model.feature_names)
    assert 0 < len(used) <= 4
    shuffled = X[used[::-1]].assign(unknown="text")
    np.testing.assert_array_equal(model.decision_function(shuffled), expected)
    np.testing.assert_array_equal(model.decision_function(X.to_numpy(), NAMES), expected)
    with pytest.raises(ValueError, match=re.escape(repr(used[0]))):
        model.predict(X.drop(columns=used[0]))
    with pytest.raises(ValueError, match="7 features, the data have 6"):
        model.predict(X.to_numpy()[:, :6])
    with pytest.raises(ValueError, match=r"contains NaN .* in column .age."):
        model.predict(X.assign(**{used[0]: np.nan}))
    with pytest.raises(ValueError, match="one row per record"):
        model.predict(X.to_numpy()[0])


def test_models_with_categories_take_the_frame_as_it_was_read(tmp_path):
    """The line that the report recommends failed for them."""
    random = np.random.default_rng(0)
    raw = pd.DataFrame({"age": random.uniform(0, 1, N), "color": random.choice(["red", "blue"], N)})
    raw["floor"] = random.choice([1.0, 2.0, np.nan], N)  # as pandas reads whole numbers with gaps
    declared = {"color": ("red", "blue"), "floor": ("1", "2")}
    encoded = raw[["age"]].copy()
    for column, values in declared.items():
        for value in values:
            said = raw[column] == (value if column == "color" else float(value))
            encoded[f"{column}={value}"] = said.astype(float)
    y = (raw["color"] == "red").astype(int)
    estimator = SparseLogisticRegression(
        epsilon=3, delta=1e-5, bounds=(0, 1), classes=(0, 1), n_nonzero=5, random_state=0
    ).fit(encoded, y)
    saved = PublishedModel.from_estimator(estimator, categories=declared).save(tmp_path)
    model = PublishedModel.load(saved)
    assert set(model.categories) == {"color", "floor"}
    expected = estimator.predict_proba(encoded)
    for frame in (raw, encoded, raw[["floor", "color", "age"]].astype({"floor": object})):
        np.testing.assert_array_equal(model.predict_proba(frame), expected)
    with pytest.raises(ValueError, match="color="):
        model.predict(raw.drop(columns="color"))


def test_names_of_arrays_are_given():
    model = PublishedModel.from_estimator(fitted(), feature_names=NAMES)
    assert set(model.feature_names) <= set(NAMES)
    assert set(PublishedModel.from_estimator(fitted()).feature_names) <= {f"x{j}" for j in range(D)}
    with pytest.raises(ValueError, match="2 feature names"):
        PublishedModel.from_estimator(fitted(), feature_names=["a", "b"])


def test_a_million_features_cost_nothing():
    X = sparse.random_array((50, 1_000_000), density=1e-5, rng=np.random.default_rng(0)).tocsr()
    y = np.arange(50) % 2
    estimator = SparseLogisticRegression(
        epsilon=1, delta=1e-5, bounds=1.0, solver=Sparsifier(FrankWolfe(n_steps=3)), n_nonzero=5
    ).fit(X, y)
    model = PublishedModel.from_estimator(estimator)
    assert model.n_features == 1_000_000
    assert len(model.to_json()) < 10_000
    np.testing.assert_array_equal(model.predict_proba(X), estimator.predict_proba(X))


def test_a_model_without_features_predicts_a_constant():
    estimator = fitted(n_nonzero=1)
    estimator.coef_ = np.zeros_like(estimator.coef_)
    model = PublishedModel.from_estimator(estimator)
    assert model.features == ()
    np.testing.assert_array_equal(model.predict(records(2)[0]), estimator.predict(records(2)[0]))
    assert "0 of 7" in Card.of(model).uses
    render_report(model)


def test_nothing_but_the_release_is_in_the_file():
    model = PublishedModel.from_estimator(fitted())
    numbers: list[float] = []

    def note(text: str) -> float:
        numbers.append(float(text))
        return numbers[-1]

    json.loads(model.to_json(), parse_int=note, parse_float=note)
    assert D in numbers
    assert N not in numbers
    assert set(json.loads(model.to_json())) == {
        *("format", "task", "target", "classes", "n_features", "features", "intercept"),
        *("categories", "privacy", "sha256"),
    }


def test_an_estimator_must_be_fitted():
    with pytest.raises(ValueError, match="fitted"):
        PublishedModel.from_estimator(SparseLogisticRegression())
    with pytest.raises(ValueError, match="not probabilities"):
        PublishedModel.from_estimator(fitted(0)).predict_proba(records(2)[0])


def put(path: str, value: object):
    """A change of a model file at a dotted path; a value of `...` deletes."""

    def change(content: dict) -> None:
        *inner, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        for key in inner:
            content = content[key]
        if value is ...:
            del content[last]
        else:
            content[last] = value

    return change


BROKEN = {
    "another format": (put("format", "sparsedp-model/2"), "format"),
    "no format": (put("format", ...), "format"),
    "unknown field": (put("extra", 1), "unknown fields extra"),
    "missing field": (put("intercept", ...), "lacks intercept"),
    "unknown task": (put("task", "trinary"), "unknown task"),
    "task against classes": (put("task", "multinomial"), "3 or more classes"),
    "equal classes": (put("classes", [1, 1]), "distinct"),
    "classes against target": (put("target.classes", [0, 2]), "differ"),
    "text intercept": (put("intercept", ["0"]), "intercept"),
    "boolean intercept": (put("intercept", [True]), "intercept"),
    "two intercepts": (put("intercept", [0.0, 0.0]), "intercept"),
    "no features": (put("n_features", 0), "n_features"),
    "index beyond": (put("features.0.index", 99), "index 99"),
    "index twice": (put("features.1.index", 0), "once each"),
    "name of a number": (put("features.0.name", 3), "name"),
    "one without name": (put("features.0.name", None), "all features have names"),
    "crossed bounds": (put("features.0.lower", 9), "below upper"),
    "huge coefficient": (put("features.0.coef", [float("inf")]), "Infinity"),
    "missing coefficient": (put("features.0.coef", []), "coef"),
    "categories": (put("categories", {"a": 1}), "categories"),
    "no delta": (put("privacy.delta", ...), "lacks delta"),
    "impossible delta": (put("privacy.delta", 2), "delta"),
    "impossible epsilon": (put("privacy.epsilon", -1), "epsilon"),
    "text seeded": (put("privacy.seeded", "no"), "seeded"),
    "claims to be private": (put("privacy.private", True), "contradicts"),
    "claims to be infinite": (put("privacy.epsilon", "inf"), "contradicts"),
    "events": (put("privacy.events", [1]), "event"),
    "binary by name": (put("privacy.bounds.binary", ["age"]), "list of positions"),
    "fewer bounds": (put("privacy.bounds.lower", [0.0]), "each of n_features"),
    "binary beyond": (put("privacy.bounds.binary", [99]), "no such feature"),
    "binary before the first": (put("privacy.bounds.binary", [-1]), "list of positions"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_not_a_model_is_refused(name, tmp_path):
    change, message = BROKEN[name]
    path = PublishedModel.from_estimator(fitted(2, framed())).save(tmp_path)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message) as error:
        PublishedModel.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("task", ["linear", "count"])
@pytest.mark.parametrize("limits", [{}, (None, None), (0, 0), (0, -1), (0, "1")])
def test_a_number_without_limits_is_refused(task, limits, tmp_path):
    limits = dict(zip(("lower", "upper"), limits, strict=False))
    with pytest.raises(ValueError, match="limit"):
        PublishedModel.load(_limited(task, limits, tmp_path))


@pytest.mark.parametrize(("lower", "upper"), [(-1, 20), (5, 20), (0, 0.5)])
def test_a_count_has_limits_from_zero(lower, upper, tmp_path):
    with pytest.raises(ValueError, match="counts have limits from 0"):
        PublishedModel.load(_limited("count", {"lower": lower, "upper": upper}, tmp_path))


def _limited(task: str, limits: dict, folder: Path) -> Path:
    """The file of a model whose target has these limits, in model and record."""
    features, counts = records(4)
    settings = {"epsilon": 3.0, "delta": 1e-5, "bounds": 1.5, "solver": SOLVER, "random_state": 0}
    model = SparsePoissonRegressor(max_count=3, **settings)
    model = fitted(0) if task == "linear" else model.fit(features, counts)
    path = PublishedModel.from_estimator(model).save(folder)
    content = json.loads(path.read_text())
    content["target"] = content["privacy"]["target"] = limits
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("text", ["", "[]", "{", "NaN", "null"])
def test_what_is_not_json_is_refused(text, tmp_path):
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(ValueError, match="not a model"):
        PublishedModel.load(tmp_path)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no model here"):
        PublishedModel.load(tmp_path)


def test_the_card_of_a_private_model():
    card = Card.of(PublishedModel.from_estimator(fitted(random_state=None, epsilon=1.0)))
    assert card.verdict.level == "private"
    assert card.verdict.reasons == ()
    assert 0.99 < card.verdict.epsilon <= 1.0 + 1e-9
    even = next(odds for odds in card.odds if odds.before == 0.5)
    assert even.most == pytest.approx(np.e / (np.e + 1))
    assert even.least == pytest.approx(1 / (np.e + 1))
    (release,) = card.releases
    assert release.count == 20


def test_verdicts():
    seeded = Card.of(PublishedModel.from_estimator(fitted()))
    assert seeded.verdict.level == "seeded"
    assert "seed" in seeded.verdict.reasons[0]
    assert seeded.odds == ()
    exact = Card.of(PublishedModel.from_estimator(fitted(epsilon=float("inf"))))
    assert exact.verdict.level == "none"
    assert "without noise" in exact.verdict.reasons[0]
    assert exact.odds == ()
    solver = Sparsifier(FrankWolfe(n_steps=20, calibration="published"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = fitted(solver=solver, neighbors="replace_one", random_state=None, epsilon=1.0)
    published = Card.of(PublishedModel.from_estimator(estimator))
    assert published.verdict.level == "published"
    assert "claims epsilon = 1" in published.verdict.reasons[0]
    assert published.epsilon > 1


def test_a_file_that_promises_too_much_is_found_out():
    model = PublishedModel.from_estimator(fitted(random_state=None))
    model.privacy["events"][0]["epsilon0"] *= 3
    model.privacy["proven_epsilon"] = 100.0  # the file's own word for it
    card = Card.of(model)
    assert card.verdict.level == "contradicted"
    assert "more than the stated" in card.verdict.reasons[0]
    assert card.odds == ()


def test_labels_from_data_and_weak_promises_are_said():
    X, y = records(2)
    estimator = SparseLogisticRegression(
        epsilon=20, delta=0.01, bounds=Bounds(-1, 1, row_norm=1), solver=SOLVER
    ).fit(X, y)
    assert not estimator.privacy_.private
    card = Card.of(PublishedModel.from_estimator(estimator))
    assert card.verdict.level == "nominal"
    assert len(card.verdict.reasons) == 3
    assert "L2 norm" in card.bounds


class Balanced(HTMLParser):
    """Raises unless every element is closed in order."""

    VOID = ("meta", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


EVALUATION = {"data": "other <data>", "metrics": {"accuracy": {"model": 0.75, "null": 0.5}}}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", [None, 0])
def test_the_report_is_one_safe_page(task, seed, tmp_path):
    X = framed() if task == "binary" else None
    model = PublishedModel.from_estimator(fitted(TASKS[task], X, random_state=seed))
    path = write_report(model, tmp_path / "report.html", EVALUATION)
    text = path.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    for outside in ("http:", "https:", "<script", "src=", "url(", "@import", "<link"):
        assert outside not in text
    assert ("PRIVATE as stated" in text) == (seed is None)
    assert ("NOT PRIVATE: seeded" in text) == (seed is not None)
    assert model.fingerprint() in text
    assert "other &lt;data&gt;" in text
    assert text.count("<rect") == len(model.features) * len(model.intercept)
    for name in model.feature_names:
        assert name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in text


def test_many_features_and_classes_continue_below():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 60)), np.arange(300) % 6
    estimator = SparseLogisticRegression(
        epsilon=1, delta=1e-5, bounds=1.0, solver=FrankWolfe(n_steps=200), random_state=1
    ).fit(X, y)
    model = PublishedModel.from_estimator(estimator)
    assert len(model.features) > 40
    text = render_report(model)
    assert text.count('<table class="chart') == 2
    assert f"{len(model.features) - 40} more features" in text


@pytest.mark.parametrize("value", [{}, [1], "x", True, 10**400, float("inf")])
def test_an_evaluation_needs_metrics(value):
    model = PublishedModel.from_estimator(fitted())
    metrics = {"accuracy": {"model": value}}
    for wrong in ({"accuracy": 1}, {"metrics": {}}, {"metrics": {"a": {}}}, {"metrics": metrics}):
        with pytest.raises(ValueError, match="metrics"):
            render_report(model, wrong)


def test_reading_a_model_needs_no_scikit_learn():
    code = "import sys, sparsedp.release.report; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
