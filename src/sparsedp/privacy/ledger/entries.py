"""What a ledger's lines tell a reader: charges, and what they come to."""

import math
from collections import Counter
from typing import NamedTuple

from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.events import PureReleases
from sparsedp.privacy.ledger.state import State
from sparsedp.privacy.plain import Parsed

UNIT_NAMES = {"record": "row", "person": "person"}
"""Units as ledgers write them, and as everybody else says."""

LONGEST = 1_000
"""Characters of a declared name."""


class Charge(NamedTuple):
    """One charge. What was not declared is None."""

    time: str
    epsilon: float
    delta: float
    neighbors: str
    what: str
    events: list[Parsed]
    line: int
    who: str | None
    data: str | None
    table: int | None
    """Charges with the same number were made for the same records, as their fingerprints say."""
    seeded: bool | None
    unit: str
    """What the charge protects: a "row" or a "person"."""
    pending: bool
    """True if no model has come of it: the fit failed, was killed, or is still running."""


class Remaining(NamedTuple):
    """What may still be spent."""

    epsilon: float
    delta: float


def charges_of(state: State, fingerprints: dict[int, str]) -> list[Charge]:
    """All charges, oldest first; of fingerprints only which are equal."""
    finished = state.finished()
    order = {mark: i for i, mark in enumerate(dict.fromkeys(fingerprints.values()), start=1)}
    return [
        Charge(
            state.lines[number].time,
            float(state.lines[number].epsilon),
            float(state.lines[number].delta),
            details["neighbors"],
            details["what"],
            details["events"],
            number,
            details["who"],
            details["data"],
            order.get(fingerprints.get(number, "")),
            details["seeded"],
            UNIT_NAMES[details["unit"]],
            number not in finished,
        )
        for number, details in state.charges()
    ]


def planned_epsilon(history: list[Charge], delta: float) -> float:
    """Epsilon of all charges at ``delta`` if they were planned beforehand, at most their sum."""
    charges = [charge for charge in history if charge.epsilon > 0]
    total = math.fsum(charge.epsilon for charge in charges)
    leaks = math.fsum(math.log1p(-charge.delta) for charge in history)
    spare = -math.expm1(math.log1p(-delta) - leaks) * (1 - 1e-9)
    if not charges or spare <= 1e-300:
        return total
    counts = Counter(charge.epsilon for charge in charges)
    profile = PrivacyProfile(tuple(PureReleases(e, n) for e, n in counts.items()))
    return min(total, profile.epsilon(spare))


def declared_name(field: str, value: str | None) -> str | None:
    """A declared name; control characters would let one line look like two."""
    if value is None or value == "":
        return None
    text = " ".join(str(value).split())
    if len(text) > LONGEST or not text.isprintable():
        raise ValueError(f"{field} must be at most {LONGEST} printable characters")
    return text
