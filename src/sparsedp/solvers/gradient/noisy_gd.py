"""Noisy gradient descent, from zero or from a public model (proof: noisy_gd.md)."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum, residual_bound
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import (
    GaussianPerturb,
    PublicFacts,
    PublishedSchedule,
    Schedule,
    Sensitivity,
)
from sparsedp.solvers.gradient.descent import (
    RECORDS,
    check_descent,
    constant_schedule,
    descend,
    descent_schedule,
)
from sparsedp.solvers.solver import Solution, check_calibration, guaranteed
from sparsedp.solvers.total import total_weight


@dataclass(frozen=True, kw_only=True)
class NoisyGD:
    """Dense gradient descent with noise in every gradient.

    The method of Hoseinpour et al. (2023), with clipping record by record and exact accounting.
    Every feature gets a weight: wrap it in :class:`Sparsifier` for a sparse model. With a public
    model to start from (``initial_model`` of the estimators) it stays close to that model where
    noise is louder than what the records have to say. A bad idea when features are many and
    records few: the noise grows with the length of records.

    Parameters
    ----------
    n_steps : int
        Gradients to release. More steps mean more noise in each.
    step_size : float
        The first step, in units of the inverse curvature along a feature of average variance; it
        then adapts. Other calibrations take this constant step along the mean gradient.
    clip : float, optional
        Bound on the norm of one record's gradient (other calibrations: of the mean gradient, by
        default 1). By default it is steered to twice the root mean square, which is released in
        passing.
    calibration : {"sound", "proven", "published"}
        "published" runs the paper's clipping, noise and steps, to reproduce it. "proven" changes
        nothing but the noise, which is for what one record can move the clipped mean, composed
        exactly; under add/remove the mean is over a released number of records. "sound" changes
        more than the noise: gradients are clipped record by record, features centered at released
        means, steps and clip adapt, and weights are pulled toward zero or the public model.

    Notes
    -----
    *Privacy.* Released are the records' number, means and squares, and clipped gradients, all with
    Gaussian noise; everything else follows from these.
    """

    n_steps: int = 20
    step_size: float = 0.25
    clip: float | None = None
    calibration: str = "sound"

    needs = ()

    def __post_init__(self) -> None:
        check_descent(self.n_steps, self.step_size, self.clip)
        check_calibration(self.calibration)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the published guarantee is not proven."""
        if guaranteed(self.calibration):
            return ()
        return (
            "Hoseinpour et al. (2023) clip the mean gradient, not each record's, and then divide "
            "the noise by the number of records: one record can move it by that number more.",
            "The noise of every step is for the whole epsilon, as if the others cost nothing.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """Moments once and a gradient per step."""
        if self.calibration == "published":
            return PublishedSchedule(
                (GaussianPerturb(self.n_steps, classical_multiplier, None, name="gradient"),)
            )
        return constant_schedule(public) if self.calibration == "proven" else descent_schedule()

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Descend."""
        if self.calibration != "sound":
            return Solution(weights=self._constant_steps(data, loss, curator))
        weights = descend(
            data,
            loss,
            curator,
            n_steps=self.n_steps,
            step_size=self.step_size,
            clip=self.clip,
            n_weights=data.n_features,
            projection=lambda w: w,
        )
        return Solution(weights=weights)

    def _constant_steps(self, data: Dataset, loss: Loss, curator: Curator) -> np.ndarray:
        initial = curator.public.initial_weights
        w = np.zeros(curator.public.weights_shape) if initial is None else initial.copy()
        clip = 1.0 if self.clip is None else self.clip
        published = self.calibration == "published"
        n = max(data.total_weight, 1.0)  # private
        if not published:
            n = total_weight(data, curator, RECORDS.name)  # released or public
        for _ in range(self.n_steps):
            bound = residual_bound(data, loss, w)
            limit = math.inf if published or curator.noiseless else bound
            gradient = gradient_sum(data, loss, w, limit) / n  # private
            if not curator.noiseless:
                gradient /= max(1.0, float(np.linalg.norm(gradient)) / clip)
            moved = 2 * clip / n if published else self._moved(data, loss, bound / n, clip)
            w = w - self.step_size * curator.perturb(
                gradient, moved, share=1 / self.n_steps, name="gradient"
            )  # released
        return w

    def _moved(self, data: Dataset, loss: Loss, residual: float, clip: float) -> Sensitivity:
        """How far one record moves the clipped mean: no farther than the mean (noisy_gd.md)."""
        most = 2 * clip
        term = residual * data.norm_bound * (1 if loss.n_outputs == 1 else math.sqrt(2))
        # Written so that a bound that is not a number counts for nothing.
        return Sensitivity(
            add_remove=term if term <= most else most,
            replace_one=2 * term if 2 * term <= most else most,
        )


def classical_multiplier(epsilon: float, delta: float) -> float:
    """Noise over sensitivity of the classical Gaussian mechanism, whatever epsilon."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon
