"""The door: the only way from private data to anything that leaves a solver.

A solver hands in exact (private) values with a declared sensitivity and never learns more than the
answer. :class:`NoisyCurator` guards a private fit, :class:`NoiselessCurator` a fit without privacy.
"""

from typing import Protocol

import numpy as np

from sparsedp.mechanisms.walk.protocol import Walk
from sparsedp.privacy import PublicFacts, Sensitivity

MINIMUM_TOLERANCE = 1e-6
"""How far from zero the gradient at a minimum may be, in units of one record's largest gradient;
half of it is for the computation to reach, the other half for rounding in sums over records, which
is below a third for as many records as the gate lets in (solvers/objective/objective.md)."""


class Objective(Protocol):
    """A strongly convex sum over records plus a public regularization, to be minimized."""

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of the weights. Public, like all properties."""
        ...

    @property
    def gradient_bound(self) -> float:
        """L2 bound on one record's gradient, at any weights."""
        ...

    @property
    def curvature(self) -> float:
        """Bound on the largest eigenvalue of the second derivative of one record's loss."""
        ...

    @property
    def regularization(self) -> float:
        """Curvature of the regularization where there is no noise to choose it."""
        ...

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """Sum of the records' gradients, without regularization (private)."""
        ...

    def minimum(self, linear: np.ndarray, regularization: float, tolerance: float) -> np.ndarray:
        """Weights (private) where a subgradient of the whole has at most the norm ``tolerance``.

        The whole is the sum over records, ``regularization / 2`` times the squared distance to
        a public point, any public convex penalty, and the product with ``linear``. Deterministic.
        """
        ...


class Curator(Protocol):
    """What a solver may ask."""

    @property
    def public(self) -> PublicFacts:
        """The facts that need no protection."""
        ...

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact: nothing needs to be bounded then."""
        ...

    def select(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        *,
        signed: bool = False,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> int:
        """Release the number of a candidate with a high score (one selection).

        Parameters
        ----------
        scores : ndarray of shape (d,)
            Private.
        reach : float or Sensitivity
            A float bounds one record's contribution to any score, in absolute value; a
            Sensitivity gives the range of the change over the candidates.
        signed : bool
            Choose among 2d candidates: ``j`` has ``scores[j]``, ``d + j`` has ``-scores[j]``.
        excluded : ndarray of int, optional
            Candidates (both signs) that may not be chosen; must be released or public.
        name : str, optional
            Which request of the schedule this belongs to, where there are several.
        """
        ...

    def select_many(
        self,
        scores: np.ndarray,
        reach: float | Sensitivity,
        count: int,
        *,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> np.ndarray:
        """Release ``count`` different candidates, best first; costs ``count`` selections."""
        ...

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """Release one vertex per step of a walk, ``count`` in all; costs ``count`` selections.

        The same as ``select`` on the walk's scores again and again, signed, each answer handed to
        ``walk.advance``; nothing but the answers comes back.
        """
        ...

    def perturb(
        self,
        values: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        share: float = 1.0,
        name: str | None = None,
    ) -> np.ndarray:
        """Release an array with Gaussian noise.

        ``sensitivity`` is in L2 norm; a float bounds the norm of one record's contribution.
        ``share`` is the part of the request's budget that this release uses.
        """
        ...

    def noise_level(
        self, sensitivity: float | Sensitivity, *, share: float = 1.0, name: str | None = None
    ) -> float:
        """Standard deviation of the noise that `perturb` would add; releases nothing.

        Public: it follows from schedule and budget alone. ``share`` may be anything above zero.
        Where ``name`` is a request for selections, the answer is the scale of the Gumbel noise
        that makes the same choices, and ``sensitivity`` is what `select` calls ``reach``.
        """
        ...

    def count(self, value: int, lower: int, upper: int, *, name: str | None = None) -> int:
        """Release a whole number, clipped to [lower, upper], with pure differential privacy."""
        ...

    def minimize(self, objective: Objective, *, name: str | None = None) -> np.ndarray:
        """Release the minimum of an objective to which a random linear term has been added."""
        ...

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """Assign each of n records to a block by an independent coin; nothing is released."""
        ...
