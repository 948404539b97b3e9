"""Frank-Wolfe that drops the least useful feature after every step (proof: noisy_min.md)."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.data.sums.products import inner
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Loss
from sparsedp.losses.clip import clipped
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, Schedule, Select
from sparsedp.sets import L1Ball
from sparsedp.solvers.solver import (
    Solution,
    check_clip,
    check_positive_integer,
    refuse_initial_model,
)


@dataclass(frozen=True, kw_only=True)
class NoisyMinScreening:
    """Frank-Wolfe with at most ``n_keep`` features: the least useful one gives way to a new one.

    Our improvement of the weakened screening of Khanna et al. (2025), which :class:`RNMScreen` is:
    one feature is screened per step, the noisy minimum of what the rule looks at, but only of those
    in use, and only if there are too many. A screened feature may be chosen again.

    Parameters
    ----------
    radius : float
        Of the L1 ball, in unit coordinates; the intercept counts too, but is never screened.
    n_steps : int
        Steps; each costs two selections.
    n_keep : int or None
        Features to keep; None takes the estimator's number.
    clip : float
        Residuals beyond this are clipped.

    Notes
    -----
    *Privacy.* Only chosen vertices and screened features leave the data, each at the cost of one
    selection of bounded range.
    """

    radius: float = 10.0
    n_steps: int = 100
    n_keep: int | None = None
    clip: float = 0.5

    needs = ()

    def __post_init__(self) -> None:
        L1Ball(self.radius)
        check_positive_integer("n_steps", self.n_steps)
        if self.n_keep is not None:
            check_positive_integer("n_keep", self.n_keep)
        check_clip(self.clip)

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """Two selections per step."""
        refuse_initial_model(public, "NoisyMinScreening")
        if self.n_keep is not None and self.n_keep > public.n_features:
            raise ValueError(f"n_keep={self.n_keep} is more than the {public.n_features} features")
        return Schedule((Select(2 * self.n_steps, name="vertex or screened feature"),))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Add by one selection, screen by another."""
        public = curator.public
        ball = L1Ball(self.radius)
        n_keep = public.n_nonzero if self.n_keep is None else self.n_keep
        w = np.zeros(public.weights_shape)
        for t in range(self.n_steps):
            bound = self._bound(loss, w, curator)
            scores = ball.scores(gradient_sum(data, loss, w, bound))  # private
            vertex = curator.select(scores, bound, signed=True)  # released
            w = ball.step_toward(w, vertex, 2 / (t + 3) if curator.noiseless else 1 / (t + 2))
            used = _used(w, public.n_features)
            # Asked even if nothing has to go: the number of selections is fixed in advance.
            candidates = used if len(used) else np.zeros(1, dtype=int)
            bound = self._bound(loss, w, curator)
            missed = _missed(data, loss, w, candidates, bound)  # private
            least = candidates[curator.select(-missed, bound)]  # released
            if len(used) > n_keep:
                w[least] = 0
        return Solution(weights=w)

    def _bound(self, loss: Loss, w: np.ndarray, curator: Curator) -> float:
        bound = loss.residual_bound(w)
        return bound if curator.noiseless else min(bound, self.clip)


def _used(w: np.ndarray, n_features: int) -> np.ndarray:
    return np.flatnonzero(w[:n_features].reshape(n_features, -1).any(axis=1))


def _missed(
    data: Dataset, loss: Loss, w: np.ndarray, candidates: np.ndarray, bound: float
) -> np.ndarray:
    """How steeply the loss would fall along each candidate if it alone were screened (private)."""
    columns = data.columns(candidates)
    margins, weights = data.matvec(w), data.weights
    missed = np.empty(len(candidates))
    for i, feature in enumerate(candidates):
        x = columns[:, i]
        without = margins - np.multiply.outer(x, w[feature])
        residual = clipped(loss.residual(without, data.target), bound)
        missed[i] = np.abs(inner(x[:, None], weighed(residual, weights))).max()
    return missed
