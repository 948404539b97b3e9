"""plan: quality from public numbers alone, and a promise that is its lower end."""

import json
import math

import numpy as np
import pytest

from sparsedp import Bounds, Ledger, Schema, plan
from sparsedp.planning import NotMeasured
from sparsedp.planning.band import Ceiling, band
from sparsedp.planning.law import LEVELS, Law, lift, quality_of
from sparsedp.planning.scores import telling

COMMON = {"n_records": 20_000, "n_features": 30, "epsilon": 1.0, "ceiling": (0.80, 0.88)}
SCHEMA = """
unit = "row"
[target]
column = "ill"
classes = ["no", "yes"]
[features.age]
lower = 0
upper = 120
[features.sex]
categories = ["F", "M", "X"]
"""


def test_the_promise_is_the_lower_end_not_the_middle():
    found = plan(**COMMON, rate=0.2)
    quality = found.quality
    assert 0.5 < quality.at_least < quality.low < quality.expected < quality.high < 1
    assert f"at least {quality.at_least:.3f} in 19 of 20" in repr(found)
    assert f"at least {quality.at_least:.2f} in 19 of 20" in found.line()
    assert found.planned()["at_least"] == round(quality.at_least, 3)


@pytest.mark.parametrize("kind", ["binary", "regression", "multiclass"])
def test_more_records_and_more_budget_are_never_worse(kind):
    task = "regression" if kind == "regression" else "classification"
    said = {"task": task, "n_features": 20, "ceiling": (0.75, 0.85)}
    said |= {"n_classes": 5, "rate": 0.3} if kind == "multiclass" else {}
    for name, values in (("n_records", (200, 2000, 20_000)), ("epsilon", (0.1, 1.0, 10.0))):
        other = {"epsilon": 1.0, "n_records": 2000}
        found = [plan(**{**said, **other, name: value}).quality for value in values]
        for level in ("at_least", "expected"):
            each = [getattr(quality, level) for quality in found]
            assert each == sorted(each)
        assert found[0].expected < found[-1].expected


def test_replacing_a_record_costs_half_of_the_signal():
    common = {**COMMON, "rate": 0.2, "n_records": 1000}
    add = plan(**common)
    replace = plan(**common, neighbors="replace_one")
    assert replace.facts.signal == add.facts.signal / 2
    assert replace.quality.expected < add.quality.expected


def test_a_range_of_ceilings_is_mixed_over():
    law = Law.read().of("binary")
    facts = plan(**{**COMMON, "ceiling": 0.84}, rate=0.2).facts
    point, wide = (band(law, facts, Ceiling(*ends)) for ends in ((0.84, 0.84), (0.76, 0.92)))
    assert wide.at_least < point.at_least - 0.005
    assert wide.at_most > point.at_most
    assert wide.expected == pytest.approx(point.expected, abs=0.02)


def test_what_nobody_said_is_said():
    assert plan(n_records=5000, n_features=9, epsilon=1).assumed == ("ceiling", "rate")
    told = repr(plan(n_records=5000, n_features=9, epsilon=1, task="regression"))
    assert "assumed:" in told
    assert "spread" in told
    assert plan(**COMMON, rate=0.2).assumed == ()


def test_a_schema_says_columns_and_classes():
    found = plan(n_records=20_000, schema=Schema.from_toml(SCHEMA), epsilon=1, rate=0.2)
    assert (found.facts.n_features, found.facts.kind) == (4, "binary")
    numbers = Schema.from_toml(SCHEMA.replace('classes = ["no", "yes"]', "lower = 0\nupper = 9"))
    assert plan(n_records=20_000, schema=numbers, epsilon=1).metric == "R2"
    bounded = plan(n_records=500, bounds=Bounds([0, 0], [1, 2]), epsilon=1)
    assert bounded.facts.n_features == 2


def test_what_was_not_measured_is_not_promised():
    counts = Schema.from_toml(SCHEMA.replace('classes = ["no", "yes"]', "max_count = 9"))
    with pytest.raises(NotMeasured, match="counts"):
        plan(n_records=500, schema=counts)
    with pytest.raises(NotMeasured, match="norm"):
        plan(n_records=500, bounds=Bounds(0, 1, row_norm=1), n_features=50)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"ceiling": (0.4, 0.6)}, "ceiling"),
        ({"ceiling": (0.9, 0.8)}, "ceiling"),
        ({"ceiling": (0.9, math.nan)}, "ceiling"),
        ({"rate": 0.0}, "rate"),
        ({"rate": math.nan}, "rate"),
        ({"n_records": 0}, "n_records"),
        ({"n_records": math.nan}, "n_records"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 2.0}, "delta"),
        ({"holdout": 1.0}, "holdout"),
        ({"neighbors": "both"}, "neighbors"),
        ({"task": "guess"}, "task"),
        ({"n_classes": 3, "rate": 0.1}, "classes"),
        ({"task": "regression", "spread": 3.0}, "spread"),
    ],
)
def test_impossible_facts_are_refused(said, word):
    with pytest.raises(ValueError, match=word):
        plan(**{**COMMON, **said})


def test_hopeless_fits_are_called_so():
    hopeless = plan(**{**COMMON, "n_records": 60, "epsilon": 0.05}, rate=0.05)
    assert hopeless.hopeless
    assert "nothing better than guessing" in hopeless.line()
    assert "NOTHING" in repr(hopeless)
    assert not plan(**COMMON, rate=0.2).hopeless


def test_a_holdout_leaves_fewer_records_for_the_fit():
    whole, part = plan(**COMMON, rate=0.2), plan(**COMMON, rate=0.2, holdout=0.5)
    assert part.facts.n_records == 10_000
    assert part.n_records == 20_000
    assert part.quality.expected <= whole.quality.expected
    assert part.scores.half_width < whole.scores.half_width  # half of them, not a fifth


def test_a_plan_reads_a_ledger_and_charges_nothing(tmp_path):
    ledger = Ledger(3.0, 1e-5, tmp_path / "budget.ledger")
    before = ledger.history()
    found = plan(**COMMON, rate=0.2, ledger=ledger)
    assert ledger.history() == before
    assert ledger.remaining().epsilon == 3.0
    assert found.price.remains == (2.0, pytest.approx(9e-6))
    assert "remain epsilon = 2" in repr(found)
    short = plan(**{**COMMON, "epsilon": 4.0}, rate=0.2, ledger=ledger)
    assert "MORE than the ledger has" in repr(short)


@pytest.mark.parametrize("kind", ["binary", "regression", "multiclass"])
def test_intervals_of_scores_shrink_until_scores_are_refused(kind):
    extra = {"n_classes": 4, "rate": 0.4} if kind == "multiclass" else {"rate": 0.2}
    extra |= {"task": "regression"} if kind == "regression" else {}
    facts = plan(**COMMON, **extra).facts
    widths = [telling(facts, 0.8, 0.2, n).half_width for n in (100_000, 10_000, 50)]
    assert widths[0] < widths[1]
    assert widths[2] is None


def test_the_interval_is_that_of_an_evaluation():
    """AUC of two normal classes without noise: Hanley and McNeil's error is close."""
    facts = plan(**{**COMMON, "epsilon": 1000.0}, rate=0.5).facts
    area, n = 0.8, 1000
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    error = math.sqrt((area * (1 - area) + (n - 1) * (q1 + q2 - 2 * area**2)) / n**2)
    assert telling(facts, area, 0.5, 4 * n).half_width == pytest.approx(1.96 * error, rel=0.1)


def test_plain_data_and_pictures():
    found = plan(**COMMON, rate=0.2)
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["quality"]["at_least"] == round(found.quality.at_least, 4)
    assert [row["loss"] for row in content["records_needed"]] == [0.05, 0.02, 0.01]
    page = found._repr_html_()
    assert page.count("<svg") >= 1
    for outside in ("http", "src=", "<script", "url("):
        assert outside not in page


def test_records_needed_rise_as_losses_fall():
    needs = plan(**COMMON, rate=0.2).needs
    likely = [need.likely for need in needs]
    assert likely == sorted(likely)
    assert all(need.sure >= need.likely / 2 for need in needs)
    fewer = plan(**{**COMMON, "epsilon": 10.0}, rate=0.2).needs
    assert fewer[0].likely < likely[0]


def test_lifts_and_back():
    quality = np.array([0.5, 0.6, 0.9])
    for kind, null in (("binary", 0.5), ("regression", 0.0), ("multiclass", 0.3)):
        assert quality_of(kind, lift(kind, quality, null), null) == pytest.approx(quality)
    assert LEVELS[0] == 0.05
