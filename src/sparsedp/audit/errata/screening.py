"""Khanna et al. (2023): the private screening rule."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import expit, ndtr

from sparsedp.audit.errata.erratum import Erratum, Finding, aligned, number, violation
from sparsedp.audit.errata.lasso import printed_scale
from sparsedp.audit.errata.laws import tied_vertices
from sparsedp.audit.lower_bound import Binomial
from sparsedp.audit.neighbors import linear_pair
from sparsedp.audit.verdict import enumerated
from sparsedp.losses import Squared
from sparsedp.privacy import Schedule, Select, Selections, calibrate
from sparsedp.privacy.account.gaussian import gaussian_mu
from sparsedp.solvers import FrankWolfe
from sparsedp.solvers.frank_wolfe.screening_rule import ScreeningRule

PAPER = "Khanna et al. (2023)"
RECORDS, FEATURES, RADIUS = 3000, 600, 5.0
EPSILON, DELTA = 2.5, 1 / 6000
"""Of the paper's experiment: size, radius, and the budget of each of its two parts."""


def linear_rule(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Equation (1) for linear regression over the ball of that radius."""
    n, u = len(y), X @ w
    gradient = X.T @ (u - y) / n
    inner = float(u @ (u - y)) / n
    gap = max(0.0, inner + RADIUS * float(np.abs(gradient).max()))
    lengths = np.linalg.norm(X, axis=0) + np.linalg.norm(u)
    return np.abs(gradient) + inner + lengths / n * math.sqrt(gap * n)


def logistic_rule(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Equation (1) for logistic regression."""
    n, u = len(y), X @ w
    residual = expit(u) - y
    gradient = X.T @ residual / n
    inner = float(u @ residual) / n
    gap = max(0.0, inner + RADIUS * float(np.abs(gradient).max()))
    convexity = expit(RADIUS) * expit(-RADIUS) / n
    lengths = np.linalg.norm(X, axis=0) + np.linalg.norm(u)
    return np.abs(gradient) + inner + lengths / (4 * n) * math.sqrt(gap / convexity)


def printed_linear(n: int) -> float:
    """Equation (2), for one coordinate."""
    return (2 * RADIUS + 2 * RADIUS**2 + (1 + RADIUS) * 2 * RADIUS) / n


def printed_logistic(n: int) -> float:
    """Equation (3), for one coordinate."""
    top, bottom = float(expit(RADIUS)), float(expit(-RADIUS))
    third = (1 + RADIUS) / 4 * math.sqrt(4 * RADIUS / bottom)
    return (2 * top + 2 * RADIUS * top + third) / n


def _linear_tables(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """All ones and a target that the model fits; then one row is turned."""
    X, w = np.ones((n, d)), np.full(d, RADIUS / d)
    turned = X.copy()
    turned[0] = -1
    target = np.full(n, RADIUS)
    return linear_rule(X, target, w), linear_rule(turned, target, w)


def _logistic_tables(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of ones and of minus ones with labels as the model expects them; then one is turned."""
    half = n // 2
    X, w = np.ones((n, d)), np.full(d, RADIUS / d)
    X[half:] = -1
    y = np.zeros(n)
    ones = round(half * float(expit(RADIUS)))
    y[:ones] = 1
    y[half : half + half - ones] = 1
    turned = X.copy()
    turned[0] = -1
    return logistic_rule(X, y, w), logistic_rule(turned, y, w)


def _sensitivity() -> Finding:
    rows: list[list[object]] = [["", "records", "moved", "printed", "moved / printed"]]
    for n in (300, RECORDS, 30_000):
        moved = float(np.abs(np.subtract(*_linear_tables(n, 2))).max())
        cells = f"{moved:.4f}", f"{printed_linear(n):.4f}", f"{moved / printed_linear(n):.1f}"
        rows.append(["linear, equation (2)", f"{n:,}", *cells])
    moved = float(np.abs(np.subtract(*_logistic_tables(RECORDS, 2))).max())
    printed = printed_logistic(RECORDS)
    cells = f"{moved:.4f}", f"{printed:.4f}", f"{moved / printed:.1f}"
    rows.append(["logistic, equation (3)", f"{RECORDS:,}", *cells])

    def screened(deviation: float) -> float:
        """Every coefficient is screened alike and by itself: the number of them says it all."""
        one, other = _linear_tables(RECORDS, FEATURES)
        p, q = (float(ndtr(-rule[0] / deviation)) for rule in (one, other))
        return Binomial.of(p, q, FEATURES).epsilon(DELTA)

    # Lines 1 to 4 of Algorithm 1, for one screening.
    each_delta = DELTA / 2
    each = EPSILON / (2 * math.sqrt(2 * math.log(1 / each_delta)))
    printed = math.sqrt(FEATURES) * printed_linear(RECORDS)
    deviation = printed * math.sqrt(2 * math.log(1.25 / each_delta)) / each
    # In units in which targets are at most one the radius is one.
    rule = ScreeningRule.of(Squared(), radius=1.0, scale=1 / RADIUS)
    proven = math.sqrt(FEATURES) * RADIUS**2 * rule.sensitivity(RECORDS).replace_one
    within = screened(proven / gaussian_mu(EPSILON, DELTA))
    return violation(EPSILON, DELTA, screened(deviation), within, table=aligned(rows))


def _first_term() -> Finding:
    """The model is 5 for all records; one turns its first feature, which has no weight."""
    n = 10
    X, w, y = np.ones((n, 2)), np.array([0.0, RADIUS]), np.full(n, -RADIUS)
    turned = X.copy()
    turned[0, 0] = -1
    sums = [abs(float(table[:, 0] @ (table @ w - y))) for table in (X, turned)]
    moved = sums[0] - sums[1]
    return Finding(
        stands=moved > 2 * RADIUS,
        measured=(
            ("claimed", f"the first term moves by at most 2 lambda / n = {2 * RADIUS:g} / n"),
            ("found", f"{moved:g} / n where targets are -lambda = -{RADIUS:g}, exactly"),
        ),
    )


def _safe() -> Finding:
    """One record x = 1, y = 6, radius 5: the best weight is 5, at the edge of the ball."""
    X, y, best = np.ones((1, 1)), np.array([6.0]), np.array([RADIUS])
    printed = float(linear_rule(X, y, best)[0])
    slope = float(best[0] - y[0])
    with_radius = RADIUS * abs(slope) + RADIUS * slope  # the gap is zero at the optimum
    return Finding(
        stands=printed < 0 <= with_radius,
        measured=(
            ("claimed", "below zero only where the optimum has no weight"),
            ("found", f"{printed:g} at the optimum w = {best[0]:g}: its only feature is screened"),
            ("control", f"{with_radius:g} with lambda before the terms of the feature"),
        ),
    )


def _lipschitz() -> Finding:
    """One step, two features; the target of one record is 70 or -70, the largest of |X w*|."""
    size = 70.0
    found = tied_vertices(printed_scale(EPSILON, DELTA, 1) / size, 1).epsilon(DELTA)
    steps = FrankWolfe(radius=1e-6, n_steps=1, calibration="proven")
    control = enumerated(steps, Squared(), EPSILON, DELTA, linear_pair("replace_one"))
    against = "residuals are clipped to the constant"
    return violation(EPSILON, DELTA, found, control.epsilon_lower_bound, against=against)


def _root() -> Finding:
    kept = 70
    event = calibrate(Schedule((Select(kept),)), EPSILON, DELTA)[0]
    assert isinstance(event, Selections)
    gumbel = 2.0 / event.epsilon0  # the range is 4 R for a replaced record, and R = 1/2 at w = 0
    heads: list[object] = [
        "features",
        "all values: largest of d noises",
        "70 selections: largest",
        "ratio",
    ]
    rows: list[list[object]] = [heads]
    ratios = []
    for d in (600, 60_000, 6_000_000):
        values = math.sqrt(d) / gaussian_mu(EPSILON, DELTA) * math.sqrt(2 * math.log(d))
        chosen = gumbel * math.log(d)
        ratios.append(values / chosen)
        rows.append([f"{d:,}", f"{values:,.0f}", f"{chosen:,.0f}", number(ratios[-1])])
    return Finding(stands=ratios[-1] > 10, table=aligned(rows))


def errata() -> Iterator[Erratum]:
    """In the order of the paper."""
    yield Erratum(
        name="screening-rule",
        paper=PAPER,
        reference="equation (1), for the ball of radius lambda",
        claim="If the value of equation (1) is below zero for a feature, the optimum over the "
        "ball of radius lambda gives it no weight.",
        why="The rule lacks lambda before the two terms of the feature and is right for lambda "
        "= 1 only. At the optimum w* the gap is zero and, on the support, lambda |x_i'f'| = "
        "-<Xw*, f'>; equation (1) is then (1 - lambda) |x_i'f'|, negative for every feature in "
        "use if lambda > 1.",
        convict=_safe,
        instead="lambda |x_i'f'| + <Xw, f'> + L (lambda |x_i| + |Xw|) sqrt(G / mu), as in "
        "ScreenedFrankWolfe (screening.md has the proof).",
    )
    yield Erratum(
        name="screening-first-term",
        paper=PAPER,
        reference="Section 3.1, bound of the first term of equation (1), part of equation (2)",
        claim="One record moves |x_i'f'| by at most 2 lambda / n in linear regression.",
        why="The residual x'w - y is taken to be at most lambda, as if targets were zero. With "
        "|y| <= Y it is at most lambda + Y, and the term moves by 2 (lambda + Y) / n; the paper "
        "bounds no targets, so nothing bounds the term.",
        convict=_first_term,
        instead="Declared target bounds, as the estimators ask for.",
    )
    yield Erratum(
        name="screening-sensitivity",
        paper=PAPER,
        reference="equations (2) and (3); Algorithm 1, line 10",
        claim="The L2 sensitivity of the rule is that of equations (2) and (3), so that the "
        "screening of Algorithm 1 is (epsilon_2, delta_2)-differentially private.",
        why="The third term is a product, (|x_i| + |Xw|) sqrt(G), and its sensitivity is "
        "bounded by the product of the sensitivities of the factors. But a factor that does not "
        "move may be large: |x_i| is sqrt(n), |Xw| is lambda sqrt(n). X = 1, Xw = y = lambda: the "
        "gap G is zero, and so is the rule; turn one row, and G becomes 4 lambda^2 / n. The rule "
        "moves by about sqrt(n) / 2 times equation (2). Attack: one screening at the paper's n = "
        "3000, d = 600, lambda = 5; how many coefficients are screened is binomial on both "
        "tables.",
        convict=_sensitivity,
        instead="Screened, which asks for the gradient, or NoisyMinScreening. "
        "ScreenedFrankWolfe has the right sensitivity, of order 1/sqrt(n), and shows that the "
        "rule drowns in it.",
    )
    yield Erratum(
        name="screening-lipschitz",
        paper=PAPER,
        reference="Section 3.3 (Lipschitz constants of the losses)",
        claim="The linear loss has the Lipschitz constant 1 in the L1 norm, so the steps of "
        "DP-FW have noise for L = 1.",
        why="The derivative of (x'w - y)^2 / 2 is (x'w - y) x, up to lambda + |y| in every "
        "entry. In the paper's own data y = Xw* may be 70 (35 weights of each sign, |x| <= 1). "
        "One step (T = 1) from a start with x'w = 0, two features, the target of x = (1, 1) is 70 "
        "or -70, all others cancel; the law of the pick is exact.",
        convict=_lipschitz,
        instead="FrankWolfe, which clips residuals and has noise for the clip.",
    )
    yield Erratum(
        name="screening-root-d",
        paper=PAPER,
        reference="Section 5 (and its open questions 1 and 2)",
        claim="A private screening rule would have to add noise of the order of sqrt(d).",
        why="sqrt(d) comes from releasing a value for every feature where rows are bounded "
        "entry by entry. Which features to keep can be selected instead: k selections need noise "
        "of the order of sqrt(k) log d. Noise in units of one record's entry of the gradient at w "
        "= 0, epsilon = 2.5, delta = 1/6000, a replaced record, 70 features.",
        convict=_root,
        instead="Screened or Pursuit; docs/reproduction.md has both on the paper's data.",
        verdict="noise of the order of log d is enough",
    )
