"""What one fit may spend, request by request: every release asks here before noise is drawn."""

import math
from typing import TypeVar

from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.events import (
    Event,
    Gaussians,
    PerturbedMinimum,
    PureMinima,
    PureReleases,
    Selections,
)
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.published.minima import LaplaceVotes
from sparsedp.privacy.published.published import (
    GaussianReleases,
    LaplaceSelections,
    PublishedSchedule,
)
from sparsedp.privacy.schedule import Schedule, Select

ROUNDING = 1e-9
"""Shares of a Gaussian request may add up to 1 with this much rounding; all noise pays for it."""

Released = Event | LaplaceSelections | GaussianReleases | LaplaceVotes
Kind = TypeVar("Kind", bound=Released)


class UnscheduledRelease(RuntimeError):
    """A solver asked for something else than its schedule says."""


class Budget:
    """The calibrated schedule of one fit, and what has been released of it.

    Parameters
    ----------
    schedule : Schedule or PublishedSchedule
        What the solver said that it would ask for.
    epsilon, delta : float
        What all of it together may cost.
    neighbors : {"add_remove", "replace_one"}
        Only published noise looks at it: sound noise is calibrated in units of sensitivity.

    Notes
    -----
    Noise levels come from here and from nowhere else, each together with its charge. Selections
    must come in the order of the schedule, Gaussian releases may come at any time and in any
    number as long as their shares add up to one (see accounting.md, the filter argument).
    """

    def __init__(
        self,
        schedule: Schedule | PublishedSchedule,
        *,
        epsilon: float,
        delta: float,
        neighbors: Neighbors,
    ) -> None:
        if isinstance(schedule, PublishedSchedule):
            self.events: tuple[Released, ...] = tuple(
                request.event(epsilon, delta, neighbors) for request in schedule.requests
            )
        else:
            self.events = calibrate(schedule, epsilon, delta)
        self.schedule = schedule
        self.calibration = "published" if isinstance(schedule, PublishedSchedule) else "sound"
        self.names = tuple(request.name for request in schedule.requests)
        self.delta = delta
        self._limits = _limits(schedule, self.events)
        self._spent = [0.0] * len(self.events)

    @classmethod
    def of(cls, schedule: Schedule, events: tuple[Event, ...]) -> "Budget":
        """A budget whose noise is already set; whoever sets it accounts for it."""
        budget = cls(Schedule(()), epsilon=1.0, delta=0.5, neighbors="add_remove")
        budget.schedule, budget.events = schedule, events
        budget.names = tuple(request.name for request in schedule.requests)
        budget._limits = _limits(schedule, events)
        budget._spent = [0.0] * len(events)
        return budget

    @property
    def n_releases(self) -> int:
        """Selections and other releases of the schedule: what a progress bar counts to."""
        return sum(self._limits)

    def proven_epsilon(self) -> float:
        """The epsilon that the accountant proves for the events at delta; may be infinite."""
        counted: list[Event] = []
        for event in self.events:
            proven = event.proven() if isinstance(event, _PUBLISHED) else event
            if proven is None:
                return math.inf
            counted.append(proven)
        return PrivacyProfile(tuple(counted)).epsilon(self.delta)

    def charge_selections(
        self, count: int = 1, name: str | None = None
    ) -> Selections | LaplaceSelections | LaplaceVotes:
        """Charge ``count`` selections; the answer carries their noise level."""
        index, event = self._find(name, (Selections, LaplaceSelections, LaplaceVotes))
        for later in range(index + 1, len(self.events)):
            if self._spent[later] and isinstance(self.events[later], Selections):
                raise UnscheduledRelease(
                    f"{self.names[index]!r} was asked for after {self.names[later]!r}, "
                    "against the schedule"
                )
        self._charge(index, count, self._limits[index])
        return event

    def charge_gaussian(self, share: float = 1.0, name: str | None = None) -> float:
        """Charge a share of a Gaussian request; the answer is sensitivity over noise.

        Published noise is the same for every release and takes no share: each counts as one.
        """
        index, event = self._find(name, (Gaussians, GaussianReleases))
        if isinstance(event, GaussianReleases):
            self._charge(index, 1, event.count)
        else:
            self._charge(index, share, 1)
        return self.gaussian_mu(share, name)

    def gaussian_mu(self, share: float = 1.0, name: str | None = None) -> float:
        """Sensitivity over noise of a Gaussian release with this share; charges nothing."""
        _, event = self._find(name, (Gaussians, GaussianReleases))
        if isinstance(event, GaussianReleases):
            return 1 / event.multiplier
        return event.mu * math.sqrt(share / (1 + ROUNDING))

    def selection_epsilon0(self, name: str | None) -> float | None:
        """Bounded range of the selections of this name, None if it has none; charges nothing."""
        for own, event in zip(self.names, self.events, strict=True):
            if own == name and isinstance(event, Selections):
                return event.epsilon0
        return None

    def charge_count(self, name: str | None = None) -> PureReleases:
        """Charge a count; the answer carries its epsilon."""
        index, event = self._find(name, (PureReleases,))
        self._charge(index, 1, 1)
        return event

    def charge_minimum(self, name: str | None = None) -> PerturbedMinimum | PureMinima:
        """Charge the minimum of a perturbed objective; the answer carries its noise level."""
        index, event = self._find(name, (PerturbedMinimum, PureMinima))
        self._charge(index, 1, _units(event))
        return event

    def close(self) -> None:
        """Raise unless exactly the scheduled releases have been made."""
        for name, limit, spent in zip(self.names, self._limits, self._spent, strict=True):
            if abs(spent - limit) > ROUNDING:
                raise UnscheduledRelease(
                    f"{spent:g} of {limit} scheduled for {name!r} was released"
                )

    def _find(self, name: str | None, kinds: tuple[type[Kind], ...]) -> tuple[int, Kind]:
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

    def _charge(self, index: int, amount: float, limit: float) -> None:
        if not amount > 0 or self._spent[index] + amount > limit + ROUNDING:
            raise UnscheduledRelease(
                f"{amount:g} of {self.names[index]!r} was asked for, "
                f"{limit - self._spent[index]:g} of {limit:g} is left"
            )
        self._spent[index] += amount


_PUBLISHED = (LaplaceSelections, GaussianReleases, LaplaceVotes)


def _limits(
    schedule: Schedule | PublishedSchedule, events: tuple[Released, ...]
) -> tuple[int, ...]:
    """What has to be released of every request."""
    return tuple(
        request.drawn if isinstance(request, Select) and request.drawn else _units(event)
        for request, event in zip(schedule.requests, events, strict=True)
    )


def _units(event: Released) -> int:
    """What has to be released of an event: selections by number, a Gaussian total as one whole."""
    return 1 if isinstance(event, Gaussians | PerturbedMinimum) else event.count
