"""Khanna et al. (2024): the private count of Sparsifier."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sparsedp.audit.attack import Attack
from sparsedp.audit.errata.erratum import (
    CONFIDENCE,
    Erratum,
    Finding,
    aligned,
    violation,
)
from sparsedp.audit.lower_bound import Event
from sparsedp.audit.neighbors import Pair, Record, dataset
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Logistic
from sparsedp.mechanisms import NoiselessCurator
from sparsedp.sets import L0Ball, n_features_used
from sparsedp.solvers import FrankWolfe, Sparsifier

PAPER = "Khanna et al. (2024)"
RUNS = 100
FEATURES = 16

PRINTED = {
    # set: features, non-zeros without privacy, mean non-zeros of Sparsifier (Table 1)
    "covtype": (54, 17, 11.78),
    "splice": (60, 52, 12.70),
    "phishing": (68, 2, 12.02),
    "synthetic": (100, 7, 15.08),
    "mushroom": (112, 16, 16.02),
    "a9a": (123, 19, 18.06),
    "w8a": (300, 20, 25.60),
    "colon": (2000, 58, 68.16),
    "gisette": (5000, 77, 102.50),
}


def _listing() -> Finding:
    """Lines 53 to 73 on tables whose exact counts are 6 and 5, between the limits 4 and 8."""
    epsilon, delta = 1.0, 0.01
    steps = FrankWolfe(radius=10.0, n_steps=40, calibration="published")
    attack = Attack(steps, Logistic(), _one_hot_pair(), epsilon * 0.95, delta)
    exact = [_exact_count(attack, data) for data in (attack.pair.one, attack.pair.other)]

    def kept(data: Dataset, seed: bytes) -> int:
        """As printed: the noisy count of line 57 is overwritten by the exact one in line 58."""
        count = int(np.clip(_exact_count(attack, data), 4, 8))
        weights = attack.record(data, seed)[0].weights
        return n_features_used(L0Ball(count, FEATURES).threshold(weights), FEATURES)

    published = Sparsifier(steps, n_nonzero="count", calibration="published")
    noisy = replace(attack, solver=published, epsilon=epsilon)

    def with_noise(data: Dataset, seed: bytes) -> int:
        return n_features_used(noisy.record(data, seed)[0].weights, FEATURES)

    found, within = (_epsilon(attack.pair, how, delta) for how in (kept, with_noise))
    table = [f"features of the model without noise: {exact[0]} and {exact[1]}"]
    against = "the noisy count is used, as in Algorithm 2"
    return violation(epsilon, delta, found, within, exact=False, against=against, table=table)


def _one_hot_pair() -> Pair:
    """Every record has one feature and the label 1; the last one's is new, or the first one's."""

    def row(j: int) -> Record:
        return [float(i == j) for i in range(FEATURES)], 1

    one, other = (
        dataset([row(j) for j in js], Logistic(), intercept=False)
        for js in ((0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 0))
    )
    return Pair("one-hot", one, other, "replace_one")


def _exact_count(attack: Attack, data: Dataset) -> int:
    curator = NoiselessCurator(attack.pair.public(attack.loss))
    weights = attack.solver.solve(data, attack.loss, curator).weights
    return int(np.count_nonzero(weights))


def _epsilon(pair: Pair, count: Callable[[Dataset, bytes], int], delta: float) -> float:
    """Lower bound from the event that six features are kept, fixed beforehand."""
    hits = [
        sum(count(data, f"{side}/{i}".encode()) == 6 for i in range(RUNS))
        for side, data in enumerate((pair.one, pair.other))
    ]
    return Event((hits[0], hits[1]), (RUNS, RUNS)).epsilon(delta, 1 - CONFIDENCE)


def _noise(epsilon: float, width: float) -> tuple[float, Callable[[int], float]]:
    """The double-geometric law: its rate, and the probability of at most k."""
    rate = epsilon / width
    q = math.exp(-rate)

    def at_most(k: int) -> float:
        return 1 - q ** (k + 1) / (1 + q) if k >= 0 else q**-k / (1 + q)

    return rate, at_most


def _rounding() -> Finding:
    epsilon, features = 0.05, 54
    low, high = math.sqrt(features), 2 * math.sqrt(features)

    def worst(lower: float, upper: float) -> float:
        """Log-ratio of the probabilities of the lower end, for counts clipped to either end."""
        _, at_most = _noise(epsilon, upper - lower)
        start, end = round(lower), round(upper)
        return math.log(at_most(0) / at_most(start - end))

    table = [
        f"limits {low:.3f} and {high:.3f}: noise for {high - low:.3f}, "
        f"rounded counts {round(high) - round(low)} apart"
    ]
    found, within = worst(low, high), worst(math.ceil(low), math.floor(high))
    against = "the limits are whole numbers"
    finding = violation(epsilon, None, found, within, against=against, table=table)
    text = f"epsilon is at least {found:.4f}, exactly: the probability of the lower end"
    return replace(
        finding, measured=(finding.measured[0], ("found", text), ("control", f"{within:.4f}"))
    )


def _coin() -> Finding:
    epsilon, trials = 0.05, 50
    heads: list[object] = [
        "",
        "non-zeros",
        "coin's mean",
        "printed",
        "deviations",
        "P(low | low)",
        "P(low | high)",
    ]
    rows: list[list[object]] = [heads]
    most = 0.0
    for name, (features, count, printed) in PRINTED.items():
        low, high = math.sqrt(features), 2 * math.sqrt(features)
        _, at_most = _noise(epsilon, high - low)
        ends = [at_most(0), at_most(round(low) - round(high))]
        mean, error = (low + high) / 2, (high - low) / 2 / math.sqrt(trials)
        off = (printed - mean) / error
        most = max(most, abs(off))
        cells = (f"{mean:.1f}", printed, f"{off:+.1f}", *(f"{p:.3f}" for p in ends))
        rows.append([name, count, *cells])
    return Finding(
        stands=most < 3,
        table=aligned(rows),
        measured=(
            (
                "found",
                f"all nine printed means lie within {most:.1f} standard deviations of a fair coin "
                "between sqrt(p) and 2 sqrt(p) (means of 50 trials)",
            ),
        ),
    )


def errata() -> Iterator[Erratum]:
    """In the order of the paper."""
    yield Erratum(
        name="sparsifier-rounding",
        paper=PAPER,
        reference="Algorithm 2 and Theorem 3, with alpha = sqrt(p) and beta = 2 sqrt(p) "
        "(Section 4)",
        claim="The count, clipped to [alpha, beta] and given double-geometric noise for a "
        "sensitivity of beta - alpha, is (epsilon_1, 0)-differentially private.",
        why="The noise is a whole number, the limits are not. Rounded, as in Appendix B, counts "
        "clipped to either end are round(beta) - round(alpha) apart, for covtype (p = 54) 8 "
        "instead of 7.348. Unrounded it is worse: whether the clipped count was a whole number "
        "shows in the fraction of the result. Exact, for p = 54.",
        convict=_rounding,
        instead='Sparsifier(n_nonzero="count"), whose limits are the whole numbers between; or '
        "better a number.",
    )
    yield Erratum(
        name="sparsifier-coin",
        paper=PAPER,
        reference="abstract, Section 3.2 and Table 1 (epsilon_1 = 0.05)",
        claim="The private count of the model without privacy says how many coefficients are "
        "appropriate.",
        why="At epsilon_1 = 0.05 the noise has 20 times the width of the range that the count "
        "is clipped to, so the result is one of the two ends, each with a probability near one "
        "half whatever the data: no data change it by more than a factor of exp(0.05), see "
        "P(lower end) where the count is at the lower and at the upper end. The mean is then 1.5 "
        "sqrt(p), which is what Table 1 prints, for phishing (2 non-zeros) as for splice (52).",
        convict=_coin,
        instead="A number: n_nonzero=k costs nothing.",
        verdict="the printed counts are those of a coin between the two ends",
    )
    yield Erratum(
        name="sparsifier-listing",
        paper=PAPER,
        reference="listing of Appendix B, lines 57 and 58, against Theorem 3",
        claim="The listing implements Sparsifier, which is (epsilon_1 + epsilon_2, "
        "delta)-differentially private.",
        why="Line 57 adds noise to the count, line 58 computes it again without noise. Six "
        "records, 16 features, alpha = 4, beta = 8: every record has a feature of its own, in the "
        "neighbor the last record has that of the first. The model without privacy uses 6 or 5 "
        "features, and so many does the output keep. 100 fits on each table, epsilon_1 = 0.05, "
        "epsilon_2 = 0.95.",
        convict=_listing,
        instead='Sparsifier; with n_nonzero="count" the count passes the door with its noise, '
        "and nothing else does.",
    )
