"""What it costs to try several settings privately and keep the best (Papernot and Steinke 2021)."""

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from sparsedp.privacy.account.accountants import zcdp_epsilon
from sparsedp.privacy.kind import Event
from sparsedp.privacy.schedule import Schedule

SHAPES = {"logarithmic": 0.0, "geometric": 1.0}
"""Distributions of the number of trials: shapes of the truncated negative binomial family."""

ORDERS = tuple(1 + np.geomspace(1e-3, 2e4, 220))
"""Renyi orders; the default ones of the accountant are too few for small budgets."""

ROUNDING = 1e-9
"""By this part the stopping rate is lowered in a divergence, above the error of its root."""


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


def repeated_divergence(
    rho: float, alpha: float, expected_trials: float, distribution: str
) -> float:
    """Renyi divergence of the same (Papernot and Steinke 2021, theorem 2).

    The theorem holds for every order of its second term, and a divergence is at most that of any
    larger order; with rho-zCDP trials the best of both are known.
    """
    log_rate = -math.log(stopping_rate(expected_trials, distribution) * (1 - ROUNDING))
    second = max(1.0, math.sqrt(log_rate / rho))
    again = (1 + SHAPES[distribution]) * (rho * (second - 1) + log_rate / second)
    order = max(alpha, 1 + math.sqrt(math.log(expected_trials) / rho))
    return rho * order + again + math.log(expected_trials) / (order - 1)


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
    """Calibrate a schedule to rho-zCDP: shares are parts of rho, so this needs no search."""
    total = schedule.total_share
    return tuple(request.at_rho(request.share / total * rho) for request in schedule.requests)
