"""What has been released of a schedule: every release is charged here before noise is drawn."""

from typing import TypeVar

from sparsedp.privacy.events.gaussians import ROUNDING
from sparsedp.privacy.kind import Event
from sparsedp.privacy.schedule import PublishedSchedule, Schedule

Kind = TypeVar("Kind")


class UnscheduledRelease(RuntimeError):
    """A solver asked for something else than its schedule says."""


class Charges:
    """The requests of one fit with their noise, and what has been released of each.

    Parameters
    ----------
    schedule : Schedule or PublishedSchedule
        What the solver said that it would ask for.
    events : tuple of events
        What the requests became; whoever set this noise accounts for it.

    Notes
    -----
    *Privacy.* Noise levels come from here and from nowhere else, each together with its charge.
    Selections must come in the order of the schedule, Gaussian releases may come at any time and
    in any number as long as their shares add up to one (accounting.md, section 4). Shares may
    round above one by `ROUNDING`, which `Gaussians.mu_of` pays for.
    """

    def __init__(self, schedule: Schedule | PublishedSchedule, events: tuple[Event, ...]) -> None:
        self.names = tuple(request.name for request in schedule.requests)
        self.events = events
        self._limits = tuple(request.units for request in schedule.requests)
        if len(self._limits) != len(events):
            raise ValueError(f"{len(self._limits)} requests cannot have {len(events)} events")
        self._ordered = tuple(bool(event.cost().selections) for event in events)
        self._spent = [0.0] * len(events)

    @property
    def n_releases(self) -> int:
        """Selections and other releases of the schedule: what a progress bar counts to."""
        return sum(self._limits)

    def find(self, kinds: tuple[type[Kind], ...], name: str | None = None) -> Kind:
        """The one event of these kinds, of this name if one is given; charges nothing."""
        return self._find(kinds, name)[1]

    def charge(self, kinds: tuple[type[Kind], ...], amount: float, name: str | None = None) -> Kind:
        """Charge the event that `find` finds; it carries the noise level.

        Parameters
        ----------
        kinds : tuple of types
            That can pay for what is asked.
        amount : float
            Releases, or a share of the total where that is one whole.
        name : str, optional
            Which request of the schedule this belongs to, where there are several.
        """
        index, event = self._find(kinds, name)
        for later in range(index + 1, len(self.events)):
            if self._ordered[index] and self._ordered[later] and self._spent[later]:
                raise UnscheduledRelease(
                    f"{self.names[index]!r} was asked for after {self.names[later]!r}, "
                    "against the schedule"
                )
        limit = self._limits[index]
        if not amount > 0 or self._spent[index] + amount > limit + ROUNDING:
            raise UnscheduledRelease(
                f"{amount:g} of {self.names[index]!r} was asked for, "
                f"{limit - self._spent[index]:g} of {limit:g} is left"
            )
        self._spent[index] += amount
        return event

    def close(self) -> None:
        """Raise unless exactly the scheduled releases have been made."""
        for name, limit, spent in zip(self.names, self._limits, self._spent, strict=True):
            if abs(spent - limit) > ROUNDING:
                raise UnscheduledRelease(
                    f"{spent:g} of {limit} scheduled for {name!r} was released"
                )

    def _find(self, kinds: tuple[type[Kind], ...], name: str | None) -> tuple[int, Kind]:
        found = [
            (index, event)
            for index, event in enumerate(self.events)
            if isinstance(event, kinds) and name in (None, self.names[index])
        ]
        if len(found) != 1:
            raise UnscheduledRelease(
                f"the schedule has {len(found)} requests of this kind named {name!r}"
            )
        return found[0]
