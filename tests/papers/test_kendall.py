"""Kendall selection: sums over pairs, ranges that are attained, bounds that cost nothing."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from sparsedp import Bounds, SparseLinearRegression
from sparsedp.audit.replay import largest_movements
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.pairs import dense_ranks, rank_agreement
from sparsedp.losses import Squared
from sparsedp.mechanisms import recording
from sparsedp.mechanisms.scripted import Scripted, ScriptedCurator
from sparsedp.privacy import PublicFacts
from sparsedp.solvers import AdaSSP, KendallSelection
from tests.solved import recorded


def over_all_pairs(x, y, w):
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    return float((signs * w[:, None] * w).sum() / 2)


@pytest.mark.parametrize("values", [(2, 500), (500, 2), (30, 40), (500, 500), (1, 9)])
def test_sums_over_pairs_are_those_of_the_definition(values):
    random = np.random.default_rng(1)
    for n in (0, 1, 2, 75):
        x, y = (random.integers(0, k, size=n) for k in values)
        w = random.integers(0, 2**30, size=n) / 2**30
        found = rank_agreement(dense_ranks(x), dense_ranks(y), w)
        assert found == pytest.approx(over_all_pairs(x, y, w), abs=1e-9)
        assert rank_agreement(dense_ranks(x), dense_ranks(y), None) == over_all_pairs(
            x, y, np.ones(n)
        )


def movement(solver, one, other, neighbors, n_records, groups=None):
    """Largest movement over the declared range, of the selections alone."""
    tables = [
        Dataset.clip(X, y, Bounds(lower=-1e4, upper=1e4), target_bounds=(-1e4, 1e4), groups=g)
        for (X, y), g in zip((one, other), groups or (None, None), strict=True)
    ]
    public = PublicFacts(
        n_features=3,
        n_nonzero=2,
        neighbors=neighbors,
        n_records=n_records if neighbors == "replace_one" else None,
        loss=Squared(),
        unit="row" if groups is None else "person",
        rows_per_unit=1 if groups is None else None,
    )
    _, queries, _ = recorded(solver, tables[0], Squared(), public, epsilon=1e3, seed=1)
    script = Scripted([query.answer for query in queries])
    curator, again = recording.recorded(ScriptedCurator(public, script))
    solver.solve(tables[1], Squared(), curator)
    moved = largest_movements(queries, again, neighbors)
    return moved.get("select", moved.get("select_many"))


def made(n):
    """The first feature says nothing about the target, the second everything; the third is zero."""
    y = np.arange(n, dtype=float)
    first = np.concatenate([y[::2], y[1::2][::-1]])  # rises, then falls
    return np.column_stack([first, y, np.zeros(n)]), y


def with_row(table, x, y):
    return np.vstack([table[0], [*x, 0]]), np.append(table[1], y)


@pytest.mark.parametrize("redundancy", [True, False])
def test_ranges_are_attained_and_never_exceeded(redundancy):
    solver = KendallSelection(AdaSSP(), redundancy=redundancy)
    table = made(400)
    # It agrees with every other record in the first feature, and with none in the second.
    more = with_row(table, [9e3, -9e3], 9e3)
    assert 0.9 < movement(solver, table, more, "add_remove", None) <= 1
    less = with_row(table, [-9e3, 9e3], 9e3)
    assert 0.7 < movement(solver, more, less, "replace_one", 401) <= 1


def test_a_person_with_many_rows_moves_no_more_than_one_with_one():
    solver = KendallSelection(AdaSSP(), redundancy=False)
    table = made(200)
    more = table
    for k in range(30):
        more = with_row(more, [5e3 + k, -5e3 - k], 5e3 + k)
    groups = (list(range(200)), [*range(200), *[200] * 30])
    assert 0.9 < movement(solver, table, more, "add_remove", None, groups) <= 1


def test_bounds_of_any_width_lead_to_the_same_choice():
    """Seed 3: the same noise and the same ranks, so the same features to the last one."""
    random = np.random.default_rng(3)
    X = random.standard_cauchy(size=(3000, 8))
    y = np.arctan(X[:, 2]) - np.arctan(X[:, 5]) + 0.3 * random.normal(size=3000)
    found = []
    for width in (1e3, 1e6):
        model = SparseLinearRegression(
            epsilon=1,
            delta=1e-6,
            bounds=width * np.abs(X).max(),
            target_bounds=(-5, 5),
            n_nonzero=2,
            solver="kendall",
            random_state=1,
        ).fit(X, y)
        found.append(model.privacy_.notes[0])
    assert found[0] == found[1]
    assert "2" in found[0]
    assert "5" in found[0]


def test_tau_b_has_no_bounded_sensitivity():
    """What the note says about the public code: one row moves n/2 tau-b by sqrt(n/2)."""
    y = np.arange(5000.0)
    x = np.append(np.zeros(4999), 1.0)
    moved = 5000 / 2 * kendalltau(x, y).statistic
    assert moved == pytest.approx(np.sqrt(5000 / 2), rel=0.01)
    assert rank_agreement(dense_ranks(x), dense_ranks(y), None) / 5001 < 1


def test_settings_are_checked_and_nothing_is_paid_where_nothing_is_chosen():
    public = PublicFacts(n_features=4, n_nonzero=4)
    assert KendallSelection(AdaSSP()).schedule(public) == AdaSSP().schedule(public)
    for wrong in ({"n_keep": 0}, {"share": 1.0}, {"redundancy": 2}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            KendallSelection(**wrong)
