"""The Gaussian part of the budget: releases, and how loud their noise is."""

from dataclasses import dataclass

import numpy as np

from sparsedp.mechanisms import Curator
from sparsedp.privacy import Sensitivity

REQUEST = "moments"
"""Name of the Gaussian request in the schedule."""


@dataclass(frozen=True)
class Moments:
    """The Gaussian part of a fit's budget.

    Parameters
    ----------
    curator : Curator
        The door.
    """

    curator: Curator

    def deviation(self, sensitivity: float | Sensitivity, share: float) -> float:
        """Standard deviation of the noise in a release with this share of the budget. Public."""
        return self.curator.noise_level(sensitivity, share=share, name=REQUEST)

    def release(
        self, values: np.ndarray, sensitivity: float | Sensitivity, share: float
    ) -> np.ndarray:
        """Release sums over records; see `Curator.perturb`."""
        return self.curator.perturb(values, sensitivity, share=share, name=REQUEST)
