"""A budget in terms of zero-concentrated differential privacy: rho in the place of epsilon."""

import math

from scipy.optimize import brentq

from sparsedp.privacy import Budget, GaussianReleases
from sparsedp.privacy.account.accountants import zcdp_rho
from sparsedp.privacy.account.gaussian import gaussian_mu

LEAST_EPSILON, MOST_EPSILON = 1e-9, 1e4
"""Between these an epsilon is looked for."""

ROUNDING = 1e-9
"""By this part rho is lowered first, so that the recounted cost is not above it."""


def check_rho(rho: object) -> float:
    """The number, if it is one that a fit can be held to; else ValueError."""
    if isinstance(rho, bool) or not isinstance(rho, int | float) or not 0 < rho < math.inf:
        raise ValueError(
            f"rho must be a positive finite number, got {rho!r}; fits without privacy have "
            "epsilon=float('inf')"
        )
    return float(rho)


def epsilon_of(rho: float, delta: float, *, claimed: bool) -> float:
    """The epsilon at delta of Gaussian releases that are rho-zCDP together.

    Parameters
    ----------
    rho, delta : float
    claimed : bool
        As papers have it, rho + 2 sqrt(rho log(1 / delta)) (Bun and Steinke 2016), which holds for
        all that is rho-zCDP; else the exact one, which is smaller.
    """
    if claimed:
        return rho + 2 * math.sqrt(rho * math.log(1 / delta))
    mu = math.sqrt(2 * rho * (1 - ROUNDING))

    def excess(epsilon: float) -> float:
        return gaussian_mu(epsilon, delta) - mu

    if excess(LEAST_EPSILON) > 0 or excess(MOST_EPSILON) < 0:
        raise ValueError(
            f"rho={rho:g} has no epsilon between {LEAST_EPSILON:g} and {MOST_EPSILON:g} at "
            f"delta={delta:g}: state epsilon, or another delta"
        )
    return float(brentq(excess, LEAST_EPSILON, MOST_EPSILON, xtol=1e-12, rtol=1e-13))  # type: ignore[arg-type]


def check_held(rho: float, budget: Budget) -> None:
    """Raise ValueError, before any charge, if what a fit asks for cannot be held to rho."""
    if budget.calibration == "published":
        # What a paper claims, of Gaussian noise; the record says what is proven.
        held = all(isinstance(event, GaussianReleases) for event in budget.events)
    else:
        held = _is_held(rho, budget)
    if not held:
        raise ValueError(
            "rho= is for solvers whose releases are all Gaussian, such as IGHT and NoisyGD; what "
            "this one asks for cannot be held to it. State epsilon and delta"
        )


def _is_held(rho: float, budget: Budget) -> bool:
    """Whether what is proven costs at most rho."""
    try:
        return zcdp_rho(budget.events) <= rho
    except ValueError:
        return False
