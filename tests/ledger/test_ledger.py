"""The budget that fits share: exact sums, refusals, several processes."""

import copy
import itertools
import math
import multiprocessing
import os
import pickle

import numpy as np
import pytest
from scipy.stats import norm

from sparsedp import BudgetExceeded, Ledger
from sparsedp.privacy.account.gaussian import gaussian_delta


def test_decimal_sums_are_exact():
    ledger = Ledger(epsilon=0.3, delta=1e-5)
    for _ in range(3):
        ledger.charge(0.1, 1e-6)
    assert ledger.remaining() == (0.0, 7e-6)
    with pytest.raises(BudgetExceeded):
        ledger.charge(1e-12, 0)


def test_refusal_writes_nothing_and_says_what_is_left():
    ledger = Ledger(epsilon=1, delta=1e-6)
    ledger.charge(0.75, 1e-7, what="first")
    with pytest.raises(BudgetExceeded, match=r"epsilon=0\.25"):
        ledger.charge(0.5, 0)
    with pytest.raises(BudgetExceeded):
        ledger.charge(0.1, 1e-6)
    with pytest.raises(BudgetExceeded):
        ledger.charge(float("inf"), 0)
    with pytest.raises(ValueError, match="not a privacy cost"):
        ledger.charge(float("nan"), 0)
    with pytest.raises(ValueError, match="not a privacy cost"):
        ledger.charge(-1, 0)
    assert [charge.what for charge in ledger.history()] == ["first"]


def test_file_keeps_the_budget(tmp_path):
    path = tmp_path / "budget.sqlite"
    Ledger(epsilon=2, delta=1e-6, path=path).charge(0.5, 1e-7, events=[{"event": "x"}])
    again = Ledger(path=path)
    assert (again.epsilon, again.delta) == (2, 1e-6)
    assert again.remaining().epsilon == 1.5
    assert again.history()[0].events == [{"event": "x"}]
    with pytest.raises(ValueError, match="has the budget epsilon=2"):
        Ledger(epsilon=3, delta=1e-6, path=path)
    other = tmp_path / "notes.txt"
    other.write_text("not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(ValueError, match="not a ledger"):
        Ledger(path=other)


@pytest.mark.parametrize("bad", [(None, 1e-6), (0, 1e-6), (-1, 1e-6), (1, None), (1, 1.0)])
def test_bad_budgets(bad):
    with pytest.raises(ValueError, match="ledger needs"):
        Ledger(*bad)


def test_copies_are_the_same_budget():
    ledger = Ledger(epsilon=1, delta=1e-6)
    for twin in (copy.copy(ledger), copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger))):
        twin.charge(0.25, 0)
    assert ledger.remaining().epsilon == 0.25


def test_a_lost_file_is_not_a_fresh_budget(tmp_path):
    ledger = Ledger(epsilon=1, delta=1e-6, path=tmp_path / "ledger")
    twin = pickle.loads(pickle.dumps(ledger))
    os.remove(ledger.path)
    with pytest.raises(FileNotFoundError, match="gone"):
        twin.charge(0.25, 0)


def spend(ledger):
    done = 0
    for _ in range(40):
        try:
            ledger.charge(0.01, 0)
        except BudgetExceeded:
            break
        done += 1
    return done


def test_processes_share_one_budget():
    ledger = Ledger(epsilon=0.5, delta=0)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        done = pool.map(spend, [ledger] * 3)
    assert sum(done) == 50
    assert ledger.remaining().epsilon == 0


def test_planned_total_is_the_optimal_composition():
    charges = [(0.3, 1e-6), (0.3, 0.0), (0.7, 2e-6), (1.1, 1e-6), (0.05, 0.0)]
    ledger = Ledger(10.0, 1e-2)
    for epsilon, delta in charges:
        ledger.charge(epsilon, delta)
    found = ledger.planned_total()
    # Murtagh and Vadhan (2016): over all outcomes of the randomized responses.
    epsilons = np.array([epsilon for epsilon, _ in charges])
    pure = 0.0
    for signs in itertools.product((1, -1), repeat=len(charges)):
        loss = np.array(signs) @ epsilons
        mass = np.prod(1 / (1 + np.exp(-np.array(signs) * epsilons)))
        pure += mass * max(0.0, -math.expm1(found - loss))
    delta = 1 - np.prod([1 - delta for _, delta in charges]) * (1 - pure)
    assert delta == pytest.approx(1e-2, rel=1e-6)
    assert found < 2.45 - 0.05


def test_planned_total_never_exceeds_the_sum():
    ledger = Ledger(3.0, 1e-6)
    assert ledger.planned_total() == 0.0
    ledger.charge(1.0, 1e-6)
    ledger.charge(0.5, 0.0)
    assert ledger.planned_total() == 1.5  # deltas are used up
    many = Ledger(20.0, 1e-5)
    for _ in range(100):
        many.charge(0.1, 1e-8)
    assert many.planned_total() == pytest.approx(4.33, abs=0.01)
    assert many.remaining().epsilon == 10.0


def test_gaussian_filter_beats_the_sum_only_for_many_fits():
    mu = 2 * norm.ppf(1 / (1 + math.exp(-0.1)))
    for n_fits, better in ((25, False), (30, True)):
        assert (gaussian_delta(0.1 * n_fits, mu * math.sqrt(n_fits)) < 1e-5) == better
