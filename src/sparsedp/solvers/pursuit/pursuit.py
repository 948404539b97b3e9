"""Whitened pursuit: choose features in a few private rounds, fit them by Newton-like steps.

Proof: pursuit.md. The parts: plan.py (how the budget is spent), moments.py (the
Gaussian budget), bounds.py (tighter bounds), response.py (the losses),
records.py (sums over blocks of records), gradient.py (noisy gradients over all
features), step.py (the steps), exact.py (the counterpart without noise).
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.bounds import UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select
from sparsedp.solvers.pursuit.bounds import tightened
from sparsedp.solvers.pursuit.exact import forward_selection
from sparsedp.solvers.pursuit.gradient import ReleasedGradient, heaviest
from sparsedp.solvers.pursuit.moments import REQUEST, Moments
from sparsedp.solvers.pursuit.plan import BOX, Plan
from sparsedp.solvers.pursuit.response import response_to
from sparsedp.solvers.pursuit.step import ActiveSet
from sparsedp.solvers.solver import Solution, check_positive_integer

CENTERING = 0.03
"""Part of a step's share that centers the residuals of a regression before a selection."""

N_STEPS, N_AVERAGED, FLOOR = 8, 8, 2.0
"""Steps of the fit, how many of the last ones are averaged, and the floor under the Gram matrix.

Noise lowers an eigenvalue by up to twice its level: above a floor of twice that level no step is
more than twice as long as it should be, so steps do not diverge."""

N_ROW_STEPS, N_ROW_AVERAGED, ROW_FLOOR = 40, 20, 0.5
"""With many features noise hides most of the Gram matrix: steps are then short, more of them are
needed, and the floor is as low as steps are stable with."""


@dataclass(frozen=True)
class Pursuit:
    """Choose features privately in a few rounds and fit them; nothing needs tuning.

    Parameters
    ----------
    n_nonzero : int or None
        Features to choose; None takes the estimator's.

    Notes
    -----
    Declared bounds are tightened by private histograms where the data crowd at one end of them or
    in the middle, and predictions clip to the tightened ones. Steps are Newton steps in coordinates
    where a noisy Gram matrix of the chosen features is the identity, so there is no step size.
    Where a row norm is declared and features are many, noise is added to the whole gradient instead
    of choosing one by one.

    A public model to start from, dense or sparse, gives its heaviest features a head start in every
    choice and lends the chosen ones their first weights; the final weights are pulled toward it as
    far as noise drowns what sets them apart. So it counts where the budget is small, and is
    forgotten where it is large.

    A bad idea with fewer than about 2000 records at epsilon = 0.1, or with hundreds of features
    where records times epsilon is below ten thousand: noise then chooses most of them.

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
        """The selections, unless they are Gaussian too, and everything Gaussian."""
        plan = self._plan(public)
        if plan.by_rows:
            return Schedule((Perturb(name=REQUEST),))
        selections = Select(plan.size, BOX.selection, name="features")
        return Schedule((selections, Perturb(1 - BOX.selection, name=REQUEST)))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Count, tighten the bounds, choose features round by round, fit."""
        plan = self._plan(curator.public)
        if curator.noiseless:
            return Solution(forward_selection(data, loss, curator, plan.size))
        moments, shares = Moments(curator), plan.shares
        whole = moments.deviation(1.0, sum(vars(shares).values()))
        # In one selection, if a record adds at most 1 to a score.
        noise = moments.deviation(1.0, shares.selection) * math.sqrt(plan.size)
        log_d = math.log(max(data.n_features, 3))
        response = response_to(loss, data, moments, shares.counts, noise * log_d)
        if plan.by_rows:
            view = data.declared_units()
        else:
            view, unused = tightened(data, moments, response.n_records, shares.bounds)
            shares = shares.times(1 + unused / (shares.gram + shares.middle + shares.fit))

        rounds = plan.rounds(response.n_records, response.curvature, whole)
        blocks = plan.gram_blocks(rounds, shares.gram)
        gram_noise, floor = moments.deviation(*blocks[0]), ROW_FLOOR if plan.by_rows else FLOOR
        active = ActiveSet(view, response, moments, plan.size, gram_noise, floor)
        step_share = shares.middle / len(rounds)
        released: ReleasedGradient | None = None
        for count, block in zip(rounds, blocks, strict=True):
            centering = CENTERING if response.centered else 0.0
            gradient, norm = active.selection_gradient(step_share * centering)  # private, released
            if plan.by_rows:
                sensitivity, share = norm * plan.row_length, shares.selection / len(rounds)
                noisy = moments.release(gradient, sensitivity, share)  # released
                fresh = ReleasedGradient(noisy, moments.deviation(sensitivity, share))
                released = fresh.after(released, active.features, count)
                # The same odds as below where the largest of d Gaussians competes.
                ahead = plan.prior * released.noise / math.sqrt(2 * log_d)
                heights = np.linalg.norm(released.values, axis=1) + ahead
                features = heaviest(heights, active.features, count)
            else:
                # A public head start moves no score between neighbors.
                scores = np.linalg.norm(gradient, axis=1) + plan.prior * noise * norm  # private
                features = curator.select_many(  # released
                    scores, norm, count, excluded=active.features, name="features"
                )
            active.add(features, *block)
            if plan.model is not None:
                model = _restricted(plan.model, active.features, data, view.unit_map)
                active.weights[-count:] = model[features]
            active.step(step_share, shares.middle, centering)

        n_steps, n_averaged = N_STEPS, N_AVERAGED
        if plan.by_rows:
            n_steps, n_averaged = N_ROW_STEPS, N_ROW_AVERAGED
        average, left = active.settle(n_steps, n_averaged, shares.fit)
        if plan.model is not None:
            model = _restricted(plan.model, active.features, data, view.unit_map)
            average = active.pulled(average, model[active.rows], left)
        weights = np.zeros((data.n_columns, loss.n_outputs))
        weights[active.rows] = average
        shape = curator.public.weights_shape
        if plan.by_rows:
            recoded = _recoded(weights, data, view.unit_map, data.unit_map)
            return Solution(recoded.reshape(shape))
        return Solution(weights.reshape(shape), view.bounds, active.path(average))

    def _plan(self, public: PublicFacts) -> Plan:
        return Plan.of(public, self.n_nonzero or public.n_nonzero)


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
