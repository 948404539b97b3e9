"""Calibration: never above the budget, never far below it, and the known numbers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsedp.privacy import Count, Perturb, Schedule, Select
from sparsedp.privacy.account.accountants import PrivacyProfile, gaussian_mu, zcdp_epsilon, zcdp_rho
from sparsedp.privacy.account.calibration import LARGEST_EPSILON, calibrate
from sparsedp.privacy.events import Gaussians, PureReleases, Selections


def check(schedule, epsilon, delta):
    """The events respect the budget and use at least 99.7 % of it."""
    events = calibrate(schedule, epsilon, delta)
    assert len(events) == len(schedule.requests)
    profile = PrivacyProfile(events)
    assert profile.delta(epsilon) <= delta
    assert 0.997 * epsilon <= profile.epsilon(delta) <= epsilon
    return events


class TestKnownNumbers:
    @pytest.mark.parametrize(
        ("count", "epsilon0"), [(10, 0.19824), (100, 0.06266), (1000, 0.01981)]
    )
    def test_frank_wolfe_noise(self, count, epsilon0):
        """Gumbel scales at (1, 1e-4) next to the Laplace scale of Talwar et al. (2015)."""
        (event,) = check(Schedule((Select(count),)), 1.0, 1e-4)
        assert event.epsilon0 == pytest.approx(epsilon0, rel=3e-3)
        published = math.sqrt(8 * count * math.log(1e4))
        assert 2 / event.epsilon0 / published == pytest.approx(0.372, abs=1.5e-3)
        assert 4 / event.epsilon0 / published == pytest.approx(0.744, abs=3e-3)

    @pytest.mark.parametrize(
        ("epsilon", "delta", "ratios"),
        [
            (1.0, 1e-5, (1.875, 1.365, 1.049, 1.011, 1.0003, 0.9991, 0.9978)),
            (4.0, 1e-5, (2.166, 1.550, 1.114, 1.029, 1.0055, 1.0006, 0.9984)),
            (0.1, 1e-6, (1.827, 1.336, 1.040, 1.008, 0.9995, 0.9988, 0.9977)),
        ],
    )
    def test_relative_to_gaussians(self, epsilon, delta, ratios):
        """epsilon0 sqrt(count) / (2 mu): above one for few selections, just below for many."""
        for count, ratio in zip((1, 2, 5, 10, 30, 100, 300), ratios, strict=True):
            (event,) = calibrate(Schedule((Select(count),)), epsilon, delta)
            found = event.epsilon0 * math.sqrt(count) / (2 * gaussian_mu(epsilon, delta))
            assert found == pytest.approx(ratio, rel=3e-3)

    @pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
    def test_one_selection(self, epsilon):
        """Against the root of (exp(epsilon0 / 2) - exp(epsilon / 2))^2 = delta expm1(epsilon0)."""
        delta = 1e-4
        (event,) = calibrate(Schedule((Select(1),)), epsilon, delta)
        # With u = exp(epsilon0 / 2): (u - a)^2 = delta (u^2 - 1), a quadratic equation.
        a = math.exp(epsilon / 2)
        root = (a + math.sqrt(a**2 - (1 - delta) * (a**2 + delta))) / (1 - delta)
        assert event.epsilon0 <= 2 * math.log(root) * (1 + 1e-9)
        assert event.epsilon0 == pytest.approx(2 * math.log(root), rel=1e-3)

    @pytest.mark.parametrize("epsilon", [1e-4, 1.0, 50.0])
    def test_gaussians_only(self, epsilon):
        (event,) = calibrate(Schedule((Perturb(share=3.0),)), epsilon, 1e-7)
        assert event.mu == pytest.approx(gaussian_mu(epsilon, 1e-7), rel=1e-8)


class TestBudget:
    @pytest.mark.parametrize(
        "requests",
        [
            (Select(1),),
            (Select(2),),
            (Select(30),),
            (Select(1), Count(0.1)),
            (Select(1), Perturb(1e-6)),
            (Select(1, share=1e-6), Perturb()),
            (Select(25, share=0.4), Perturb(share=0.6), Count(0.05)),
            (Select(9, share=0.3), Select(4, share=0.5, name="more"), Perturb(0.2)),
            (Select(200, share=1e-5), Select(10, name="more")),
            (Perturb(), Count(0.9), Count(0.05, name="other")),
        ],
    )
    @pytest.mark.parametrize(
        ("epsilon", "delta"), [(1.0, 1e-6), (1e-3, 1e-12), (30.0, 1e-3), (1e-4, 0.3)]
    )
    def test_corners(self, requests, epsilon, delta):
        events = check(Schedule(requests), epsilon, delta)
        assert zcdp_epsilon(zcdp_rho(events), delta) >= PrivacyProfile(events).epsilon(delta)

    @given(
        selections=st.lists(
            st.tuples(st.integers(1, 40), st.floats(0.01, 1.0)), min_size=0, max_size=2
        ),
        perturb=st.floats(0.01, 1.0),
        fraction=st.floats(0.001, 0.9),
        epsilon=st.floats(-3, 1.3).map(lambda power: 10**power),
        delta=st.floats(-14, -1).map(lambda power: 10**power),
    )
    @settings(max_examples=30, deadline=None, derandomize=True)
    def test_any_schedule(self, selections, perturb, fraction, epsilon, delta):
        requests = [Select(n, share, name=f"s{k}") for k, (n, share) in enumerate(selections)]
        check(Schedule((*requests, Perturb(perturb), Count(fraction))), epsilon, delta)

    def test_shares(self):
        schedule = Schedule((Select(16, share=3.0), Count(0.1), Perturb(share=1.0)))
        selections, count, gaussians = check(schedule, 2.0, 1e-6)
        assert isinstance(selections, Selections)
        assert isinstance(gaussians, Gaussians)
        assert count == PureReleases(0.2)
        variance = selections.count * selections.epsilon0**2 / 4
        assert variance == pytest.approx(3 * gaussians.mu**2)

    def test_more_budget_buys_more(self):
        schedule = Schedule((Select(20), Perturb()))
        scales = [
            calibrate(schedule, epsilon, delta)[1].mu
            for epsilon, delta in [(0.5, 1e-6), (1.0, 1e-6), (1.0, 1e-5), (2.0, 1e-5)]
        ]
        assert scales == sorted(scales)

    def test_counts_only(self):
        events = calibrate(Schedule((Count(0.25), Count(0.5, name="other"))), 2.0, 1e-6)
        assert events == (PureReleases(0.5), PureReleases(1.0))

    def test_empty(self):
        assert calibrate(Schedule(()), 1.0, 1e-6) == ()

    def test_is_remembered(self):
        first = calibrate(Schedule((Select(7),)), 1.0, 1e-6)
        assert calibrate(Schedule((Select(7),)), 1.0, 1e-6) is first


class TestRefusals:
    @pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
    def test_epsilon(self, epsilon):
        with pytest.raises(ValueError, match="epsilon"):
            calibrate(Schedule((Perturb(),)), epsilon, 1e-6)

    @pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, 2.0, math.nan])
    def test_delta(self, delta):
        with pytest.raises(ValueError, match="delta"):
            calibrate(Schedule((Perturb(),)), 1.0, delta)

    def test_requests(self):
        for wrong in (0, -1, 1.5, True):
            with pytest.raises(ValueError, match="count"):
                Select(wrong)
        for wrong in (0.0, -1.0, math.inf, math.nan):
            with pytest.raises(ValueError, match="share"):
                Select(1, share=wrong)
            with pytest.raises(ValueError, match="share"):
                Perturb(share=wrong)
        for wrong in (0.0, 1.0, -0.5, math.nan):
            with pytest.raises(ValueError, match="fraction"):
                Count(wrong)

    def test_schedules(self):
        with pytest.raises(ValueError, match="unique"):
            Schedule((Select(1), Select(2)))
        with pytest.raises(ValueError, match="rest"):
            Schedule((Count(0.5), Count(0.5, name="other")))


def test_an_enormous_budget_is_spent_as_far_as_it_matters():
    schedule = Schedule((Select(20, share=0.5), Perturb(0.5), Count(0.1)))
    largest = check(schedule, LARGEST_EPSILON, 1e-5)
    assert calibrate(schedule, 1e9, 1e-5) == largest
