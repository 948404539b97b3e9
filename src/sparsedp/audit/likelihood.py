"""How likely an answer was: the exact privacy loss of a fit, query by query.

With the same answers a solver asks the same questions on both neighbors, so the loss of a whole
fit is the sum over its queries of log(probability on the one / probability on the other).
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from sparsedp.mechanisms import Objective
from sparsedp.mechanisms.questions.minimum import MINIMIZING
from sparsedp.mechanisms.questions.perturbation import PERTURBING
from sparsedp.mechanisms.questions.question import Query
from sparsedp.mechanisms.questions.selection import SELECTING
from sparsedp.mechanisms.slack import SUMMATION_SLACK
from sparsedp.privacy import (
    MOVED,
    Budget,
    GaussianReleases,
    Gaussians,
    LaplaceSelections,
    LaplaceTable,
    LaplaceVotes,
    Neighbors,
    PureMinima,
    PureReleases,
    Selections,
)

_CUTS = np.array([-64.0, -16.0, -4.0, 0.0, 4.0, 16.0, 64.0])
"""Where to cut the integrals around every score; further out there is nothing to integrate."""


class NoLikelihood(ValueError):
    """A published mechanism whose probabilities have no closed form."""


def privacy_loss(
    recorded: Sequence[Query], replayed: Sequence[Query], budget: Budget, neighbors: Neighbors
) -> float:
    """Sum of the log-ratios of probabilities (densities, for Gaussian noise).

    Parameters
    ----------
    recorded : sequence of Query
        A fit on one table.
    replayed : sequence of Query
        The same answers on the other table.
    budget : Budget
        A fresh one: the noise of every query is asked for again, as the door did.
    neighbors : {"add_remove", "replace_one"}

    Notes
    -----
    Secret partitions count as known, and so does the linear term where a penalty holds a weight
    of a minimum at zero: the losses are then those of a fit that publishes these too. Proofs of
    sound methods cover that.
    """
    return math.fsum(
        _query_loss(one, other, budget, neighbors)
        for one, other in zip(recorded, replayed, strict=True)
    )


def _query_loss(one: Query, other: Query, budget: Budget, neighbors: Neighbors) -> float:
    match one.kind:
        case "partition" | "noise_level":
            return 0.0  # independent of the data
        case "perturb":
            return _perturb_loss(one, other, budget, neighbors)
        case "count":
            return _count_loss(one, other, budget)
        case "table":
            return _table_loss(one, other, budget, neighbors)
        case "minimize":
            return _minimum_loss(one, other, budget, neighbors)
        case _:
            return _selection_loss(one, other, budget, neighbors)


def _perturb_loss(one: Query, other: Query, budget: Budget, neighbors: Neighbors) -> float:
    event = budget.charges.find(PERTURBING, one.name)
    if isinstance(event, GaussianReleases):
        budget.charges.charge((GaussianReleases,), 1, one.name)
        sigma = one.declared.add_remove * event.multiplier  # the number that the paper states
    else:
        event = budget.charges.charge((Gaussians,), one.share, one.name)
        sigma = one.declared.under(neighbors) * SUMMATION_SLACK / event.mu_of(one.share)
    return _difference_of_squares(one.answer - other.values, one.answer - one.values, sigma)


def _difference_of_squares(far: np.ndarray, near: np.ndarray, sigma: float) -> float:
    """Log-ratio of Gaussian densities; as a product, which does not cancel."""
    return float(((far - near) * (far + near)).sum()) / (2 * sigma**2)


def _count_loss(one: Query, other: Query, budget: Budget) -> float:
    epsilon = budget.charges.charge((PureReleases,), 1, one.name).epsilon
    lower, upper = one.settings[:2]
    own, its = (
        _log_count(one.answer, int(query.values[0]), lower, upper, epsilon)
        for query in (one, other)
    )
    return own - its


def _table_loss(one: Query, other: Query, budget: Budget, neighbors: Neighbors) -> float:
    epsilon = budget.charges.charge((LaplaceTable,), 1, one.name).epsilon
    distances = np.abs(one.answer - other.values) - np.abs(one.answer - one.values)
    return epsilon / MOVED.under(neighbors) * math.fsum(distances.ravel())


def _minimum_loss(one: Query, other: Query, budget: Budget, neighbors: Neighbors) -> float:
    """Change of variables from the linear term to the minimum, see objective.md.

    At the released weights the linear term is minus the gradient of everything else: on the
    neighbor it differs by what one record changes.
    """
    event = budget.charges.charge(MINIMIZING, 1, one.name)
    assert one.objective is not None
    assert other.objective is not None
    linear, strength = one.objective.linear, one.objective.strength
    assert linear is not None, "the door has drawn a linear term"
    linear_on_other = linear - (other.values - one.values)
    if isinstance(event, PureMinima):
        rate = event.rate / (one.declared.add_remove * SUMMATION_SLACK)
        moved = rate * float(np.linalg.norm(linear_on_other) - np.linalg.norm(linear))
    else:
        sigma = one.declared.under(neighbors) * SUMMATION_SLACK / event.mu
        moved = _difference_of_squares(linear_on_other, linear, sigma)
    own = _log_determinant(one.objective, one.answer, strength)
    return moved + own - _log_determinant(other.objective, one.answer, strength)


def _log_determinant(objective: Objective, weights: np.ndarray, strength: float) -> float:
    """Of the second derivative in the weights that are not held at zero."""
    free = np.flatnonzero(weights)
    if free.size == 0:
        return 0.0
    step = 1e-5
    columns = []
    for j in free:
        shift = np.zeros_like(weights)
        shift.flat[j] = step
        change = objective.gradient(weights + shift) - objective.gradient(weights - shift)
        columns.append(change.ravel()[free] / (2 * step))
    return float(np.linalg.slogdet(np.array(columns) + strength * np.eye(free.size))[1])


def _selection_loss(one: Query, other: Query, budget: Budget, neighbors: Neighbors) -> float:
    answers = [one.answer] if one.kind == "select" else list(one.answer)
    event = budget.charges.charge(SELECTING, len(answers), one.name)
    own, its = _candidates(one), _candidates(other)
    if isinstance(event, LaplaceVotes) and len(answers) > 1:
        raise NoLikelihood("the probabilities of a noisy vote for several have no closed form")
    if isinstance(event, LaplaceSelections | LaplaceVotes):
        # Votes have noise in units of one vote, selections in units of what was declared.
        unit = one.declared.add_remove / 2 if isinstance(event, LaplaceSelections) else 1.0
        points = (tuple((v / (event.scale * unit)).tolist()) for v in (own, its))
        p, q = (noisy_max_probability(scores, int(answers[0])) for scores in points)
        return math.log(max(p, 1e-300)) - math.log(max(q, 1e-300))
    if not isinstance(event, Selections):
        raise NoLikelihood(f"the probabilities of {type(event).__name__} are not known here")
    allowed = np.ones(one.values.size, dtype=bool)
    if one.excluded is not None:
        allowed[one.excluded] = False
    if own.size > allowed.size:
        allowed = np.concatenate([allowed, allowed])
    rate = event.epsilon0 / (one.declared.under(neighbors) * SUMMATION_SLACK)
    return _log_choices(rate * own, allowed, answers) - _log_choices(rate * its, allowed, answers)


def _candidates(query: Query) -> np.ndarray:
    if "signed" in query.settings:
        return np.concatenate([query.values, -query.values])
    return query.values


def _log_choices(weights: np.ndarray, allowed: np.ndarray, answers: list[int]) -> float:
    """Log-probability of choosing these candidates in turn, by the exponential mechanism."""
    weights = np.where(allowed, weights - weights.max(), -np.inf)
    total = 0.0
    for answer in answers:
        total += float(weights[answer]) - math.log(np.exp(weights).sum())
        weights[answer] = -np.inf
    return total


def _log_count(answer: int, value: int, lower: int, upper: int, epsilon: float) -> float:
    """Log-probability of a clipped count: value plus discrete Laplace noise, clipped again."""
    if lower == upper:
        return 0.0
    rate = epsilon / (upper - lower)
    if answer in (lower, upper):
        distance = abs(answer - value)  # the noise goes at least this far
        return -rate * distance - math.log1p(math.exp(-rate))
    return math.log(math.tanh(rate / 2)) - rate * abs(answer - value)


@lru_cache(maxsize=4096)
def noisy_max_probability(scores: tuple[float, ...], candidate: int) -> float:
    """Probability that a candidate's score plus Laplace noise of scale one is the largest.

    Between two scores the density of the winning value is smooth, left of all scores it is an
    exponential, and right of all scores a polynomial in exp(-x): Gauss-Legendre is exact there.
    """
    points = np.array(scores)
    others = np.delete(points, candidate)
    ends = np.unique(points)
    cuts = np.unique(np.clip(np.add.outer(ends, _CUTS), ends[0], ends[-1]))
    nodes, weights = np.polynomial.legendre.leggauss(64)

    def density(x: np.ndarray) -> np.ndarray:
        distance = x[:, None] - others
        below = 0.5 * np.exp(-np.abs(distance))
        wins = np.where(distance < 0, below, 1 - below).prod(axis=1)
        return 0.5 * np.exp(-np.abs(x - points[candidate])) * wins

    # Left of every score all factors are exp(x - score) / 2: the integral is the value at the end
    # over the number of candidates.
    total = float(density(ends[:1])[0]) / points.size
    for low, high in pairwise(cuts):
        half = (high - low) / 2
        total += half * float(weights @ density(low + half * (nodes + 1)))
    v = (nodes + 1) / 2  # exp(last score - x), from 0 to 1
    return total + float((weights / 2) @ (density(ends[-1] - np.log(v)) / v))


def choice_probabilities(query: Query, budget: Budget, neighbors: Neighbors) -> np.ndarray:
    """Probabilities of all candidates of one selection: for exact enumeration."""
    scores = _candidates(query)
    event = budget.charges.charge(SELECTING, 1, query.name)
    if isinstance(event, LaplaceVotes):
        raise NoLikelihood("the probabilities of a noisy vote have no closed form")
    if isinstance(event, LaplaceSelections):
        points = tuple((scores / (event.scale * query.declared.add_remove / 2)).tolist())
        return np.array([noisy_max_probability(points, k) for k in range(len(points))])
    rate = event.epsilon0 / (query.declared.under(neighbors) * SUMMATION_SLACK)
    return np.exp(rate * scores - logsumexp(rate * scores))
