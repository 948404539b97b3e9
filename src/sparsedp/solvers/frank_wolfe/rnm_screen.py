"""Frank-Wolfe that screens one feature after every step (proof: rnm_screen.md)."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.losses import Loss, StronglyConvex
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.screening import COUNT_SHARE, LARGEST_RADIUS
from sparsedp.solvers.frank_wolfe.screening_rule import ScreeningRule, column_norms
from sparsedp.solvers.solver import (
    Solution,
    check_clip,
    check_needs,
    check_positive_integer,
    check_size,
    refuse_initial_model,
)
from sparsedp.solvers.total import total_weight


@dataclass(frozen=True, kw_only=True)
class RNMScreen:
    """Frank-Wolfe over an L1 ball; after every step the noisy minimum of a rule is screened.

    RNM-Screen of Khanna et al. (2025), with noise for what a record can change: of all features,
    the one at which the screening rule is least goes to zero, and may be chosen again later. A bad
    idea with a large radius, where noise drowns the rule, or when most features matter, as one is
    screened whatever the rule says; :class:`NoisyMinScreening` has neither fault.

    Parameters
    ----------
    radius : float
        Of the L1 ball, in unit coordinates; the intercept counts too, but is never screened.
    n_steps : int
        Steps; each costs two selections, of the same epsilon.
    clip : float
        Residuals beyond this are clipped in the steps (not in the rule).

    Notes
    -----
    *Privacy.* Only chosen vertices and screened features leave the data, each at the cost of one
    selection of bounded range. Where the number of records is private (add/remove) a noisy one
    takes its place in the rule.
    """

    radius: float = 3.0
    n_steps: int = 50
    clip: float = 0.5

    needs = (StronglyConvex,)

    def __post_init__(self) -> None:
        check_size("radius", self.radius, most=LARGEST_RADIUS)
        check_positive_integer("n_steps", self.n_steps)
        check_clip(self.clip)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """Two selections per step, and the number of records where it is private."""
        refuse_initial_model(public, "RNMScreen")
        check_needs(self, public)
        chosen = Select(2 * self.n_steps, name="vertex or screened feature")
        if not public.asks_weight:
            return Schedule((chosen,))
        return Schedule((Perturb(COUNT_SHARE, name="n_records"), chosen))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Walk to a chosen vertex, screen a chosen feature, again and again."""
        public = curator.public
        ball = L1Ball(self.radius)
        rule = ScreeningRule.of(loss, self.radius, self.radius)
        n = total_weight(data, curator, "n_records")  # released or public
        norms = column_norms(data)  # private
        w = np.zeros(public.weights_shape)
        for t in range(self.n_steps):
            bound = loss.residual_bound(w)
            bound = bound if curator.noiseless else min(bound, self.clip)
            scores = ball.scores(gradient_sum(data, loss, w, bound))  # private
            vertex = curator.select(scores, bound, signed=True)  # released
            w = ball.step_toward(w, vertex, 2 / (t + 3) if curator.noiseless else 1 / (t + 2))
            values = rule.differences(data, loss, w, norms, n)  # private
            screened = curator.select(-values, rule.spread(n))  # released
            w[screened] = 0
        return Solution(weights=w)
