"""What the releases that a record lists cost, counted anew: a record is never believed."""

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.account.repeat import SHAPES, repeated_epsilon
from sparsedp.privacy.events import Event, PerturbedMinimum, event_from_dict
from sparsedp.privacy.neighbors import NEIGHBORS
from sparsedp.privacy.published.minima import LaplaceVotes
from sparsedp.privacy.published.published import GaussianReleases, LaplaceSelections

PUBLISHED = {
    "LaplaceSelections": LaplaceSelections,
    "GaussianReleases": GaussianReleases,
    "LaplaceVotes": LaplaceVotes,
}
"""Releases whose noise follows a paper's formula."""

MOST_EVENTS = 24
"""Lines that a list of releases may have: no solver asks for half of it."""

MOST_RELEASES = 2_000_000
"""Releases that all lines together may stand for; counting takes time and memory with them."""

LARGEST_COST = 1e5
"""No release of a fit costs as much: budgets are spent up to epsilon = 10,000."""

SMALLEST, LARGEST = 1e-30, 1e12
"""Numbers of a release lie between these; beyond them arithmetic is not to be trusted."""

COSTS = ("epsilon", "epsilon0", "mu", "rounding_mu", "rounding_epsilon")
SEARCH = {"epsilon", "delta", "expected_trials", "rho_per_trial", "noise_factor"}


def recounted_epsilon(
    events: Sequence[dict[str, Any]], delta: float, neighbors: str, calibration: str
) -> float:
    """Epsilon that the accountant proves for listed releases at ``delta``.

    Parameters
    ----------
    events : sequence of dict
        As a record lists them.
    delta : float
    neighbors : str
        What the record says that the guarantee compares.
    calibration : {"sound", "published"}
        Noise of a paper's formula must not be listed in a record that says "sound".

    Returns
    -------
    float
        Infinite if nothing is proven.

    Raises
    ------
    ValueError
        With a sentence, if this is not a list of releases that a fit can have made.
    """
    if neighbors not in NEIGHBORS:
        raise ValueError(f"neighbors must be one of {', '.join(NEIGHBORS)}")
    if not events:
        raise ValueError("no release is listed")
    if len(events) > MOST_EVENTS:
        raise ValueError(f"more than {MOST_EVENTS} kinds of releases are listed")
    try:
        listed = json.dumps(list(events), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("a release is not described by plain text and finite numbers") from None
    return _recounted(listed, float(delta), neighbors, calibration)


@lru_cache(maxsize=64)
def _recounted(listed: str, delta: float, neighbors: str, calibration: str) -> float:
    events = json.loads(listed)
    for event in events:
        if not isinstance(event, dict) or not isinstance(event.get("name"), str):
            raise ValueError("a release has no name")
    kinds = [event.get("event") for event in events]
    if "RepeatAndSelect" in kinds:
        if len(kinds) > 1 or calibration != "sound":
            raise ValueError("a private search is the only release of its record")
        return _search_epsilon(events[0], delta)
    counted = [_counted(event, neighbors, calibration) for event in events]
    if sum(event.get("count", 1) for event in events) > MOST_RELEASES:
        raise ValueError(f"more than {MOST_RELEASES:,} releases are listed")
    if None in counted:
        return math.inf
    profile = PrivacyProfile(tuple(event for event in counted if event is not None))
    try:
        epsilon = profile.epsilon(delta)
        # Not "unless above": what is not a number proves nothing.
        return epsilon if profile.delta(epsilon) <= delta else math.inf
    except (ArithmeticError, MemoryError):
        raise ValueError("their cost is beyond what can be counted") from None


def _counted(event: dict[str, Any], neighbors: str, calibration: str) -> Event | None:
    """What the accountant counts for a listed release; None if nothing is proven for it."""
    content = {key: value for key, value in event.items() if key != "name"}
    for key, value in content.items():
        _check_value(key, value)
    kind = PUBLISHED.get(content["event"]) if "event" in content else None
    if kind is None:
        counted = event_from_dict(content)
        if isinstance(counted, PerturbedMinimum) and counted.neighbors != neighbors:
            raise ValueError("a minimum was counted for other neighbors than the record states")
        return counted
    if calibration == "sound":
        raise ValueError("noise of a published formula is listed, and the record says 'sound'")
    del content["event"]
    try:
        return kind(**content).proven()
    except TypeError:
        raise ValueError(f"{event['event']} does not have these fields") from None


def _check_value(key: str, value: Any) -> None:
    if isinstance(value, str) or (value is None and key == "mu"):
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{key} of a release must be a number")
    if not SMALLEST <= value <= LARGEST:
        raise ValueError(f"{key} of a release is not a possible number")
    if key == "count":
        if not isinstance(value, int) or value > MOST_RELEASES:
            raise ValueError(f"count must be a whole number of at most {MOST_RELEASES:,}")
    elif key in COSTS and value > LARGEST_COST:
        raise ValueError(f"{key} = {value:.4g} of a release is beyond all that protects")


def _search_epsilon(event: dict[str, Any], delta: float) -> float:
    """Epsilon of a private search over settings."""
    known = {"name", "event", "distribution", "n_candidates"} | SEARCH
    if set(event) != known or event["distribution"] not in SHAPES:
        raise ValueError("RepeatAndSelect does not have these fields")
    for key in (*SEARCH, "n_candidates"):
        _check_value(key, event[key])
    if event["delta"] != delta:
        raise ValueError("the search was counted at another delta than the record states")
    if not 1 < event["expected_trials"] <= 1e6 or not 1e-15 < event["rho_per_trial"] <= 1e4:
        raise ValueError("a search of this size cannot have been made")
    return repeated_epsilon(
        event["rho_per_trial"], delta, event["expected_trials"], event["distribution"]
    )
