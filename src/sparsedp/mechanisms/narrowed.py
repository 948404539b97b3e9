"""The same door with fewer features: for a solver that works on a released subset of them."""

from dataclasses import dataclass

import numpy as np

from sparsedp.mechanisms.curator import Curator, Objective
from sparsedp.mechanisms.walk.protocol import Walk
from sparsedp.privacy import PublicFacts, Sensitivity


@dataclass(frozen=True)
class NarrowedCurator:
    """Passes every question on; only the public facts are those of the subset."""

    curator: Curator
    public: PublicFacts

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact."""
        return self.curator.noiseless

    def select(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        *,
        signed: bool = False,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> int:
        """Release the number of a candidate with a high score."""
        return self.curator.select(scores, reach, signed=signed, excluded=excluded, name=name)

    def select_many(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        count: int,
        *,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> np.ndarray:
        """Release several candidates, best first."""
        return self.curator.select_many(scores, reach, count, excluded=excluded, name=name)

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """Release one vertex per step of a walk."""
        return self.curator.select_along(walk, count, name=name)

    def perturb(
        self,
        values: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        share: float = 1.0,
        name: str | None = None,
    ) -> np.ndarray:
        """Release an array with Gaussian noise."""
        return self.curator.perturb(values, sensitivity, share=share, name=name)

    def noise_level(
        self, sensitivity: float | Sensitivity, *, share: float = 1.0, name: str | None = None
    ) -> float:
        """Standard deviation of the noise that `perturb` would add."""
        return self.curator.noise_level(sensitivity, share=share, name=name)

    def count(self, value: int, lower: int, upper: int, *, name: str | None = None) -> int:
        """Release a whole number."""
        return self.curator.count(value, lower, upper, name=name)

    def minimize(self, objective: Objective, *, name: str | None = None) -> np.ndarray:
        """Release the minimum of a perturbed objective."""
        return self.curator.minimize(objective, name=name)

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """Assign records to blocks."""
        return self.curator.partition(n_records, n_blocks)
