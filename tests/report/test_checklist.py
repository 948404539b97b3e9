"""The checklist for whoever signs answers from the file and the ledger, and says what it cannot."""

import re

import numpy as np
import pytest

from sparsedp import Ledger, SparseLogisticRegression
from sparsedp.privacy.schedule import UnprovenGuarantee
from sparsedp.release import Card, PublishedModel
from sparsedp.release.approval.charged import Charged
from sparsedp.release.approval.checklist import Item, checklist
from sparsedp.release.declared import declared
from sparsedp.release.report import render_report
from sparsedp.solvers import FrankWolfe
from tests.report.models import NEIGHBORS, UNITS, N, binary, linear, multinomial, with_schema
from tests.report.test_words import text_of

pytestmark = pytest.mark.filterwarnings("ignore::sparsedp.TooFewRecords")


def items(model, *, charged=None, exact_scores=False) -> dict[str, Item]:
    columns = None if model.schema is None else declared(model.schema, list(model.coef))
    found = checklist(model, Card.of(model), columns, charged=charged, exact_scores=exact_scores)
    return {item.question: item for item in found}


def said(item: Item) -> tuple[str, str]:
    return item.answer, item.basis


def test_every_question_stands_in_the_report_with_its_answer():
    for model in (binary(), binary("person", "replace_one"), multinomial(), linear()):
        page = render_report(model)
        text = text_of(page)
        assert page.count('<td class="basis">') == len(items(model)) == 14
        for item in items(model).values():
            answer = item.answer.replace(">", "&gt;").replace("'", "&#39;")
            assert f"{item.question} {answer} {item.basis}" in text


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("unit", UNITS)
def test_the_guarantee_is_that_of_the_record(unit, neighbors):
    found = items(binary(unit, neighbors))
    assert "epsilon = 4, delta = 1e−6" in found["Epsilon and delta"].answer
    assert f"the number of {unit}s" in found["Size of delta"].answer
    assert found["Unit of privacy"].answer.startswith(f"One {unit}")
    assert found["Unit of privacy"].basis == ("stated" if unit == "person" else "yours to judge")
    assert ("ith or without" in found["Neighboring tables"].answer) is (neighbors == "add_remove")


def test_nothing_is_told_where_nothing_is_proven():
    for how in (
        {"random_state": 0},
        {"epsilon": float("inf"), "holdout": None, "intervals": False},
    ):
        found = items(binary(**how))
        assert said(found["Epsilon and delta"]) == ("None is proven.", "counted anew")
        assert "drawn exactly" not in found["Side channels"].answer
        assert "NOT PRIVATE" in found["Algorithm"].answer


def test_a_paper_s_noise_is_not_called_proven():
    solver = FrankWolfe(radius=2.0, n_steps=5, calibration="published")
    with pytest.warns(UnprovenGuarantee):
        model = binary(solver=solver, holdout=None, intervals=False, n_nonzero=None)
    assert "not by a proof" in items(model)["Algorithm"].answer
    assert "own proof" in items(binary())["Algorithm"].answer


def test_the_ledger_is_looked_at_stated_or_missing(tmp_path):
    ledger = Ledger(3.0, 1e-5, tmp_path / "l")
    X = np.random.default_rng(0).random((200, 2))
    fitted = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=(0, 1), classes=(0, 1), ledger=ledger
    ).fit(X, (X[:, 0] > 0.5).astype(int))
    model = PublishedModel.from_estimator(fitted)
    question = "All uses together"
    looked = items(model, charged=Charged.of(model, ledger))[question]
    assert "of a ledger of epsilon = 3, delta = 1e−5, of which 2 and 9e−6 are left" in looked.answer
    assert looked.basis == "counted anew"
    assert "not at hand" in items(model)[question].answer
    assert items(binary())[question].basis == "not declared"
    assert "this fit is line 1" in Card.of(model).threats


def test_what_has_no_noise_is_named():
    question = "Other releases"
    assert items(binary())[question].answer.startswith("What else")
    assert "label set" in items(binary(classes=None))[question].answer
    assert "exact scores" in items(binary(), exact_scores=True)[question].answer
    shown = render_report(binary(), {"data": "x", "metrics": {"AUC": {"model": 0.5}}})
    assert "The exact scores on this page have no noise." in shown


def test_sources_are_declared_or_not():
    question = "Declarations"
    assert said(items(with_schema("a", "b"))[question]) == (
        "Source of limits declared for all 2 columns. Labels declared beforehand.",
        "declared",
    )
    assert items(with_schema("a", None))[question].basis == "not declared"
    assert items(binary())[question].basis == "not declared"
    assert "Labels" not in items(linear())[question].answer


def test_utility_is_what_was_measured_privately():
    assert re.match(r"AUC 0\.\d+ \(95 % interval 0\.\d+ to [01]", items(binary())["Utility"].answer)
    assert "Coefficients have intervals" in items(binary())["Utility"].answer
    assert said(items(linear())["Utility"]) == (
        "Not measured under the guarantee.",
        "yours to judge",
    )


def test_columns_that_are_not_used_are_counted():
    assert "uses 2 of 4 features" in items(linear())["Collection"].answer
    assert "of 2 declared columns" in items(with_schema("a", "b"))["Collection"].answer


@pytest.mark.parametrize("unit", UNITS)
def test_no_page_counts_the_records(unit):
    page = render_report(binary(unit))
    for count in (N, N // 2, N // 2 + 1):
        assert not re.search(rf"(?<![\w.]){count}(?![\w.])", page.replace(",", ""))
