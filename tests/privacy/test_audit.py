"""The audit must pass what is sound, come close to what is true, and convict what is not.

Every bound of an audit is wrong with probability 1e-6 at most, which is the false-alarm rate of
each test that a sound method passes. Convictions have fixed seeds; each would fail if the audit
lost its teeth.
"""

import json
import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binomtest, norm

from sparsedp.audit import Attack, Pair, Refused, audit, enumerated, worst_pairs
from sparsedp.audit.likelihood import noisy_max_probability, privacy_loss
from sparsedp.audit.lower_bound import (
    Binomial,
    Event,
    best_event,
    clopper_pearson,
    delta_from_losses,
    epsilon_from_losses,
    mean_lower_bound,
)
from sparsedp.audit.neighbors import canceling_pair, dataset, flipped_label_pair, linear_pair
from sparsedp.audit.targets import (
    LOSSES,
    N_LOUD,
    bent,
    brisk,
    inferring,
    interacting,
    loud,
    persons,
    proven,
    published,
    registered,
    screening_pair,
)
from sparsedp.audit.verdict import SATURATING
from sparsedp.cli import main
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.fit.solve import door
from sparsedp.losses import Huber, Logistic, Multinomial, Squared
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.privacy import (
    Budget,
    Count,
    Perturb,
    Schedule,
    Select,
)
from sparsedp.privacy.account.gaussian import gaussian_delta, gaussian_mu
from sparsedp.sets import n_features_used
from sparsedp.solvers import (
    ADMM,
    BY_NAME,
    IGHT,
    FrankWolfe,
    MultinomialLasso,
    NoisyGD,
    ObjectivePerturbation,
    ScreenedFrankWolfe,
    Solution,
    Sparsifier,
    TwoStage,
)
from sparsedp.solvers.frank_wolfe import vertex_walk
from tests.cases import SOLVERS

ERROR = 1e-6
NEIGHBORS = ("add_remove", "replace_one")
WORST_STEPS = FrankWolfe(radius=0.25, n_steps=60)
"""Residuals of extreme records stay beyond the clip: every step sees the same scores."""


# --- the bounds themselves ---------------------------------------------------------------------


@pytest.mark.parametrize(("hits", "runs"), [(0, 10), (3, 10), (10, 10), (17, 400)])
def test_clopper_pearson_is_that_of_scipy(hits, runs):
    low, high = clopper_pearson(hits, runs, 0.025)
    expected = binomtest(hits, runs).proportion_ci(0.95, method="exact")
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_bounds_of_an_event_come_close_to_the_truth():
    p, q, runs = 0.3, 0.02, 10**7
    event = Event((int(p * runs), int(q * runs)), (runs, runs))
    assert event.epsilon(0.01, ERROR) == pytest.approx(math.log(0.29 / 0.02), rel=0.01)
    assert event.delta(2.0, ERROR) == pytest.approx(p - math.exp(2) * q, rel=0.02)
    assert event.mu(ERROR) == pytest.approx(norm.ppf(p) - norm.ppf(q), rel=0.01)
    divergence = p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
    assert event.rho(ERROR) == pytest.approx(divergence, rel=0.01)
    harmless = Event((500, 510), (1000, 1000))
    assert harmless.epsilon(0, ERROR) == harmless.mu(ERROR) == harmless.rho(ERROR) == 0


def test_event_is_counted_on_runs_that_did_not_choose_it():
    # Seed 1. On pure noise a bound exceeds zero with probability 1e-6 at most.
    random = np.random.default_rng(1)
    one, other = random.normal(size=(2, 2000))
    assert best_event(one, other, 0.0, ERROR).epsilon(0.0, ERROR) == 0
    # A shift of mu = 1 in either direction, seen from either side.
    for shift in (1.0, -1.0):
        found = best_event(one + shift, other, 0.01, 0.05)
        assert 0.6 < found.mu(0.05) < 1.0
        assert found.runs == (1000, 1000)


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_mean_lower_bound_holds_and_is_sharp(scale):
    # Seed 2, 400 repetitions at error 0.01: more than 19 failures have probability below 1e-7.
    random = np.random.default_rng(2)
    bounds = [mean_lower_bound(scale * (random.random(500) < 0.05), 0.01, 0.05) for _ in range(400)]
    mean, deviation = 0.05 * scale, scale * math.sqrt(0.05 * 0.95 / 500)
    assert np.count_nonzero(np.array(bounds) > mean) <= 19
    assert np.mean(bounds) > mean - 3.5 * deviation
    assert mean_lower_bound(np.zeros(50), 0.01, 0.5) == 0


def test_bounds_from_losses_of_a_gaussian():
    # Seed 3: losses of mu = 1 are N(1/2, 1).
    losses = np.random.default_rng(3).normal(0.5, 1.0, size=4000)
    truth = gaussian_delta(2.0, 1.0)
    assert 0.6 * truth < delta_from_losses(losses, 2.0, ERROR, 0.01) < truth
    epsilon = epsilon_from_losses(losses, 0.01, ERROR)
    assert gaussian_mu(epsilon, 0.01) < 1.0 < gaussian_mu(epsilon * 1.25, 0.01)
    assert epsilon_from_losses(np.full(200, math.inf), 0.01, ERROR) == math.inf


def test_binomial_by_hand():
    law = Binomial.of(0.7, 0.4, 2)
    p, q = [0.09, 0.42, 0.49], [0.36, 0.48, 0.16]
    for epsilon in (0.0, 0.3, 1.0):
        forth = sum(max(0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))
        back = sum(max(0, b - math.exp(epsilon) * a) for a, b in zip(p, q, strict=True))
        assert law.delta(epsilon) == pytest.approx(max(forth, back), abs=1e-14)
    assert law.delta(law.epsilon(0.1)) == pytest.approx(0.1)


def test_laplace_noisy_max_probabilities():
    for gap in (0.0, 0.3, 5.0, 90.0):
        lost = 0.5 * math.exp(-gap) * (1 + gap / 2)  # distribution of a difference of Laplaces
        assert noisy_max_probability((0.0, gap), 0) == pytest.approx(lost, rel=1e-9)
        assert noisy_max_probability((0.0, gap), 1) == pytest.approx(1 - lost, rel=1e-12)
    scores = (0.3, -1.0, 2.0, 0.3, 14.0, -30.0)
    total = sum(noisy_max_probability(scores, k) for k in range(6))
    assert total == pytest.approx(1, abs=1e-12)
    # Four tied candidates: log-odds rise 7/6 times as fast as bounded range allows.
    up = 2 * noisy_max_probability((1e-4, 1e-4, -1e-4, -1e-4), 0)
    assert math.log(up / (1 - up)) / 2e-4 == pytest.approx(7 / 6, rel=1e-3)


@dataclass(frozen=True)
class EveryKind:
    """Asks everything that can be asked."""

    needs = ()
    caveats = ()

    def schedule(self, public):
        return Schedule((Perturb(), Count(0.3), Select(3)))

    def solve(self, data, loss, curator):
        w = np.zeros(curator.public.weights_shape)
        norm_bound = 0.5 * math.sqrt(len(w))
        gradient = gradient_sum(data, loss, w, 0.5)
        w = curator.perturb(gradient, norm_bound, share=0.5)
        curator.count(data.n_records, 3, 9)
        curator.select_many(np.abs(gradient), 0.5, 2)
        curator.select(np.abs(gradient), 0.5, excluded=np.array([1]))
        w += curator.perturb(gradient_sum(data, loss, w, 0.5), norm_bound, share=0.5)
        return Solution(weights=w)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize(
    "solver",
    [
        EveryKind(),
        ObjectivePerturbation(),
        ObjectivePerturbation(l1=0.5),
        ADMM(noise="pure", n_steps=2),
        TwoStage(n_blocks=2, voter=FrankWolfe(n_steps=2)),
    ],
    ids=lambda solver: type(solver).__name__,
)
def test_losses_are_those_of_a_likelihood_ratio(solver, neighbors):
    # Seed 4: E exp(-loss) = 1 for every honest pair of densities. Six standard deviations, that
    # is 2e-9 for a normal mean.
    pair = worst_pairs(Logistic(), neighbors)[1]
    evidence = Attack(solver, Logistic(), pair, 2.0, 0.01).evidence(200, 4)
    for losses in evidence.losses:
        ratios = np.exp(-losses)
        assert abs(ratios.mean() - 1) < 6 * ratios.std() / math.sqrt(ratios.size)
    assert evidence.divergence() > 0.01
    assert not evidence.faults


# --- what is sound passes, and the bounds come close ---------------------------------------------


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "intervals"])
def test_sound_solvers_pass(name, neighbors):
    # A short version of `sparsedp audit --all`, which takes minutes. Intervals need all features of
    # a pair, and bounds alone: `inferring` attacks them.
    for loss in (Logistic(), Squared(), Multinomial(3), Huber()):
        pairs = [worst_pairs(loss, neighbors)[i] for i in (1, 4)]
        try:
            result = audit(SOLVERS[name], loss, 2.0, 0.05, neighbors, runs=10, seed=5, pairs=pairs)
        except Refused:
            continue
        assert result.verdict == "passed", result
        assert result.movement <= 1 + 1e-9
        return
    raise AssertionError("refuses every loss")


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_exact_cost_of_the_worst_pair_is_close_to_the_claim(neighbors):
    pair = worst_pairs(Squared(), neighbors)[0]
    result = enumerated(WORST_STEPS, Squared(), 2.0, 0.01, pair)
    assert result.verdict == "passed"
    assert result.epsilon_lower_bound > 0.95 * result.epsilon
    assert result.delta_lower_bound > 0.9 * result.delta


def test_sampled_bound_is_close_to_the_claim():
    # Seed 6, at the usual level of 95 %: a statement about power, the seed is fixed.
    pair = worst_pairs(Squared(), "add_remove")[0]
    evidence = Attack(WORST_STEPS, Squared(), pair, 2.0, 0.01).evidence(200, 6)
    assert 0.8 * 2.0 < evidence.epsilon(0.01, 0.05) < 2.0
    # Events alone trust nothing and need more runs; what they say must not contradict.
    assert 0.0 < evidence.event(0.01, 0.05).epsilon(0.01, 0.05) < 2.0


# --- what is not sound is convicted --------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class HalfTheNoise(FrankWolfe):
    """Lets records out of their box: twice what is declared, so the door adds half the noise."""

    def solve(self, data, loss, curator):
        return super().solve(replace(data, storage=2 * data.storage), loss, curator)


def test_half_the_noise_is_convicted(monkeypatch):
    monkeypatch.setattr(vertex_walk, "compact_columns", lambda data: None)  # one by one
    result = audit(HalfTheNoise(n_steps=20), Squared(), 2.0, 0.01, runs=120, seed=8)
    assert result.verdict == "violated"
    assert result.movement == pytest.approx(2)
    assert "times as far as declared" in result.fault


def test_the_compact_walk_keeps_records_in_their_box():
    # Entries are clipped once more as they become whole numbers: the same fault has no effect.
    result = audit(HalfTheNoise(n_steps=20), Squared(), 2.0, 0.01, runs=120, seed=8)
    assert result.verdict == "passed"
    assert result.movement <= 1


def leaky_door(budget, public, stream):
    """A door whose sampler draws the noise of ten times the budget, whatever the ledger says."""
    generous = Budget(budget.schedule, epsilon=20.0, delta=budget.delta, neighbors=public.neighbors)
    return door(generous, public, stream)


def test_a_broken_sampler_is_convicted_by_events():
    # Replay cannot see it: all declarations are right. Only counting how often things happen can.
    pair = worst_pairs(Squared(), "replace_one")[0]
    attack = Attack(FrankWolfe(radius=0.25, n_steps=4), Squared(), pair, 1.0, 0.01, leaky_door)
    evidence = attack.evidence(300, 8)
    assert not evidence.faults
    assert evidence.event(0.01, ERROR).epsilon(0.01, ERROR) > 1.0
    honest = replace(attack, door=door).evidence(300, 8)
    assert honest.event(0.01, ERROR).epsilon(0.01, ERROR) <= 1.0


@dataclass(frozen=True)
class ExactCount(Sparsifier):
    """The listing of Khanna et al. (2024), line 58: the count is noised, then taken as it was."""

    def _n_kept(self, data, loss, curator):
        public = curator.public
        model = self.count_solver.solve(data, loss, NoiselessCurator(public))
        exact = n_features_used(model.weights, public.n_features)
        lower, upper = self._range(public.n_features)
        curator.count(exact, lower, upper)
        return min(max(exact, lower), upper)


def test_the_count_of_the_listing_is_convicted():
    # Records on 6 or on 7 features: so many weights has the model that is counted.
    loss, identity, delta = Logistic(), np.eye(16), 1 / 200
    records = [(identity[j], 1) for j in range(7)]
    tables = [dataset(records[:n], loss, intercept=False) for n in (6, 7)]
    pair = Pair("support", tables[0], tables[1], "add_remove")
    bounds = []
    for kind in (Sparsifier, ExactCount):
        solver = kind(FrankWolfe(n_steps=25), "count", count_solver=FrankWolfe(n_steps=8))
        evidence = Attack(solver, loss, pair, 1.0, delta).evidence(
            120, 9, statistic=lambda solution: float(np.count_nonzero(solution.weights))
        )
        # From the number of weights alone, and by replay.
        bounds.append(evidence.event(delta, ERROR).epsilon(delta, ERROR))
        bounds.append(evidence.epsilon(delta, ERROR))
    assert max(bounds[:2]) <= 1.0
    assert bounds[2] > 1.0
    assert bounds[3] == math.inf
    assert evidence.faults == ("the output depends on the data past the door",)


def test_clipping_the_aggregate_is_convicted():
    # The mean gradient clipped to C, with noise for 2C/n (Hoseinpour et al. 2023).
    published = NoisyGD(n_steps=1, clip=0.01, calibration="published")
    verdicts = []
    for solver in (published, replace(published, calibration="sound")):
        pairs = [canceling_pair(Logistic())]
        result = audit(solver, Logistic(), 1.0, 1e-3, "replace_one", runs=100, seed=10, pairs=pairs)
        verdicts.append(result.verdict)
        if solver is published:
            assert result.epsilon_lower_bound > 10
            assert result.movement > 10
    assert verdicts == ["violated", "passed"]


def test_the_published_screening_rule_is_convicted():
    solver = ScreenedFrankWolfe(radius=1.0, n_steps=1, calibration="published")
    pair = screening_pair(solver, 60_000, 2)
    result = audit(solver, Squared(), 5.0, 1e-3, "replace_one", runs=60, seed=11, pairs=[pair])
    assert result.verdict == "violated", result
    assert result.movement > 10
    sound = replace(solver, calibration="sound")
    result = audit(sound, Squared(), 5.0, 1e-3, "replace_one", runs=60, seed=11, pairs=[pair])
    assert result.verdict == "passed", result


@pytest.mark.parametrize(("epsilon", "verdict"), [(5.0, "violated"), (2.0, "passed")])
def test_published_frank_wolfe_is_convicted_exactly(epsilon, verdict):
    solver = FrankWolfe(radius=1e-6, n_steps=100, calibration="published")
    result = enumerated(solver, Squared(), epsilon, 0.01, linear_pair("replace_one"))
    assert result.verdict == verdict
    if verdict == "violated":
        assert result.delta_lower_bound == pytest.approx(0.0212, rel=0.01)
    sound = replace(solver, calibration="sound")
    assert (
        enumerated(sound, Squared(), epsilon, 0.01, linear_pair("replace_one")).verdict == "passed"
    )


def test_published_hard_thresholding_is_convicted():
    # Noise for rho, though a replaced record costs 2 rho (Wang and Gu 2019).
    pairs = [worst_pairs(Logistic(), "replace_one")[0]]
    published = IGHT(n_steps=1, clip=0.5, calibration="published")
    claim = Logistic(), 10.0, 0.01, "replace_one"
    result = audit(published, *claim, runs=500, seed=12, pairs=pairs)
    assert result.verdict == "violated", result
    assert 0.01 < result.delta_lower_bound < 0.0605  # the latter is exact
    sound = replace(published, calibration="sound")
    assert audit(sound, *claim, runs=100, seed=12, pairs=pairs).verdict == "passed"


def test_published_hard_thresholding_is_convicted_as_concentrated_privacy():
    # Seed 13. The same release at rho = 1/2: the sign of a weight shows more than rho.
    rho, runs = 0.5, 200_000
    noise = np.random.default_rng(13).normal(scale=1 / math.sqrt(rho), size=(2, runs))
    hits = [int(np.count_nonzero(noise[0] + 1 > 0)), int(np.count_nonzero(noise[1] - 1 > 0))]
    event = Event((hits[0], hits[1]), (runs, runs))
    assert rho < event.rho(ERROR) < 2 * rho
    assert event.mu(ERROR) > math.sqrt(2 * rho)


@dataclass(frozen=True)
class ScaledByTheData:
    """Features divided by their largest value in the data, as if that were public."""

    needs = ()
    caveats = ()

    def schedule(self, public):
        return Schedule((Select(1),))

    def solve(self, data, loss, curator):
        largest = np.abs(data.columns(np.arange(data.n_columns))).max(axis=0)
        w = np.zeros(curator.public.weights_shape)
        k = curator.select(-gradient_sum(data, loss, w, 0.5) / largest, 0.5, signed=True)
        w.flat[k % w.size] = 1 if k < w.size else -1
        return Solution(weights=w)


def test_scaling_by_the_data_is_convicted():
    loss = Logistic()
    tables = [
        dataset([([0.01, 0.5], 1)] * 60 + [([x, 0.5], 1)], loss, intercept=False)
        for x in (0.01, 1.0)
    ]
    pair = Pair("one large value", tables[0], tables[1], "replace_one")
    result = audit(
        ScaledByTheData(), loss, 1.0, 1e-3, "replace_one", runs=300, seed=14, pairs=[pair]
    )
    assert result.verdict == "violated", result
    assert result.movement > 10


def test_published_multinomial_is_convicted_exactly():
    published = MultinomialLasso(n_steps=1, calibration="published")
    for n_features, verdict in ((50, "passed"), (10_000, "violated")):
        pair = flipped_label_pair(n_features)
        result = enumerated(published, Multinomial(2), 1.0, 1e-4, pair)
        assert result.verdict == verdict, result
    assert result.epsilon_lower_bound > 10


def test_enumeration_refuses_what_is_no_row_of_coin_flips():
    pair = worst_pairs(Logistic(), "add_remove")[1]
    with pytest.raises(ValueError, match="constant scores"):
        enumerated(FrankWolfe(n_steps=5), Logistic(), 1.0, 0.01, pair)


def test_everything_by_name_is_a_target():
    targets = list(registered())
    assert {target.name for target in targets} == set(BY_NAME)
    assert len(targets) == 2 * len(BY_NAME) * len(LOSSES)
    assert brisk(Sparsifier(FrankWolfe(n_steps=90))).solver.n_steps == 15
    assert brisk(FrankWolfe(n_steps=3)) == FrankWolfe(n_steps=3)
    assert {t.solver.calibration for t in published()} == {"published"}


def test_proven_noise_passes_where_the_papers_are_refuted():
    """No false alarms: a bound is wrong with chance 1e-6, and movements are not random."""
    seen = set()
    for target in proven():
        if target.name == "multinomial_lasso" and target.exact:
            target = replace(target, pair=partial(flipped_label_pair, 300))
        result = target.run(4, 5)
        assert result.verdict == "passed", (target.name, target.neighbors, result)
        assert result.calibration == "proven"
        assert result.movement <= 1 + 1e-9
        seen.add((target.name, target.neighbors))
    assert len(seen) == 2 * len({name for name, _ in seen}) == 18


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_proven_noise_protects_persons(neighbors):
    for solver in (
        FrankWolfe(radius=0.25, n_steps=5, calibration="proven"),
        IGHT(n_steps=3, calibration="proven"),
        NoisyGD(n_steps=3, calibration="proven"),
    ):
        pairs = worst_pairs(Logistic(), neighbors, 5)[1:3]
        result = audit(solver, Logistic(), 2.0, 0.01, neighbors, runs=4, seed=3, pairs=pairs)
        assert result.verdict == "passed"
        assert result.movement <= 1 + 1e-9


@pytest.mark.parametrize("targets", [persons, inferring])
def test_persons_and_intervals_are_attacked_and_protected(targets):
    for target in targets():
        pairs = worst_pairs(target.loss, target.neighbors, target.rows)[1:3]
        claim = target.solver, target.loss, 2.0, 0.01, target.neighbors
        result = audit(*claim, runs=4, seed=3, pairs=pairs)
        assert result.verdict == "passed", (target.name, target.neighbors)
        assert result.movement <= 1 + 1e-9


@pytest.mark.parametrize("epsilon", [2.0, SATURATING])
def test_features_that_bend_are_attacked_and_protected(epsilon):
    for target in bent():
        assert target.pair is not None
        attack = Attack(target.solver, target.loss, target.pair(), epsilon, target.delta)
        run = attack.run(b"bent")
        assert run.solution.bends, "nothing bends here"
        assert run.fault is None, (target.loss, target.neighbors)
        assert 0.5 < run.movement <= 1 + 1e-9
        assert abs(run.loss) < 10 * epsilon


def test_features_that_interact_are_attacked_and_protected():
    for target in interacting():
        assert target.pair is not None
        attack = Attack(target.solver, target.loss, target.pair(), target.epsilon, target.delta)
        run = attack.run(b"pairs")
        assert run.solution.interactions, "nothing interacts here"
        assert run.fault is None, (target.loss, target.neighbors)
        assert 0.5 < run.movement <= 1 + 1e-9
        assert abs(run.loss) < 10 * target.epsilon


def test_descents_under_loud_noise_are_attacked_and_protected():
    for target in loud():
        assert target.pair is not None
        attack = Attack(target.solver, target.loss, target.pair(), target.epsilon, target.delta)
        run = attack.run(b"loud")
        steps = [query for query in run.queries if np.shape(query.answer)[:1] == (1 + N_LOUD,)]
        assert len(steps) >= 60, "this is no descent"
        assert run.fault is None, (target.loss, target.neighbors)
        assert 0.5 < run.movement <= 1 + 1e-9
        assert abs(run.loss) < 10 * target.epsilon


@dataclass(frozen=True)
class EveryRowCounts(NoisyGD):
    """Forgets that the rows of a person share one weight."""

    def solve(self, data, loss, curator):
        return super().solve(replace(data, weights=None), loss, curator)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_forgotten_weights_of_persons_are_convicted(neighbors):
    pairs = worst_pairs(Logistic(), neighbors, rows=5)
    claim = EveryRowCounts(n_steps=3), Logistic(), 2.0, 0.01, neighbors
    result = audit(*claim, runs=40, seed=9, pairs=pairs)
    assert result.verdict == "violated"
    assert result.movement > 2


def test_what_cannot_be_audited_is_refused():
    with pytest.raises(Refused, match="two classes"):
        audit(FrankWolfe(calibration="published"), Multinomial(3), 1.0, 0.01)
    fit = ObjectivePerturbation(calibration="published")
    votes = TwoStage(2, n_blocks=3, solver=fit, calibration="published")
    with pytest.raises(Refused, match="closed form"):
        audit(votes, Logistic(), 1.0, 0.01)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_published_votes_for_one_feature_cost_at_most_their_half(neighbors):
    # Laplace votes are pure: no single loss exceeds half of epsilon. What is left is the fit.
    fit = ObjectivePerturbation(calibration="published")
    solver = TwoStage(
        1, n_blocks=3, voter=FrankWolfe(n_steps=3), solver=fit, calibration="published"
    )
    losses = []
    for pair in worst_pairs(Logistic(), neighbors)[1:]:
        attack = Attack(solver, Logistic(), pair, 3.0, 0.01)
        for seed in range(5):
            _, queries = attack.record(pair.one, bytes([seed]))
            _, asked = attack.replay(pair.other, [query.answer for query in queries])
            i = next(i for i, query in enumerate(queries) if query.name == "votes")
            one, other = [queries[i]], [asked[i]]
            losses.append(abs(privacy_loss(one, other, attack.budget(), neighbors)))
    assert 0.1 < max(losses) <= 1.5 + 1e-9


def test_command_line():
    run = CliRunner(catch_exceptions=False).invoke
    line = ["audit", "--solver", "noisy_gd", "--set", "n_steps=2", "--loss", "squared"]
    shown = run(main, [*line, "--neighbors", "add_remove", "--runs", "10"])
    assert shown.exit_code == 0
    assert "passed" in shown.stdout
    assert "[1/1] noisy_gd, squared, add_remove" in shown.stderr
    listed = json.loads(run(main, [*line, "--runs", "10", "--json"]).stdout)
    assert [row["neighbors"] for row in listed] == list(NEIGHBORS)
    assert {row["verdict"] for row in listed} == {"passed"}
    for wrong in (["audit"], ["audit", "--all", "--solver", "ight"], ["audit", "--solver", "no"]):
        assert run(main, wrong).exit_code == 2
