"""What a solver will ask for, stated before it sees data.

A schedule names the requests and how they share the budget; the kinds of requests are in events/.
"""

import math
from dataclasses import dataclass, replace

from sparsedp.privacy.kind import PublishedRequest, Request


class UnprovenGuarantee(UserWarning):
    """A published calibration was used: the claimed guarantee is not proven."""


@dataclass(frozen=True)
class Schedule:
    """All that a solver will ask for, in order.

    Parameters
    ----------
    requests : tuple of requests
        Empty for a model that releases nothing private.
    """

    requests: tuple[Request, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "requests", tuple(self.requests))
        names = [request.name for request in self.requests]
        if len(set(names)) < len(names):
            raise ValueError(f"the names of the requests must be unique, got {names}")
        if self.counted >= 1 and len(self.requests) > 1:
            raise ValueError(f"the counts ask for {self.counted:g} of epsilon: leave a rest")

    @property
    def counted(self) -> float:
        """Part of epsilon that the counts and other pure requests take."""
        return math.fsum(request.fraction for request in self.requests)

    @property
    def total_share(self) -> float:
        """Sum of the relative shares, by which each is divided."""
        return math.fsum(request.share for request in self.requests)


@dataclass(frozen=True)
class PublishedSchedule:
    """What a solver will ask for, with the noise of a paper.

    A published request fixes its noise by the paper's formula from (epsilon, delta). What that
    noise guarantees is counted afterwards like for any other event, so that a record can show the
    claim and the proven figure side by side.
    """

    requests: tuple[PublishedRequest, ...]


def at_fraction(request: PublishedRequest, fraction: float) -> PublishedRequest:
    """The same request, meant to cost only this part of epsilon."""
    return replace(request, fraction=request.fraction * fraction)


def check_share(name: str, share: float) -> None:
    """Raise unless this is a share of a budget."""
    if not (math.isfinite(share) and share > 0):
        raise ValueError(f"{name}: share must be a positive finite number, got {share!r}")


def check_number(name: str, count: int) -> None:
    """Raise unless this is a number of releases to ask for."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"{name}: count must be an integer of at least 1, got {count!r}")
