"""The curator of a private fit: every method charges first, then draws noise, then releases."""

from collections.abc import Callable

import numpy as np

from sparsedp.mechanisms.curator import MINIMUM_TOLERANCE, Objective
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.count import noisy_count
from sparsedp.mechanisms.samplers.gaussian import gaussian_release
from sparsedp.mechanisms.samplers.linear import (
    gamma_linear_term,
    gaussian_linear_term,
    laplace_release,
    laplace_top_k,
)
from sparsedp.mechanisms.samplers.select import (
    exponential_mechanism,
    exponential_top_k,
    laplace_noisy_max,
)
from sparsedp.mechanisms.walk.lazy import exponential_walk, laplace_walk
from sparsedp.mechanisms.walk.proposals import ExponentialNoise, LaplaceNoise
from sparsedp.mechanisms.walk.protocol import CompactWalk, Walk, one_by_one
from sparsedp.mechanisms.walk.rounds import walk_in_rounds
from sparsedp.privacy import Budget, LaplaceVotes, PublicFacts, PureMinima, Sensitivity
from sparsedp.privacy.published.published import LaplaceSelections

SUMMATION_SLACK = 1 + 1e-6
"""Declared sensitivities grow by this factor: sums in floating point depend on their order."""


NEGLIGIBLE = 8
"""A released weight within this many standard deviations of rounding noise is set to zero."""


class NoisyCurator:
    """The curator of a private fit.

    Parameters
    ----------
    budget : Budget
        Answers every charge with a noise level.
    public : PublicFacts
        The facts that need no protection, the neighbor relation among them.
    stream : KeyStream
        Where randomness comes from.
    on_release : callable, optional
        Called after every release with the number of releases so far: for progress bars.
    """

    noiseless = False

    def __init__(
        self,
        budget: Budget,
        public: PublicFacts,
        stream: KeyStream,
        on_release: Callable[[int], None] | None = None,
    ) -> None:
        self.public = public
        self._budget = budget
        self._stream = stream
        self._on_release = on_release
        self._n_released = 0

    def select(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        *,
        signed: bool = False,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> int:
        """Release the number of a candidate with a high score (one selection)."""
        event = self._budget.charge_selections(1, name)
        score_range = self._range(reach)
        if isinstance(event, LaplaceSelections):
            assert not isinstance(reach, Sensitivity), "published noise is scaled to the reach"
            assert excluded is None, "no paper excludes candidates"
            chosen = laplace_noisy_max(scores, event.scale * reach, self._stream, signed=signed)
        else:
            assert not isinstance(event, LaplaceVotes), "votes choose several at once"
            chosen = exponential_mechanism(
                scores, event.epsilon0, score_range, self._stream, signed=signed, excluded=excluded
            )
        self._released(1)
        return chosen

    def select_many(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        count: int,
        *,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> np.ndarray:
        """Release ``count`` different candidates, best first; costs ``count`` selections."""
        event = self._budget.charge_selections(count, name)
        assert not isinstance(event, LaplaceSelections), "no paper publishes a one-shot top-k"
        if isinstance(event, LaplaceVotes):
            assert excluded is None, "no paper excludes candidates"
            chosen = laplace_top_k(scores, event.scale, count, self._stream)
        else:
            chosen = exponential_top_k(
                scores, event.epsilon0, self._range(reach), count, self._stream, excluded=excluded
            )
        self._released(count)
        return chosen

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """Release one vertex per step of a walk.

        Notes
        -----
        *Privacy.* All selections are charged before the first word of noise is drawn.
        """
        quick = walk.compact() or walk.in_rounds()
        if quick is None:
            return one_by_one(self, walk, count, name=name)
        assert len(quick.steps) == count, "a walk has as many steps as selections"
        event = self._budget.charge_selections(count, name)
        assert not isinstance(event, LaplaceVotes), "votes choose several at once"
        if isinstance(event, LaplaceSelections):
            scale = event.scale * quick.bound
            if isinstance(quick, CompactWalk):
                chosen = laplace_walk(quick, scale, self._stream)
            else:
                chosen = walk_in_rounds(quick, LaplaceNoise(scale), self._stream)
        else:
            score_range = self._range(quick.bound)
            if isinstance(quick, CompactWalk):
                chosen = exponential_walk(quick, event.epsilon0, score_range, self._stream)
            else:
                noise = ExponentialNoise(event.epsilon0, score_range)
                chosen = walk_in_rounds(quick, noise, self._stream)
        self._released(count)
        return chosen

    def perturb(
        self,
        values: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        share: float = 1.0,
        name: str | None = None,
    ) -> np.ndarray:
        """Release an array with Gaussian noise."""
        mu = self._budget.charge_gaussian(share, name)
        release = gaussian_release(values, self._norm(sensitivity), mu, self._stream)
        self._released(0)
        return release

    def noise_level(
        self, sensitivity: float | Sensitivity, *, share: float = 1.0, name: str | None = None
    ) -> float:
        """Standard deviation of the noise that `perturb` would add, up to rounding.

        Where ``name`` is a request for selections: the scale of their Gumbel noise.
        """
        epsilon0 = self._budget.selection_epsilon0(name)
        if epsilon0 is not None:
            return self._range(sensitivity) / epsilon0
        return self._norm(sensitivity) / self._budget.gaussian_mu(share, name)

    def count(self, value: int, lower: int, upper: int, *, name: str | None = None) -> int:
        """Release a whole number, clipped to [lower, upper], with pure differential privacy."""
        event = self._budget.charge_count(name)
        release = noisy_count(value, lower, upper, event.epsilon, self._stream)
        self._released(1)
        return release

    def minimize(self, objective: Objective, *, name: str | None = None) -> np.ndarray:
        """Release the minimum of an objective to which a random linear term has been added.

        Notes
        -----
        *Privacy.* The weights that the objective returns lie within ``off / 2`` of the exact
        minimum for a linear term of real numbers: the tolerance and the rounding of the linear term
        over the strong convexity. Noise for a sensitivity of ``off`` makes up for it.
        """
        event = self._budget.charge_minimum(name)
        reach = objective.gradient_bound * SUMMATION_SLACK
        size = int(np.prod(objective.weights_shape))
        regularization = objective.curvature / event.ratio
        if isinstance(event, PureMinima):
            linear, slip = gamma_linear_term(size, event.rate / reach, self._stream)
        else:
            shift = Sensitivity.of_sum(reach).under(self.public.neighbors)
            linear, slip = gaussian_linear_term(size, shift / event.mu, self._stream)
        tolerance = MINIMUM_TOLERANCE * reach
        weights = objective.minimum(  # private
            linear.reshape(objective.weights_shape), regularization, tolerance / 2
        )
        off = 2 * (tolerance + slip) / regularization * SUMMATION_SLACK
        if isinstance(event, PureMinima):
            release = laplace_release(weights, off, event.rounding_epsilon, self._stream)
        else:
            release = gaussian_release(weights, off, event.rounding_mu, self._stream)
            # Post-processing: zeros of a penalty become zeros again.
            release[np.abs(release) <= NEGLIGIBLE * off / event.rounding_mu] = 0.0
        self._released(1)
        return release

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """Assign each of n records to a block by an independent coin; nothing is released.

        Notes
        -----
        *Privacy.* Blocks are secret. Their probabilities are equal up to 2**-50, which does not
        matter: what matters is that a record's block has nothing to do with any record.
        """
        words = self._stream.words(n_records) >> np.uint64(11)
        return (words.astype(np.float64) * 2.0**-53 * n_blocks).astype(np.int64)

    def close(self) -> None:
        """Raise unless exactly the scheduled releases have been made."""
        self._budget.close()

    def _norm(self, sensitivity: float | Sensitivity) -> float:
        if self._budget.calibration == "published":
            assert not isinstance(sensitivity, Sensitivity), "a paper states one number"
            return sensitivity
        declared = Sensitivity.of_sum(sensitivity)
        return declared.under(self.public.neighbors) * SUMMATION_SLACK

    def _range(self, reach: float | Sensitivity) -> float:
        return Sensitivity.of_scores(reach).under(self.public.neighbors) * SUMMATION_SLACK

    def _released(self, count: int) -> None:
        self._n_released += count
        if self._on_release is not None:
            self._on_release(self._n_released)
