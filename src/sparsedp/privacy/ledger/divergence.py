"""Renyi divergences of one fixed order: what the releases of a fit cost under rule "union".

Every figure holds in both directions and given whatever came before, so figures of a fit add up in
any order (ledger.md). All are rounded up.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sparsedp.privacy.account.cost import Cost, Costly, DiscreteLoss, alternatives
from sparsedp.privacy.events import event_from_dict
from sparsedp.privacy.kind import Claim
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.plain import Plain

ROUNDING = 1e-9
"""Part added to every divergence, above the rounding errors in it."""

SLACK = 1e-13
"""Added to every logarithm of a sum, which is near zero where divergences are small."""

TAIL = 1e-30
"""Mass of a discrete loss that counts as a leak."""


class Divergence(NamedTuple):
    """A divergence that holds but for an event of probability ``leak``."""

    divergence: float
    leak: float


def black_box(epsilon: float, delta: float, alpha: float) -> Divergence:
    """Of anything that is (epsilon, delta)-differentially private (Kairouz et al. 2015)."""
    return Divergence(_response(epsilon, alpha) * (1 + ROUNDING), delta)


def of_events(events: Sequence[Plain], alpha: float, neighbors: Neighbors) -> Divergence | None:
    """Of a fit's releases as its record lists them; None if one of them has no such bound here."""
    if not events:
        return None
    costs = [_of_record(event, alpha, neighbors) for event in events]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    divergence = math.fsum(cost.divergence for cost in known)
    leak = math.fsum(cost.leak for cost in known)
    return Divergence(divergence * (1 + ROUNDING), leak * (1 + ROUNDING))


def _of_record(event: Plain, alpha: float, neighbors: Neighbors) -> Divergence | None:
    try:
        counted = event_from_dict({key: value for key, value in event.items() if key != "name"})
        if counted.contradiction(Claim(neighbors, "sound")) is not None:
            return None  # a published calibration, or counted for other neighbors: a black box
        return of_event(counted, alpha)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None  # a kind of release from elsewhere


@lru_cache(maxsize=256)
def of_event(event: Costly, alpha: float) -> Divergence:
    """Of one kind of release at order ``alpha`` > 1; the largest where there are parts."""
    each = [_of_cost(cost, alpha) for cost in alternatives((event.cost(),))]
    return Divergence(max(one.divergence for one in each), max(one.leak for one in each))


def _of_cost(cost: Cost, alpha: float) -> Divergence:
    if cost.infinite:
        raise ValueError("no divergence is known where nothing is proven")
    parts = [count * _selection(epsilon0, alpha) for epsilon0, count in cost.selections]
    parts += [count * _response(epsilon, alpha) for epsilon, count in cost.pure]
    parts += [alpha * cost.mu**2 / 2]
    if cost.alone is not None:
        parts.append(cost.alone.divergence(alpha))
    discrete = [_discrete(loss, alpha) for loss in cost.losses]
    parts += [one.divergence for one in discrete]
    return Divergence(math.fsum(parts), math.fsum(one.leak for one in discrete))


def _discrete(loss: DiscreteLoss, alpha: float) -> Divergence:
    """The moment of its atoms; what lies at infinity leaks."""
    atoms = loss.atoms(TAIL)
    with np.errstate(divide="ignore"):
        moment = logsumexp(np.log(atoms.masses) + (alpha - 1) * atoms.losses)
    return Divergence(max(0.0, float(moment) + SLACK) / (alpha - 1), atoms.infinite)


def _selection(epsilon0: float, alpha: float) -> float:
    """Largest divergence of one selection of bounded range: two outcomes, the worst of them.

    With u = e^t and c = e^epsilon0 the moment of accounting.md's two-point law is
    (a u^(alpha-1) - b u^alpha) / (c - 1), a = c - c^(1-alpha), b = 1 - c^(1-alpha), and largest at
    u = (alpha - 1) a / (alpha b).
    """
    simple = alpha * epsilon0**2 / 8  # Cesar and Rogers (2021)
    if epsilon0 > 300:
        return simple
    a = -math.exp(epsilon0) * math.expm1(-alpha * epsilon0)
    b = -math.expm1(-(alpha - 1) * epsilon0)
    u = (alpha - 1) * a / (alpha * b)
    moment = math.log(a / (alpha * math.expm1(epsilon0))) + (alpha - 1) * math.log(u)
    return min(simple, max(0.0, moment + SLACK * alpha) / (alpha - 1))


def _response(epsilon: float, alpha: float) -> float:
    """Of randomized response, the worst of all releases with this epsilon and delta zero."""
    moment = _log_cosh((alpha - 0.5) * epsilon) - _log_cosh(epsilon / 2)
    simple = alpha * epsilon * math.tanh(epsilon / 2)
    return min(simple, max(0.0, moment + SLACK * (1 + alpha * epsilon)) / (alpha - 1))


def _log_cosh(x: float) -> float:
    # log cosh x = log(1 + 2 sinh(x/2)^2), exact for small x
    if x < 1:
        return math.log1p(2 * math.sinh(x / 2) ** 2)
    return x + math.log1p(math.exp(-2 * x)) - math.log(2)
