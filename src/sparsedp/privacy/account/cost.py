"""The normal form of a cost: what every kind of release is turned into before it is counted.

Accountants know this form and no kind of release, so that a new kind needs no new accountant.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Groups = tuple[tuple[float, int], ...]
"""(epsilon, count) of successive releases."""


class Atoms(NamedTuple):
    """A discrete privacy loss: its values, their masses, and the mass at infinity."""

    losses: NDArray[np.floating]
    masses: NDArray[np.floating]
    infinite: float = 0.0


class DiscreteLoss(Protocol):
    """A release that is dominated by a discrete privacy loss; hashable, as atoms are kept."""

    def atoms(self, tail: float) -> Atoms:
        """Upper bound in either direction; about ``tail`` of its mass counts as infinite."""
        ...


class Alone(Protocol):
    """A release whose bound is not a sum over releases: a record that has it has no other."""

    def proven_epsilon(self, delta: float) -> float:
        """Epsilon at ``delta``."""
        ...

    def divergence(self, alpha: float) -> float:
        """Renyi divergence of order ``alpha`` > 1."""
        ...


class Costly(Protocol):
    """Whatever can say what it costs."""

    def cost(self) -> "Cost":
        """In the normal form."""
        ...


@dataclass(frozen=True)
class Cost:
    """What releases cost, each given all that came before.

    Parameters
    ----------
    selections : tuple of (epsilon0, count)
        Of bounded range, in the order in which they are made.
    pure : tuple of (epsilon, count)
        With delta zero.
    mu : float
        Of all Gaussian noise together.
    losses : tuple of DiscreteLoss
    alone : Alone or None
    infinite : float
        Mass at infinity; one if nothing is proven.
    parts : tuple of tuples of Cost
        One of these and no other, by a coin of each person's own (events/parallel.md), each in the
        order of its releases; a cost with parts has nothing else.
    """

    selections: Groups = ()
    pure: Groups = ()
    mu: float = 0.0
    losses: tuple[DiscreteLoss, ...] = ()
    alone: Alone | None = None
    infinite: float = 0.0
    parts: "tuple[tuple[Cost, ...], ...]" = ()

    def __post_init__(self) -> None:
        sums = self.selections or self.pure or self.losses or self.mu or self.infinite
        if self.parts and (sums or self.alone is not None):
            raise ValueError("a cost with parts has nothing beside them")
        # Whatever a kind of release has read from a file: no such number may look like a low cost.
        for epsilon, count in (*self.selections, *self.pure):
            check_cost("epsilon", epsilon)
            check_count(count)
        if self.mu != 0:
            check_cost("mu", self.mu)

    def rho(self) -> float:
        """Concentrated cost: epsilon0^2 / 8 per selection, mu^2 / 2, epsilon^2 / 2 per pure one."""
        if self.parts:
            return max(math.fsum(cost.rho() for cost in part) for part in self.parts)
        if self.losses:
            raise ValueError("no concentrated cost is known for a perturbed minimum")
        if self.alone is not None or self.infinite:
            raise ValueError("no concentrated cost is known for these releases")
        rho = self.mu**2 / 2
        for epsilon0, count in self.selections:
            rho += count * epsilon0**2 / 8
        for epsilon, count in self.pure:
            rho += count * epsilon**2 / 2
        return rho


NOTHING_PROVEN = Cost(infinite=1.0)


def together(costs: Iterable[Cost]) -> Cost:
    """The cost of several groups of releases that all concern everybody, in this order."""
    parts = tuple(costs)
    if any(cost.parts for cost in parts):
        raise ValueError("releases about parts of the persons have no single sum")
    alone = [cost.alone for cost in parts if cost.alone is not None]
    if alone and len(parts) > 1:
        raise ValueError("a private search is the only release of its record")
    return Cost(
        _in_order(group for cost in parts for group in cost.selections),
        _by_epsilon(group for cost in parts for group in cost.pure),
        math.hypot(*(cost.mu for cost in parts)),
        tuple(loss for cost in parts for loss in cost.losses),
        alone[0] if alone else None,
        min(1.0, math.fsum(cost.infinite for cost in parts)),
    )


MOST_WAYS = 64
"""Ways through the parts that are counted one by one; beyond, as if everybody were in all parts."""


def alternatives(costs: Iterable[Cost]) -> tuple[Cost, ...]:
    """What a person can be part of, by the coins: what holds for each of these holds for all.

    Parameters
    ----------
    costs : iterable of Cost
        In the order of the releases.

    Returns
    -------
    tuple of Cost
        Without parts. Delta of all releases is at most the largest of theirs (events/parallel.md).
    """
    listed = tuple(costs)
    if _n_ways(listed) > MOST_WAYS:
        return (together(_all(listed)),)
    return tuple(together(way) for way in _ways(listed))


def _n_ways(costs: tuple[Cost, ...]) -> int:
    return math.prod(sum(map(_n_ways, cost.parts)) for cost in costs if cost.parts)


def _ways(costs: tuple[Cost, ...]) -> Iterator[tuple[Cost, ...]]:
    """Every choice of one part wherever there are several."""
    each = (
        [way for part in cost.parts for way in _ways(part)] if cost.parts else [(cost,)]
        for cost in costs
    )
    for chosen in itertools.product(*each):
        yield tuple(itertools.chain.from_iterable(chosen))


def _all(costs: tuple[Cost, ...]) -> Iterator[Cost]:
    """Whatever a person could be part of: never less than what any choice is."""
    for cost in costs:
        if cost.parts:
            yield from _all(tuple(itertools.chain.from_iterable(cost.parts)))
        else:
            yield cost


def _in_order(groups: Iterable[tuple[float, int]]) -> Groups:
    """Neighbors of the same epsilon become one group."""
    merged: list[tuple[float, int]] = []
    for epsilon, count in groups:
        if merged and merged[-1][0] == epsilon:
            count += merged.pop()[1]
        merged.append((epsilon, count))
    return tuple(merged)


def _by_epsilon(groups: Iterable[tuple[float, int]]) -> Groups:
    """One group per epsilon, where the order does not matter."""
    counts: dict[float, int] = {}
    for epsilon, count in groups:
        counts[epsilon] = counts.get(epsilon, 0) + count
    return tuple(sorted(counts.items()))


def check_cost(name: str, value: float) -> None:
    """Raise unless this is a number that can be a cost."""
    if not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")


def check_count(count: int) -> None:
    """Raise unless this is a number of releases."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"count must be an integer of at least 1, got {count!r}")
