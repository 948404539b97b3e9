"""From a schedule and a budget to events: how much each request may cost.

The scale of the whole schedule is one number mu, as if everything were Gaussian: a share f of
mu^2 buys Gaussian releases of mu * sqrt(f), or ``count`` selections of epsilon0 = 2 mu sqrt(f /
count), whose privacy loss has the same variance, or a perturbed minimum with a linear term of that
mu. What a request buys at a scale is in its file of events/. The largest mu that
``PrivacyProfile`` certifies is found by comparison with the Gaussian profile, which all profiles
resemble.
"""

import math
from functools import lru_cache

from sparsedp.privacy.account.accountants import PrivacyProfile, gaussian_mu
from sparsedp.privacy.kind import Event, Scale
from sparsedp.privacy.schedule import Schedule

TOLERANCE = 1e-3
"""What may be left unused: of epsilon at the given delta, and of mu."""

LARGEST_EPSILON = 10_000.0
"""Larger budgets are spent up to here: there is hardly any noise left, and profiles of selections
take the longer the more epsilon there is."""


@lru_cache(maxsize=256)
def calibrate(schedule: Schedule, epsilon: float, delta: float) -> tuple[Event, ...]:
    """Spend a budget on a schedule.

    Parameters
    ----------
    schedule : Schedule
        What will be asked for.
    epsilon, delta : float
        The budget: a positive finite number, and a number between 0 and 1; delta may be 0 where
        all requests are pure.

    Returns
    -------
    tuple of events
        One per request, in order.

    Notes
    -----
    *Privacy.* The returned events themselves have been accounted for:
    ``PrivacyProfile(events).delta(epsilon) <= delta``. At ``delta`` they use more than 99 % of
    ``epsilon`` (or of `LARGEST_EPSILON`, where that is less), unless there are only counts, which
    cost what they ask for.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be a positive finite number, got {epsilon!r}")
    pure = schedule.total_share == 0
    if not (0 < delta < 1 or (pure and delta == 0)):
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta!r}")
    epsilon = min(epsilon, LARGEST_EPSILON)
    if pure:
        return _events(schedule, epsilon, 0.0)

    # In the scale of the Gaussian with the same delta, cost is nearly proportional to mu: the
    # secant method on the logarithms needs two or three tries.
    rest = epsilon * (1 - schedule.counted)
    goal = math.log(gaussian_mu(rest, delta))
    log_mu, slope = goal - 1e-9, 1.0
    safe, unsafe = -math.inf, math.inf
    last: tuple[float, float] | None = None
    for _ in range(200):
        events = _events(schedule, epsilon, math.exp(log_mu))
        profile = PrivacyProfile(events)
        found = profile.delta(epsilon, resolution=delta)
        nearby = profile.delta((1 - TOLERANCE) * epsilon, resolution=delta)
        cost = math.log(gaussian_mu(rest, min(max(found, 1e-9 * delta, 1e-300), 1 - 1e-9)))
        if found <= delta:
            safe = log_mu
            if (nearby > delta and cost >= goal - TOLERANCE) or unsafe - safe < 1e-13:
                return events
        else:
            unsafe = log_mu
        if last is not None and last[0] != log_mu:
            slope = min(max((cost - last[1]) / (log_mu - last[0]), 0.1), 10.0)
        last = log_mu, cost
        # Aim at the upper third of what will be accepted.
        spare = (found / nearby) ** (1 / 3) if 0 < found < nearby else 0.8
        aim = math.log(gaussian_mu(rest, max(delta * spare, 1e-300)))
        step = min(max((max(aim, goal - TOLERANCE / 3) - cost) / slope, -1.5), 1.5)
        log_mu = _inside(log_mu + step, safe, unsafe)
    raise ArithmeticError(f"no calibration found for {schedule} at ({epsilon}, {delta})")


def _inside(proposal: float, safe: float, unsafe: float) -> float:
    """The proposal if it lies in the bracket, else a point that does."""
    if safe < proposal < unsafe:
        return proposal
    if safe == -math.inf:
        return unsafe - 1.0
    if unsafe == math.inf:
        return safe + 1.0
    return (safe + unsafe) / 2


def _events(schedule: Schedule, epsilon: float, mu: float) -> tuple[Event, ...]:
    """What the requests cost at scale mu."""
    rest = epsilon * (1 - schedule.counted)
    scale = Scale(mu, schedule.total_share, epsilon, rest)
    return tuple(request.at_scale(scale) for request in schedule.requests)
