"""Iterative gradient hard thresholding with noise (proof: ight.md)."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import (
    GaussianPerturb,
    Perturb,
    PublicFacts,
    PublishedSchedule,
    Schedule,
    Select,
    Sensitivity,
)
from sparsedp.sets import L0Ball
from sparsedp.solvers.gradient.descent import (
    RECORDS,
    Frame,
    constant_schedule,
    descend,
    descent_schedule,
    working_view,
)
from sparsedp.solvers.gradient.records import PeelingSums
from sparsedp.solvers.gradient.scale import Clip, Moments, Pace
from sparsedp.solvers.gradient.theory import THEORY, SparseTheory
from sparsedp.solvers.solver import (
    Solution,
    check_calibration,
    check_positive_integer,
    check_size,
    check_steps,
    guaranteed,
    refuse_initial_model,
)
from sparsedp.solvers.total import total_weight

RESIDUAL_SHARE = 0.1
"""Part of a step's Gaussian budget that the sum of residuals gets when peeling."""


@dataclass(frozen=True, kw_only=True)
class IGHT:
    """Gradient steps with noise, after each of which only the heaviest features stay.

    The method of Wang and Gu (2019), with clipping record by record, exact accounting, and steps
    that need no tuning. A bad idea when features are many and records few, unless records have a
    small declared norm: noise goes to every feature, in proportion to the length of records.

    Parameters
    ----------
    n_nonzero : int, "theory" or None
        Features to keep; None takes the estimator's. The intercept does not count.
    n_steps : int or "theory"
        Gradients to release. More steps mean more noise in each.
    step_size : float or "theory"
        The first step, in units of the inverse curvature along a feature of average variance; it
        then adapts. Other calibrations take this constant step along the mean gradient, and only
        they can leave it to "theory".
    clip : float, optional
        Bound on the norm of one record's gradient; with ``peeling`` on the sum of a record's
        absolute residuals. By default it is steered to twice the root mean square, which is
        released in passing; in other calibrations it is the bound on a record's norm.
    peeling : bool
        Choose the features of a step by private selection, and add noise to their gradient only:
        for a handful of features among many, with records that have no small norm. Every step
        pays for its selections, so take few (about 5).
    theory : SparseTheory, optional
        What those settings rest on that are "theory", Theorem 5.4 of the paper; None for its
        defaults.
    calibration : {"sound", "proven", "published"}
        "published" runs the paper's noise and constant steps, to reproduce it. "proven" changes
        nothing but the noise, which is for what one record can move, composed exactly; under
        add/remove the mean is over a released number of records. "sound" changes more than the
        noise: features are centered at released means, steps and clip adapt, and weights are
        pulled toward zero or the public model as strongly as noise is loud.

    Notes
    -----
    *Privacy.* Released are the records' number, means and squares, and clipped gradients with
    Gaussian noise (with ``peeling`` selections, and gradients of what was selected); everything
    else follows from these.
    """

    n_nonzero: int | str | None = None
    n_steps: int | str = 20
    step_size: float | str = 0.25
    clip: float | None = None
    peeling: bool = False
    theory: SparseTheory | None = None
    calibration: str = "sound"

    needs = ()

    def __post_init__(self) -> None:
        if self.n_nonzero not in (None, THEORY):
            check_positive_integer("n_nonzero", self.n_nonzero)
        check_steps(self.n_steps)
        check_calibration(self.calibration)
        if self.step_size != THEORY:
            check_size("step_size", self.step_size)
        elif self.calibration == "sound":
            raise ValueError(
                "step_size='theory' is a constant step along the mean gradient: it goes with "
                "calibration='proven' or 'published', where steps do not adapt"
            )
        check_size("clip", self.clip, optional=True)
        if self.peeling and self.calibration != "sound":
            raise ValueError("the method of the paper does not peel: use peeling=False")

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the published guarantee is not proven."""
        if guaranteed(self.calibration):
            return ()
        return (
            "The noise of Wang and Gu (2019) is set for half the change that replacing a record "
            "can cause.",
            "Their gradient is divided by the exact number of records, which add/remove protects.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """Moments once and a gradient per step, with peeling also the features of each step."""
        kept, n_steps = self._n_kept(public), self._steps(public)
        if kept > public.n_features:
            raise ValueError(f"n_nonzero={kept} is more than the {public.n_features} features")
        if self.calibration == "published":
            # Under add/remove the number of records is not public, and nothing is proven.
            truth = Sensitivity(add_remove=1.0, replace_one=2.0)
            proven = truth if public.neighbors == "replace_one" else None
            multiplier = partial(noise_multiplier, n_steps)
            request = GaussianPerturb(n_steps, multiplier, proven, name="gradient")
            return PublishedSchedule((request,))
        if self.calibration == "proven":
            return constant_schedule(public)
        if self.peeling:
            refuse_initial_model(public, "IGHT with peeling")
            return Schedule(
                (
                    Perturb(0.1, name="moments"),
                    Select(n_steps * kept, 0.45, name="features"),
                    Perturb(0.45, name="gradient"),
                )
            )
        return descent_schedule()

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Descend and threshold."""
        ball = L0Ball(self._n_kept(curator.public), data.n_features)
        if self.calibration != "sound":
            return Solution(weights=self._constant_steps(data, loss, curator, ball))
        if self.peeling:
            return Solution(weights=self._peeled(data, loss, curator, ball))
        weights = descend(
            data,
            loss,
            curator,
            n_steps=self._steps(curator.public),
            step_size=self._step,
            clip=self.clip,
            n_weights=ball.n_nonzero,
            projection=ball.threshold,
        )
        return Solution(weights=weights)

    @property
    def _theory(self) -> SparseTheory:
        return SparseTheory() if self.theory is None else self.theory

    @property
    def _step(self) -> float:
        return self._theory.step_size if isinstance(self.step_size, str) else self.step_size

    def _n_kept(self, public: PublicFacts) -> int:
        if isinstance(self.n_nonzero, str):
            return self._theory.n_nonzero(public)
        return public.n_nonzero if self.n_nonzero is None else self.n_nonzero

    def _steps(self, public: PublicFacts) -> int:
        if isinstance(self.n_steps, str):
            return self._theory.n_steps(public, self._n_kept(public), self.clip)
        return self.n_steps

    def _constant_steps(
        self, data: Dataset, loss: Loss, curator: Curator, ball: L0Ball
    ) -> np.ndarray:
        view = working_view(data)
        frame = Frame(data, view, np.zeros(data.n_features))
        bound = view.norm_bound if self.clip is None else float(self.clip)
        limit = math.inf if curator.noiseless else bound
        initial = curator.public.initial_weights
        w = np.zeros(curator.public.weights_shape) if initial is None else frame.enter(initial)
        w = frame.project(w, ball.threshold)
        n = max(data.total_weight, 1.0)  # private
        if self.calibration == "proven":
            n = total_weight(data, curator, RECORDS.name)  # released or public
        n_steps = self._steps(curator.public)
        for _ in range(n_steps):
            sums, _ = frame.gradient(loss, w, limit)  # private
            answer = curator.perturb(sums, bound, share=1 / n_steps, name="gradient")  # released
            w = w - self._step * answer / n
            w = frame.project(w, ball.threshold)
        return frame.leave(w)

    def _peeled(self, data: Dataset, loss: Loss, curator: Curator, ball: L0Ball) -> np.ndarray:
        public, d, kept = curator.public, data.n_features, ball.n_nonzero
        moments = Moments.release(data, curator, "moments", centered=data.intercept)  # released
        frame = Frame(data, data, moments.center)
        n, curvature = moments.n_records, loss.typical_curvature
        n_steps = self._steps(public)
        pace = Pace(self._step / (curvature * moments.variance))
        clipping = Clip.start(self.clip, 1.0, loss, public.weights_shape)
        w = np.zeros(public.weights_shape)
        for _ in range(n_steps):
            bound = clipping.bound
            norm = math.inf if curator.noiseless else bound
            peeling = PeelingSums(loss, w, frame.origin, norm)
            sums, residuals, used = data.total(peeling)  # private
            level, _ = clipping.release(
                curator, residuals, used, n_records=n, n_steps=n_steps, share=RESIDUAL_SHARE
            )  # released
            # Centering by released figures: a record still moves no score by more than the bound.
            shift = n * np.multiply.outer(moments.center, level) + n / pace.rate * w[:d]
            scores = np.abs(sums - shift).reshape(d, -1).sum(axis=1)  # private
            chosen = curator.select_many(scores, bound, kept, name="features")  # released
            sensitivity, share = bound * math.sqrt(kept) / n, (1 - RESIDUAL_SHARE) / n_steps
            answer = curator.perturb(
                sums[chosen] / n, sensitivity, share=share, name="gradient"
            )  # released
            gradient = np.zeros_like(w)
            gradient[chosen] = answer - np.multiply.outer(moments.center[chosen], level)
            noise = curator.noise_level(sensitivity, share=share, name="gradient")
            pace.follow(w[:d], gradient[:d], noise)
            moved = w - pace.rate * gradient
            w = np.zeros_like(w)
            w[chosen] = moved[chosen]
            w[d:] = moved[d:] - level / curvature
        return frame.leave(w)


def noise_multiplier(n_steps: int, epsilon: float, delta: float) -> float:
    """Remark 5.3 of the paper: noise over G in every step, for sums over records."""
    log = math.log(1 / delta)
    return math.sqrt(n_steps) / (math.sqrt(log + epsilon) - math.sqrt(log))
