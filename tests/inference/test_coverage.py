"""Do intervals cover, where most of their width is privacy noise?

False-alarm rate below 1e-6 (seeds are fixed): of the 300 intervals of a cell, nearly independent,
at least 84 % must cover. A cell that covers 94 % falls below that with probability 1e-9.
"""

import numpy as np
import pytest

from tests.inference.test_intervals import classifier, regressor, table, weighted_fit

N_RUNS, N_POPULATION = 100, 5000
LEAST = 0.84


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (classifier, {}),
        (classifier, {"neighbors": "replace_one", "epsilon": 2.0}),
        (classifier, {"intervals": "split", "epsilon": 2.0}),
        (regressor, {}),
    ],
)
def test_intervals_cover_the_fit_to_the_population(kind, settings):
    X, labels, numbers = table(n=N_POPULATION, seed=9)
    X, y = X[:, [0, 1, 3]], labels if kind is classifier else numbers
    random, hits, shares = np.random.default_rng(4), [], []
    for run in range(N_RUNS):
        some = random.integers(0, N_POPULATION, 3000)
        limits = (np.array([-4.0, -8.0, -4.0]), np.array([4.0, 8.0, 4.0]))
        fitted = kind(**({"epsilon": 1.0, "bounds": limits, "random_state": run} | settings))
        fitted.fit(X[some], y[some])
        truth, _ = weighted_fit(fitted, X, y)
        low, high = fitted.intervals_[fitted.inference_.features].T
        hits += ((low <= truth) & (truth <= high))[~np.isnan(low)].tolist()
        shares.append(np.nanmean(fitted.inference_.table.noise_shares))
    assert len(hits) > 0.8 * 3 * N_RUNS
    assert np.mean(hits) > LEAST
    assert np.mean(shares) > 0.2
