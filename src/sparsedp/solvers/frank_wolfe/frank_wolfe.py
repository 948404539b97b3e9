"""Frank-Wolfe over an L1 ball, one privately chosen vertex per step (proof: frank_wolfe.md)."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Lipschitz, Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import LaplaceSelect, PublicFacts, PublishedSchedule, Schedule, Select
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.vertex_walk import VertexWalk
from sparsedp.solvers.planned import planned_budget, planned_records
from sparsedp.solvers.solver import (
    Solution,
    check_calibration,
    check_clip,
    check_positive_integer,
    check_steps,
    guaranteed,
    refuse_initial_model,
)

MODES = ("auto", "lazy", "full")

LIPSCHITZ = 1.0
"""Of the logistic loss in L1 norm, as papers have it; other losses are clipped to it."""


@dataclass(frozen=True, kw_only=True)
class FrankWolfe:
    """Minimize a loss over an L1 ball, one privately chosen vertex per step.

    The Private LASSO of Talwar et al. (2015) and Khanna et al. (2024), with exact accounting. A
    bad idea when features are many and equally good: every step that noise decides adds a
    non-zero weight. Wrap it in :class:`Sparsifier` for a sparse model.

    Parameters
    ----------
    radius : float
        Of the L1 ball, in unit coordinates; the intercept counts too.
    n_steps : int or "theory"
        Selections. More steps mean more noise in each. "theory" takes Corollary 3 of Khanna et al.
        (2024), T = (C n epsilon)^(2/3) / (L radius)^(2/3) with L = 1 and C the curvature bound of
        the loss times radius^2; it needs the number of records.
    clip : float
        Residuals beyond this are clipped: a smaller clip needs less noise, and records that are
        already badly predicted pull no harder than the others.
    mode : {"auto", "lazy", "full"}
        Which scores are computed in a step: those that can matter, or all of them ("full"). The
        model has the same distribution; only "full" takes a time that hardly depends on the
        records. "auto" starts like "lazy" and computes all while that is faster.
    n_records : int, optional
        How many records "theory" plans for; never found from records that add/remove protects.
        None takes their number where it is public.
    calibration : {"sound", "proven", "published"}
        "published" runs the paper's noise, steps and last iterate, to reproduce it. "proven"
        changes nothing but the noise: selections by Gumbel noise for what a record can change,
        composed exactly. "sound" changes more than the noise: residuals are clipped at ``clip``,
        all choices count alike (steps of 1 / (t + 2) in the place of 2 / (t + 3)), and the model
        is the average over the second half of the steps, not the last one. For the other two
        ``clip`` is not used, and residuals end at 1, the paper's Lipschitz constant.

    Notes
    -----
    *Privacy.* Only chosen vertices leave the data. Each costs one selection of bounded range,
    whatever the weights are; weights, path and any rounding of them follow from the choices.
    """

    radius: float = 10.0
    n_steps: int | str = 100
    clip: float = 0.5
    mode: str = "auto"
    n_records: int | None = None
    calibration: str = "sound"

    needs = ()

    def __post_init__(self) -> None:
        L1Ball(self.radius)
        check_steps(self.n_steps)
        if self.n_records is not None:
            check_positive_integer("n_records", self.n_records)
        check_calibration(self.calibration)
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {MODES}, got {self.mode!r}")
        check_clip(self.clip)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the published guarantee is not proven."""
        if guaranteed(self.calibration):
            return ()
        return (
            "The noise of Khanna et al. (2024) is set for half the change that replacing a record "
            "can cause, and by a composition bound that gives slightly more than epsilon.",
        )

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """One selection per step."""
        refuse_initial_model(public, "FrankWolfe")
        if self.calibration != "sound" and public.n_outputs > 1:
            raise ValueError(
                f"the {self.calibration} calibration of FrankWolfe is for two classes; "
                "use calibration='sound' for more"
            )
        if self.calibration == "published":
            return PublishedSchedule((LaplaceSelect(self._steps(public), name="vertex"),))
        return Schedule((Select(self._steps(public), name="vertex"),))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Walk to one chosen vertex after another."""
        ball = L1Ball(self.radius)
        shape = curator.public.weights_shape
        textbook = self.calibration != "sound" or curator.noiseless
        n_steps = self._steps(curator.public)
        t = np.arange(n_steps)
        # Equal weight for every choice: with noise, late choices are no better than early ones.
        steps = 2 / (t + 3) if textbook else 1 / (t + 2)
        walk = VertexWalk(
            data,
            loss,
            ball,
            steps,
            shape,
            clip=np.inf if curator.noiseless else self.clip,
            bound=self._stated_bound(loss, curator),
            mode=self.mode,
        )
        vertices = curator.select_along(walk, n_steps, name="vertex")  # released
        first_averaged = n_steps - 1 if textbook else n_steps // 2
        shares = _shares(steps, first_averaged)
        return Solution(weights=ball.combination(vertices, shares, shape))

    def _steps(self, public: PublicFacts) -> int:
        """As set, or Corollary 3: (C n epsilon)^(2/3) with C = curvature * radius, as L is 1."""
        if not isinstance(self.n_steps, str):
            return self.n_steps
        if public.loss is None:
            raise ValueError("n_steps='theory' plans by the loss, which is open: give a number")
        epsilon, _ = planned_budget(public)
        n = planned_records(public, self.n_records, "FrankWolfe(n_records=...)")
        curvature = public.loss.curvature_bound * self.radius / LIPSCHITZ
        return max(1, round((curvature * n * epsilon) ** (2 / 3)))

    def _stated_bound(self, loss: Loss, curator: Curator) -> float | None:
        """The paper's Lipschitz constant, or the smaller one that such a loss is known to have."""
        if self.calibration == "sound":
            return None
        if self.calibration == "published" or curator.noiseless:
            return LIPSCHITZ
        return min(LIPSCHITZ, loss.lipschitz) if isinstance(loss, Lipschitz) else LIPSCHITZ


def _shares(steps: np.ndarray, first_averaged: int) -> np.ndarray:
    """What each vertex contributes to the average of the points after the first so many steps."""
    left = np.cumprod(1 - steps)  # of what was there before the first step
    averaged = np.where(np.arange(len(steps)) < first_averaged, 0.0, left)
    kept = np.cumsum(averaged[::-1])[::-1] / left  # of a step, summed over the averaged points
    return steps * kept / (len(steps) - first_averaged)
