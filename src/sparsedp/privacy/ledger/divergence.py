"""Renyi divergences of one fixed order: what the releases of a fit cost under rule "union".

Every figure holds in both directions and given whatever came before, so figures of a fit add up in
any order (ledger.md). All are rounded up.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from sparsedp.privacy.account.objective import minimum_atoms
from sparsedp.privacy.account.repeat import SHAPES, stopping_rate
from sparsedp.privacy.events import (
    Event,
    Gaussians,
    PerturbedMinimum,
    PureMinima,
    PureReleases,
    Selections,
    event_from_dict,
)
from sparsedp.privacy.neighbors import Neighbors

ROUNDING = 1e-9
"""Part added to every divergence, above the rounding errors in it."""

SLACK = 1e-13
"""Added to every logarithm of a sum, which is near zero where divergences are small."""

TAIL = 1e-30
"""Mass of a perturbed minimum's loss that counts as a leak."""


class Cost(NamedTuple):
    """A divergence that holds but for an event of probability ``leak``."""

    divergence: float
    leak: float


def black_box(epsilon: float, delta: float, alpha: float) -> Cost:
    """Of anything that is (epsilon, delta)-differentially private (Kairouz et al. 2015)."""
    return Cost(_response(epsilon, alpha) * (1 + ROUNDING), delta)


def of_events(events: Sequence[dict[str, Any]], alpha: float, neighbors: Neighbors) -> Cost | None:
    """Of a fit's releases as its record lists them; None if one of them has no such bound here."""
    if not events:
        return None
    costs = [_of_record(event, alpha, neighbors) for event in events]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return None
    divergence = math.fsum(cost.divergence for cost in known)
    return Cost(divergence * (1 + ROUNDING), math.fsum(c.leak for c in known) * (1 + ROUNDING))


def _of_record(event: dict[str, Any], alpha: float, neighbors: Neighbors) -> Cost | None:
    try:
        fields = {key: value for key, value in event.items() if key != "name"}
        if fields.get("event") == "RepeatAndSelect":
            return Cost(_search(fields, alpha), 0.0)
        counted = event_from_dict(fields)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None  # a published calibration, or a kind of release from elsewhere: a black box
    if isinstance(counted, PerturbedMinimum) and counted.neighbors != neighbors:
        return None
    return of_event(counted, alpha)


@lru_cache(maxsize=256)
def of_event(event: Event, alpha: float) -> Cost:
    """Of one kind of release at order ``alpha`` > 1."""
    match event:
        case Selections(epsilon0, count):
            return Cost(count * _selection(epsilon0, alpha), 0.0)
        case Gaussians(mu):
            return Cost(alpha * mu**2 / 2, 0.0)
        case PureReleases(epsilon, count) | PureMinima(epsilon, count):
            return Cost(count * _response(epsilon, alpha), 0.0)
        case PerturbedMinimum():
            atoms = minimum_atoms(event, TAIL)
            with np.errstate(divide="ignore"):
                moment = logsumexp(np.log(atoms.masses) + (alpha - 1) * atoms.losses)
            loss = max(0.0, float(moment) + SLACK) / (alpha - 1)
            return Cost(loss + alpha * event.rounding_mu**2 / 2, atoms.infinite)
    raise ValueError(f"no divergence is known for {type(event).__name__}")


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


def _search(event: dict[str, Any], alpha: float) -> float:
    """Of the best of a random number of trials (Papernot and Steinke 2021, theorem 2).

    The theorem holds for every order of its second term, and a divergence is at most that of any
    larger order; with rho-zCDP trials the best of both are known.
    """
    rho, trials = float(event["rho_per_trial"]), float(event["expected_trials"])
    shape, distribution = SHAPES[event["distribution"]], event["distribution"]
    log_rate = -math.log(stopping_rate(trials, distribution) * (1 - ROUNDING))
    second = max(1.0, math.sqrt(log_rate / rho))
    again = (1 + shape) * (rho * (second - 1) + log_rate / second)
    order = max(alpha, 1 + math.sqrt(math.log(trials) / rho))
    return rho * order + again + math.log(trials) / (order - 1)
