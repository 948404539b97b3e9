"""What rule "union" admits: its costs against exact ones, its budget against every adversary."""

import functools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import ZCDpEvent
from dp_accounting.dp_event import RepeatAndSelectDpEvent
from dp_accounting.rdp import RdpAccountant
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import norm

from sparsedp import BudgetExceeded, Ledger
from sparsedp.losses import Logistic
from sparsedp.privacy import PublicFacts, zcdp_rho
from sparsedp.privacy.account.accountants import gaussian_delta, zcdp_delta
from sparsedp.privacy.account.calibration import calibrate
from sparsedp.privacy.account.gaussian import gaussian_profile
from sparsedp.privacy.account.objective import minimum_atoms
from sparsedp.privacy.account.repeat import ORDERS, SHAPES
from sparsedp.privacy.events import Gaussians, PerturbedMinimum, PureReleases, Selections
from sparsedp.privacy.ledger.divergence import black_box, of_event, of_events
from sparsedp.privacy.ledger.rules import Spent, SumRule, UnionRule, rule_of, stated
from sparsedp.privacy.ledger.sums import exact, text_of
from sparsedp.solvers import BY_NAME

RULE = UnionRule.of(3.0, 1e-5)
ALPHA = float(RULE.alpha)


def listed(*events):
    return [{"name": "x", **event.to_dict()} for event in events]


def test_the_order_and_its_limit_are_those_of_the_proof():
    assert abs(ALPHA - 8.07) < 0.005
    assert float(RULE.divergence) == pytest.approx(1.6696, abs=1e-4)
    parts = [exact(text) for text in (RULE.delta_sum, RULE.tail, RULE.leaks)]
    assert sum(parts) <= exact("1e-05")
    # The best conversion of concentrated privacy has the same order and the same tail.
    rho = float(RULE.divergence) / ALPHA
    assert zcdp_delta(rho, 3.0) == pytest.approx(4e-6, rel=1e-6)


@pytest.mark.parametrize("budget", [(0.01, 1e-9), (0.3, 1e-12), (1, 1e-6), (30, 0.01), (1e4, 0.5)])
def test_every_budget_has_an_order(budget):
    rule = UnionRule.of(*map(float, budget))
    assert rule.sound(text_of(budget[1]))
    assert 0 < float(rule.divergence) < budget[0]
    assert rule_of("union", text_of(budget[0]), text_of(budget[1]), stated(rule)) == rule


def test_numbers_that_the_proof_does_not_cover_are_refused():
    numbers = stated(RULE)
    for change in (
        {"delta_sum": "1e-05"},  # both rules with the whole delta
        {"leaks": "2e-06"},
        {"divergence": repr(float(RULE.divergence) * 1.000001)},
        {"alpha": "1.0"},
        {"alpha": "7.0"},  # another order at the same limit
        {"tail": "0.0"},
    ):
        with pytest.raises(ValueError):
            rule_of("union", "3.0", "1e-05", numbers | change)
    with pytest.raises(ValueError):
        rule_of("best", "3.0", "1e-05", {})
    with pytest.raises(ValueError, match="positive delta"):
        UnionRule.of(1.0, 0.0)


# --- divergences -----------------------------------------------------------------------------


def renyi(p, q, alpha):
    with np.errstate(divide="ignore"):
        return float(logsumexp(alpha * np.log(p) + (1 - alpha) * np.log(q))) / (alpha - 1)


@pytest.mark.parametrize("alpha", [1.3, 2.0, 8.07, 60.0])
@pytest.mark.parametrize("epsilon0", [1e-4, 0.1, 0.5, 1.0, 6.0, 400.0])
def test_selections_cost_the_worst_two_outcomes(epsilon0, alpha):
    found = of_event(Selections(epsilon0, 3), alpha).divergence / 3
    assert found <= alpha * epsilon0**2 / 8 * (1 + 1e-12)
    if epsilon0 > 100:
        return
    t = np.linspace(0, epsilon0, 20_001)[1:-1]
    p = np.expm1(epsilon0 - t) / np.expm1(epsilon0) * np.exp(t)  # accounting.md, section 3
    values = np.logaddexp(
        np.log(p) + (alpha - 1) * t, np.log1p(-p) + (alpha - 1) * (t - epsilon0)
    ) / (alpha - 1)
    assert found >= values.max() * (1 - 1e-9) - 1e-12
    assert found <= values.max() * (1 + 1e-6) + 1e-11


def test_random_exponential_mechanisms_cost_no_more():
    random = np.random.default_rng(5)
    worst = 0.0
    for _ in range(400):
        epsilon0, alpha = random.uniform(0.05, 2), random.uniform(1.1, 30)
        scores = random.normal(size=random.integers(2, 6)) * 3
        moved = scores + random.choice([0, epsilon0], size=scores.size)
        p, q = (np.exp(s - logsumexp(s)) for s in (scores, moved))
        limit = of_event(Selections(epsilon0, 1), alpha).divergence * (1 + 1e-9)
        found = max(renyi(p, q, alpha), renyi(q, p, alpha))
        assert found <= limit + 1e-12
        worst = max(worst, found / limit)
    assert worst > 0.9


@pytest.mark.parametrize("alpha", [1.01, 2.0, 8.07, 500.0])
@pytest.mark.parametrize("epsilon", [1e-5, 0.1, 1.0, 5.0])
def test_pure_releases_cost_randomized_response(epsilon, alpha):
    p = np.array([1.0, math.exp(-epsilon)]) / (1 + math.exp(-epsilon))
    exactly = renyi(p, p[::-1], alpha)
    for found in (
        of_event(PureReleases(epsilon, 2), alpha).divergence / 2,
        black_box(epsilon, 1e-9, alpha).divergence,
    ):
        assert exactly * (1 - 1e-6) - 1e-13 <= found
        assert found <= exactly * (1 + 1e-3)
        assert found <= alpha * epsilon * math.tanh(epsilon / 2) * (1 + 2e-9)
    assert black_box(epsilon, 1e-9, alpha).leak == 1e-9


def test_gaussian_releases_cost_their_divergence():
    mu, alpha = 0.7, 8.07
    moment = quad(lambda z: norm.pdf(z) * math.exp((alpha - 1) * (mu * z + mu**2 / 2)), -40, 40)[0]
    assert of_event(Gaussians(mu), alpha).divergence == pytest.approx(
        math.log(moment) / (alpha - 1), rel=1e-9
    )


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_perturbed_minimum_costs_the_moment_of_its_loss(neighbors):
    event = PerturbedMinimum(0.3, 0.05, "logistic", neighbors, 0.003)
    found = of_event(event, ALPHA)
    finer = minimum_atoms(event, 1e-60)
    moment = float(finer.masses @ np.exp((ALPHA - 1) * finer.losses))
    expected = math.log(moment) / (ALPHA - 1) + ALPHA * 0.003**2 / 2
    assert found.divergence == pytest.approx(expected, rel=1e-2)
    # Not less than the Gaussian shift that it contains, nor than its rounding noise on top.
    assert found.divergence > ALPHA * (0.3**2 + 0.003**2) / 2 * 0.99
    assert 0 < found.leak <= 1e-29
    louder = of_event(replace(event, rounding_mu=0.3), ALPHA)
    assert louder.divergence - found.divergence == pytest.approx(ALPHA * (0.3**2 - 0.003**2) / 2)
    # Counted for other neighbors than the charge states: a black box.
    assert of_events(listed(event), ALPHA, neighbors) is not None
    other = {"add_remove": "replace_one", "replace_one": "add_remove"}[neighbors]
    assert of_events(listed(event), ALPHA, other) is None


@pytest.mark.parametrize("distribution", sorted(SHAPES))
def test_a_search_costs_what_dp_accounting_says(distribution):
    for rho, trials, alpha in ((1e-3, 10.0, 8.07), (0.05, 3.0, 2.0), (5.0, 40.0, 20.0)):
        event = {
            "name": "search",
            "event": "RepeatAndSelect",
            "epsilon": 1.0,
            "delta": 1e-6,
            "rho_per_trial": rho,
            "expected_trials": trials,
            "noise_factor": 3.0,
            "distribution": distribution,
            "n_candidates": 5,
        }
        found = of_events([event], alpha, "add_remove")
        accountant = RdpAccountant((alpha, *ORDERS))
        accountant.compose(RepeatAndSelectDpEvent(ZCDpEvent(rho), trials, SHAPES[distribution]))
        expected = float(accountant._rdp[0])
        assert found is not None
        assert found.leak == 0
        # Theirs takes the best of a grid of orders, ours the best of all: never more.
        assert expected * (1 - 0.05) <= found.divergence <= expected * (1 + 1e-6)


def test_what_is_not_known_is_a_black_box():
    assert of_events([], ALPHA, "add_remove") is None
    for strange in ({"event": "LaplaceSelections", "scale": 1.0}, {"event": "Gaussians"}, {}):
        assert of_events([*listed(Gaussians(0.1)), strange], ALPHA, "add_remove") is None
    two = of_events(listed(Gaussians(0.1), Gaussians(0.1)), ALPHA, "add_remove")
    assert two is not None
    assert two.divergence == pytest.approx(ALPHA * 0.01)


# --- how many fits ---------------------------------------------------------------------------

FITS = {
    (0.1, 1e-7): {
        "pursuit": 712,
        "frank_wolfe": 706,
        "noisy_gd": 706,
        "objective_perturbation": 54,
    },
    (0.3, 1e-7): {"pursuit": 88, "frank_wolfe": 88, "noisy_gd": 88, "objective_perturbation": 18},
    (1.0, 1e-6): {"pursuit": 7, "frank_wolfe": 7, "noisy_gd": 7, "objective_perturbation": 5},
}


@pytest.mark.parametrize("each", FITS)
def test_how_many_fits_go_into_a_budget(each):
    """100 features, 15 kept, in (3, 1e-5); the sum admits 30, 10 and 3."""
    public = PublicFacts(n_features=100, n_nonzero=15, loss=Logistic())
    for name, fits in FITS[each].items():
        events = calibrate(BY_NAME[name]().schedule(public), *each)
        cost = of_events(listed(*events), ALPHA, "add_remove")
        assert cost is not None

        def together(n, cost=cost):
            return Spent(
                *(n * exact(text_of(value)) for value in (*each, cost.divergence, cost.leak))
            )

        assert RULE.admits(together(fits)), name
        assert not RULE.admits(together(fits + 1)), name


def test_a_union_ledger_admits_seven_fits_where_the_sum_admits_three():
    public = PublicFacts(n_features=100, n_nonzero=15, loss=Logistic())
    events = listed(*calibrate(BY_NAME["pursuit"]().schedule(public), 1.0, 1e-6))
    for rule, fits in (("sum", 3), ("union", 7)):
        ledger = Ledger(3.0, 1e-5, rule=rule)
        before = ledger.terms
        parts = []
        for _ in range(fits):
            ledger.charge(1.0, 1e-6, events=events)
            parts.append(ledger.used())
        assert parts == sorted(parts)
        assert parts[-1] > 0.9
        with pytest.raises(BudgetExceeded, match="nothing was charged"):
            ledger.charge(1.0, 1e-6, events=events)
        assert len(ledger.history()) == fits
        # The order was fixed before the first charge and stays.
        assert {**before, "neighbors": None} == {**ledger.terms, "neighbors": None}


def test_leaks_are_counted():
    ledger = Ledger(3.0, 1e-5, rule="union")
    for _ in range(5):  # black boxes: 4.5e-6 of the 5e-6 for the sum, far beyond the leaks
        ledger.charge(0.01, 9e-7)
    with pytest.raises(BudgetExceeded):
        ledger.charge(0.01, 9e-7)
    assert ledger.used() == pytest.approx(0.9)


def test_rules_are_counted_over_whole_paths():
    """A charge that only the sum admits is not forgotten when later ones look at divergences."""
    small = listed(Gaussians(0.05))
    ledger = Ledger(3.0, 1e-5, rule="union")
    ledger.charge(2.5, 1e-6)  # divergence 2.4, above what the filter may spend
    ledger.charge(0.4, 1e-6, events=small)
    with pytest.raises(BudgetExceeded):
        ledger.charge(0.4, 1e-6, events=small)  # sum 3.3
    fresh = Ledger(3.0, 1e-5, rule="union")
    for _ in range(12):  # sum 4.8: the filter alone admits these
        fresh.charge(0.4, 1e-6, events=small)
    with pytest.raises(BudgetExceeded):
        fresh.charge(2.5, 1e-6)
    assert fresh.used() < 0.2


# --- adversaries -----------------------------------------------------------------------------

MENU = (
    ("respond", 0.35, 0.0),  # randomized response
    ("respond", 0.9, 0.0),
    ("leak", 0.0, 0.02),  # tells all with this probability
    ("leak", 0.0, 0.004),
)


def worst_delta(rule, epsilon, alpha, menu, depth=7):
    """Largest delta of all adversaries that choose from the menu by all that came before.

    Exact: a state is how often each was asked and how the responses fell, which gives the loss.
    """
    costs = []
    for _, own, leak in menu:
        found = black_box(own, leak, alpha)
        costs.append(Spent(*(exact(text_of(v)) for v in (own, leak, found.divergence, found.leak))))

    @functools.cache
    def value(counts, wins):
        loss = sum((2 * w - c) * own for (_, own, _), c, w in zip(menu, counts, wins, strict=True))
        best = max(0.0, -math.expm1(epsilon - loss))
        if sum(counts) == depth:
            return best
        for i, (kind, own, leak) in enumerate(menu):
            asked = tuple(c + (j == i) for j, c in enumerate(counts))
            if not admitted(asked):
                continue
            won = tuple(w + (j == i) for j, w in enumerate(wins))
            if kind == "leak":
                outcome = leak + (1 - leak) * value(asked, wins)
            else:
                p = 1 / (1 + math.exp(-own))
                outcome = p * value(asked, won) + (1 - p) * value(asked, wins)
            best = max(best, outcome)
        return best

    @functools.cache
    def admitted(counts):
        sums = [
            sum(
                (getattr(cost, field) * n for cost, n in zip(costs, counts, strict=True)),
                Fraction(0),
            )
            for field in ("epsilon", "delta", "divergence", "leak")
        ]
        return rule.admits(Spent(*sums))

    start = (0,) * len(menu)
    return value(start, start)


def test_no_adversary_of_two_outcomes_exceeds_delta():
    epsilon, delta = 1.0, 0.1
    plain = SumRule(text_of(epsilon), text_of(delta))
    union = UnionRule.of(epsilon, delta)
    alpha = float(union.alpha)
    assert worst_delta(plain, epsilon, alpha, MENU) <= delta * (1 + 1e-12)
    assert worst_delta(plain, epsilon, alpha, MENU[2:]) > 0.096  # 1 - .98^5: the sum is sharp
    assert 0.04 < worst_delta(union, epsilon, alpha, MENU) <= delta
    # Unguarded, the same menu breaks the budget: the adversary is strong enough to notice.
    assert worst_delta(SumRule("3.0", text_of(delta)), epsilon, alpha, MENU) > delta


def switching(epsilon, delta, tail, delta_sum):
    """True delta, over ``delta``, of who goes on by the rule that luck favors.

    First a Gaussian release that uses part of the filter and hardly any of the sum; if its loss
    came out high, the rest of the filter on another, else all that the sum has left on a leak.
    """
    rule = UnionRule.of(epsilon, tail / 0.4)
    rho = float(rule.divergence) / float(rule.alpha)
    worst = 0.0
    z, step = np.linspace(-9, 12, 20_001, retstep=True)
    for part in np.linspace(0.3, 0.95, 27):
        mu = math.sqrt(2 * rho * part)
        spent = gaussian_delta(epsilon, mu)
        if spent >= delta_sum:
            continue
        loss = mu**2 / 2 + mu * z
        go_on = gaussian_profile(epsilon - loss, math.sqrt(2 * rho * (1 - part)))
        left = delta_sum - spent
        leak = left + (1 - left) * np.maximum(-np.expm1(epsilon - loss), 0)
        worst = max(worst, float((norm.pdf(z) * np.maximum(go_on, leak)).sum() * step))
    return worst / delta


@pytest.mark.parametrize("budget", [(3.0, 1e-5), (1.0, 1e-6)])
def test_switching_rules_breaks_a_ledger_that_does_not_divide_delta(budget):
    epsilon, delta = budget
    assert switching(epsilon, delta, delta, delta) > 1.15
    rule = UnionRule.of(epsilon, delta)
    assert switching(epsilon, delta, float(rule.tail), float(rule.delta_sum)) < 0.75


def test_concentrated_costs_are_never_below_the_divergence():
    events = (Selections(0.3, 20), Gaussians(0.4), PureReleases(0.2, 3))
    cost = of_events(listed(*events), ALPHA, "add_remove")
    assert cost is not None
    assert 0.8 * ALPHA * zcdp_rho(events) < cost.divergence <= ALPHA * zcdp_rho(events) * (1 + 1e-8)
