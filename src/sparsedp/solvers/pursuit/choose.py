"""How Pursuit chooses features: by the exponential mechanism, by a noisy gradient, not at all."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.mechanisms import Curator
from sparsedp.solvers.pursuit.gradient import ReleasedGradient, heaviest
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.plan import Plan
from sparsedp.solvers.pursuit.step import ActiveSet


@dataclass
class Chooser:
    """Chooses among the features that are not chosen yet.

    Parameters
    ----------
    plan : Plan
    curator : Curator
    share : float
        Of the Gaussian budget, for one round: of noisy gradients, where the plan goes by rows.
    noise : float
        Of one selection, if a record adds at most 1 to a score.
    n_features : int
    """

    plan: Plan
    curator: Curator
    share: float
    noise: float
    n_features: int
    released: ReleasedGradient | None = None

    def choose(self, active: ActiveSet, count: int, centering: float) -> np.ndarray:
        """Release the numbers of some features.

        Parameters
        ----------
        active : ActiveSet
            Those that are chosen already.
        count : int
        centering : float
            Share for the center of the residuals, where the response needs one.
        """
        if self.plan.takes_all:
            return np.arange(self.n_features)
        gradient, norm = active.selection_gradient(centering)  # private, released
        if self.plan.by_rows:
            return self._by_gradient(gradient, norm, active.features, count)
        # A public head start moves no score between neighbors.
        ahead = self.plan.prior * self.noise * norm
        scores = active.scores(gradient, norm) + ahead  # private
        return self.curator.select_many(  # released
            scores, norm, count, excluded=active.features, name="features"
        )

    def _by_gradient(
        self, gradient: np.ndarray, norm: float, excluded: np.ndarray, count: int
    ) -> np.ndarray:
        """The heaviest entries of the gradient as a whole, with noise."""
        sensitivity, moments = norm * self.plan.row_length, Moments(self.curator)
        noisy = moments.release(gradient, sensitivity, self.share)  # released
        fresh = ReleasedGradient(noisy, moments.deviation(sensitivity, self.share))
        self.released = fresh.after(self.released, excluded, count)
        # The same odds as of selections, where the largest of d Gaussians competes.
        log_d = math.log(max(self.n_features, 3))
        ahead = self.plan.prior * self.released.noise / math.sqrt(2 * log_d)
        heights = np.linalg.norm(self.released.values, axis=1) + ahead
        return heaviest(heights, excluded, count)
