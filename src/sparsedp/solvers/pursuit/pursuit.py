"""Whitened pursuit: fit features by Newton-like steps, all at once or as private rounds choose.

Proof: pursuit.md and columns/shapes.md. The parts: plan.py (how the budget is spent), moments.py
(the Gaussian budget), targets/ (what depends on the kind of target), bounds.py (tighter bounds),
columns/ (which features bend, and the products of columns), choose.py and gradient.py (choices),
step.py (the steps), descent.py (the way where noise is loud), calibration/ (honest
probabilities), prune.py (what is left out), model.py (what comes out), records.py (sums over blocks
of records), exact.py (steps without noise).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.bounds import UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select
from sparsedp.solvers.pursuit.bounds import tightened
from sparsedp.solvers.pursuit.calibration.margins import Margins
from sparsedp.solvers.pursuit.choose import Chooser
from sparsedp.solvers.pursuit.columns.gram import GramBudget
from sparsedp.solvers.pursuit.columns.isotropic import (
    FEWEST_FEATURES,
    LOUD,
    QUIET,
    IsotropicGram,
    quietness,
)
from sparsedp.solvers.pursuit.columns.pairs import most_pairs
from sparsedp.solvers.pursuit.columns.shapes import Shapes, shaped
from sparsedp.solvers.pursuit.descent import MARGINS, Descent
from sparsedp.solvers.pursuit.frame import Trail
from sparsedp.solvers.pursuit.model import interactions_of, path_of, straightened
from sparsedp.solvers.pursuit.moments import REQUEST, Moments
from sparsedp.solvers.pursuit.plan import BOX, Plan, Shares
from sparsedp.solvers.pursuit.step import ActiveSet
from sparsedp.solvers.pursuit.targets.labels import ManyClassResponse, TwoClassResponse
from sparsedp.solvers.pursuit.targets.loudness import Loudness
from sparsedp.solvers.pursuit.targets.numbers import NumberResponse
from sparsedp.solvers.pursuit.targets.response import Response
from sparsedp.solvers.solver import Solution, check_positive_integer

CENTERING = 0.03
"""Part of a step's share that centers the residuals of a regression before a selection."""

N_STEPS, FLOOR = 8, 2.0
"""Steps of the fit, all of which are averaged, and the floor under the Gram matrix.

Noise lowers an eigenvalue by up to twice its level: above a floor of twice that level no step is
more than twice as long as it should be, so steps do not diverge."""

N_LONG_STEPS, MANY_COLUMNS = 14, 64
"""Steps of a fit with features that bend, or with many at once: the floor then makes more of them
short."""

N_WARM_STEPS = 6
"""Steps before those, where there is nothing to choose."""

N_ROW_STEPS, N_ROW_AVERAGED, ROW_FLOOR = 40, 20, 0.5
"""With many features noise hides most of the Gram matrix: steps are then short, more of them are
needed, and the floor is as low as steps are stable with."""


@dataclass(frozen=True)
class Pursuit:
    """Fit a sparse additive model, all features at once or chosen privately; nothing needs tuning.

    Parameters
    ----------
    n_nonzero : int or None
        Features to keep at most; None takes the estimator's.

    Notes
    -----
    Where all features may be kept, up to 320 of them, they are fitted at once, and those that noise
    explains are left out afterwards, at no charge: right where many features matter a little. With
    a smaller ``n_nonzero``, or more features, some are chosen in a few private rounds before they
    are fitted: right where few matter.

    Declared bounds are tightened by private histograms where the data crowd at one end of them or
    in the middle, and predictions clip to the tightened ones. Effects of features that are not
    declared to hold two values bend where released counts say that the budget carries it. Steps are
    Newton steps in coordinates where a noisy Gram matrix of the features is the identity, so there
    is no step size. Of many features under loud noise that matrix would be noise: their means and
    mean square stand in for it where the target is a class. Where noise is louder still, and all
    features are used, all of the budget goes into a descent with many averaged steps, and nothing
    bends. Where a row norm is declared and features are many, noise is added to the whole gradient
    instead of choosing one by one.

    A public model to start from, dense or sparse, gives its heaviest features a head start in every
    choice and lends the chosen ones their first weights; the final weights are pulled toward it as
    far as noise drowns what sets them apart. So it counts where the budget is small, and is
    forgotten where it is large.

    A bad idea with fewer than about 2000 records at epsilon = 0.1, or with hundreds of features
    where records times epsilon is below ten thousand: noise then decides most of the model.

    *Privacy.* Counts, histograms, Gram matrix, gradients and curvatures are sums over records with
    Gaussian noise; features are chosen by the exponential mechanism. All else is computed from
    these releases. Both parts are calibrated together, to the budget as a whole.
    """

    n_nonzero: int | None = None

    needs = ()

    def __post_init__(self) -> None:
        if self.n_nonzero is not None:
            check_positive_integer("n_nonzero", self.n_nonzero)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """The selections, unless they are Gaussian too or there are none; everything Gaussian."""
        plan = self._plan(public)
        if plan.by_rows or plan.takes_all:
            return Schedule((Perturb(name=REQUEST),))
        selections = Select(plan.size, BOX.selection, name="features")
        return Schedule((selections, Perturb(1 - BOX.selection, name=REQUEST)))

    def interacts(self, public: PublicFacts) -> bool:
        """Whether pairs of features may interact, where that is allowed: not if some are chosen."""
        return self._plan(public).interacts

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Count, tighten the bounds, place knots, choose features round by round, fit, leave out.

        Where records are too few for more than the mean of a number, that is the model.
        """
        plan, moments = self._plan(curator.public), Moments(curator)
        noise = Noise.of(plan, moments, data.n_features)
        response = _response(loss, data, moments, plan, noise)
        shares = plan.shares.more(response.unused)
        if response.calibrated:
            signal = response.n_records * response.curvature / max(noise.whole, 1e-300)
            shares = shares.honest(signal)
        # Ranks of classes may be right where probabilities are not, so classes are never hopeless.
        number = response if isinstance(response, NumberResponse) and plan.takes_all else None
        if number is not None and number.hopeless(noise.whole):
            left = shares.bounds + shares.histograms + shares.gram + shares.middle + shares.fit
            weights = np.zeros((data.n_columns, loss.n_outputs))
            weights[-1] = number.constant(data, left)  # released
            return Solution(weights.reshape(curator.public.weights_shape))
        if response.loud:
            return _descended(plan, data, response, moments, shares, noise.whole)
        view, shapes, shares = _looked_at(plan, data, response, moments, shares, noise.whole)
        rounds = plan.rounds(response.n_records, response.curvature, noise.whole)
        gram = _gram(plan, moments, shares.gram, rounds, shapes, response, noise.whole)
        floor = ROW_FLOOR if plan.by_rows else FLOOR
        capacity = shapes.most_columns(plan.size)
        active = ActiveSet(view, response, moments, gram, shapes, capacity, floor)
        share = shares.selection / len(rounds)
        chooser = Chooser(plan, curator, share, noise.of_selection, data.n_features)
        middle = shares.middle / len(rounds)
        centering = CENTERING if response.centered and not plan.takes_all else 0.0
        # Without noise all steps are taken at the end, unless a choice comes before.
        n_warm = 0 if curator.noiseless else N_WARM_STEPS
        n_steps = n_warm if plan.takes_all else 1
        if curator.noiseless and not plan.takes_all:
            # A mean is not the best constant of every loss: far from it Huber's gradients are flat.
            active.step(0.0, 0.0)
        for count in rounds:
            features = chooser.choose(active, count, middle * centering)
            active.add(features)
            if plan.model is not None:
                model = _restricted(plan.model, active.features, data, view.unit_map)
                active.weights[-count:] = model[features]
            trail = Trail()
            active.walk(trail, n_steps, middle / max(n_steps, 1), shares.middle, centering)
        if plan.takes_all and not curator.noiseless:
            active.thin(trail)
        if plan.interacts:
            n, curvature = response.n_records, response.curvature
            signal = n * min(curvature, response.bend_curvature) / max(noise.whole, 1e-300)
            active.interact(most_pairs(n, curvature, signal, loss.n_outputs))
        steps = plan_steps(plan, shapes, active)
        average, left = active.settle(*steps, shares.fit + gram.left)
        order = np.arange(len(active.features))
        if plan.model is not None:
            model = _restricted(plan.model, active.features, data, view.unit_map)
            average, left = active.pulled(average, model[active.rows], left)
        if plan.takes_all:
            average, order = active.pruned(average, left, plan.size)
        if response.calibrated:
            margins = Margins.of(active, average, left, public=plan.model is not None)
            average = margins.calibrated(margins.spread, shares.calibration)
        return _solution(plan, data, view, active, average, order)

    def _plan(self, public: PublicFacts) -> Plan:
        return Plan.of(public, self.n_nonzero or public.n_nonzero)


@dataclass(frozen=True)
class Noise:
    """How loud noise is where a record adds at most 1. Public."""

    whole: float
    """Of a sum that had the whole budget."""
    of_selection: float
    """Of one selection."""
    of_selections: float
    """Of all of them, if one sum had their budget and the largest of d were looked for."""

    @classmethod
    def of(cls, plan: Plan, moments: Moments, n_features: int) -> "Noise":
        """As the budget has it; where nothing is chosen, the steps stand for selections."""
        share = plan.shares.selection or plan.shares.fit
        one = moments.deviation(1.0, share) * math.sqrt(plan.size)
        return cls(moments.deviation(1.0, 1.0), one, one * math.log(max(n_features, 3)))


def _looked_at(
    plan: Plan, data: Dataset, response: Response, moments: Moments, shares: Shares, noise: float
) -> tuple[Dataset, Shapes, Shares]:
    """The records in tighter bounds, the columns of every feature, and what is left to spend."""
    n = response.n_records
    if plan.by_rows:
        straight = Shapes.straight(data.n_features)
        return data.declared_units(), straight, shares.more(shares.histograms)
    found = tightened(data, moments, n, shares.bounds)
    view, shares, straight = found.data, shares.more(found.unused), Shapes.of_ends(found.away)
    if not plan.bends:
        return view, straight, shares.more(shares.histograms)
    room = plan.room(n, response.bend_curvature, noise, response.bends_early)
    shapes, unused = shaped(view, moments, n, shares.histograms, room, straight)
    return view, shapes, shares.more(unused)


def _gram(
    plan: Plan,
    moments: Moments,
    share: float,
    rounds: list[int],
    shapes: Shapes,
    response: Response,
    noise: float,
) -> GramBudget:
    """The Gram matrix, or what stands in for it where it would be noise.

    Numbers keep theirs: residuals of classes are bounded, those of numbers grow with a bad step.
    """
    n = response.n_records
    quiet = quietness(n, noise, shapes.most_columns(plan.size))
    many = plan.takes_all and plan.intercept and plan.size >= FEWEST_FEATURES
    if many and LOUD <= quiet < QUIET and not isinstance(response, NumberResponse):
        return IsotropicGram(moments, share, n, quiet)
    return plan.gram_budget(moments, share, rounds, shapes, n)


def _solution(
    plan: Plan,
    data: Dataset,
    view: Dataset,
    active: ActiveSet,
    average: np.ndarray,
    order: np.ndarray,
) -> Solution:
    """What the weights of the chosen columns say, in the coordinates of solutions."""
    first, shapes = active.first, active.shapes
    factor, offset = active.back
    average = factor * average
    average[:first] += offset
    nearest = active.nearest(average, order)
    average = active.plain(average)
    slopes, constant, bends = straightened(shapes, active.features, average[first:])
    weights = np.zeros((data.n_columns, average.shape[1]))
    weights[active.features] = slopes
    if data.intercept:
        weights[-1] = average[0] + constant
    shape = (data.n_columns,) if average.shape[1] == 1 else weights.shape
    if plan.by_rows:
        return Solution(_recoded(weights, data, view.unit_map, data.unit_map).reshape(shape))
    nearest = active.plain(nearest)
    path = path_of(shapes, active.features, order, nearest, first)
    interactions = ()
    if len(active.pairs):
        interactions = interactions_of(active.pairs, active.features, average)
        each = tuple(interactions_of(active.pairs, active.features, one) for one in nearest)
        path = replace(path, interactions=each)
    return Solution(weights.reshape(shape), view.bounds, path, (), bends, None, interactions)


def _descended(
    plan: Plan, data: Dataset, response: Response, moments: Moments, shares: Shares, noise: float
) -> Solution:
    """Where noise is loud: all that is left goes into a descent, and nothing bends."""
    left = shares.bounds + shares.histograms + shares.gram + shares.middle + shares.fit
    descent = Descent(moments, response, noise, data.n_features, left)
    means, straight = descent.means(), Shapes.straight(data.n_features)
    active = ActiveSet(data, response, moments, means, straight, plan.size, FLOOR)
    active.add(np.arange(plan.size))
    reached = descent.settle(active, means)
    average, order = active.pruned(reached.weights, reached.noise, plan.size)
    if response.calibrated:
        look = MARGINS * shares.calibration
        margins, spread = Margins.of(active, average, reached.noise).seen(
            moments, reached.left, look
        )
        average = margins.calibrated(spread, shares.calibration - look)
    return _solution(plan, data, data, active, average, order)


def _response(loss: Loss, data: Dataset, moments: Moments, plan: Plan, noise: Noise) -> Response:
    """Release what is needed to start; numbers have no calibration but a range to be found."""
    shares = plan.shares
    loudness = Loudness(noise.whole, data.n_features, plan.takes_all and plan.intercept)
    if loss.n_classes is None:
        share, of_range = shares.counts, shares.calibration
        return NumberResponse(loss, data, moments, share, of_range, noise.of_selections, loudness)
    if loss.n_outputs == 1:
        return TwoClassResponse(loss, data, moments, shares.counts, loudness)
    return ManyClassResponse(loss, data, moments, shares.counts, loss.n_classes, loudness)


def plan_steps(plan: Plan, shapes: Shapes, active: ActiveSet) -> tuple[int, int]:
    """Steps of the fit, and how many of the last ones are averaged."""
    if plan.by_rows:
        return N_ROW_STEPS, N_ROW_AVERAGED
    many = plan.takes_all and plan.size >= MANY_COLUMNS
    long = shapes.n_waves > 0 or many or len(active.pairs) > 0
    return (N_LONG_STEPS, N_LONG_STEPS) if long else (N_STEPS, N_STEPS)


def _restricted(model: np.ndarray, features: np.ndarray, data: Dataset, new: UnitMap) -> np.ndarray:
    """A public model with all but some features dropped, in other coordinates.

    What is dropped counts as zero where most entries are, else as the middle of its bounds.
    """
    d = data.n_features
    constant = model[d] if data.intercept else np.zeros(model.shape[1])
    coef = model[:d]
    if data.has_implicit_zeros:
        coef, constant = data.unit_map.to_original(coef, constant)
    kept = np.zeros_like(coef)
    kept[features] = coef[features]
    if not data.has_implicit_zeros:
        kept, constant = data.unit_map.to_original(kept, constant)
    kept, constant = new.from_original(kept, constant)
    return np.vstack([kept, constant]) if data.intercept else kept


def _recoded(weights: np.ndarray, data: Dataset, old: UnitMap, new: UnitMap) -> np.ndarray:
    """The same model in other coordinates, the intercept last in both."""
    d = data.n_features
    constant = weights[d] if data.intercept else np.zeros(weights.shape[1])
    features, constant = new.from_original(*old.to_original(weights[:d], constant))
    return np.vstack([features, constant]) if data.intercept else features
