"""Persons as the unit of protection, from ``fit`` to the files that leave."""

import json

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sparsedp import (
    Ledger,
    PrivateSearchCV,
    SparseLinearRegression,
    SparseLogisticRegression,
)
from sparsedp.data.dataset import Dataset
from sparsedp.fit.search import search
from sparsedp.losses import Multinomial
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import PublicFacts, Select
from sparsedp.privacy.ledger import BudgetExceeded
from sparsedp.release import PublishedModel
from sparsedp.release.approval.verify import verify
from sparsedp.release.report import render_report
from sparsedp.solvers import FrankWolfe, MultinomialLasso, NoisyGD, ObjectivePerturbation, TwoStage

RANDOM = np.random.default_rng(8)
GROUPS = np.sort(RANDOM.integers(0, 120, 400))
X = RANDOM.uniform(-1, 1, size=(400, 4))
Y = (X[:, 0] + 0.3 * RANDOM.normal(size=400) > 0).astype(int)


def classifier(**how):
    how = {"epsilon": 1.0, "delta": 1e-6, "bounds": 1.0, "classes": (0, 1), **how}
    return SparseLogisticRegression(**{"solver": FrankWolfe(n_steps=5), **how})


def test_the_unit_is_said_in_record_model_report_and_ledger(tmp_path):
    for unit, groups in (("person", GROUPS), ("row", None)):
        ledger = Ledger(3, 1e-5, tmp_path / unit, unit="person" if unit == "person" else None)
        model = classifier(ledger=ledger).fit(X, Y, groups=groups)
        assert model.privacy_.unit == unit
        assert f"differential privacy for {unit}s" in model.privacy_.statement().split(". ")[0]
        assert sum("One person, one id." in note for note in model.privacy_.notes) == (
            unit == "person"
        )
        published = PublishedModel.from_estimator(model)
        (tmp_path / "model.json").write_text(published.to_json())
        assert json.loads(published.to_json())["privacy"]["unit"] == unit
        assert verify(tmp_path / "model.json", ledger).problems == ()
        report = render_report(published)
        assert f"learns about any one {unit} at most" in report
        assert ledger.history()[0].unit == unit


def test_a_ledger_of_rows_refuses_persons_and_says_what_to_make(tmp_path):
    with pytest.raises(BudgetExceeded, match="unit='person'"):
        classifier(ledger=Ledger(1, 1e-5, tmp_path / "rows")).fit(X, Y, groups=GROUPS)


def test_a_file_that_says_person_where_rows_were_charged_is_found_out(tmp_path):
    ledger = Ledger(3, 1e-5, tmp_path / "l")
    model = classifier(ledger=ledger).fit(X, Y)
    text = PublishedModel.from_estimator(model).to_json()
    path = tmp_path / "model.json"
    path.write_text(text.replace('"unit": "row"', '"unit": "person"'))
    assert "statement" in " ".join(verify(path).problems)
    assert "unit of protection" in " ".join(verify(path, ledger).problems)


def test_what_is_refused_before_anything_is_charged():
    with pytest.raises(ValueError, match="number of persons is public"):
        classifier(neighbors="replace_one", invalid="replace").fit(X, Y, groups=GROUPS)
    for solver in (FrankWolfe(calibration="published"), NoisyGD(calibration="published")):
        with pytest.raises(ValueError, match="persons or weights"):
            classifier(solver=solver).fit(X, Y, groups=GROUPS)
        with pytest.raises(ValueError, match="persons or weights"):
            classifier(solver=solver).fit(X, Y, sample_weight=np.ones(400))
    with pytest.raises(ValueError, match="missing"):
        classifier().fit(X, Y, groups=[None, *GROUPS[1:]])


def test_under_replace_one_the_number_of_persons_is_the_public_one():
    for weights in (None, np.full(400, 0.5)):  # whose sum is private
        model = classifier(neighbors="replace_one", epsilon=0.01)
        with pytest.warns(UserWarning, match=f"persons .* Here are {len(set(GROUPS))}:"):
            model.fit(X, Y, groups=GROUPS, sample_weight=weights)


def test_a_step_of_all_classes_is_three_selections_for_persons():
    solver = MultinomialLasso(n_steps=4, balls="per_class")
    for unit, n_classes, paid in (("row", 5, 2), ("person", 5, 3), ("person", 2, 2)):
        facts = PublicFacts(n_features=6, n_nonzero=3, n_outputs=n_classes, unit=unit)
        (request,) = solver.schedule(facts).requests
        assert isinstance(request, Select)
        assert (request.count, request.drawn) == (4 * paid, 4 * n_classes)
    # Three rows with three labels: the shares of five classes do not fit into two groups of one.
    data = Dataset.clip(np.ones((3, 1)), [0, 1, 2], 1.0, classes=range(5), groups=[1, 1, 1])
    assert data.weights is not None
    residual = Multinomial(5).residual(100 * np.eye(5)[[1, 2, 0]], data.target)
    lengths = np.sort(data.weights @ np.abs(residual))
    np.testing.assert_allclose(lengths, [0, 0, 2 / 3, 2 / 3, 2 / 3], atol=1e-8)


def test_all_rows_of_a_person_train_or_all_score(monkeypatch):
    seen = []
    coins = search._coins
    monkeypatch.setattr(search, "_coins", lambda n, *how: seen.append(n) or coins(n, *how))
    found = PrivateSearchCV(
        classifier(), {"n_nonzero": [1, 2]}, epsilon=1.0, delta=1e-6, random_state=0
    )
    assert found.fit(X, Y, groups=GROUPS).privacy_.unit == "person"
    assert seen == [len(set(GROUPS))]
    data = Dataset.clip(X, Y, 1.0, groups=GROUPS)
    scoring = data.per_person(lambda n: coins(n, 0.3, KeyStream.from_seed(1)))
    assert {len(set(scoring[person == GROUPS])) for person in GROUPS} == {1}


def test_a_person_is_in_one_block_of_voters(monkeypatch):
    blocks = []
    rows = Dataset.rows
    monkeypatch.setattr(
        Dataset, "rows", lambda data, mask: blocks.append(data.persons[mask]) or rows(data, mask)
    )
    solver = ObjectivePerturbation(rows_per_person=2)
    voting = TwoStage(n_nonzero=1, n_blocks=5, voter=FrankWolfe(n_steps=3), solver=solver)
    for neighbors in ("add_remove", "replace_one"):
        blocks.clear()
        model = classifier(solver=voting, neighbors=neighbors, epsilon=5.0)
        model.fit(X, Y, groups=GROUPS)
        votes = [set(block) for block in blocks[:5]]
        assert sum(map(len, votes)) == len(set.union(*votes)) == len(set(GROUPS))


def test_groups_and_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = classifier(random_state=0).set_fit_request(groups=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        step = make_pipeline(FunctionTransformer(), model)
        how = {"groups": GROUPS, "sample_weight": np.full(400, 0.5)}
        plain = classifier(random_state=0).fit(X, Y, **how)
        assert (step.fit(X, Y, **how)[-1].coef_ == plain.coef_).all()
        grid = GridSearchCV(step, {}, cv=GroupKFold(3))
        best = grid.fit(X, Y, **how).best_estimator_[-1]
        assert grid.best_score_ > 0
        assert best.privacy_.unit == "person"
    piped = make_pipeline(FunctionTransformer(), classifier(random_state=0))
    named = {f"sparselogisticregression__{name}": value for name, value in how.items()}
    assert (piped.fit(X, Y, **named)[-1].coef_ == plain.coef_).all()


def test_a_person_with_many_rows_counts_once():
    # One person says the opposite of everybody else, in three quarters of all rows.
    many = np.r_[np.arange(100), np.full(300, 999)]
    x = np.r_[np.linspace(-1, 1, 100), np.linspace(-1, 1, 300)][:, None]
    y = np.r_[x[:100, 0], -x[100:, 0]]
    model = SparseLinearRegression(
        epsilon=float("inf"), delta=1e-6, bounds=1.0, target_bounds=(-1, 1)
    )
    assert model.fit(x, y).coef_[0] < -0.4
    assert model.fit(x, y, groups=many).coef_[0] > 0.9
