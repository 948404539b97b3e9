"""Hoseinpour et al. (2023): clipping, noise and equations of noisy gradient descent."""

import math
from collections.abc import Iterator

import numpy as np

from sparsedp.audit.errata.erratum import (
    CONFIDENCE,
    Erratum,
    Finding,
    aligned,
    number,
    violation,
)
from sparsedp.audit.errata.laws import gaussian_epsilon
from sparsedp.audit.neighbors import canceling_pair
from sparsedp.audit.verdict import audit
from sparsedp.losses import Logistic
from sparsedp.privacy.account.gaussian import gaussian_delta
from sparsedp.solvers import NoisyGD

PAPER = "Hoseinpour et al. (2023)"
SIZE = 400
"""Of the private set of the paper."""


def printed_mu(epsilon: float, delta: float) -> float:
    """How many deviations apart the printed noise puts values that differ by its sensitivity."""
    return epsilon / math.sqrt(2 * math.log(1.25 / delta))


def attacked(solver: NoisyGD, epsilon: float, delta: float, runs: int = 100) -> float:
    """A record that pulls alone at its feature, with either label; all others cancel."""
    return audit(
        solver,
        Logistic(),
        epsilon,
        delta,
        "replace_one",
        runs=runs,
        confidence=CONFIDENCE,
        pairs=[canceling_pair(Logistic())],
    ).epsilon_lower_bound


def _clip() -> Finding:
    epsilon, delta, clip = 1.0, 1e-3, 0.01
    found = attacked(NoisyGD(n_steps=1, clip=clip, calibration="published"), epsilon, delta)
    within = attacked(NoisyGD(n_steps=1, clip=clip, calibration="proven"), epsilon, delta)
    most = gaussian_epsilon(SIZE * printed_mu(epsilon, delta), delta)
    table = [f"at worst, a record that turns a clipped mean of {SIZE} around: {number(most)}"]
    against = "the noise is for 2 C"
    return violation(epsilon, delta, found, within, exact=False, against=against, table=table)


def _steps() -> Finding:
    epsilon, delta = 1.0, 1e-5
    rows: list[list[object]] = [["iterations", "epsilon of all together"]]
    mu = printed_mu(epsilon, delta)
    for steps in (1, 10, 100, 1000):
        total = gaussian_epsilon(math.sqrt(steps) * mu, delta)
        rows.append([steps, number(total)])
    found = gaussian_epsilon(math.sqrt(10) * mu, delta)
    within = attacked(NoisyGD(n_steps=10, clip=0.5, calibration="proven"), epsilon, delta)
    return violation(epsilon, delta, found, within, table=aligned(rows))


def _gaussian() -> Finding:
    epsilon, delta = 10.0, 1e-5
    rows: list[list[object]] = [["epsilon claimed", "delta claimed", "delta of this noise"]]
    for claimed_delta in (1e-5, 1 / SIZE):
        for claimed in (1, 5, 10, 15, 150):
            true = gaussian_delta(claimed, printed_mu(claimed, claimed_delta))
            rows.append([claimed, f"{claimed_delta:g}", f"{true:.2g}"])
    found = gaussian_epsilon(printed_mu(epsilon, delta), delta)
    within = attacked(NoisyGD(n_steps=1, clip=0.5, calibration="proven"), epsilon, delta)
    return violation(epsilon, delta, found, within, table=aligned(rows))


def _triangle() -> Finding:
    one, other = np.array([1.0, 0.0]), np.array([-1.0, 0.0])  # both have the norm C = 1
    change = float(np.linalg.norm(one - other))
    printed = float(np.linalg.norm(one) - np.linalg.norm(other))
    return Finding(
        stands=change > printed,
        measured=(
            ("claimed", "|a - b| <= |a| - |b|, which is 2 C where both norms are at most C"),
            ("found", f"a = (1, 0), b = (-1, 0), C = 1: {change:g} on the left, {printed:g} right"),
            ("control", "with a plus sign (the triangle inequality) both sides are 2"),
        ),
    )


def _loss() -> Finding:
    """One record with label 0 at predicted probabilities 0.1 (good) and 0.9 (bad)."""

    def printed(p: float, y: int) -> float:
        return -(y * math.log(p) - (1 - y) * math.log(1 - p))

    def meant(p: float, y: int) -> float:
        return -(y * math.log(p) + (1 - y) * math.log(1 - p))

    good, bad = printed(0.1, 0), printed(0.9, 0)
    return Finding(
        stands=bad < good and meant(0.9, 0) > meant(0.1, 0),
        measured=(
            ("claimed", "the loss is smaller where the predicted probability is closer to y"),
            ("found", f"y = 0: {good:.2f} at p = 0.1, {bad:.2f} at p = 0.9, without bound at 1"),
            ("control", f"with a plus sign: {meant(0.1, 0):.2f} and {meant(0.9, 0):.2f}"),
        ),
    )


def errata() -> Iterator[Erratum]:
    """In the order of the paper."""
    yield Erratum(
        name="pretraining-loss",
        paper=PAPER,
        reference="equation (7)",
        claim="The sum over records of -(y log p - (1 - y) log(1 - p)) is the cross-entropy.",
        why="The second sign is wrong: a record with y = 0 adds log(1 - p), which falls as p "
        "grows.",
        convict=_loss,
        instead="-(y log p + (1 - y) log(1 - p)).",
        verdict="as printed the loss rewards wrong predictions of records with y = 0",
    )
    yield Erratum(
        name="pretraining-triangle",
        paper=PAPER,
        reference="equation (11)",
        claim="The norm of a difference of gradients is at most the difference of their norms, "
        "hence at most 2 C.",
        why="The triangle inequality has a plus sign. The 2 C at the end is right; the step "
        "before it is not.",
        convict=_triangle,
        instead="|a - b| <= |a| + |b| <= 2 C.",
        verdict="the inequality is false, its last value is right",
    )
    yield Erratum(
        name="pretraining-clip",
        paper=PAPER,
        reference="Section 'Noisy Gradient Descent', below equation (11); Algorithm 2, line 4",
        claim="Where the gradient of all records is clipped to C, noise of deviation 2 C sqrt(2 "
        "log(1.25/delta)) / (n epsilon) makes an iteration (epsilon, delta)-differentially "
        "private.",
        why="The clipped gradient is one vector of norm at most C for the whole set: a record "
        "can turn it around, and it moves by 2 C, as equation (11) says; the n in the noise has "
        "no reason. It would be right for a mean of gradients that were clipped record by record. "
        "Attack: 399 records of which all but one cancel; the label of that one changes, its "
        "gradient has the norm 0.5 = 50 C. One iteration of the method, 100 fits on each table, "
        "by their exact log-likelihood ratios.",
        convict=_clip,
        instead="NoisyGD, which clips each record's gradient (at the cost of one matrix product).",
    )
    yield Erratum(
        name="pretraining-steps",
        paper=PAPER,
        reference="Algorithm 2 and Table 1",
        claim="The epsilon of an iteration is that of the trained model.",
        why="The noise is calibrated for one iteration and added in each of T; the paper does "
        "not compose them, nor state T. Even if each record were clipped, T Gaussian releases lie "
        "sqrt(T) times as many deviations apart as one, which is attained by a record whose "
        "gradients keep their direction (small steps, or a linear loss). Exact; found is for T = "
        "10.",
        convict=_steps,
        instead="NoisyGD, where n_steps iterations share epsilon by exact composition.",
    )
    yield Erratum(
        name="pretraining-gaussian",
        paper=PAPER,
        reference="Definition 3, equation (4), used for epsilon up to 150 in Table 1",
        claim="Noise of deviation sqrt(2 log(1.25/delta)) times sensitivity over epsilon is "
        "(epsilon, delta)-differentially private.",
        why="The classical formula is proven for epsilon below 1. Its exact delta (Balle and "
        "Wang 2018, which the paper cites) exceeds what is claimed for larger epsilon. The paper "
        "does not state delta; shown are 1e-5 and 1/400. (The printed '0.2 ln' must read '0, 2 "
        "ln'.)",
        convict=_gaussian,
        instead="The exact formula, as in NoisyGD.",
        verdict="the claim does not hold at epsilon = 10; at epsilon = 1 it does",
    )
