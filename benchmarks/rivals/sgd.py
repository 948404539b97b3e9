"""DP-SGD (Abadi et al. 2016) for linear models: Poisson sampling, privacy loss distributions.

Hyperparameters are the same for all sets and budgets, and none is chosen by trying: as a user has
them who pays for no search.
"""

import functools
import json
from pathlib import Path

import numpy as np
from scipy.special import expit

RATE, STEPS = 0.1, 100  # ten epochs
LEARNING_RATE = {"logistic": 4.0, "squared": 1.0}  # one over the curvature of rows of norm 1


@functools.cache
def noise_multiplier(epsilon, delta, memory):
    """Standard deviation over clip norm, for STEPS samples; kept in a file, as it is slow."""
    key = f"{epsilon:g} {delta:.9g} {RATE:g} {STEPS}"
    path = Path(memory)
    known = json.loads(path.read_text()) if path.exists() else {}
    if key not in known:
        known[key] = calibrated(epsilon, delta)
        path.write_text(json.dumps(known, indent=1))
    return known[key]


def calibrated(epsilon, delta):
    """The smallest noise that is (epsilon, delta)-private, to one in a thousand."""
    import dp_accounting
    from dp_accounting import pld

    neighbors = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE

    def event(sigma):
        sampled = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(sigma))
        return dp_accounting.SelfComposedDpEvent(sampled, STEPS)

    return dp_accounting.calibrate_dp_mechanism(
        lambda: pld.PLDAccountant(neighbors, value_discretization_interval=1e-3),
        event,
        epsilon,
        delta,
        bracket_interval=dp_accounting.ExplicitBracketInterval(0.3, 500),
        tol=1e-3 * 0.3,
    )


def dp_sgd(Z, y, *, loss, sigma, rng):
    """Mean of the last half of the iterates.

    The clip norm is 1: rows have norm at most 1, and residuals of the squared loss are clipped to
    [-1, 1] with them. The step divides by the expected size of a sample, as implementations do:
    they hold the number of records to be public.
    """
    n, p = Z.shape
    w, average = np.zeros(p), np.zeros(p)
    for t in range(STEPS):
        chosen = np.flatnonzero(rng.random(n) < RATE)
        rows = Z[chosen]
        margins = rows @ w
        if loss == "logistic":
            residual = expit(margins) - (y[chosen] + 1) / 2
        else:
            residual = np.clip(margins - y[chosen], -1, 1)
        gradient = rows.T @ residual + sigma * rng.standard_normal(p)
        w = w - LEARNING_RATE[loss] * gradient / (RATE * n)
        if t >= STEPS // 2:
            average += w / (STEPS - STEPS // 2)
    return average
