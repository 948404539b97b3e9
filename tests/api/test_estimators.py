"""What users of the estimators rely on."""

import json
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsedp import (
    Bounds,
    BudgetExceeded,
    Ledger,
    SparseLinearRegression,
    SparseLogisticRegression,
    TooFewRecords,
    UnprovenGuarantee,
)
from sparsedp.data.synthetic import sparse_glm
from sparsedp.fit import warned
from sparsedp.solvers import FrankWolfe, Sparsifier

SETTINGS = {"epsilon": 1.0, "delta": 1e-6, "bounds": Bounds(lower=-3, upper=3)}


def records(n=400, d=8, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = np.clip(random.normal(size=(n, d)), -3, 3)
    X[random.random(X.shape) < 0.1] = 0
    margins = X[:, :n_classes] @ (3 * np.eye(n_classes))
    return X, margins.argmax(axis=1)


def test_ten_line_example():
    X, y = records(n=4000)
    clf = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=Bounds(lower=-3, upper=3), n_nonzero=2, random_state=0
    )
    clf.fit(X, y)
    assert clf.coef_.shape == (1, 8)
    assert np.count_nonzero(clf.coef_) == 2
    assert clf.score(X, y) > 0.9
    assert clf.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert np.exp(clf.predict_log_proba(X)) == pytest.approx(clf.predict_proba(X))


def test_shapes_and_hard_zeros_of_a_multinomial_model():
    X, y = records(n=3000, n_classes=4)
    labels = np.array(["a", "b", "c", "d"])[y]
    clf = SparseLogisticRegression(**SETTINGS, n_nonzero=4, random_state=1).fit(X, labels)
    assert clf.coef_.shape == (4, 8)
    assert clf.intercept_.shape == (4,)
    assert np.count_nonzero(clf.coef_.any(axis=0)) <= 4
    assert list(clf.classes_) == ["a", "b", "c", "d"]
    assert clf.predict_proba(X).shape == (3000, 4)
    assert clf.score(X, labels) > 0.7


def test_linear_model_learns_in_declared_units():
    made = sparse_glm(n=6000, d=10, n_nonzero=3, task="linear", seed=3)
    X, y = 5 * made.X + 50, 100 * np.asarray(made.y) + 1000
    low, high = 50 - 5 * np.abs(made.X).max(), 50 + 5 * np.abs(made.X).max()
    reg = SparseLinearRegression(
        epsilon=3.0,
        delta=1e-6,
        bounds=(low, high),
        target_bounds=(float(np.min(y)), float(np.max(y))),
        n_nonzero=3,
        solver=Sparsifier(FrankWolfe(radius=2, n_steps=200)),
        random_state=0,
    ).fit(X, y)
    assert reg.coef_.shape == (10,)
    assert isinstance(reg.intercept_, float)
    assert reg.score(X, y) > 0.5


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_and_dense_give_the_same_model(intercept):
    X, y = records()
    made = [
        SparseLogisticRegression(**SETTINGS, fit_intercept=intercept, random_state=5).fit(data, y)
        for data in (X, sparse.csr_array(X), sparse.csc_matrix(X), pd.DataFrame(X))
    ]
    for other in made[1:]:
        np.testing.assert_allclose(other.coef_, made[0].coef_, rtol=1e-12)
        np.testing.assert_allclose(other.intercept_, made[0].intercept_, rtol=1e-9, atol=1e-12)
    if not intercept:
        assert made[0].intercept_ == 0


def test_model_without_intercept_has_none_for_regression_either():
    made = sparse_glm(n=2000, d=5, n_nonzero=2, task="linear", seed=3)
    reg = SparseLinearRegression(
        epsilon=1, delta=1e-6, bounds=4.0, target_bounds=(-1, 9), fit_intercept=False
    ).fit(made.X, made.y)
    assert reg.intercept_ == 0
    assert reg.predict(np.zeros((1, 5))) == 0


def test_predictions_clip_to_the_bounds():
    X, y = records()
    clf = SparseLogisticRegression(**SETTINGS, random_state=0).fit(X, y)
    far = clf.decision_function(np.full((1, 8), 1e9))
    assert far == clf.decision_function(np.full((1, 8), 3.0))


def test_infinite_epsilon_adds_no_noise():
    X, y = records()
    one, other = (
        SparseLogisticRegression(**{**SETTINGS, "epsilon": float("inf")}, random_state=s).fit(X, y)
        for s in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.privacy_.calibration == "none"
    assert "Not private" in one.privacy_.statement()


def test_secret_noise_differs_and_seeded_noise_is_stamped():
    X, y = records()
    secret = [SparseLogisticRegression(classes=(0, 1), **SETTINGS).fit(X, y) for _ in range(3)]
    assert len({model.coef_.tobytes() for model in secret}) > 1
    assert not secret[0].privacy_.seeded
    assert secret[0].privacy_.private
    seeded = SparseLogisticRegression(**SETTINGS, random_state=0).fit(X, y)
    assert seeded.privacy_.seeded
    assert not seeded.privacy_.private
    assert "not private" in seeded.privacy_.statement()


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_record_is_complete_and_json(neighbors):
    X, y = records()
    clf = SparseLogisticRegression(
        **SETTINGS, neighbors=neighbors, solver=FrankWolfe(n_steps=7), random_state=0
    ).fit(X, y)
    record = json.loads(json.dumps(clf.privacy_.to_dict()))
    assert record["epsilon"] == 1.0
    assert record["delta"] == 1e-6
    assert record["neighbors"] == neighbors
    assert record["events"][0]["count"] == 7
    assert record["solver"]["name"] == "FrankWolfe"
    assert record["solver"]["radius"] == 10.0
    assert record["bounds"] == {"lower": -3.0, "upper": 3.0}
    assert record["target"] == {"classes": [0, 1], "classes_from_data": True}
    assert record["calibration"] == "sound"
    assert {"sparsedp", "numpy", "scikit-learn"} <= set(record["versions"])
    assert any("public" in note for note in record["notes"])


def test_nothing_on_a_fitted_model_tells_the_number_of_records():
    # Seeded alike, models of 997 and of 1013 records may differ only in what was released.
    state = []
    for n in (997, 1013):
        X, y = records(n=n)
        state.append(repr(vars(SparseLogisticRegression(**SETTINGS, random_state=0).fit(X, y))))
    for text, n in zip(state, (997, 1013), strict=True):
        assert not re.search(rf"(?<!\d){n}(?!\d)", text)  # not in the middle of another number


def test_published_calibration_is_flagged():
    X, y = records()
    model = SparseLogisticRegression(
        **SETTINGS, solver=FrankWolfe(n_steps=30, calibration="published"), random_state=0
    )
    with pytest.warns(UnprovenGuarantee, match="prove"):
        model.fit(X, y)
    assert model.privacy_.calibration == "published"
    assert model.privacy_.proven_epsilon < 1  # add/remove: over-noised
    assert not model.privacy_.private
    with pytest.warns(UnprovenGuarantee):
        model.set_params(neighbors="replace_one").fit(X, y)
    assert model.privacy_.proven_epsilon > 1  # replace-one: the proof gives more than the claim
    assert "Claimed by the paper" in model.privacy_.statement()
    assert any("replacing a record" in note for note in model.privacy_.notes)


def test_published_sparsifier_with_count():
    X, y = records()
    solver = Sparsifier(
        FrankWolfe(n_steps=30, calibration="published"),
        n_nonzero="count",
        count_solver=FrankWolfe(n_steps=50),
        calibration="published",
    )
    with pytest.warns(UnprovenGuarantee):
        model = SparseLogisticRegression(**SETTINGS, solver=solver, random_state=0).fit(X, y)
    assert [event["name"] for event in model.privacy_.events] == ["count", "vertex"]
    assert 2 <= np.count_nonzero(model.coef_) <= 6  # sqrt(8) to 2 sqrt(8), rounded


def test_ledger_survives_clone_pickle_and_search_in_workers():
    X, y = records()
    ledger = Ledger(epsilon=10, delta=1e-4)
    model = SparseLogisticRegression(
        epsilon=0.5, delta=1e-6, bounds=3.0, solver=FrankWolfe(n_steps=5), ledger=ledger
    )
    search = GridSearchCV(model, {"n_nonzero": [1, 2]}, cv=3, n_jobs=2)
    search.fit(X, y)
    assert len(ledger.history()) == 7  # 2 settings x 3 folds, and the refit
    assert ledger.remaining().epsilon == 6.5
    clone(model).fit(X, y)
    pickle.loads(pickle.dumps(model)).fit(X, y)
    assert ledger.remaining().epsilon == 5.5
    cross_val_score(model, X, y, cv=2)
    assert ledger.remaining().epsilon == 4.5


def test_overspending_is_refused_before_anything_is_drawn():
    X, y = records()
    ledger = Ledger(epsilon=1.5, delta=1e-4)
    model = SparseLogisticRegression(**SETTINGS, ledger=ledger).fit(X, y)
    before = model.coef_
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        model.fit(X, y)
    assert model.coef_ is before
    assert ledger.remaining().epsilon == 0.5
    with pytest.raises(BudgetExceeded, match="neighbors"), pytest.warns(TooFewRecords):
        model.set_params(epsilon=0.01, neighbors="replace_one").fit(X, y)


def test_published_noise_is_charged_at_what_is_proven():
    X, y = records()
    ledger = Ledger(epsilon=5, delta=1e-4)
    solver = FrankWolfe(n_steps=30, calibration="published")
    with pytest.warns(UnprovenGuarantee):
        model = SparseLogisticRegression(
            **SETTINGS, solver=solver, neighbors="replace_one", ledger=ledger
        ).fit(X, y)
    assert ledger.history()[0].epsilon == model.privacy_.proven_epsilon > 1


BAD = {
    "epsilon is required": {"epsilon": None},
    "epsilon must be a positive number": {"epsilon": 0},
    "epsilon must be a positive number, got -1": {"epsilon": -1},
    "delta is required": {"delta": None},
    "delta must be between 0 and 1": {"delta": 1.0},
    "delta must be between 0 and 1, got 0": {"delta": 0},
    "bounds are missing": {"bounds": None},
    "Cannot read bounds": {"bounds": "wide"},
    "declared for 3 features": {"bounds": Bounds(lower=[0, 0, 0], upper=[1, 1, 1])},
    "n_nonzero must be a whole number": {"n_nonzero": 0},
    "more than the 8 features": {"n_nonzero": 9},
    "solver must be one of": {"solver": "magic"},
    "solver must be a name": {"solver": FrankWolfe},
    "neighbors must be one of": {"neighbors": "swap"},
    "invalid must be": {"invalid": "ignore"},
    "random_state must be": {"random_state": "dice"},
    "initial_model must be a fitted linear model": {"initial_model": object()},
    "cannot start from a public model": {
        "initial_model": LogisticRegression().fit(np.eye(8), np.arange(8) % 2),
        "solver": "frank_wolfe",
    },
    "this fit needs": {"initial_model": LogisticRegression().fit(np.eye(3), [0, 1, 0])},
    "ledger must be": {"ledger": 3.0},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_settings_say_what_to_do_and_charge_nothing(message):
    X, y = records()
    ledger = Ledger(epsilon=5, delta=1e-4)
    model = SparseLogisticRegression(**{**SETTINGS, "ledger": ledger, **BAD[message]})
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert ledger.history() == []


def test_bad_records_say_what_to_do_and_charge_nothing():
    X, y = records()
    ledger = Ledger(epsilon=5, delta=1e-4)
    model = SparseLogisticRegression(**SETTINGS, ledger=ledger)
    holes = X.copy()
    holes[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(holes, y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(len(y), dtype=int))
    with pytest.raises(ValueError, match="label"):
        clone(model).set_params(classes=[0, 7]).fit(X, y)
    with pytest.raises(ValueError, match="target_bounds is required"):
        SparseLinearRegression(**SETTINGS, ledger=ledger).fit(X, y)
    assert ledger.history() == []
    assert clone(model).set_params(classes=[0, 1], invalid="replace").fit(holes, y)
    lost = y.astype(float)
    lost[:3] = np.nan
    assert clone(model).set_params(classes=[0, 1], invalid="replace").fit(holes, lost)
    words = np.where(y == 1, "yes", "no").astype(object)
    words[np.isnan(lost)] = None
    assert clone(model).set_params(classes=["no", "yes"], invalid="replace").fit(holes, words)
    regressor = SparseLinearRegression(**SETTINGS, target_bounds=(0, 1), invalid="replace")
    assert np.isfinite(regressor.fit(holes, lost).coef_).all()


def test_declared_classes_allow_a_class_without_records():
    X, y = records()
    clf = SparseLogisticRegression(**SETTINGS, classes=[0, 1, 2]).fit(X, y)
    assert clf.coef_.shape[0] == 3
    assert clf.privacy_.target == {"classes": [0, 1, 2], "classes_from_data": False}


def test_bounds_by_name_follow_the_data_frame():
    X, y = records(d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    bounds = Bounds(lower=[-1, -2, -3], upper=[1, 2, 3], features=["c", "b", "a"])
    # A solver that keeps the declared bounds.
    settings = {"epsilon": 1, "delta": 1e-6, "bounds": bounds, "solver": "frank_wolfe"}
    clf = SparseLogisticRegression(**settings).fit(frame, y)
    assert list(clf.feature_names_in_) == ["a", "b", "c"]
    assert list(clf.clip_bounds_[1]) == [3, 2, 1]


def test_pipeline_and_html():
    X, y = records()
    model = SparseLogisticRegression(**SETTINGS)
    pipeline = make_pipeline(FunctionTransformer(lambda table: table / 3), model).fit(X, y)
    assert pipeline.predict(X).shape == y.shape
    assert "SparseLogisticRegression" in model._repr_html_()


def test_progress_is_shown(capsys):
    X, y = records()
    model = SparseLogisticRegression(**SETTINGS, solver=FrankWolfe(n_steps=9), verbose=True)
    model.fit(X, y)
    assert "9/9 releases" in capsys.readouterr().err


def test_no_warnings_in_ordinary_use():
    X, y = records()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SparseLogisticRegression(**SETTINGS).fit(X, y).predict(X)


@pytest.mark.parametrize(
    ("compiled", "asked", "said"), [(True, False, 0), (False, True, 0), (False, False, 1)]
)
def test_a_fit_without_compiled_kernels_says_so_once(monkeypatch, compiled, asked, said):
    monkeypatch.setattr(warned, "COMPILED", compiled)
    monkeypatch.setattr(warned, "ASKED_FOR_REFERENCE", asked)
    X = np.random.default_rng(0).random((40, 2))
    model = SparseLogisticRegression(epsilon=1, delta=1e-5, bounds=1.0, classes=(0, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            model.fit(X, X[:, 0] > 0.5)
    assert sum("C compiler" in str(each.message) for each in caught) == said
