"""Releases about disjoint parts of the persons, divided by secret coins: everybody is in one part.

*Proof.* parallel.md: a person's own coin decides which part's releases can depend on this person,
so delta of all of them is at most the largest delta of a part, with whatever else is listed.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost
from sparsedp.privacy.kind import Claim, Listed, Words
from sparsedp.privacy.plain import Plain, Stored

MOST_PARTS = 8
"""No fit divides its records further."""

LONGEST_NAME = 40

MOST_DEPTH = 3
"""Nor are there parts of parts of parts."""

Read = Callable[[Mapping[str, object]], Listed]
"""From a stored event to the event."""


@dataclass(frozen=True)
class Part:
    """A part of the persons, and what is released about it.

    Parameters
    ----------
    name : str
    share : float
        Probability that a person is in it; public. No cost depends on it.
    events : tuple of (str, event)
        Releases with the names of their purposes, in order.
    """

    name: str
    share: float
    events: tuple[tuple[str, Listed], ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not 0 < len(self.name) <= LONGEST_NAME:
            raise ValueError("a part has no name, or one that is too long")
        number = isinstance(self.share, int | float) and not isinstance(self.share, bool)
        if not number or not 0 < self.share < 1:
            raise ValueError("the share of a part must lie strictly between 0 and 1")
        if not self.events:
            raise ValueError("a part without a release")

    def cost(self) -> tuple[Cost, ...]:
        """Of its releases, in order."""
        return tuple(event.cost() for _, event in self.events)

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        events = [{"name": name, **event.to_dict()} for name, event in self.events]
        return {"name": self.name, "share": self.share, "events": events}


@dataclass(frozen=True)
class Parallel:
    """Releases about parts of the persons.

    Parameters
    ----------
    parts : tuple of Part
        Disjoint: every person, with all rows, is in one of them by a coin of its own, which nobody
        knows and which has nothing to do with any record.
    """

    parts: tuple[Part, ...]

    stored_as: ClassVar[str] = "Parallel"
    costs: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if not 2 <= len(names) <= MOST_PARTS or len(set(names)) < len(names):
            raise ValueError(f"there must be 2 to {MOST_PARTS} parts with names of their own")
        if abs(math.fsum(part.share for part in self.parts) - 1) > 1e-9:
            raise ValueError("the shares of the parts do not add up to one")

    @classmethod
    def read(cls, fields: Mapping[str, object], event: Read) -> "Parallel":
        """From what `to_dict` wrote; ``event`` reads what a part lists."""
        if set(fields) != {"parts"}:
            raise ValueError("Parallel does not have these fields")
        return cls(tuple(_part(part, event) for part in _list(fields["parts"])))

    def cost(self) -> Cost:
        """Of the part that a person is in."""
        return Cost(parts=tuple(part.cost() for part in self.parts))

    def contradiction(self, claim: Claim) -> str | None:
        """What every release of every part has to say."""
        found = (event.contradiction(claim) for part in self.parts for _, event in part.events)
        return next((why for why in found if why is not None), None)

    def words(self, neighbors: str) -> Words:
        """For the report; what is released about each part has its own words."""
        shares = ", ".join(f"{part.name!r} ({part.share:.3g})" for part in self.parts)
        return Words(
            kind=f"everybody in one of {len(self.parts)} parts, by a secret coin: {shares}",
            count=None,
            cost="that of the dearest part",
            meaning="what is released about one part cannot depend on anybody in another",
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, "parts": [part.to_dict() for part in self.parts]}


def _part(stored: object, event: Read) -> Part:
    if not isinstance(stored, Mapping) or set(stored) != {"name", "share", "events"}:
        raise ValueError("a part has a name, a share and events")
    return Part(stored["name"], stored["share"], tuple(_named(stored["events"], event)))


def _named(stored: object, event: Read) -> list[tuple[str, Listed]]:
    found = []
    for each in _list(stored):
        if not isinstance(each, Mapping) or not isinstance(each.get("name"), str):
            raise ValueError("a release has no name")
        found.append((each["name"], event({k: v for k, v in each.items() if k != "name"})))
    return found


def _list(stored: object) -> Sequence[object]:
    if not isinstance(stored, list | tuple):
        raise ValueError("parts and their events are lists")
    return stored


def flattened(events: Sequence[Stored], depth: int = 0) -> list[Stored]:
    """Listed releases without the parts around them, in order: as readers and limits count them."""
    if depth > MOST_DEPTH:
        raise ValueError("persons are divided further than any fit does")
    found: list[Stored] = []
    for event in events:
        if event.get("event") != Parallel.stored_as:
            found.append(event)
            continue
        parts = event.get("parts")
        for part in parts if isinstance(parts, list) else ():
            inner = part.get("events") if isinstance(part, dict) else None
            inner = inner if isinstance(inner, list) else []
            found += flattened([each for each in inner if isinstance(each, dict)], depth + 1)
    return found


def parts_of(events: Sequence[Stored]) -> list[str]:
    """Names of the parts, if the list is of parts."""
    if len(events) != 1 or events[0].get("event") != Parallel.stored_as:
        return []
    parts = events[0].get("parts")
    return [
        str(each.get("name"))
        for each in (parts if isinstance(parts, list) else ())
        if isinstance(each, dict)
    ]


def listed_in(events: Sequence[Stored], part: str) -> list[Stored]:
    """Releases about the part of this name; all of them where nobody was divided."""
    if len(events) != 1 or events[0].get("event") != Parallel.stored_as:
        return list(events)
    parts = events[0].get("parts")
    found = [
        each["events"]
        for each in (parts if isinstance(parts, list) else ())
        if isinstance(each, dict) and each.get("name") == part and isinstance(each["events"], list)
    ]
    return found[0] if found else []
