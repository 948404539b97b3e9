"""What the releases that a record lists cost, counted anew: a record is never believed."""

import json
from collections.abc import Sequence
from functools import lru_cache

from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.events import event_from_dict, flattened, kind_of
from sparsedp.privacy.kind import Claim, Listed
from sparsedp.privacy.neighbors import NEIGHBORS
from sparsedp.privacy.plain import Plain, Stored
from sparsedp.privacy.public import UNITS

MOST_EVENTS = 24
"""Lines that a list of releases may have: no solver asks for half of it."""

MOST_RELEASES = 2_000_000
"""Releases that all lines together may stand for; counting takes time and memory with them."""

LARGEST_COST = 1e5
"""No release of a fit costs as much: budgets are spent up to epsilon = 10,000."""

SMALLEST, LARGEST = 1e-30, 1e12
"""Numbers of a release lie between these; beyond them arithmetic is not to be trusted."""


def recounted_epsilon(
    events: Sequence[Plain],
    delta: float,
    neighbors: str,
    calibration: str,
    *,
    unit: str = "row",
    rows_per_unit: int | None = 1,
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
    unit : {"row", "person"}
        What the record says that is protected.
    rows_per_unit : int or None
        How many rows of a person count, by the settings of the solver; None for all of them.

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
    if unit not in UNITS:
        raise ValueError(f"the unit must be one of {', '.join(UNITS)}")
    if not events:
        raise ValueError("no release is listed")
    if len(events) > MOST_EVENTS:
        raise ValueError(f"more than {MOST_EVENTS} kinds of releases are listed")
    try:
        listed = json.dumps(list(events), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("a release is not described by plain text and finite numbers") from None
    rows = 1 if unit == "row" else rows_per_unit
    claim = Claim(neighbors, calibration, float(delta), unit, rows)
    return _recounted(listed, float(delta), claim)


@lru_cache(maxsize=64)
def _recounted(listed: str, delta: float, claim: Claim) -> float:
    events = json.loads(listed)
    for event in events:
        if not isinstance(event, dict) or not isinstance(event.get("name"), str):
            raise ValueError("a release has no name")
    single = flattened(events)
    if len(single) > MOST_EVENTS:
        raise ValueError(f"more than {MOST_EVENTS} kinds of releases are listed")
    for event in single:
        _check_values(event)
    profile = PrivacyProfile(tuple(_read(event, claim) for event in events))
    if sum(event.get("count", 1) for event in single) > MOST_RELEASES:
        raise ValueError(f"more than {MOST_RELEASES:,} releases are listed")
    try:
        return profile.epsilon(delta)
    except (ArithmeticError, MemoryError):
        raise ValueError("their cost is beyond what can be counted") from None


def _read(event: Plain, claim: Claim) -> Listed:
    """A listed release, if a fit can have made it and the record can list it."""
    listed = event_from_dict({key: value for key, value in event.items() if key != "name"})
    contradiction = listed.contradiction(claim)
    if contradiction is not None:
        raise ValueError(contradiction)
    return listed


def _check_values(event: Stored) -> None:
    kind = kind_of(event)
    for key, value in event.items():
        if key != "name":
            _check_value(key, value, is_cost=key in kind.costs)


def _check_value(key: str, value: object, *, is_cost: bool) -> None:
    if key != "count" and not is_cost and isinstance(value, str):
        return  # the kind knows which texts there are
    if value is None and key == "mu":
        return  # and where nothing is proven
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{key} of a release must be a number")
    if not SMALLEST <= value <= LARGEST:
        raise ValueError(f"{key} of a release is not a possible number")
    if key == "count":
        if not isinstance(value, int) or value > MOST_RELEASES:
            raise ValueError(f"count must be a whole number of at most {MOST_RELEASES:,}")
    elif is_cost and value > LARGEST_COST:
        raise ValueError(f"{key} = {value:.4g} of a release is beyond all that protects")
