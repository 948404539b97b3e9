"""A table of counts at the door: whole units, the exact law of its noise, one charge for all."""

import math

import numpy as np
import pytest
from scipy import stats

from sparsedp.data.gate.units import ONE
from sparsedp.mechanisms import KeyStream, NoiselessCurator, NoisyCurator
from sparsedp.privacy import Budget, PublicFacts, Schedule, Tabulate, UnscheduledRelease

MOVED = {"add_remove": 1, "replace_one": 2}


def door(cells, neighbors="add_remove", epsilon=1.0, seed=0):
    public = PublicFacts(n_features=1, n_nonzero=1, neighbors=neighbors)
    budget = Budget(Schedule((Tabulate(cells),)), epsilon=epsilon, delta=0, neighbors=neighbors)
    return NoisyCurator(budget, public, KeyStream.from_seed(seed))


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_law_of_the_noise(neighbors, epsilon):
    # Seed 5; Kolmogorov-Smirnov at false-alarm rate 1e-7. On a grid of 2**-30 the noise is Laplace
    # noise in all digits that 2,000 draws can tell.
    counts = np.arange(2000, dtype=np.int64) * ONE
    curator = door(2000, neighbors, epsilon, seed=5)
    noise = curator.table(counts) - np.arange(2000)
    curator.close()
    assert stats.kstest(noise * epsilon / MOVED[neighbors], "laplace").pvalue > 1e-7
    units = noise * ONE
    assert (units == np.rint(units)).all()
    # Units of 2**-30 are all used: a multiple of 8 only has probability 1/8 each.
    assert 2000 / 8 - 140 < (np.rint(units) % 8 == 0).sum() < 2000 / 8 + 140  # 9 sigma


def test_a_coarse_grid_has_exactly_the_geometric_law():
    """At epsilon = 2**30 a unit of the grid costs one: every probability can be compared."""
    # Seed 6; chi-square at false-alarm rate 1e-7. Larger budgets are spent up to 10,000, so the
    # sampler itself is asked.
    from sparsedp.mechanisms.samplers.count import discrete_laplace

    stream = KeyStream.from_seed(6)
    drawn = np.array([discrete_laplace(2.0**30, ONE, stream) for _ in range(4000)])
    values = np.arange(-3, 4)
    found = [np.sum(drawn == k) for k in values]
    found += [4000 - sum(found)]
    law = np.exp(-np.abs(values)) * math.tanh(0.5)
    assert stats.chisquare(found, 4000 * np.append(law, 1 - law.sum())).pvalue > 1e-7


def test_a_table_is_charged_once_and_as_scheduled():
    curator = door(6)
    counts = np.zeros((2, 3), dtype=np.int64)
    assert curator.table(counts).shape == (2, 3)
    with pytest.raises(UnscheduledRelease, match="0 of 1 is left"):
        curator.table(counts)
    curator.close()
    with pytest.raises(UnscheduledRelease):
        door(6).close()
    with pytest.raises(TypeError, match="has no noise"):
        door(7).table(counts)  # another number of cells than was said


@pytest.mark.parametrize("counts", [np.zeros(6), np.zeros(6, dtype=np.int32), np.zeros(6, bool)])
def test_only_whole_units_are_counted(counts):
    with pytest.raises(TypeError, match="whole units"):
        door(6).table(counts)


def test_counts_beyond_floating_point_and_without_noise():
    public = PublicFacts(n_features=1, n_nonzero=1)
    many = np.array([2**58 + 1, -3 * ONE], dtype=np.int64)
    np.testing.assert_array_equal(NoiselessCurator(public).table(many), [2.0**28, -3.0])
    assert abs(door(2, epsilon=1e-8, seed=1).table(many)).max() < 1e12
