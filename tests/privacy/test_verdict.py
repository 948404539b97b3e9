"""The verdict follows from events counted anew, whatever a record says about itself."""

import json
import math

import pytest

from sparsedp.privacy import Minimize, Schedule, Select
from sparsedp.privacy.account import loss_distribution as losses
from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.account.gaussian import gaussian_profile
from sparsedp.privacy.events import PerturbedMinimum, PureReleases, Selections
from sparsedp.privacy.recount import MOST_EVENTS, MOST_RELEASES, recounted_epsilon
from sparsedp.privacy.verdict import verdict_of


def record(epsilon: float = 1.0, delta: float = 1e-6, **changes) -> dict:
    """A record whose noise is calibrated to epsilon and delta."""
    (event,) = calibrate(Schedule((Select(20),)), epsilon, delta)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "neighbors": "add_remove",
        "calibration": "sound",
        "events": [{"name": "select", **event.to_dict()}],
        "target": {"classes": [0, 1]},
        "seeded": False,
    } | changes


@pytest.mark.parametrize(
    ("epsilon", "delta", "level", "color", "words"),
    [
        (0.5, 1e-6, "private", "green", "almost the same probability"),
        (1, 1e-4, "private", "green", "almost the same probability"),
        (1.1, 1e-6, "private", "green", "more than 3 times as probable"),
        (3, 1e-6, "private", "green", "more than 20.1 times as probable"),
        (5.5, 1e-6, "weak", "amber", "more than 245 times"),
        (1, 2e-4, "weak", "amber", "may fail with a probability of about 0.0002"),
        (10.5, 1e-6, "nominal", "red", "no meaningful protection"),
        (1, 0.01, "nominal", "red", "no meaningful protection"),
        (100, 0.01, "nominal", "red", "no meaningful protection"),
        (1000, 1e-6, "nominal", "red", "e^1000 times"),
    ],
)
def test_words_grow_colder(epsilon, delta, level, color, words):
    verdict = verdict_of(record(epsilon, delta))
    assert (verdict.level, verdict.color) == (level, color)
    assert words in verdict.statement
    assert verdict.private == (color != "red")
    assert (verdict.reasons == ()) == (color == "green")
    assert 0.9 * epsilon < verdict.epsilon <= epsilon * (1 + 1e-9)
    if epsilon > 1:
        assert "almost" not in verdict.statement


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_the_unit_is_a_row_unless_persons_were_declared(neighbors):
    for unit, first, last in (
        ("row", "for rows, not for persons: ", "a person with several rows is protected less."),
        ("person", "for persons: ", "one with several ids is protected less."),
    ):
        statement = verdict_of(record(neighbors=neighbors, unit=unit)).statement
        assert f"differential privacy {first}" in statement.split(". ")[0]
        assert f"any one {unit}" in statement
        assert statement.endswith(last)
    # Files from before there were units keep their words, which are compared with those in them.
    statement = verdict_of(record(neighbors=neighbors)).statement
    assert "any one record" in statement
    assert "a person with several records is protected less" in statement


@pytest.mark.parametrize("key", ["classes_from_data", "taken_from_data"])
def test_labels_from_data_are_said_first(key):
    verdict = verdict_of(record(target={"classes": ["a", "b"], key: True}))
    assert (verdict.level, verdict.color, verdict.private) == ("labels", "amber", False)
    first = verdict.statement.split(". ")[0]
    assert "label set was read from the records and is published as it is" in first
    assert verdict_of(record(target={"classes": ["a", "b"], key: False})).private


def test_a_seed_outweighs_labels_and_numbers():
    verdict = verdict_of(record(100, seeded=True, target={"classes_from_data": True}))
    assert (verdict.level, verdict.color) == ("seeded", "red")
    assert len(verdict.reasons) == 3


def test_no_noise_and_published_noise_are_not_private():
    exact = verdict_of(record(calibration="none", events=[]) | {"epsilon": "inf"})
    assert (exact.level, exact.epsilon) == ("none", math.inf)
    event = {"name": "s", "event": "LaplaceSelections", "scale": 10.0, "count": 4, "epsilon0": 0.2}
    published = verdict_of(record(calibration="published", events=[event]))
    assert (published.level, published.color) == ("published", "red")
    assert published.epsilon == PrivacyProfile((PureReleases(0.2, 4),)).epsilon(1e-6)
    nothing = {"name": "g", "event": "GaussianReleases", "multiplier": 1, "count": 2, "mu": None}
    assert verdict_of(record(calibration="published", events=[nothing])).epsilon == math.inf


def event(**changes) -> dict:
    return record()["events"][0] | changes


SELECT = {"name": "s", "event": "Selections"}
MINIMUM = {
    "name": "m",
    **PerturbedMinimum(0.1, 0.1, "logistic", "replace_one", 0.001).to_dict(),
}
SEARCH = {
    "name": "search",
    "event": "RepeatAndSelect",
    "epsilon": 1.0,
    "delta": 1e-6,
    "expected_trials": 10.0,
    "rho_per_trial": 1e-3,
    "noise_factor": 3.0,
    "distribution": "logarithmic",
    "n_candidates": 5,
}
FORGED = {
    "emptied": [],
    "more noise claimed than added": [event(epsilon0=event()["epsilon0"] * 1.001)],
    "listed twice": [event(), event()],
    "more selections": [event(count=21)],
    "negative count": [event(count=-20)],
    "no selections": [event(count=0)],
    "half a selection": [event(count=0.5)],
    "count of truth": [event(count=True)],
    "count of text": [event(count="20")],
    "huge count": [event(count=10**15)],
    "count beyond floating point": [event(count=10**400)],
    "many releases": [{**SELECT, "epsilon0": 1e-9, "count": MOST_RELEASES}] * 2,
    "many lines": [{**SELECT, "epsilon0": 1e-9, "count": 1}] * (MOST_EVENTS + 1),
    "no cost": [event(epsilon0=0)],
    "negative cost": [event(epsilon0=-1.0)],
    "cost is no number": [event(epsilon0=math.nan)],
    "infinite cost": [event(epsilon0=math.inf)],
    "cost of text": [event(epsilon0="0.1")],
    "cost of nothing": [event(epsilon0=None)],
    "cost of truth": [event(epsilon0=True)],
    "cost as a list": [event(epsilon0=[0.1])],
    "cost that underflows": [event(epsilon0=1e-320)],
    "no noise at all": [{"name": "g", "event": "Gaussians", "mu": 1e300}],
    "unknown event": [{"name": "x", "event": "Whisper", "epsilon": 0.1}],
    "event without kind": [{"name": "x"}],
    "kind is a list": [{"name": "x", "event": ["Selections"]}],
    "event without name": [{"event": "Selections", "epsilon0": 0.1, "count": 1}],
    "not an event": [1],
    "unknown field": [event(discount=0.5)],
    "missing field": [{**SELECT, "epsilon0": 0.1}],
    "published noise called sound": [
        {"name": "s", "event": "LaplaceSelections", "scale": 1e9, "count": 1, "epsilon0": 1e-9}
    ],
    "counted for other neighbors": [MINIMUM],
    "curvature beyond arithmetic": [MINIMUM | {"neighbors": "add_remove", "ratio": 1e308}],
    "outputs beyond arithmetic": [
        MINIMUM | {"neighbors": "add_remove", "shape": "multinomial", "n_outputs": 10**400}
    ],
    "unknown shape": [MINIMUM | {"neighbors": "add_remove", "shape": "flat"}],
    "search at another delta": [SEARCH | {"delta": 1e-3}],
    "search without limit": [SEARCH | {"expected_trials": 1e11}],
    "search of unknown kind": [SEARCH | {"distribution": "poisson"}],
    "search and more": [SEARCH, event()],
    "a search that costs more": [SEARCH | {"rho_per_trial": 1.0}],
    "deeply nested": json.loads("[" * 500 + "]" * 500),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_lists_prove_nothing(name):
    verdict = verdict_of(record(events=FORGED[name], private=True, proven_epsilon=1.0))
    assert (verdict.level, verdict.color, verdict.private) == ("contradicted", "red", False)
    assert verdict.statement.startswith("Not proven")
    assert verdict.reasons


@pytest.mark.parametrize("name", ["emptied", "unknown event", "negative count", "not an event"])
def test_a_broken_list_contradicts_published_noise_too(name):
    verdict = verdict_of(record(events=FORGED[name], calibration="published"))
    assert verdict.level == "contradicted"
    assert verdict.reasons[0].startswith("The list of releases cannot be right")


def test_claims_below_the_cost_are_found():
    assert verdict_of(record() | {"epsilon": 0.99}).level == "contradicted"
    assert verdict_of(record() | {"delta": 1e-7}).level == "contradicted"
    assert verdict_of(record() | {"calibration": "proven"}).level == "contradicted"
    assert verdict_of(record() | {"neighbors": "friends"}).level == "contradicted"
    assert verdict_of(record() | {"delta": 1e-5}).level == "private"  # claims less than is proven


def test_recounting_equals_the_accountant():
    (event,) = calibrate(Schedule((Minimize(None, "logistic", "add_remove"),)), 1.0, 1e-6)
    listed = [{"name": "m", **event.to_dict()}]
    expected = PrivacyProfile((event,)).epsilon(1e-6)
    assert recounted_epsilon(listed, 1e-6, "add_remove", "sound") == expected
    many = [{"name": str(k), **Selections(0.01, 3).to_dict()} for k in range(5)]
    expected = PrivacyProfile((Selections(0.01, 15),)).epsilon(1e-6)
    assert recounted_epsilon(many, 1e-6, "add_remove", "sound") == expected


def test_many_kinds_of_pure_releases_are_counted_within_memory(monkeypatch):
    """A review finding: a file of a few hundred bytes asked for 26 TiB."""
    groups = ((0.02, 300), (0.03, 300))
    fine = losses.pure_atoms(groups, 50_000)
    monkeypatch.setattr(losses, "MOST_PAIRS", 10_000)
    coarse = losses.pure_atoms(groups, 50_000)
    assert coarse.losses.size < fine.losses.size
    for epsilon in (0.0, 0.5, 1.0):
        found, exact = (
            float(atoms.masses @ gaussian_profile(epsilon - atoms.losses, 0.0))
            for atoms in (coarse, fine)
        )
        assert exact * (1 - 1e-9) <= found <= 1.05 * exact
    monkeypatch.undo()
    listed = [
        {"name": str(k), "event": "PureReleases", "epsilon": 1e-5 * (k + 1), "count": 60_000}
        for k in range(2)
    ]
    assert recounted_epsilon(listed, 1e-6, "add_remove", "sound") < 1
