"""Where noise is loud: a descent of all features at once, and the mean of all that it passes.

A Gram matrix would be noise, and so would be what tells which features bend. A descent needs
neither: gradients at the records' own curvature lead where a fit to exact sums would, and the mean
of many steps has the noise of one gradient that had the whole share (Polyak and Juditsky 1992). So
more steps cost time and nothing else; momentum makes some dozens of them enough. Numbers take a
second part of the way with longer steps along the features that stood out in the first. Proof:
shapes.md.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.solvers.pursuit.columns.isotropic import quietness
from sparsedp.solvers.pursuit.columns.means import Means
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import StepSums
from sparsedp.solvers.pursuit.step import ActiveSet
from sparsedp.solvers.pursuit.targets.response import Response, between

MEANS, DISTANCES = 0.09, 0.035
"""Parts of what is left after the target was looked at: for means, and for a look at distances."""

CONSTANT, FIXED = 0.5, 0.01
"""What the constant column counts in the coordinates of steps: less than 1, as its sum needs less
of what records are clipped to. That of classes stays where base rates have it, as those of a rare
class are clipped most; calibration then moves it."""

MARGINS = 0.1
"""Part of the share of calibration for a look at how far margins are apart."""

MOMENTUM = 0.75

BELIEVED = 0.6
"""Power of what steps leave of margins, if these lie in no direction more than in others: in truth
they lie in wide ones rather, of which more is left."""

CLASS_LEGS, NUMBER_LEGS = ((1.0, 60),), ((0.35, 40), (0.65, 40))
"""Parts of the way: shares of the steps' budget, and their number."""

CLASS_RIDGE, NUMBER_RIDGE, LEAST_QUIET = 6.0, 2.0, 14.0
"""Pull to zero, over noise in a margin and the squared margins that are to be expected. Below this
quietness it grows with noise and no longer with its square: effects of many features lie in a few
wide directions rather than in all."""

CLASSES_FAR, NUMBERS_FAR = 3.0, 1.0
"""How far to go, over how far it is until the pull holds weights that nothing else does. On the way
noise moves margins, the more the longer steps are, and the farther margins are moved the less do
clipped residuals tell; those of classes have an end in any case."""

SHORT_WAY = 1e-3
"""Along a way of this length places and noise are straight lines."""

CLIP, CLIP_FROM, LARGEST_CLIP = 0.6, 20.0, 4.0
"""Where to clip records, over the usual size of what they add, up to a quietness; above it by its
root more, and at most so much."""

STANDING_OUT = 0.1
"""A feature that does not matter keeps this part of a usual step in the second part of the way."""

SHARPEST = 100.0
"""From this quietness on steps follow squared weights, below it their absolute values."""


@dataclass(frozen=True)
class Reached:
    """Where a part of the way has led.

    Attributes
    ----------
    weights : ndarray
        The mean of all that it passed.
    noise : ndarray of shape (size,)
        In them: standard deviation of every coordinate in which features are alike.
    left : float
        What steps and pull are likely to have left of margins.
    """

    weights: np.ndarray
    noise: np.ndarray
    left: float


@dataclass(frozen=True)
class Descent:
    """How to spend what is left of the budget on all features, none of which bends.

    Parameters
    ----------
    moments : Moments
    response : Response
        What has been released about the target.
    noise : float
        Of a sum that had the whole budget, where a record adds at most 1.
    n_features : int
    share : float
        Of the Gaussian budget, for all of it.
    """

    moments: Moments
    response: Response
    noise: float
    n_features: int
    share: float

    @property
    def quiet(self) -> float:
        """See `quietness`."""
        return quietness(self.response.n_records, self.noise, self.n_features)

    @property
    def legs(self) -> tuple[tuple[float, int], ...]:
        """Parts of the way: shares of the steps' budget, and their number."""
        return CLASS_LEGS if self.response.calibrated else NUMBER_LEGS

    def means(self) -> Means:
        """What pays for means and distances."""
        n, share = self.response.n_records, self.share
        constant = FIXED if self.response.calibrated else CONSTANT
        return Means(self.moments, n, MEANS * share, DISTANCES * share, constant)

    def settle(self, active: ActiveSet, means: Means) -> Reached:
        """Go all the way."""
        budget = (1 - MEANS - len(self.legs) * DISTANCES) * self.share
        (part, n_steps), *later = self.legs
        reached = self._leg(active, part, budget, n_steps)
        for part, n_steps in later:
            active.weights = reached.weights
            active.reweigh(means, self._standing_out(reached.weights[active.first :]))
            reached = self._leg(active, part, budget, n_steps)
        return reached

    def _standing_out(self, weights: np.ndarray) -> np.ndarray:
        """Squares of how much longer steps are to be along every column; mean 1."""
        sizes = np.linalg.norm(weights, axis=1) ** (1 + min(self.quiet / SHARPEST, 1.0))
        found = STANDING_OUT + sizes / max(float(sizes.mean()), 1e-300)
        return found / found.mean()

    def _leg(self, active: ActiveSet, part: float, budget: float, n_steps: int) -> Reached:
        """Steps with momentum."""
        response, moments, n = self.response, self.moments, self.response.n_records
        at, first, curvature = active.coordinates, active.first, response.curvature
        factor = between(CLIP, CLIP * math.sqrt(self.quiet / CLIP_FROM), LARGEST_CLIP)
        clip, pull = factor * at.norm * response.spread, self._pull(active, part)
        share, weights = part * budget, at.unwhitening @ active.weights
        pace = self._pace(pull, n_steps)
        velocity, total = np.zeros_like(weights), np.zeros_like(weights)
        for _ in range(n_steps):
            sums = StepSums(response.record_loss, weights, clip)
            exact, _ = active.whitened.total(sums)  # private
            gradient = moments.release(exact, clip, share / n_steps)  # released
            step = gradient / (n * curvature)
            step[first:] += pull * weights[first:]
            if response.calibrated:
                step[:first] = 0.0
            velocity = MOMENTUM * velocity - pace * step / (1 + pull)
            weights = weights + velocity
            total += weights
        pulls = at.likely + np.append(np.zeros(first), np.full(len(active.lengths), pull))
        signal, blur = means_of_ways(pulls * pace / (1 + pull) * n_steps / (1 - MOMENTUM))
        noise = moments.deviation(clip, share) / (n * curvature) * blur / pulls
        # A constant that does not move has no noise.
        noise *= np.append(np.full(first, float(not response.calibrated)), active.lengths)
        left = float((at.likely * signal / pulls)[-1]) ** BELIEVED
        return Reached(at.whitening @ (total / n_steps), noise, left)

    def _pull(self, active: ActiveSet, part: float) -> float:
        """To zero: noise in a weight over what it is expected to be, both squared (Tikhonov 1963).

        The fewer features stand out, the more each of them is expected to be.
        """
        response, squares = self.response, np.square(active.lengths)
        few = float(np.mean(squares)) ** 2 / float(np.mean(squares**2))
        margins = (response.spread / response.curvature) ** 2 / response.margin_variance
        length = float(np.sum(active.coordinates.likely[active.first :]))
        quiet = self.quiet * max(self.quiet, LEAST_QUIET)
        ridge = CLASS_RIDGE if response.calibrated else NUMBER_RIDGE
        return ridge * few * margins * length / (part * quiet)

    def _pace(self, pull: float, n_steps: int) -> float:
        """Length of steps, over what curvature allows."""
        far = CLASSES_FAR if self.response.calibrated else NUMBERS_FAR
        return min(1.0, far * (1 - MOMENTUM) * (1 + pull) / (max(pull, 1e-300) * n_steps))


def means_of_ways(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of all places on some ways, over where they lead, and noise in it, over that of an end.

    After a part u of a way of length x the place is 1 - exp(-u x); a gradient's noise is as far on
    its way as it is old, and all gradients have the same noise.
    """
    once, twice = -np.expm1(-lengths) / lengths, -np.expm1(-2 * lengths) / (2 * lengths)
    noise = np.sqrt(np.maximum(1 - 2 * once + twice, 0.0))
    # Of a short way digits would cancel.
    noise = np.where(lengths < SHORT_WAY, lengths / math.sqrt(3), noise)
    return 1 - once, noise
