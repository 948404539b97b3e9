"""What was released, as far as its cost is concerned.

An event says which guarantee a group of releases has given neighboring tables; it says nothing
about what was released. ``accountants`` turns events into (epsilon, delta).
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, get_args


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


@dataclass(frozen=True)
class PerturbedMinimum:
    """The minimum of an objective with a random linear term (objective perturbation).

    Parameters
    ----------
    mu : float
        How far one record can move the gradient, in L2 norm, over the standard deviation of the
        linear term's entries.
    ratio : float
        Largest curvature of one record's loss over the curvature of the regularization.
    shape : {"logistic", "log_cosh", "any", "multinomial"}
        How a record's curvature and gradient go together; "any" covers the first two.
    neighbors : {"add_remove", "replace_one"}
        What ``mu`` was counted for: here the relation changes more than a factor.
    rounding_mu : float
        Cost of the Gaussian noise that covers an inexact minimum and floating point.
    n_outputs : int
        Classes of a multinomial loss.
    """

    mu: float
    ratio: float
    shape: str
    neighbors: str
    rounding_mu: float
    n_outputs: int = 1

    def __post_init__(self) -> None:
        for name in ("mu", "ratio", "rounding_mu"):
            _check_cost(name, getattr(self, name))
        if self.shape not in ("logistic", "log_cosh", "any", "multinomial"):
            raise ValueError(f"unknown shape of a loss: {self.shape!r}")
        if (self.shape == "multinomial") != (self.n_outputs > 1):
            raise ValueError(f"{self.shape} does not go with {self.n_outputs} outputs")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"event": "PerturbedMinimum", **asdict(self)}


@dataclass(frozen=True)
class PureMinima:
    """``count`` minima whose linear term b has a density proportional to exp(-rate * ||b||).

    Parameters
    ----------
    epsilon : float
        Pure cost of one minimum, all included.
    count : int
        How many there are.
    rate : float
        In units of one over the largest gradient of a record.
    ratio : float
        Largest curvature of one record's loss over the curvature of the regularization.
    rounding_epsilon : float
        The part of ``epsilon`` that covers an inexact minimum and floating point.
    """

    epsilon: float
    count: int
    rate: float
    ratio: float
    rounding_epsilon: float

    def __post_init__(self) -> None:
        for name in ("epsilon", "rate", "ratio", "rounding_epsilon"):
            _check_cost(name, getattr(self, name))
        _check_count(self.count)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {"event": "PureMinima", **asdict(self)}


Event = Selections | Gaussians | PureReleases | PerturbedMinimum | PureMinima


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
    kind = next((kind for kind in get_args(Event) if kind.__name__ == data.get("event")), None)
    if kind is None:
        raise ValueError(f"unknown event {data.get('event')!r:.40}")
    try:
        return kind(**fields)
    except TypeError:
        raise ValueError(f"{kind.__name__} does not have these fields") from None
