"""Tighter bounds: what noise hides of a feature the mean of all features tells."""

import numpy as np
import pytest

from sparsedp.solvers.pursuit.bounds import N_LEVELS, _factors

N, D = 1000.0, 20


def crowded(level: int) -> np.ndarray:
    """Records of all features within 2**-level of the lower bound, without noise."""
    counts = np.zeros((D, 3, N_LEVELS))
    counts[:, 0, level] = N  # from below
    counts[:, 1:, 0] = N  # far from the upper bound and from the middle
    return counts


@pytest.mark.parametrize("deviation", [1.0, 40.0, 80.0])
def test_bounds_shrink_to_where_records_are(deviation):
    """One by one, in part, and by the mean of all: noise of a feature is below 5 % of N or not."""
    factors = _factors(crowded(5), deviation, N, lossy=False)
    np.testing.assert_array_equal(factors[:, 0], 2.0**-5)
    np.testing.assert_array_equal(factors[:, 1:], 1.0)


def test_a_feature_that_has_shown_to_be_wider_stays_so():
    counts = crowded(5)
    counts[7, 0] = 0
    counts[7, 0, 0] = N
    factors = _factors(counts, 40.0, N, lossy=False)
    assert factors[7, 0] == 1
    np.testing.assert_array_equal(np.delete(factors[:, 0], 7), 2.0**-5)


def test_where_records_may_be_lost_features_speak_for_themselves():
    assert (_factors(crowded(5), 40.0, N, lossy=True)[:, 0] == 0.5).all()


def test_nothing_shrinks_where_noise_hides_all():
    assert (_factors(crowded(5), 1e6, N, lossy=False) == 1).all()
