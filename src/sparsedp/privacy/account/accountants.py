"""What a list of releases costs: certified upper bounds on delta(epsilon).

It is counted in the normal form (cost.py), whatever the kinds of releases are.

``accounting.md`` beside this file has the proofs. In short: the worst adversary against a mix of
events, in any interleaving, meets the non-selections first, and what the selections then add is
an exact dynamic program, bounded by a discrete privacy loss. So every cost here is one sum,

    delta(epsilon) = infinite + sum over atoms of mass * gaussian_delta(epsilon - loss, mu).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import root_scalar

from sparsedp.privacy.account.cost import Atoms, Cost, Costly, DiscreteLoss, Groups, alternatives
from sparsedp.privacy.account.gaussian import (
    check_delta,
    gaussian_delta,
    gaussian_mu,
    gaussian_profile,
)
from sparsedp.privacy.account.loss_distribution import (
    coarsen,
    convolve,
    pure_atoms,
    selection_atoms,
    selection_profile,
)
from sparsedp.privacy.account.many import reduced

__all__ = [
    "PrivacyProfile",
    "gaussian_delta",
    "gaussian_mu",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_rho",
]

ROUNDING = 1e-10
"""Relative amount added to every sum: above the rounding errors made outside the kernel."""

TAILS = (1e-30, 1e-75, 1e-150, 1e-300)
"""Mass that may be cut off at the end of the lattice, tried in turn until it does not matter."""

MOST_ATOMS = 50_000
"""Above this the atoms of a mix move to a coarser lattice, in the safe direction."""

MIXED_ATOMS = 1_400
"""Atoms of each kind where a discrete loss is mixed with others: two million pairs."""


@dataclass(frozen=True)
class PrivacyProfile:
    """How private a list of events is, for every epsilon.

    Parameters
    ----------
    events : tuple of events
        Each release may depend on all earlier ones. Gaussian and pure releases and perturbed
        minima may fall anywhere; the groups of selections come in the given order. Of parts of the
        persons the dearest one counts.

    Notes
    -----
    *Privacy.* ``delta`` is an upper bound also after discretization and rounding. It is exact for
    Gaussian releases, for pure releases, and for one selection with pure releases; else it
    exceeds the worst case by a few parts in a thousand up to a few percent.
    """

    events: tuple[Costly, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(self.events))

    def delta(self, epsilon: float, resolution: float = 0.0) -> float:
        """Certified upper bound on delta at ``epsilon``.

        Parameters
        ----------
        epsilon : float
            Any real number.
        resolution : float, default=0.0
            Below this the bound need not be sharp (it is still a bound), which saves time.

        Returns
        -------
        float
        """
        if math.isnan(epsilon):
            raise ValueError("epsilon must be a number")
        return max(_delta(cost, epsilon, resolution) for cost in self._alternatives())

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon, at least zero, whose certified delta is at most ``delta``.

        Parameters
        ----------
        delta : float
            Between 1e-300 and 1; or 0, for which only pure releases have a finite epsilon.

        Returns
        -------
        float
            ``profile.delta(profile.epsilon(delta)) <= delta`` holds in floating point; infinite
            if there is no such number.
        """
        # Where there are parts: the first epsilon at which the largest delta is small enough is the
        # largest of the first ones.
        return max(_epsilon(cost, delta) for cost in self._alternatives())

    def _alternatives(self) -> tuple[Cost, ...]:
        return alternatives(event.cost() for event in self.events)


def _delta(cost: Cost, epsilon: float, resolution: float) -> float:
    """Of releases that all concern everybody."""
    if cost.infinite >= 1 or cost.alone is not None:
        return 1.0  # nothing is known: one is a bound
    value = infinite = 0.0
    for tail in TAILS:
        value, infinite = _sum(cost, epsilon, tail)
        if infinite <= 1e-5 * max(value, resolution):
            break
    return min(1.0, (value + infinite) * (1 + ROUNDING))


def _epsilon(cost: Cost, delta: float) -> float:
    """Of releases that all concern everybody."""
    if delta == 0:
        return _pure_epsilon(cost)
    check_delta(delta)
    if cost.alone is not None:
        return cost.alone.proven_epsilon(delta)
    return _smallest(lambda epsilon: _delta(cost, epsilon, delta), delta)


def _pure_epsilon(cost: Cost) -> float:
    """Epsilon at delta zero: the sum if all releases are pure; nothing is proven for others."""
    if cost != Cost(pure=cost.pure):
        return math.inf
    return math.fsum(epsilon * count for epsilon, count in cost.pure)


def _sum(cost: Cost, epsilon: float, tail: float) -> tuple[float, float]:
    """Finite and infinite part of the sum over atoms."""
    selections, many_mu, many_infinite = reduced(cost.selections, tail)
    mu = math.hypot(cost.mu, many_mu)
    if mu == 0 and not cost.losses and len(selections) == 1 and selections[0][1] == 1:
        losses, masses, _ = pure_atoms(cost.pure, MOST_ATOMS)
        return float(masses @ selection_profile(epsilon - losses, selections[0][0])), cost.infinite
    losses, masses, infinite = _mix(selections, cost.pure, cost.losses, tail)
    finite = float(masses @ gaussian_profile(epsilon - losses, mu))
    return finite, infinite + many_infinite + cost.infinite


@lru_cache(maxsize=16)
def _mix(
    selections: Groups, pure: Groups, discrete: tuple[DiscreteLoss, ...], tail: float
) -> Atoms:
    """Losses of pure releases, of discrete losses and of selections together."""
    if discrete:
        atoms = discrete[0].atoms(tail)
        others = [loss.atoms(tail) for loss in discrete[1:]]
        if pure:
            others.append(pure_atoms(pure, MIXED_ATOMS))
        if selections:
            others.append(selection_atoms(selections, tail))
        for other in others:
            atoms = convolve(coarsen(atoms, MIXED_ATOMS), coarsen(other, MIXED_ATOMS))
        return coarsen(atoms, MOST_ATOMS)
    if not selections:
        return pure_atoms(pure, MOST_ATOMS)
    atoms = selection_atoms(selections, tail)
    room = max(16, 2_000_000 // atoms.losses.size)  # keeps the outer product in memory
    return coarsen(convolve(pure_atoms(pure, room), atoms), MOST_ATOMS)


def _smallest(delta_of: Callable[[float], float], delta: float) -> float:
    """Smallest epsilon >= 0 with ``delta_of(epsilon) <= delta``, for a decreasing function."""
    if delta_of(0.0) <= delta:
        return 0.0

    def excess(epsilon: float) -> float:
        return math.log(max(delta_of(epsilon), 1e-305) / delta)

    low, high = 0.0, 1.0
    while excess(high) > 0:
        low, high = high, 2 * high
        if high > 1e9:
            return math.inf
    while low == 0.0 and excess(high / 8) < 0:
        high /= 8
    epsilon = root_scalar(excess, bracket=(low, high), xtol=1e-12 * high, rtol=1e-12).root
    shift = 1e-13 * high
    while delta_of(epsilon) > delta:
        epsilon += shift
        shift *= 2
    # Not "unless above": what is not a number proves nothing.
    return epsilon if delta_of(epsilon) <= delta else math.inf


def zcdp_rho(events: tuple[Costly, ...]) -> float:
    """Sum of the concentrated costs: a coarser summary, valid in any order.

    Parameters
    ----------
    events : tuple of events
        No perturbed minimum among them.

    Returns
    -------
    float
        epsilon0^2 / 8 per selection (Cesar and Rogers 2021), mu^2 / 2 for Gaussian releases,
        epsilon^2 / 2 per pure release (Bun and Steinke 2016).
    """
    rho = 0.0
    for event in events:
        rho += event.cost().rho()
    return rho


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Delta that follows from rho-zCDP (Canonne, Kamath and Steinke 2020, Proposition 12).

    Parameters
    ----------
    rho : float
    epsilon : float

    Returns
    -------
    float
        An upper bound: every order alpha gives one, the best of a fine grid is taken.
    """
    center, width = 2.0, 14.0
    best = 0.0
    for _ in range(4):
        log_order = center + width * np.linspace(-1, 1, 401)
        order = np.exp(log_order)  # alpha - 1
        log_delta = order * ((order + 1) * rho - epsilon) - log_order
        log_delta -= (order + 1) * np.log1p(1 / order)
        index = int(np.argmin(log_delta))
        best = min(best, float(log_delta[index]))
        center, width = float(log_order[index]), width / 50
    return math.exp(best)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Smallest epsilon >= 0 that follows from rho-zCDP at ``delta``.

    Parameters
    ----------
    rho : float
    delta : float
        Between 1e-300 and 1.

    Returns
    -------
    float
    """
    check_delta(delta)
    return _smallest(lambda epsilon: zcdp_delta(rho, epsilon), delta)
