"""What was released, as far as its cost is concerned.

An event says which guarantee a group of releases has given neighboring tables; it says nothing
about what was released. ``accountants`` turns events into (epsilon, delta).
"""

import math
from dataclasses import asdict, dataclass
from typing import Any


def _check_cost(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")


def _check_count(count: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"count must be an integer of at least 1, got {count!r}")


@dataclass(frozen=True)
class Selections:
    """``count`` selections, one after another, each ``epsilon0``-bounded-range.

    Parameters
    ----------
    epsilon0 : float
        Length of the interval in which the privacy loss of one selection lies, whatever came
        before (exponential mechanism, or report-noisy-max with Gumbel noise).
    count : int
        How many there are; stopping earlier costs no more.
    """

    epsilon0: float
    count: int

    def __post_init__(self) -> None:
        _check_cost("epsilon0", self.epsilon0)
        _check_count(self.count)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"event": "Selections", **asdict(self)}


@dataclass(frozen=True)
class Gaussians:
    """Any number of Gaussian releases that together cost at most ``mu``.

    Parameters
    ----------
    mu : float
        Bound on the root of the sum of (sensitivity / sigma)^2 over the releases, on every path;
        how many releases share it may depend on what was released before.
    """

    mu: float

    def __post_init__(self) -> None:
        _check_cost("mu", self.mu)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"event": "Gaussians", **asdict(self)}


@dataclass(frozen=True)
class PureReleases:
    """``count`` releases, each ``epsilon``-differentially private with delta zero.

    Parameters
    ----------
    epsilon : float
        Cost of one release.
    count : int, default=1
        How many there are.
    """

    epsilon: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_cost("epsilon", self.epsilon)
        _check_count(self.count)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"event": "PureReleases", **asdict(self)}


Event = Selections | Gaussians | PureReleases


def event_from_dict(data: dict[str, Any]) -> Event:
    """Rebuild an event from what its ``to_dict`` wrote.

    Parameters
    ----------
    data : dict
        The key ``"event"`` names the class, the others are its fields.

    Returns
    -------
    Event
    """
    fields = {key: value for key, value in data.items() if key != "event"}
    match data.get("event"):
        case "Selections":
            return Selections(**fields)
        case "Gaussians":
            return Gaussians(**fields)
        case "PureReleases":
            return PureReleases(**fields)
        case other:
            raise ValueError(f"unknown event {other!r}")
