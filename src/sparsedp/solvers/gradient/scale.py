"""How long records are, how far to step, where to clip: all from released figures."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import feature_norm_bound
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.gradient.records import MomentSums

TINY = float(np.finfo(float).tiny)

SIDE = 0.3
"""Weight of the count and of the mean square beside the sums of features."""

RIDER = 0.2
"""Weight of the records' use of the clip beside their gradient."""

LOUD = 0.01
"""From this noise on, relative to the clip, the clip is kept at twice the root mean square."""

TURN = 0.5
"""Cosine of two gradients in a row beyond which the step grows, and below minus which it halves."""


@dataclass(frozen=True)
class Moments:
    """Released figures about the records in a view.

    Parameters
    ----------
    n_records : float
        Their total weight, or a noisy one that is not below twice its noise.
    center : ndarray of shape (n_features,)
        Means of the features; zero if they were not asked for.
    variance : float
        Mean square distance from the center, for an average feature.
    blur : float
        What noise in the center adds to that.
    """

    n_records: float
    center: np.ndarray
    variance: float
    blur: float

    @classmethod
    def release(cls, view: Dataset, curator: Curator, name: str, *, centered: bool) -> "Moments":
        """Ask for number, squares and, if ``centered``, means of the records.

        One query: the sum of x, of SIDE * B and of SIDE * |x|^2 / B, where B bounds |x|. All its
        budget goes to number and squares if there are no means.
        """
        d = view.n_features
        bound = feature_norm_bound(view)
        side = SIDE if centered else 1.0
        sums, squares = view.total(MomentSums(bound, centered))  # private
        sides = side * np.array([bound * view.total_weight, float(squares) / bound])  # private
        sensitivity = Sensitivity(
            add_remove=float(bound * np.sqrt(centered + 2 * side**2)),
            replace_one=bound * (2 if centered else side),
        )
        answer = curator.perturb(np.concatenate([sums, sides]), sensitivity, name=name)  # released
        noise = curator.noise_level(sensitivity, name=name)
        count, square = answer[len(sums) : len(sums) + 2] / (side * np.array([bound, 1 / bound]))
        n_records = max(count, 2 * noise / (side * bound), 1.0)
        if curator.public.total_weight is not None:
            n_records = curator.public.total_weight
        center, blur = np.zeros(d), 0.0
        if centered:
            limits = (-1.0, 1.0) if view.view == "unit" else view.bounds.arrays(d)
            center = np.clip(answer[:d] / n_records, *limits)
            # Nor is a mean longer than the longest record.
            center *= min(1.0, bound / max(float(np.linalg.norm(center)), TINY))
            # Means that are mostly noise are better taken as zero (James and Stein, 1961).
            blur = (noise / n_records) ** 2
            center *= max(0.0, 1 - d * blur / max(center @ center, TINY))
            blur = min(blur, bound**2 / d)
        variance = (square / n_records - center @ center) / d
        variance = float(np.clip(variance, 0.02 * bound**2 / d, bound**2 / d))
        return cls(float(n_records), center, variance, blur)

    def length(self, intercept: bool) -> float:
        """Root mean square length of a centered record with its constant column."""
        return float(np.sqrt((self.variance + self.blur) * len(self.center) + intercept))


class Pace:
    """Step size: up a quarter when the gradient keeps its direction, halved when it turns back.

    Curvature is not asked for. Two gradients in a row show it along the step between them, as far
    as noise lets us see it, and the step is kept below its inverse. Noise has no direction, so it
    leaves the step as it is.
    """

    def __init__(self, rate: float) -> None:
        self.rate, self.highest = rate, 64 * rate
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def follow(self, weights: np.ndarray, gradient: np.ndarray, noise: float) -> None:
        """Take note of a released gradient at these weights, and of the noise in its entries."""
        if self._last is not None:
            moved, turned = weights - self._last[0], gradient - self._last[1]
            length = max(float(np.linalg.norm(moved)), TINY)
            steeper = float((moved / length * turned).sum()) - 2 * math.sqrt(2) * noise
            if steeper * self.rate > length:
                self.rate = length / steeper
            norms = float(np.linalg.norm(gradient) * np.linalg.norm(self._last[1]))
            cosine = float((gradient * self._last[1]).sum()) / max(norms, TINY)
            if cosine < -TURN:
                self.rate /= 2
            elif cosine > TURN:
                self.rate = min(1.25 * self.rate, self.highest)
        self._last = weights, gradient


@dataclass
class Clip:
    """Bound on the size of one record's contribution, steered by how much of it records use.

    Parameters
    ----------
    bound : float
        Now.
    first : float
        What a record of ordinary length needs where all weights are zero. Where noise is loud the
        bound goes no higher: residuals of two classes are all 1/2 there, and twice their root mean
        square would be twice the noise for nothing.
    highest : float
        A record of ordinary length whose residual is 1; noise must not drive the bound higher.
    fixed : bool
        Whether the user has set the bound.
    """

    bound: float
    first: float
    highest: float
    fixed: bool

    @classmethod
    def start(cls, clip: float | None, length: float, loss: Loss, shape: tuple[int, ...]) -> "Clip":
        """The user's bound, or what a record of this length needs where all weights are zero."""
        if clip is not None:
            return cls(clip, clip, clip, True)
        first = length * min(1.0, loss.residual_bound(np.zeros(shape)))
        return cls(first, first, length, False)

    def release(
        self,
        curator: Curator,
        sums: np.ndarray,
        used: np.ndarray | float,
        *,
        n_records: float,
        n_steps: int,
        share: float = 1.0,
    ) -> tuple[np.ndarray, float]:
        """Release one of ``n_steps`` gradients, and let the bound follow.

        Parameters
        ----------
        curator : Curator
        sums : ndarray
            Sum of the records' contributions, each of norm ``bound`` at most. Private.
        used : float
            Sum of squares of the part of the bound, in [0, 1], that each record uses. Private.
        n_records : float
            Released or public.
        n_steps : int
        share : float
            Part of a step's budget that this release gets.

        Returns
        -------
        gradient : ndarray
            The noisy mean.
        noise : float
            Standard deviation of the noise in its entries.
        """
        norm = self.bound
        weight = 0.0 if curator.noiseless or self.fixed else RIDER
        rider = weight * norm * float(used)  # private
        sensitivity = Sensitivity(add_remove=norm * math.sqrt(1 + weight**2), replace_one=2 * norm)
        share /= n_steps
        answer = curator.perturb(
            np.append(sums.ravel(), rider), sensitivity, share=share, name="gradient"
        )  # released
        noise = curator.noise_level(sensitivity, share=share, name="gradient") / n_records
        if weight:
            use = answer[sums.size] / (weight * norm * n_records)
            self._follow(float(use), math.sqrt(sums.size / n_steps) * noise / norm)
        return answer[: sums.size].reshape(sums.shape) / n_records, noise

    def _follow(self, use: float, loudness: float) -> None:
        """Move the bound to a multiple of the contributions' root mean square.

        The quieter the noise in what all gradients together tell, relative to the bound, the fewer
        records need to be clipped.
        """
        multiple = float(np.clip(2 * math.sqrt(LOUD / max(loudness, TINY)), 2, 8))
        factor = float(np.clip(multiple * math.sqrt(max(use, 0.0)), 0.5, 2.0))
        top = min(self.first * multiple / 2, self.highest)
        self.bound = float(np.clip(self.bound * factor, 1e-3 * self.highest, top))
