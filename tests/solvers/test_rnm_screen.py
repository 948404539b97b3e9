"""ADP-Screen and RNM-Screen: the rule's minimum, of the promised range, and what both leave."""

import numpy as np
import pytest

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Squared
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.solvers import RNMScreen, ScreenedFrankWolfe, adp_screen
from sparsedp.solvers.frank_wolfe.screening_rule import ScreeningRule, column_norms
from tests.cases import LOSSES, public_facts, random_table, taken_by
from tests.solvers.test_screening import facts, generated, private_weights

NEIGHBORS = ("add_remove", "replace_one")


def points(loss: str, radius: float, seed: int):
    """Random weights on the sphere of the L1 ball."""
    random = np.random.default_rng(seed)
    shape = public_facts(loss, "add_remove", 0).weights_shape
    size = int(np.prod(shape))
    while True:
        w = random.dirichlet(np.full(size, 0.5)) * random.choice([-radius, radius], size)
        yield w.reshape(shape)


def spread(values: list[np.ndarray]) -> float:
    """Largest rise plus largest fall."""
    return float(np.ptp(values[1] - values[0]))


@pytest.mark.parametrize("loss", taken_by("rnm_screen"))
def test_differences_are_the_rule_up_to_a_constant(loss):
    data = random_table(loss, 80, 3).dataset()
    norms, n = column_norms(data), float(data.n_records)
    rule = ScreeningRule.of(LOSSES[loss], 2.0, 2.0)
    for _, w in zip(range(10), points(loss, 2.0, 4), strict=False):
        found = data, LOSSES[loss], w, norms, n
        apart = rule.values(*found) - rule.differences(*found)
        np.testing.assert_allclose(apart, apart[0], rtol=1e-9, atol=1e-12)
        assert rule.values(*found).argmin() == rule.differences(*found).argmin()


def lone_column(n: int, target: float, *others: tuple[float, float, float]) -> Dataset:
    """Of three features only the first is not zero, but for the other records."""
    X = np.vstack([np.tile([1.0, 0, 0], (n, 1)), *others])
    how = {"target_bounds": (-1, 1), "intercept": False}
    return Dataset.clip(X, np.full(len(X), target), Bounds.symmetric(1.0), **how)


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize(
    ("neighbors", "target", "pair"),
    [
        # The model fits exactly, and one record opens the gap.
        ("add_remove", 1.0, ([], [(-1, 0, 0)])),
        # The gap is as large as can be, and two empty columns change places.
        ("replace_one", -1.0, ([(1, 1, 0)], [(1, 0, 1)])),
    ],
)
def test_these_pairs_attain_most_of_the_spread(n, neighbors, target, pair):
    rule, w = ScreeningRule.of(Squared(), 1.0, 1.0), np.array([1.0, 0, 0])
    values = []
    for others in pair:
        data = lone_column(n - len(pair[0]), target, *others)
        values.append(rule.differences(data, Squared(), w, column_norms(data), n))
    declared = getattr(rule.spread(n), neighbors)
    assert 0.85 * declared < spread(values) <= declared


@pytest.mark.parametrize("n", [10.0, 30.0])
def test_a_column_longer_than_n_allows_counts_no_more(n):
    """The pair that opens the gap, in a table with more records than the noisy number says."""
    rule, w = ScreeningRule.of(Squared(), 1.0, 1.0), np.array([1.0, 0, 0])
    both = lone_column(300, 1.0), lone_column(300, 1.0, (-1, 0, 0))
    values = [rule.differences(data, Squared(), w, column_norms(data), n) for data in both]
    assert spread(values) <= rule.spread(n).add_remove


@pytest.mark.parametrize("loss", taken_by("rnm_screen"))
@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_no_record_moves_differences_further_whatever_number_stands_for_n(loss, neighbors):
    one = random_table(loss, 60, 5)
    random = np.random.default_rng(6)
    for radius in (0.5, 3.0):
        rule = ScreeningRule.of(LOSSES[loss], radius, radius)
        weights = points(loss, radius, 7)
        for n in (1.0, 7.0, 60.0, 500.0):
            w = next(weights)
            ends = [one.with_record(random.choice([-1e6, 1e6], 6), y) for y in (one.y[0], one.y[1])]
            values = []
            for table in (one, ends[0]) if neighbors == "add_remove" else ends:
                data = table.dataset()
                values.append(rule.differences(data, LOSSES[loss], w, column_norms(data), n))
            assert spread(values) <= getattr(rule.spread(n), neighbors) * (1 + 1e-9)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_one_at_a_time_leaves_true_features_where_the_rule_for_all_leaves_few(neighbors):
    """Seeds 0 and 1 of the data and of the noise."""
    data, loss, true = generated("linear", 8_000, 50, 5, seed=0)
    public = facts(data, loss, 5, neighbors)
    left = {}
    for solver in (adp_screen(n_steps=20), RNMScreen(n_steps=20)):
        found = [private_weights(solver, data, loss, public, seed, 8.0) for seed in (0, 1)]
        left[type(solver)] = np.mean([np.count_nonzero(w[:50][true]) for w in found])
    assert left[RNMScreen] >= 4
    assert left[ScreenedFrankWolfe] <= 2


def test_without_noise_the_least_of_the_rule_goes():
    data, loss, true = generated("linear", 3000, 30, 3, seed=1)
    solver = RNMScreen(radius=0.5, n_steps=200)
    w = solver.solve(data, loss, NoiselessCurator(facts(data, loss, 3))).weights
    assert set(np.flatnonzero(w[:30])) == set(np.flatnonzero(true))


def test_adp_screen_is_the_rule_after_every_step():
    assert adp_screen(radius=2.0, n_steps=7) == ScreenedFrankWolfe(
        radius=2.0, n_steps=7, screen_every=1
    )
    assert adp_screen().n_screens == adp_screen().n_steps


def test_impossible_settings():
    for settings in ({"radius": 0.0}, {"radius": 301.0}, {"n_steps": 0}, {"clip": float("nan")}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            RNMScreen(**settings)
    with pytest.raises(ValueError, match="does not promise"):
        RNMScreen().schedule(public_facts("poisson", "add_remove", 0))
