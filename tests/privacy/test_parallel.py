"""Parts of the persons by secret coins: what they cost, and how records are divided."""

import copy
import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.special import betainc

from sparsedp.data.dataset import Dataset
from sparsedp.fit.parts import parts_by_coins
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import (
    Gaussians,
    LaplaceTable,
    Ledger,
    Parallel,
    Part,
    PrivacyProfile,
    PureReleases,
    Selections,
    zcdp_rho,
)
from sparsedp.privacy.account.cost import MOST_WAYS, Cost, alternatives, together
from sparsedp.privacy.events import event_from_dict, flattened, listed_in
from sparsedp.privacy.ledger.divergence import of_event, of_events
from sparsedp.privacy.recount import recounted_epsilon

FIT = (("select", Selections(0.3, 5)), ("perturb", Gaussians(0.2)))
TEST = (("table", LaplaceTable(1.0, 68)),)
REST = (("covariance", Gaussians(0.5)),)
PUBLISHED = {"name": "x", "event": "GaussianReleases", "multiplier": 10.0, "count": 2, "mu": 0.2}


def divided(*sides):
    names = ("fit", "test", "rest", "more")
    return Parallel(
        tuple(Part(name, 1 / len(sides), side) for name, side in zip(names, sides, strict=False))
    )


def profile(*events):
    return PrivacyProfile(tuple(event for _, event in events))


@pytest.mark.parametrize("sides", [(FIT, TEST), (TEST, FIT), (FIT, TEST, REST)])
def test_the_dearest_part_is_the_cost(sides):
    pair = PrivacyProfile((divided(*sides),))
    for epsilon in (0.0, 0.3, 1.0, 2.0):
        assert pair.delta(epsilon) == max(profile(*side).delta(epsilon) for side in sides)
    assert pair.epsilon(1e-6) == max(profile(*side).epsilon(1e-6) for side in sides)


def test_what_is_beside_the_parts_is_added_to_each():
    count = PureReleases(0.1)
    pair = PrivacyProfile((count, divided(FIT, TEST), count))
    each = [(("", count), *side, ("", count)) for side in (FIT, TEST)]
    assert pair.delta(0.7) == max(profile(*side).delta(0.7) for side in each)


def test_selections_of_parts_keep_their_order():
    # Small selections first are worse: the order of the list is that of the releases.
    first, last, middle = Selections(0.1, 4), Selections(0.2, 3), (("", Selections(0.4, 2)),)
    cost = alternatives(e.cost() for e in (first, divided(middle, TEST), last))
    assert cost[0].selections == ((0.1, 4), (0.4, 2), (0.2, 3))
    assert cost[1].selections == ((0.1, 4), (0.2, 3))


def test_several_divisions_are_counted_over_all_choices():
    one, two = divided(FIT, TEST), divided(REST, TEST)
    both = PrivacyProfile((one, two))
    ways = [(*a, *b) for a, b in itertools.product((FIT, TEST), (REST, TEST))]
    assert both.delta(1.5) == max(profile(*way).delta(1.5) for way in ways)
    nested = PrivacyProfile((divided((("inner", two),), FIT),))
    assert nested.delta(0.9) == max(profile(*side).delta(0.9) for side in (REST, TEST, FIT))


def test_too_many_choices_are_counted_as_all_at_once():
    many = [divided(REST, TEST)] * 7
    assert MOST_WAYS < 2**7
    assert len(alternatives(event.cost() for event in many[:6])) == MOST_WAYS
    (everything,) = alternatives(event.cost() for event in many)
    assert everything == together(
        event.cost() for _ in many for event in (Gaussians(0.5), LaplaceTable(1.0, 68))
    )
    # Above what the dearest choice costs.
    dearest = PrivacyProfile((Gaussians(0.5),) * 7)
    assert PrivacyProfile(tuple(many)).delta(5.0) > dearest.delta(5.0)


def test_a_cost_with_parts_has_no_sum():
    with pytest.raises(ValueError, match="no single sum"):
        together([divided(FIT, TEST).cost()])
    with pytest.raises(ValueError, match="nothing beside"):
        Cost(mu=0.1, parts=((Cost(mu=0.1),), (Cost(mu=0.1),)))


def test_divergences_and_concentrated_cost_are_the_largest_of_a_part():
    pair, alpha = divided(FIT, TEST), 8.0
    each = [math.fsum(of_event(e, alpha).divergence for _, e in side) for side in (FIT, TEST)]
    assert of_event(pair, alpha).divergence == pytest.approx(max(each), rel=1e-12)
    assert zcdp_rho((pair,)) == max(zcdp_rho(tuple(e for _, e in side)) for side in (FIT, TEST))


@pytest.mark.parametrize("rule", ["sum", "union"])
def test_a_ledger_counts_a_pair_once(rule):
    listed = [{"name": "holdout", **divided(FIT, TEST).to_dict()}]
    alpha = 8.0
    found = of_events(listed, alpha, "add_remove")
    assert found is not None
    assert found.divergence < 2 * of_event(TEST[0][1], alpha).divergence
    ledger = Ledger(2.0, 1e-5, rule=rule)
    for _ in range(2):
        ledger.charge(1.0, 1e-6, events=listed)
    assert ledger.remaining().epsilon == 0.0
    assert ledger.history()[1].events == listed


def test_the_record_is_counted_anew():
    listed = [{"name": "holdout", **divided(FIT, TEST).to_dict()}]
    counted = recounted_epsilon(listed, 1e-6, "add_remove", "sound")
    assert counted == PrivacyProfile((divided(FIT, TEST),)).epsilon(1e-6)
    assert [event["name"] for event in flattened(listed)] == ["select", "perturb", "table"]
    assert [event["name"] for event in listed_in(listed, "test")] == ["table"]
    assert event_from_dict(divided(FIT, TEST).to_dict()) == divided(FIT, TEST)


def nested(depth):
    table = [{"name": "table", "event": "LaplaceTable", "epsilon": 0.1, "cells": 8}]
    events = table
    for _ in range(depth):
        sides = (("a", events), ("b", table))
        parts = [{"name": name, "share": 0.5, "events": side} for name, side in sides]
        events = [{"name": "x", "event": "Parallel", "parts": parts}]
    return events


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e["parts"][0].update(share=1.5), "share"),
        (lambda e: e["parts"][0].update(share=True), "share"),
        (lambda e: e["parts"][0].update(share=0.9), "add up"),
        (lambda e: e["parts"][0].update(name="test"), "names of their own"),
        (lambda e: e["parts"][0].update(name=7), "no name"),
        (lambda e: e["parts"][0].update(events=[]), "without a release"),
        (lambda e: e["parts"].pop(), "2 to 8 parts"),
        (lambda e: e.update(parts={}), "lists"),
        (lambda e: e.update(more=1), "these fields"),
        (lambda e: e["parts"][1]["events"][0].pop("name"), "no name"),
        (lambda e: e["parts"][1]["events"][0].update(epsilon=1e9), "beyond"),
        (lambda e: e["parts"][1]["events"].extend([*e["parts"][1]["events"]] * 30), "more than 24"),
        (lambda e: e["parts"][1]["events"][0].update(event="GaussianReleases"), "number|fields"),
        (lambda e: e["parts"][1].update(events=[PUBLISHED]), "published formula"),
        (lambda e: e.update(nested(200)[0]), "divided further"),
    ],
)
def test_a_list_that_no_fit_has_made_proves_nothing(change, message):
    listed = copy.deepcopy({"name": "holdout", **divided(FIT, TEST).to_dict()})
    change(listed)
    with pytest.raises(ValueError, match=message):
        recounted_epsilon([listed], 1e-6, "add_remove", "sound")


def dataset(n=400, *, persons=True, kind=np.asarray):
    X = kind(np.arange(n, dtype=float)[:, None] / n)
    groups = np.arange(n) // 2 if persons else None
    return Dataset.clip(
        X,
        np.arange(n) % 2,
        (0, 1),
        groups=groups,
        sample_weight=np.full(n, 0.5),
        offset=np.linspace(0, 1, n),
        offset_bounds=(0, 1),
    )


@pytest.mark.parametrize("persons", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_everybody_is_in_one_part_with_all_rows(kind, persons):
    data = dataset(persons=persons, kind=kind)
    parts = parts_by_coins(data, (0.5, 0.3, 0.2), KeyStream.from_seed(3))
    assert sum(part.n_records for part in parts) == data.n_records
    assert math.fsum(part.total_weight for part in parts) == data.total_weight
    seen = np.concatenate([np.asarray(part.offset) for part in parts])
    assert np.array_equal(np.sort(seen), np.sort(np.asarray(data.offset)))
    if persons:
        owners = [set(part.persons.tolist()) for part in parts]
        assert not any(a & b for a, b in itertools.combinations(owners, 2))
    # Each part is as large as its share says: false alarms below 1e-6 (binomial tails).
    n = data.n_persons
    for part, share in zip(parts, (0.5, 0.3, 0.2), strict=True):
        k = part.n_persons
        below, above = 1 - betainc(k + 1, n - k, share), betainc(k, n - k + 1, share)
        assert min(below, above) > 1e-7


def test_a_coin_does_not_know_what_a_record_says():
    one, other = dataset(), dataset()
    changed = np.array(other.target)
    changed[:] = 1 - changed
    object.__setattr__(other, "target", changed)
    for first, second in zip(
        parts_by_coins(one, (0.7, 0.3), KeyStream.from_seed(5)),
        parts_by_coins(other, (0.7, 0.3), KeyStream.from_seed(5)),
        strict=True,
    ):
        assert np.array_equal(first.persons, second.persons)
        assert np.array_equal(first.target, 1 - second.target)


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.6), (0.0, 1.0), (0.5,)])
def test_shares_are_of_one_whole(shares):
    with pytest.raises(ValueError, match="shares"):
        parts_by_coins(dataset(), shares, KeyStream.from_seed(0))


def test_no_part_tells_how_many_are_in_it():
    for part in parts_by_coins(dataset(), (0.5, 0.5), KeyStream.from_seed(1)):
        assert str(part.n_records) not in repr(part)


def fixed_size_loss(epsilon):
    """Exact loss of Laplace sums over halves of a shuffle, D = (-1, -1, -1) against D + (1)."""
    # The pair (sum of the kept, sum of the tested) with one tested of three, two of four; the
    # loss at far ends of the noise, where it is largest.
    weights = {False: [((-2, -1), 1.0)], True: [((-2, 0), 0.5), ((0, -2), 0.5)]}

    def log_density(x, y, points):
        terms = [math.log(p) - epsilon * (abs(x - a) + abs(y - b)) for (a, b), p in points]
        top = max(terms)
        return top + math.log(sum(math.exp(t - top) for t in terms))

    grid = np.linspace(-8, 8, 161)
    return max(
        abs(log_density(x, y, weights[True]) - log_density(x, y, weights[False]))
        for x in grid
        for y in grid
    )


def test_parts_of_fixed_size_are_not_enough_under_add_remove():
    # One person more changes the part of another: dearer than one part, which is why coins are
    # tossed for each by itself.
    for epsilon in (0.5, 1.0, 2.0):
        assert fixed_size_loss(epsilon) > 1.5 * epsilon
