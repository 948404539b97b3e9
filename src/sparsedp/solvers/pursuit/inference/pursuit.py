"""Pursuit whose weights come with a covariance: fix the features, then say how well all is known.

Proof, formulas and what was measured: inference.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.losses import Inferable, Logistic, Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select
from sparsedp.solvers.pursuit.bounds import tightened
from sparsedp.solvers.pursuit.choose import Chooser
from sparsedp.solvers.pursuit.columns.shapes import Shapes
from sparsedp.solvers.pursuit.inference.estimate import Curvature, OneStep
from sparsedp.solvers.pursuit.inference.matrices import released
from sparsedp.solvers.pursuit.inference.plan import (
    CENTERING,
    LEAST_REACH,
    MOST_REACH,
    OTHERS,
    SPLIT,
    Asked,
    IntervalPlan,
    Shares,
    reach,
)
from sparsedp.solvers.pursuit.inference.records import Point, Score, Sums, within
from sparsedp.solvers.pursuit.inference.rest import Rest
from sparsedp.solvers.pursuit.inference.start import Start, Started
from sparsedp.solvers.pursuit.model import path_of
from sparsedp.solvers.pursuit.moments import REQUEST, Moments
from sparsedp.solvers.pursuit.records import Whiten, Widen, no_features, targets_of
from sparsedp.solvers.pursuit.step import ActiveSet
from sparsedp.solvers.pursuit.targets.labels import TwoClassResponse
from sparsedp.solvers.pursuit.targets.loudness import NEVER_LOUD
from sparsedp.solvers.pursuit.targets.numbers import NumberResponse
from sparsedp.solvers.solver import Solution, check_positive_integer
from sparsedp.solvers.uncertainty import Estimand, Method, Uncertainty

FLOOR = 2.0
"""Under the eigenvalues of the Gram matrix, over what noise alone makes; as in Pursuit."""

N_SCORES = 2
"""Releases of the score, each where the one before leads."""


@dataclass(frozen=True)
class IntervalPursuit:
    """Fit a sparse linear model and say how well each weight is known.

    Parameters
    ----------
    n_nonzero : int or None
        Features to keep; None takes the estimator's.
    records : {"auto", "same", "split"}
        Whether the records that choose features also estimate: they may where all features are
        taken. By default they do just there.

    Notes
    -----
    Features are all taken, or chosen privately; then weights are estimated by steps whose noise is
    known: from noisy scores, a noisy Hessian and a noisy covariance of the scores, in coordinates
    in which a noisy Gram matrix is the identity. Records far out count less, by how far they are.

    *Privacy.* Counts, histograms, Gram matrix, scores, Hessian and squares are sums over records
    with Gaussian noise; features are chosen by the exponential mechanism. All else is computed from
    these releases.
    """

    n_nonzero: int | None = None
    records: Asked = "auto"

    needs = (Inferable,)

    def __post_init__(self) -> None:
        if self.n_nonzero is not None:
            check_positive_integer("n_nonzero", self.n_nonzero)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def divides(self, public: PublicFacts) -> bool:
        """Whether a part of the persons chooses and starts for the others; public."""
        return self._plan(public).divides

    def schedule(self, public: PublicFacts) -> Schedule:
        """The selections, unless all features are taken; everything Gaussian."""
        if self._plan(public).takes_all:
            return Schedule((Perturb(name=REQUEST),))
        selections = Select(self._plan(public).size, SPLIT.selection, name="features")
        return Schedule((selections, Perturb(1 - SPLIT.selection, name=REQUEST)))

    @property
    def later(self) -> Schedule:
        """What is asked of those who estimate, where others chose for them."""
        return Schedule((Perturb(name=REQUEST),))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Fix the features and a start, then estimate from there, with the same records.

        Where persons are to be divided that is for exact answers only: see `begun`.
        """
        plan = self._plan(curator.public)
        if plan.divides and not curator.noiseless:
            raise ValueError("features are chosen by some persons, for others to estimate")
        start = self.begun(data, loss, curator)
        shares = OTHERS if plan.divides else start.shares
        return start.solved(data, start.records, Moments(curator), shares, "same")

    def begun(self, data: Dataset, loss: Loss, curator: Curator) -> "Begun":
        """Fix the features, their coordinates and a start: what has to be known to estimate."""
        plan, moments = self._plan(curator.public), Moments(curator)
        shares = plan.shares
        response = _response(loss, data, moments, shares.counts)
        found = tightened(data, moments, response.n_records, shares.bounds, lossy=True)
        view, unused = found.data, found.unused
        shares = shares.more(unused)
        active = _chosen(plan, view, response, curator, shares)
        shares = shares.more(active.unspent)
        coordinates = active.coordinates
        first = Point(
            loss,
            coordinates.unwhitening @ active.weights[:, 0],
            coordinates.norm * (MOST_REACH if curator.noiseless else LEAST_REACH),
            response.scale,
        )
        steps = Start(coordinates, moments, response.n_records)
        records = within(data, view.bounds, active.whitened, active.features)  # private
        start = steps.settled(records, first, shares.start)
        return Begun(view.bounds, active, records, start, shares)

    def ended(self, start: "Begun", data: Dataset, curator: Curator) -> Solution:
        """Estimate with the records of persons whom no release so far was about."""
        view = data.tightened(start.bounds)
        columns = view.derive(Widen(start.active.features), view.derive(no_features))  # private
        targets = view.derive(targets_of)  # private
        to = Whiten.to(start.active.coordinates.whitening)
        records = columns.derive(to, targets)  # private
        records = within(data, start.bounds, records, start.active.features)  # private
        return start.solved(data, records, Moments(curator), OTHERS, "split")

    def _plan(self, public: PublicFacts) -> IntervalPlan:
        return IntervalPlan.of(public, self.n_nonzero or public.n_nonzero, self.records)


@dataclass(frozen=True, eq=False)
class Begun:
    """Features, coordinates and a start, all released, and what is left to spend.

    Parameters
    ----------
    bounds : Bounds
        That features are clipped to.
    active : ActiveSet
        Holds the records that they come from, which are private.
    records : Derived
        Of `Whitened`: those whom no bound clips. Private.
    start : Started
    shares : Shares
    """

    bounds: Bounds
    active: ActiveSet
    records: Derived
    start: Started
    shares: Shares

    def solved(
        self, data: Dataset, records: Derived, moments: Moments, shares: Shares, method: Method
    ) -> Solution:
        """Estimate from whitened records (private), of ``data``."""
        at, norm = self.start.at, self.active.coordinates.norm
        size = len(at.weights)
        information = float(np.trace(self.start.hessian)) / size
        far = reach(moments, norm, information, size, shares, at.loss)
        at = replace(at, reach=far)
        found = estimate(records, replace(self.start, at=at), moments, shares)
        return _solution(data, self.bounds, self.active, found, at, method)


def _response(
    loss: Loss, data: Dataset, moments: Moments, share: float
) -> TwoClassResponse | NumberResponse:
    """Counts; a number keeps its declared range, so that weights mean what they say."""
    if isinstance(loss, Logistic):
        return TwoClassResponse(loss, data, moments, share, NEVER_LOUD)
    noise = moments.deviation(1.0, 1.0)
    return NumberResponse(loss, data, moments, share, 0.0, noise, NEVER_LOUD)


def _chosen(
    plan: IntervalPlan,
    view: Dataset,
    response: TwoClassResponse | NumberResponse,
    curator: Curator,
    shares: Shares,
) -> ActiveSet:
    """The features, their Gram matrix, and weights after a step for every choice."""
    moments, inner = Moments(curator), plan.pursuit
    rounds = inner.rounds(response.n_records, response.curvature, moments.deviation(1.0, 1.0))
    shapes = Shapes.straight(view.n_features)
    gram = inner.gram_budget(moments, shares.gram, rounds, shapes, response.n_records)
    active = ActiveSet(view, response, moments, gram, shapes, plan.size, FLOOR)
    chooser = Chooser(inner, curator, 0.0, 0.0, view.n_features)
    middle = shares.middle / len(rounds)
    centering = CENTERING if response.centered and not plan.takes_all else 0.0
    for count in rounds:
        active.add(chooser.choose(active, count, middle * centering))
        if not plan.takes_all:
            active.step(middle, shares.middle, centering)
    return active


@dataclass(frozen=True, eq=False)
class Estimated:
    """Weights in whitened coordinates, and what their covariance is made of."""

    weights: np.ndarray
    covariance: np.ndarray
    sampling: np.ndarray
    weak: np.ndarray
    last: np.ndarray
    """The last step ..."""
    noise: np.ndarray
    """... and the covariance of what noise made of it."""
    reached: np.ndarray
    """The weights, where the start had them in directions about which next to nothing is known."""


def estimate(records: Derived, start: Started, moments: Moments, shares: Shares) -> Estimated:
    """Release Hessian, squares and scores at the start, and step from there.

    Parameters
    ----------
    records : Derived
        Of `Whitened`. Private.
    start : Started
        Released.
    moments : Moments
    shares : Shares
    """
    at, far, clip = start.at, start.at.reach, start.at.clip
    score, hessian, spread = records.total(Sums(at))  # private
    largest = at.loss.curvature_bound * far**2
    curvature = Curvature.of(
        released(hessian, largest, moments, shares.hessian),
        released(spread, (clip * far) ** 2, moments, shares.spread),
        start.hessian,
    )
    share = shares.score / N_SCORES
    steps = OneStep(curvature, moments.deviation(far * clip, share), start.precision)
    for i in range(N_SCORES):
        score = score if i == 0 else records.total(Score(at))  # private
        noisy = moments.release(score, far * clip, share)  # released
        at = replace(at, weights=steps.move(at.weights, noisy))
    weights, covariance, sampling, weak, last, noise = steps.settled()
    away = weights - start.at.weights
    reached = start.at.weights + away - curvature.weak @ away
    return Estimated(weights, covariance, sampling, weak, last, noise, reached)


def _solution(
    data: Dataset,
    bounds: Bounds,
    active: ActiveSet,
    found: Estimated,
    at: Point,
    method: Method,
) -> Solution:
    """Weights of the features and their covariance, in the coordinates of solutions."""
    whitening = active.coordinates.whitening
    last = np.roll(np.arange(len(whitening)), -1)  # the intercept
    back = whitening[last]
    weights = np.zeros(data.n_columns)
    weights[np.append(active.features, data.n_features)] = back @ found.weights
    covariance, sampling, weak = (
        back @ part @ back.T for part in (found.covariance, found.sampling, found.weak)
    )
    moving = np.zeros(len(last), dtype=bool)
    if isinstance(at.loss, Logistic):
        rest = Rest(active.coordinates, found.weights, found.last, found.noise)
        declared = bounds.binary_features(data.n_features)[active.features]
        moving = rest.moving(declared)[last] | rest.bent(at.weights, found.reached)
    estimand = Estimand(whitening, at.reach, at.clip)
    uncertainty = Uncertainty(active.features, covariance, sampling, weak, moving, method, estimand)
    deviations = np.sqrt(np.maximum(np.diag(covariance)[:-1], 1e-300))
    order = np.argsort(-np.abs(weights[active.features]) / deviations, kind="stable")
    nearest = active.nearest((whitening @ found.weights)[:, None], order)
    path = path_of(active.shapes, active.features, order, nearest, active.first)
    return Solution(weights, bounds, path, uncertainty=uncertainty)
