"""Gaussian releases whose noise level is known beforehand, so that steps can be fitted to it."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.mechanisms import Curator
from sparsedp.privacy import Sensitivity

REQUEST = "moments"
"""Name of the Gaussian request in the schedule."""

PROBE = 1e-6
"""Share of the request that finding out the noise level costs."""

N_PROBES = 20_000


@dataclass(frozen=True)
class Moments:
    """The Gaussian part of a fit's budget.

    Parameters
    ----------
    curator : Curator
        The door.
    mu : float
        What the whole request is worth: a query of sensitivity 1 with share f of it gets noise of
        standard deviation ``1 / (mu * sqrt(f))``. Infinite without noise.
    """

    curator: Curator
    mu: float

    @classmethod
    def opened(cls, curator: Curator) -> "Moments":
        """Find out how loud the noise is, by asking for zeros.

        A solver knows neither epsilon nor sigma. Noise added to nothing shows it to within 0.5 %,
        and all rules that use it are insensitive to that much.
        """
        one = Sensitivity(add_remove=1.0, replace_one=1.0)
        noise = curator.perturb(np.zeros(N_PROBES), one, share=PROBE, name=REQUEST)  # released
        deviation = float(np.sqrt(np.mean(noise**2)))
        return cls(curator, 1 / (deviation * math.sqrt(PROBE)) if deviation > 0 else math.inf)

    def deviation(self, sensitivity: float | Sensitivity, share: float) -> float:
        """Standard deviation of the noise in a release with this share of the budget."""
        neighbors = self.curator.public.neighbors
        norm = Sensitivity.of_sum(sensitivity).under(neighbors)
        return norm / (self.mu * math.sqrt(share))

    def release(
        self, values: np.ndarray, sensitivity: float | Sensitivity, share: float
    ) -> np.ndarray:
        """Release sums over records; see `Curator.perturb`."""
        return self.curator.perturb(values, sensitivity, share=share, name=REQUEST)
