"""Whitened pursuit: choose features in a few private rounds, fit them by Newton-like steps.

Proof: pursuit.md. The parts: pursuit_plan.py (how the budget is spent), pursuit_moments.py (noise
of known size), pursuit_bounds.py (tighter bounds), pursuit_response.py (the losses),
pursuit_step.py (the steps), pursuit_exact.py (the counterpart without noise).
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.bounds import UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select
from sparsedp.solvers.pursuit_bounds import tightened
from sparsedp.solvers.pursuit_exact import forward_selection
from sparsedp.solvers.pursuit_moments import REQUEST, Moments
from sparsedp.solvers.pursuit_plan import BOX, Plan
from sparsedp.solvers.pursuit_response import response_to
from sparsedp.solvers.pursuit_step import ActiveSet
from sparsedp.solvers.solver import Solution, check_positive_integer

CENTERING = 0.03
"""Part of a step's share that centers the residuals of a regression before a selection."""

N_STEPS, N_AVERAGED, FLOOR = 8, 8, 1.0
"""Steps of the fit, how many of the last ones are averaged, and the floor under the Gram matrix."""

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
    Declared bounds are tightened by private histograms where the data crowd at one end of them, and
    predictions clip to the tightened ones; data around the middle of bounds that are far too wide
    are not helped. Steps are Newton steps in coordinates where a noisy Gram matrix of the
    chosen features is the identity, so there is no step size. Where a row norm is declared and
    features are many, noise is added to the whole gradient instead of choosing one by one.

    A public model to start from gives its heaviest features and their weights for free; with
    `n_nonzero` of them nothing is chosen privately, and the fit gets the whole budget. They are
    not reconsidered, so start from a sparse model of fewer features, not from a dense one.

    A bad idea with fewer than about 2000 records at epsilon = 0.1, or with hundreds of features
    where records times epsilon is below ten thousand: noise then chooses most of them.

    *Privacy.* Counts, histograms, Gram matrix, gradients and curvatures are sums over records with
    Gaussian noise; features are chosen by the exponential mechanism. All else is computed from
    these releases. Both parts are calibrated together, to the budget as a whole.
    """

    n_nonzero: int | None = None

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
        if not plan.selects:
            return Schedule((Perturb(name=REQUEST),))
        selections = Select(plan.n_chosen, BOX.selection, name="features")
        return Schedule((selections, Perturb(1 - BOX.selection, name=REQUEST)))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Count, tighten the bounds, choose features round by round, fit."""
        plan = self._plan(curator.public)
        if curator.noiseless:
            return Solution(forward_selection(data, loss, curator, plan.size, plan.start))
        moments, shares = Moments.opened(curator), plan.shares
        whole = moments.deviation(1.0, sum(vars(shares).values()))
        loudness = moments.deviation(1.0, shares.selection) * math.sqrt(plan.size)
        loudness *= math.log(max(data.n_features, 3))
        response = response_to(loss, data, moments, shares.counts, loudness)
        if plan.by_rows:
            view = data.declared_units()
        else:
            view, unused = tightened(data, moments, response.n_records, shares.bounds)
            shares = shares.times(1 + unused / (shares.gram + shares.middle + shares.fit))

        rounds = plan.rounds(response.n_records, response.curvature, whole)
        blocks = plan.gram_blocks(rounds, shares.gram)
        gram_noise, floor = moments.deviation(*blocks[0]), ROW_FLOOR if plan.by_rows else FLOOR
        active = ActiveSet(view, response, moments, plan.size, gram_noise, floor)
        step_share = shares.middle / len(blocks)
        if len(plan.start):
            active.add(plan.start, *blocks.pop(0))
            active.weights = _recoded(plan.model, data, data.unit_map, view.unit_map)[active.rows]
            active.step(step_share, shares.middle)
        for count, block in zip(rounds, blocks, strict=True):
            centering = CENTERING if response.centered else 0.0
            residuals, norm = response.for_selection(
                active.residuals(), active.constant, step_share * centering
            )
            gradient = view.rmatvec(residuals)[: view.n_features]  # private
            if plan.selects:
                scores = np.linalg.norm(gradient, axis=1)  # private
                features = curator.select_many(  # released
                    scores, norm, count, excluded=active.features, name="features"
                )
            else:
                reach = norm * plan.row_length
                noisy = moments.release(gradient, reach, shares.selection / len(rounds))  # released
                features = _heaviest(noisy, active.features, count)
            active.add(features, *block)
            active.step(step_share, shares.middle, centering)

        n_steps, n_averaged = N_STEPS, N_AVERAGED
        if plan.by_rows:
            n_steps, n_averaged = N_ROW_STEPS, N_ROW_AVERAGED
        iterates = []
        for _ in range(n_steps):
            active.step(shares.fit / n_steps, shares.fit)
            iterates.append(active.weights)
        weights = np.zeros((data.n_columns, loss.n_outputs))
        average = np.mean(iterates[-n_averaged:], axis=0)
        weights[active.rows] = average
        shape = curator.public.weights_shape
        if plan.by_rows:
            recoded = _recoded(weights, data, view.unit_map, data.unit_map)
            return Solution(recoded.reshape(shape))
        return Solution(weights.reshape(shape), view.bounds, active.path(average))

    def _plan(self, public: PublicFacts) -> Plan:
        return Plan.of(public, self.n_nonzero or public.n_nonzero)


def _heaviest(noisy: np.ndarray, excluded: np.ndarray, count: int) -> np.ndarray:
    """Features with the longest rows of a released gradient, longest first."""
    lengths = np.linalg.norm(noisy, axis=1)
    lengths[excluded] = -np.inf
    return np.argsort(-lengths, kind="stable")[:count]


def _recoded(weights: np.ndarray, data: Dataset, old: UnitMap, new: UnitMap) -> np.ndarray:
    """The same model in other coordinates, the intercept last in both."""
    d = data.n_features
    constant = weights[d] if data.intercept else np.zeros(weights.shape[1])
    features, constant = new.from_original(*old.to_original(weights[:d], constant))
    return np.vstack([features, constant]) if data.intercept else features
