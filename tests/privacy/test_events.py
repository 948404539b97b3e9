"""The stored form of every kind of release: names and fields are never changed (contract.md)."""

import dataclasses
import math

import pytest

from sparsedp.privacy import (
    Charges,
    Count,
    GaussianPerturb,
    Gaussians,
    LaplaceSelect,
    LaplaceTable,
    LaplaceVotes,
    Perturb,
    PrivacyProfile,
    PureReleases,
    RoundedCount,
    Schedule,
    Select,
    Selections,
    Sensitivity,
    Tabulate,
    VoteSelect,
    calibrate,
    zcdp_rho,
)
from sparsedp.privacy.account.cost import NOTHING_PROVEN, Cost, together
from sparsedp.privacy.account.repeat import repeated_epsilon
from sparsedp.privacy.events import KINDS, event_from_dict
from sparsedp.privacy.recount import recounted_epsilon

STORED = {
    "Selections": {"epsilon0": 0.1, "count": 3},
    "Gaussians": {"mu": 0.2},
    "PureReleases": {"epsilon": 0.1, "count": 2},
    "PerturbedMinimum": {
        "mu": 0.2,
        "ratio": 0.1,
        "shape": "logistic",
        "neighbors": "add_remove",
        "rounding_mu": 0.002,
        "n_outputs": 1,
    },
    "PureMinima": {
        "epsilon": 0.1,
        "count": 2,
        "rate": 0.08,
        "ratio": 0.01,
        "rounding_epsilon": 0.001,
    },
    "LaplaceSelections": {"scale": 10.0, "count": 4, "epsilon0": 0.2},
    "GaussianReleases": {"multiplier": 10.0, "count": 2, "mu": 0.2},
    "LaplaceVotes": {"scale": 40.0, "count": 4, "epsilon": 0.2},
    "RepeatAndSelect": {
        "epsilon": 1.0,
        "delta": 1e-6,
        "expected_trials": 10.0,
        "rho_per_trial": 1e-3,
        "noise_factor": 3.0,
        "distribution": "logarithmic",
        "n_candidates": 5,
    },
    "LaplaceTable": {"epsilon": 0.1, "cells": 68},
    "Parallel": {
        "parts": [
            {
                "name": "fit",
                "share": 0.8,
                "events": [
                    {"name": "select", "event": "Selections", "epsilon0": 0.1, "count": 3},
                    {"name": "perturb", "event": "Gaussians", "mu": 0.2},
                ],
            },
            {
                "name": "test",
                "share": 0.2,
                "events": [{"name": "table", "event": "LaplaceTable", "epsilon": 0.1, "cells": 8}],
            },
        ]
    },
}
"""Add to this; change nothing."""

ADDED = {"PerturbedMinimum": {"rows_per_unit": 1}}
"""Fields that came later: whatever was stored without one means this, and is written without it."""

PUBLISHED = ("LaplaceSelections", "GaussianReleases", "LaplaceVotes")


def test_every_kind_is_stored_by_its_name():
    assert {kind.stored_as for kind in KINDS} == set(STORED)


@pytest.mark.parametrize("name", STORED)
def test_a_kind_is_read_as_it_was_written(name):
    stored = {"event": name, **STORED[name]}
    event = event_from_dict(stored)
    assert event.to_dict() == stored
    added = ADDED.get(name, {})
    assert {field.name for field in dataclasses.fields(event)} == set(STORED[name]) | set(added)
    assert event == event_from_dict(stored | added)
    assert set(event.costs) <= set(STORED[name])


@pytest.mark.parametrize(
    ("name", "change", "neighbors"),
    [
        ("PureMinima", {"rate": 80.0}, "add_remove"),
        ("PureMinima", {"ratio": 10.0}, "add_remove"),
        ("PureMinima", {"rounding_epsilon": 0.05}, "add_remove"),
        ("PureMinima", {}, "replace_one"),  # twice the shift by the same linear term
        ("LaplaceVotes", {"scale": 0.04}, "add_remove"),
    ],
)
def test_no_release_costs_less_than_its_noise(name, change, neighbors):
    calibration = "published" if name in PUBLISHED else "sound"
    honest = {"name": "x", "event": name, **STORED[name]}
    assert recounted_epsilon([honest], 1e-6, "add_remove", calibration) > 0
    with pytest.raises(ValueError, match="cost less than"):
        recounted_epsilon([honest | change], 1e-6, neighbors, calibration)


@pytest.mark.parametrize("name", STORED)
def test_a_text_where_a_number_belongs_proves_nothing(name):
    # Some such lists ended in a TypeError instead of a verdict.
    calibration = "published" if name in PUBLISHED else "sound"
    for field, value in STORED[name].items():
        listed = {"name": "x", "event": name, **STORED[name]}
        if isinstance(value, str):
            listed[field] = 1.0
        elif field in ("scale", "multiplier"):
            continue  # says how much noise there was, and nothing is counted from it
        else:
            listed[field] = str(value)
        with pytest.raises(ValueError):
            recounted_epsilon([listed], 1e-6, "add_remove", calibration)


COSTS = {
    "Selections": Cost(selections=((0.1, 3),)),
    "Gaussians": Cost(mu=0.2),
    "PureReleases": Cost(pure=((0.1, 2),)),
    "PureMinima": Cost(pure=((0.1, 2),)),
    "LaplaceSelections": Cost(pure=((0.2, 4),)),
    "GaussianReleases": Cost(mu=0.2),
    "LaplaceVotes": Cost(pure=((0.2, 1),)),
    "LaplaceTable": Cost(pure=((0.1, 1),)),
    "Parallel": Cost(
        parts=(
            (Cost(selections=((0.1, 3),)), Cost(mu=0.2)),
            (Cost(pure=((0.1, 1),)),),
        )
    ),
}
"""Of the releases above, where no discrete loss and no search is among them."""


@pytest.mark.parametrize("name", COSTS)
def test_a_kind_costs_what_its_fields_say(name):
    event = event_from_dict({"event": name, **STORED[name]})
    assert event.cost() == COSTS[name]


def test_costs_of_a_perturbed_minimum_and_a_search():
    minimum = event_from_dict({"event": "PerturbedMinimum", **STORED["PerturbedMinimum"]})
    assert minimum.cost() == Cost(losses=(minimum,), mu=0.002)
    search = event_from_dict({"event": "RepeatAndSelect", **STORED["RepeatAndSelect"]})
    assert search.cost() == Cost(alone=search)
    proven = repeated_epsilon(1e-3, 1e-6, 10.0, "logarithmic")
    assert PrivacyProfile((search,)).epsilon(1e-6) == proven


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_published_formulas_and_what_they_really_cost(neighbors):
    moved = 1 if neighbors == "add_remove" else 2
    votes = VoteSelect(3, fraction=0.5).event(2.0, 1e-6, neighbors)
    assert votes == LaplaceVotes(scale=6.0, count=3, epsilon=1.0)
    selections = LaplaceSelect(4).event(2.0, 1e-6, neighbors)
    assert selections.scale == pytest.approx(math.sqrt(8 * 4 * math.log(1e6)) / 2)
    assert selections.epsilon0 == pytest.approx(2 * moved / selections.scale)
    truth = Sensitivity(add_remove=1.0, replace_one=2.0)
    gaussians = GaussianPerturb(9, lambda epsilon, delta: 6.0, truth).event(1.0, 1e-6, neighbors)
    assert gaussians.mu == pytest.approx(3 * moved / 6.0)
    # Rounded, the range 0.6 to 2.4 is from 1 to 2, and 0.4 to 2.6 from 0 to 3.
    assert RoundedCount(0.5, 0.6, 2.4).event(1.8, 0.0, neighbors).epsilon == pytest.approx(0.5)
    assert RoundedCount(0.5, 0.4, 2.6).event(2.2, 0.0, neighbors).epsilon == pytest.approx(1.5)


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_noise_is_not_sound(name):
    listed = [{"name": "x", "event": name, **STORED[name]}]
    assert recounted_epsilon(listed, 1e-6, "add_remove", "published") > 0
    with pytest.raises(ValueError, match="published formula"):
        recounted_epsilon(listed, 1e-6, "add_remove", "sound")


def test_costs_in_normal_form():
    cost = together(
        event.cost()
        for event in (Selections(0.1, 2), Gaussians(0.3), Selections(0.1, 1), Gaussians(0.4))
    )
    assert cost == Cost(selections=((0.1, 3),), mu=0.5)
    assert zcdp_rho((PureReleases(0.2, 3), Gaussians(0.1))) == pytest.approx(0.065)
    for bad in ({"selections": ((-0.1, 1),)}, {"pure": ((0.1, 0),)}, {"mu": float("nan")}):
        with pytest.raises(ValueError):
            Cost(**bad)


def test_only_pure_releases_have_an_epsilon_at_delta_zero():
    table, counts = LaplaceTable(0.25, 68), PureReleases(0.125, 3)
    assert PrivacyProfile((table, counts)).epsilon(0.0) == 0.625
    for other in (Gaussians(1e-3), Selections(1e-3, 1)):
        assert PrivacyProfile((table, other)).epsilon(0.0) == math.inf
    assert calibrate(Schedule((Tabulate(68),)), 0.3, 0.0) == (LaplaceTable(0.3, 68),)
    with pytest.raises(ValueError, match="delta"):
        calibrate(Schedule((Tabulate(68, fraction=0.5), Perturb())), 0.3, 0.0)


def test_where_nothing_is_proven_nothing_is_known():
    @dataclasses.dataclass(frozen=True)
    class Unknown:
        def cost(self):
            return NOTHING_PROVEN

    profile = PrivacyProfile((Selections(0.1, 2), Unknown()))
    assert profile.delta(100.0) == 1.0
    assert profile.epsilon(1e-6) == float("inf")
    with pytest.raises(ValueError, match="no concentrated cost"):
        zcdp_rho((Unknown(),))


def test_a_search_shares_its_record_with_nothing():
    search = event_from_dict({"event": "RepeatAndSelect", **STORED["RepeatAndSelect"]})
    assert PrivacyProfile((search,)).delta(1.0) == 1.0
    with pytest.raises(ValueError, match="only release of its record"):
        PrivacyProfile((search, Gaussians(0.1))).epsilon(1e-6)


def test_charges_need_noise_for_every_request():
    with pytest.raises(ValueError, match="2 requests cannot have 1 events"):
        Charges(Schedule((Select(2), Perturb())), (Selections(0.1, 2),))
    charges = Charges(Schedule((Select(2, drawn=5), Count(0.1))), (Selections(0.1, 2),) * 2)
    assert charges.n_releases == 6
