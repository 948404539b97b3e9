"""What one fit may spend: a schedule, calibrated."""

import math
from dataclasses import dataclass, field

from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.charges import Charges
from sparsedp.privacy.events import GaussianReleases, Gaussians, LaplaceTable
from sparsedp.privacy.kind import Event
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.schedule import PublishedSchedule, Schedule

LEAST_MU = 1e-8
"""Sensitivity over noise, at least: louder noise, a hundred million times what a record adds, is no
longer sure to fit on the grid that noise is drawn on (mechanisms/samplers/gaussian.py), and drowns
any number of records that sums are proven for."""


@dataclass(frozen=True, eq=False)
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

    Attributes
    ----------
    events : tuple of events
        One per request.
    charges : Charges
        Where the curator charges them.
    """

    schedule: Schedule | PublishedSchedule
    epsilon: float = field(kw_only=True)
    delta: float = field(kw_only=True)
    neighbors: Neighbors = field(kw_only=True)
    events: tuple[Event, ...] = field(init=False)
    charges: Charges = field(init=False)

    def __post_init__(self) -> None:
        events: tuple[Event, ...]
        if isinstance(self.schedule, PublishedSchedule):
            events = tuple(
                request.event(self.epsilon, self.delta, self.neighbors)
                for request in self.schedule.requests
            )
        else:
            events = calibrate(self.schedule, self.epsilon, self.delta)
        if any(_quietest(event) < LEAST_MU for event in events):
            raise ValueError(
                f"epsilon={self.epsilon:g} at delta={self.delta:g} leaves nothing to learn: noise "
                f"would be more than {1 / LEAST_MU:.0e} times what one record adds. Take a larger "
                "epsilon or delta"
            )
        object.__setattr__(self, "events", events)
        object.__setattr__(self, "charges", Charges(self.schedule, events))

    @property
    def calibration(self) -> str:
        """How the noise was set: "sound" or "published"."""
        return "published" if isinstance(self.schedule, PublishedSchedule) else "sound"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the requests."""
        return self.charges.names

    def proven_epsilon(self) -> float:
        """The epsilon that the accountant proves for the events at delta; may be infinite."""
        return PrivacyProfile(self.events).epsilon(self.delta)


def _quietest(event: Event) -> float:
    """Sensitivity over noise of a release that had the whole event; infinite for selections."""
    if isinstance(event, Gaussians):
        return event.mu
    if isinstance(event, LaplaceTable):
        return event.epsilon
    return 1 / event.multiplier if isinstance(event, GaussianReleases) else math.inf
