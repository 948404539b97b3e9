"""Choose a coordinate, step along it, and again (proof: greedy_coordinate.md)."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select
from sparsedp.solvers.solver import (
    LARGEST,
    Solution,
    check_clip,
    check_positive_integer,
    check_share,
    check_size,
)
from sparsedp.solvers.total import total_weight

COUNT_SHARE = 0.01
"""Part of the budget for the number of records, where that is private."""


@dataclass(frozen=True, kw_only=True)
class GreedyCoordinateDescent:
    """Step along one privately chosen coordinate after another.

    The method of Mangold et al. (2022). At most one new feature per step enters the model, and
    no ball has to be chosen. A bad idea when many small weights matter: every one needs
    steps of its own. Wrap it in :class:`Sparsifier` for a fixed number of features.

    Parameters
    ----------
    n_steps : int
        Coordinates chosen; also the most features the model can have.
    step_size : float
        In units of one over the largest possible curvature, that of a feature at its bounds in
        every record. One never overshoots; features that vary less bear more.
    clip : float
        Residuals beyond this are clipped.
    select_share : float
        Part of the budget for choosing coordinates; the rest is for the steps.

    Notes
    -----
    *Privacy.* One selection and one Gaussian release of a single number per step; a noisy number
    of records where that is private (add/remove).
    """

    n_steps: int = 50
    step_size: float = 1.0
    clip: float = 0.5
    select_share: float = 0.7

    needs = ()

    def __post_init__(self) -> None:
        check_positive_integer("n_steps", self.n_steps)
        check_size("step_size", self.step_size)
        check_clip(self.clip)
        check_share("select_share", self.select_share)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """A selection and a part of one Gaussian budget per step."""
        steps = (
            Select(self.n_steps, self.select_share, name="coordinate"),
            Perturb(1 - self.select_share, name="derivative"),
        )
        if not public.asks_weight:
            return Schedule(steps)
        return Schedule((Perturb(COUNT_SHARE, name="n_records"), *steps))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Step along one chosen coordinate after another."""
        public = curator.public
        n = total_weight(data, curator, "n_records")  # released or public
        w = np.zeros(public.weights_shape)
        if public.initial_weights is not None:
            w += public.initial_weights
        for _ in range(self.n_steps):
            bound = loss.residual_bound(w)
            if not curator.noiseless:
                bound = min(bound, self.clip)
            gradient = gradient_sum(data, loss, w, bound).ravel()  # private
            entry = curator.select(np.abs(gradient), bound, name="coordinate")  # released
            slope = curator.perturb(
                gradient[entry : entry + 1], bound, share=1 / self.n_steps, name="derivative"
            )[0]  # released
            # No mean residual exceeds its bound: more than that is noise.
            mean = float(np.clip(slope / n, -bound, bound))
            moved = w.flat[entry] - self.step_size * mean / loss.margin_curvature_bound
            # Steps far beyond what the curvature bears diverge: they end here, not at infinity.
            w.flat[entry] = float(np.clip(moved, -LARGEST, LARGEST))
        return Solution(weights=w)
