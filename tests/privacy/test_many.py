"""Many selections: a bound that is fast, still a bound, and close to what it replaces."""

import math
import signal
import time

import numpy as np
import pytest

from sparsedp.privacy import Perturb, Schedule, Select
from sparsedp.privacy.account import loss_distribution as losses
from sparsedp.privacy.account import many
from sparsedp.privacy.account.accountants import PrivacyProfile
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.account.gaussian import gaussian_delta, gaussian_mu, gaussian_profile
from sparsedp.privacy.events import Gaussians, PureReleases, Selections


def spread(epsilon: float, delta: float, count: int) -> float:
    """epsilon0 of selections that together cost about (epsilon, delta)."""
    return 2 * gaussian_mu(epsilon, delta) / math.sqrt(count)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (8.0, 1e-5), (0.1, 1e-10)])
@pytest.mark.parametrize("count", [2_001, 3_000, 20_000, 200_000])
def test_above_the_optimal_composition_that_does_not_adapt(epsilon, delta, count):
    """Randomized responses of epsilon0 / 2 are epsilon0-bounded-range, and exactly accounted."""
    epsilon0 = spread(epsilon, delta, count)
    bound = PrivacyProfile((Selections(epsilon0, count),))
    below = PrivacyProfile((PureReleases(epsilon0 / 2, count),))
    for scale in (-0.5, 0.0, 0.3, 1.0, 1.5):
        assert bound.delta(scale * epsilon) >= below.delta(scale * epsilon) * (1 - 1e-9)
    assert 1.0 <= bound.epsilon(delta) / below.epsilon(delta) < 1.004


MIXES = [
    lambda e0, n: (Selections(e0, n),),
    lambda e0, n: (Gaussians(30 * e0), Selections(e0, n), PureReleases(5 * e0, 3)),
    lambda e0, n: (Selections(4 * e0, 50), Selections(e0, n), Selections(9 * e0, 3)),
    lambda e0, n: (Selections(e0, n // 2), Selections(2 * e0, n // 2)),
]


@pytest.mark.parametrize("mix", MIXES)
def test_no_looser_than_the_exact_program(mix, monkeypatch):
    """On the lattice that is affordable for that many; the loss of either is below 0.4 %."""
    delta, count = 1e-6, 2_500
    events = mix(spread(1.0, delta, count) / 2, count)
    found = PrivacyProfile(events).epsilon(delta)
    monkeypatch.setattr(many, "MOST_DIRECT", 10**9)
    exact = PrivacyProfile(events).epsilon(delta)
    assert 0.996 * exact < found <= exact


def test_without_many_nothing_changes():
    groups = ((0.1, 1_000), (0.2, 1_000))
    assert many.reduced(groups, 1e-30) == (groups, 0.0, 0.0)
    rest, mu, infinite = many.reduced((*groups, (0.3, 100)), 1e-30)
    assert rest == ((0.3, 100),)  # small groups stay
    assert mu > math.sqrt(1_000 * 0.1**2 / 4 + 1_000 * 0.2**2 / 4)
    assert 4e-30 < infinite < 1e-27  # four blocks


@pytest.mark.parametrize(
    ("epsilon0", "count"),
    [(1e-4, 1), (3.0, 1), (1e-4, 30), (2.0, 30), (1e-4, 700), (0.02, 700), (0.4, 700)],
)
def test_a_block_is_dominated_everywhere(epsilon0, count):
    """The exact program's bound at 500 random points, between nodes and far out."""
    mu, mass = many.dominating_mu(epsilon0, count, 1e-30)
    block = PrivacyProfile((Selections(epsilon0, count),))
    scale = math.sqrt(count) * epsilon0
    points = np.random.default_rng(3).uniform(-2 * scale, 8 * scale, 500)
    atoms = losses.selection_atoms(((epsilon0, count),), 1e-30)
    exact = gaussian_profile(np.subtract.outer(points, atoms.losses), 0.0) @ atoms.masses
    if count == 1:
        exact = np.array([block.delta(point) for point in points]) / (1 + 1e-9)
    assert np.all(exact <= (gaussian_profile(points, mu) + mass) * (1 + 1e-12))
    assert mu < {1: 1.3, 30: 1.02, 700: 1.0015}[count] * scale / 2


def test_domination_is_checked_between_nodes():
    """A chord through points of a convex curve lies above it: equal at the nodes is not enough."""
    step, mu = 0.8, 1.0
    values = gaussian_profile(step * np.arange(12), mu)
    assert not many._dominates(mu, 1e-12, values, step)
    low, high = mu, 2 * mu
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (
            (low, middle) if many._dominates(middle, 1e-12, values, step) else (middle, high)
        )
    for i in range(11):
        for part in (0.1, 0.3, 0.5, 0.7, 0.9):
            x = (1 - part) * math.exp(i * step) + part * math.exp((i + 1) * step)
            chord = (1 - part) * values[i] + part * values[i + 1]
            assert chord <= gaussian_delta(math.log(x), high) + 1e-12
    assert high < 1.2 * mu


def test_planning_many_steps_takes_no_longer():
    """Review finding: 20,000 steps took 15 s, 200,000 did not finish in 100 s. Here 0.6 s."""
    begun = time.monotonic()
    schedule = Schedule((Select(200_000, share=0.8), Perturb(0.2)))
    events = calibrate(schedule, 1.0, 1e-6)
    assert 0.997 < PrivacyProfile(events).epsilon(1e-6) <= 1.0
    assert time.monotonic() - begun < 30


def test_ctrl_c_reaches_the_program():
    """Review finding: no reaction for 19 s. The same loop, alone: 3 s where nothing stops it."""

    class Alarm(Exception):
        pass

    def ring(number, frame):
        raise Alarm

    values = np.exp(-np.arange(20_000) / 2_000)
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    begun = time.monotonic()
    try:
        with pytest.raises(Alarm):
            losses.kernel.compose_selections(values, 20_000, 12, 1e-4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begun < 1.0
