"""Private LASSO for many classes: one ball or one per class (proof: multinomial_lasso.md)."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import (
    LaplaceSelect,
    PublicFacts,
    PublishedSchedule,
    Schedule,
    Select,
)
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.frank_wolfe import FrankWolfe
from sparsedp.solvers.solver import (
    Solution,
    check_calibration,
    guaranteed,
    refuse_initial_model,
)

BALLS = ("joint", "per_class")

PAID = {"add_remove": 2, "replace_one": 3}
"""Selections that one step of all classes is worth: a record moves its own class by as much as all
others together."""

PAID_BY_PERSONS = 3
"""A person may have rows of several classes."""

LIPSCHITZ = 2.0
"""What the paper scales its noise to: twice what a record adds to an entry of the gradient."""


@dataclass(frozen=True, kw_only=True)
class MultinomialLasso:
    """Multinomial regression over L1 balls, privately chosen vertices.

    After Khanna et al. (2024), appendix A, with selections that are paid for. With one ball for all
    classes it is :class:`FrankWolfe`, and costs what two classes cost; that is the better choice
    unless every class must have the same room.

    Parameters
    ----------
    radius : float
        Of the ball or balls, in unit coordinates.
    n_steps : int
        Frank-Wolfe steps: selections of one ball, K times as many with one ball per class, of
        which two (under replace-one, and for persons, three) per step are paid for.
    clip : float
        Residuals beyond this are shrunk.
    balls : {"joint", "per_class"}
        Whether the weights of all classes share one ball, or have one each.
    calibration : {"sound", "proven", "published"}
        "published" runs the paper's algorithm: in every step one selection per feature, among the
        classes, with noise for one selection per class. "proven" changes nothing but the noise: it
        is for what a record can change, and every selection is paid for. ``balls`` and ``clip`` do
        not matter for either. "sound" is another algorithm, with one selection per ball, clipped
        residuals, steps that count alike and the average over their second half.

    Notes
    -----
    *Privacy.* Only chosen vertices leave the data, each by a selection. With one ball per class
    the selections of a step share what one record can move.
    """

    radius: float = 10.0
    n_steps: int = 100
    clip: float = 0.5
    balls: str = "joint"
    calibration: str = "sound"

    needs = ()

    def __post_init__(self) -> None:
        self._joint()  # checks radius, steps and clip
        check_calibration(self.calibration)
        if self.balls not in BALLS:
            raise ValueError(f"balls must be one of {BALLS}, got {self.balls!r}")

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the published guarantee is not proven."""
        if guaranteed(self.calibration):
            return ()
        return (
            "The multinomial algorithm of Khanna et al. (2024) makes one selection per feature in "
            "every step, but has noise for one per class: with many features the true cost is a "
            "multiple of epsilon.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """One selection per step and ball; as published, one per step and column."""
        refuse_initial_model(public, "MultinomialLasso")
        if self.calibration != "sound" and public.n_outputs == 1:
            raise ValueError(
                f"the {self.calibration} calibration of MultinomialLasso is for three or more "
                f"classes; use FrankWolfe(calibration={self.calibration!r}) for two"
            )
        if self.calibration == "proven":
            return Schedule((Select(self.n_steps * public.n_columns, name="vertex"),))
        if self.calibration == "published":
            return PublishedSchedule((self._published_request(public),))
        if self.balls == "joint":
            return self._joint().schedule(public)
        paid = PAID_BY_PERSONS if public.unit == "person" else PAID[public.neighbors]
        paid = min(public.n_outputs, paid)
        drawn = self.n_steps * public.n_outputs
        return Schedule((Select(self.n_steps * paid, name="vertex", drawn=drawn),))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Walk to chosen vertices."""
        if self.calibration != "sound":
            return self._solve_by_column(data, loss, curator)
        if self.balls == "joint":
            return self._joint().solve(data, loss, curator)
        return self._solve_per_class(data, loss, curator)

    def _joint(self) -> FrankWolfe:
        return FrankWolfe(radius=self.radius, n_steps=self.n_steps, clip=self.clip)

    def _solve_per_class(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Every ball makes a step toward a vertex of its own, all from the same gradient."""
        ball = L1Ball(self.radius)
        textbook = curator.noiseless
        first_averaged = self.n_steps - 1 if textbook else self.n_steps // 2
        n_columns, n_outputs = curator.public.n_columns, curator.public.n_outputs
        shape = curator.public.weights_shape
        w = np.zeros((n_columns, n_outputs))
        total = np.zeros_like(w)
        for t in range(self.n_steps):
            bound = loss.residual_bound(w.reshape(shape))
            if not textbook:
                bound = min(bound, self.clip)
            gradient = gradient_sum(data, loss, w.reshape(shape), bound)  # private
            gradient = gradient.reshape(n_columns, n_outputs)
            step = 2 / (t + 3) if textbook else 1 / (t + 2)
            for k in range(n_outputs):
                vertex = curator.select(ball.scores(gradient[:, k]), bound, signed=True)  # released
                w[:, k] = ball.step_toward(w[:, k], vertex, step)
            if t >= first_averaged:
                total += w
        return Solution(weights=(total / (self.n_steps - first_averaged)).reshape(shape))

    def _solve_by_column(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Each column of the data moves toward a vertex of a ball over the classes."""
        ball = L1Ball(self.radius)
        w = np.zeros(curator.public.weights_shape)
        for t in range(self.n_steps):
            bound, limit = LIPSCHITZ, math.inf
            if self.calibration == "proven" and not curator.noiseless:
                bound = limit = loss.residual_bound(w)
            gradient = gradient_sum(data, loss, w, limit)  # private
            for j in range(len(w)):
                vertex = curator.select(ball.scores(gradient[j]), bound, signed=True)  # released
                w[j] = ball.step_toward(w[j], vertex, 2 / (t + 3))
        return Solution(weights=w)

    def _published_request(self, public: PublicFacts) -> LaplaceSelect:
        # The paper counts a step's selections, one per column, as one per class.
        return LaplaceSelect(
            self.n_steps * public.n_columns,
            fraction=1 / public.n_outputs,
            name="vertex",
            delta_fraction=1 / public.n_outputs,
            budgeted=self.n_steps,
            # In units of the stated constant a record adds at most a half.
            sensitivity=1 / LIPSCHITZ,
        )
