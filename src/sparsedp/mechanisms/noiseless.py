"""The curator of a fit without privacy: exact answers."""

from collections.abc import Callable

import numpy as np

from sparsedp.mechanisms.curator import Objective
from sparsedp.mechanisms.walk.protocol import Walk, one_by_one
from sparsedp.privacy import PublicFacts, Sensitivity

TOLERANCE = 1e-8
"""How far from zero the gradient at a minimum may be, in units of one record's largest gradient."""


class NoiselessCurator:
    """Answers exactly. For ``epsilon=inf``, and inside a solver for values that it then protects.

    Nothing that comes out of it may be published as private.
    """

    noiseless = True

    def __init__(
        self, public: PublicFacts, on_release: Callable[[int], None] | None = None
    ) -> None:
        self.public = public
        self._on_release = on_release
        self._n_released = 0

    def select(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        *,
        signed: bool = False,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> int:
        """The best candidate."""
        self._n_released += 1
        if self._on_release is not None:
            self._on_release(self._n_released)
        ranked = np.abs(scores) if signed else np.array(scores, dtype=float)
        if excluded is not None:
            ranked[excluded] = -np.inf
        best = int(np.argmax(ranked))
        return best + len(scores) if signed and scores[best] < 0 else best

    def select_many(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        count: int,
        *,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> np.ndarray:
        """The ``count`` best candidates, best first."""
        ranked = np.array(scores, dtype=float)
        if excluded is not None:
            ranked[excluded] = -np.inf
        return np.argsort(-ranked, kind="stable")[:count]

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """The best vertex at every step."""
        return one_by_one(self, walk, count, name=name)

    def perturb(
        self,
        values: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        share: float = 1.0,
        name: str | None = None,
    ) -> np.ndarray:
        """The values as they are."""
        return np.array(values, dtype=float)

    def noise_level(
        self, sensitivity: float | Sensitivity, *, share: float = 1.0, name: str | None = None
    ) -> float:
        """There is none."""
        return 0.0

    def count(self, value: int, lower: int, upper: int, *, name: str | None = None) -> int:
        """The value, clipped."""
        return min(max(int(value), lower), upper)

    def minimize(self, objective: Objective, *, name: str | None = None) -> np.ndarray:
        """The minimum itself."""
        tolerance = TOLERANCE * objective.gradient_bound
        return objective.minimum(
            np.zeros(objective.weights_shape), objective.regularization, tolerance
        )

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """Blocks by position: without privacy there is nothing to keep secret."""
        return np.arange(n_records) % n_blocks
