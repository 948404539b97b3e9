"""What it costs to try several settings privately and keep the best (Papernot and Steinke 2021)."""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from sparsedp.privacy.account.accountants import zcdp_epsilon
from sparsedp.privacy.events import Event, Gaussians, Selections
from sparsedp.privacy.schedule import Perturb, Schedule, Select

SHAPES = {"logarithmic": 0.0, "geometric": 1.0}
"""Distributions of the number of trials: shapes of the truncated negative binomial family."""

ORDERS = tuple(1 + np.geomspace(1e-3, 2e4, 220))
"""Renyi orders; the default ones of the accountant are too few for small budgets."""


def stopping_rate(expected_trials: float, distribution: str) -> float:
    """The parameter gamma in (0, 1) of the distribution that has this mean."""
    shape = SHAPES[distribution]

    def mean(gamma: float) -> float:
        if shape == 0:
            return (1 / gamma - 1) / math.log(1 / gamma)
        return shape * (1 - gamma) / (gamma * (1 - gamma**shape))

    return float(brentq(lambda g: mean(g) - expected_trials, 1e-12, 1 - 1e-9, xtol=1e-15))  # type: ignore[arg-type]


def repeated_epsilon(rho: float, delta: float, expected_trials: float, distribution: str) -> float:
    """Epsilon of trying ``expected_trials`` settings on average, each trial rho-zCDP.

    The theorem covers a trial that releases a model together with its score; only the best trial
    comes out, and the number of trials stays secret.
    """
    from dp_accounting import ZCDpEvent
    from dp_accounting.dp_event import RepeatAndSelectDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(ORDERS)
    accountant.compose(
        RepeatAndSelectDpEvent(ZCDpEvent(rho), expected_trials, SHAPES[distribution])
    )
    return float(accountant.get_epsilon(delta))


@lru_cache(maxsize=64)
def trial_rho(epsilon: float, delta: float, expected_trials: float, distribution: str) -> float:
    """The largest zCDP cost of one trial such that all trials together stay within the budget."""
    low, high = 1e-12, 1.0
    if repeated_epsilon(low, delta, expected_trials, distribution) > epsilon:
        raise ValueError(
            f"{expected_trials:g} trials cannot be paid with epsilon={epsilon:g}, delta={delta:g}: "
            "try fewer settings or ask for a larger budget"
        )
    while repeated_epsilon(high, delta, expected_trials, distribution) <= epsilon:
        high *= 4
    while high / low > 1 + 1e-4:
        middle = math.sqrt(low * high)
        if repeated_epsilon(middle, delta, expected_trials, distribution) <= epsilon:
            low = middle
        else:
            high = middle
    return low  # verified


@lru_cache(maxsize=64)
def single_rho(epsilon: float, delta: float) -> float:
    """The zCDP cost that one release may have, converted by the same kind of bound."""
    return float(
        brentq(lambda rho: zcdp_epsilon(rho, delta) - epsilon, 1e-15, epsilon + 1, xtol=1e-15)  # type: ignore[arg-type]
    )


def events_at(schedule: Schedule, rho: float) -> tuple[Event, ...]:
    """Calibrate a schedule to rho-zCDP: shares are parts of rho, so this needs no search.

    ``count`` selections of epsilon0 cost count * epsilon0^2 / 8, Gaussians of mu cost mu^2 / 2.
    """
    events: list[Event] = []
    for request in schedule.requests:
        match request:
            case Select(count, share):
                part = share / schedule.total_share * rho
                events.append(Selections(math.sqrt(8 * part / count), count))
            case Perturb(share):
                events.append(Gaussians(math.sqrt(2 * share / schedule.total_share * rho)))
            case _:
                raise ValueError(
                    f"a solver that asks for {type(request).__name__} cannot be tuned privately: "
                    "only selections and Gaussian releases have the cost that the theorem needs"
                )
    return tuple(events)
