"""Steps, step size and sparsity of Wang and Gu (2019), Theorem 5.4, from declared numbers."""

import math
from dataclasses import dataclass

from sparsedp.privacy import PublicFacts
from sparsedp.solvers.planned import planned_budget, planned_records
from sparsedp.solvers.solver import check_positive_integer, check_size

THEORY = "theory"
"""In the place of a number: take the one that a paper's theorem names."""


@dataclass(frozen=True, kw_only=True)
class SparseTheory:
    """What Theorem 5.4 of Wang and Gu (2019) asks to be known; declared, never taken from records.

    With L and m the restricted smoothness and strong convexity of the mean loss, k = L / m, s* true
    features and weights w*, it takes steps of c1 / (L + m), keeps s = c2 k^2 s* features and makes
    T = c3 k log(rho n^2 m^2 ||w*||^2 / (k^2 G^2 s log d)) steps. The paper does not give its
    constants c1, c2, c3; here they are 1.

    Parameters
    ----------
    smoothness, strong_convexity : float
        Of the mean loss over sparse weights, L and m. 1 and 1/4 unless declared: k is then 4, and
        16 times the true features are kept.
    true_nonzero : int or None
        s*. None takes the estimator's number of features.
    weights_norm : float
        L2 norm of the true weights.
    lipschitz : float or None
        G. None takes what the solver clips to: its ``clip``, or the bound on a record's norm.
    n_records : int or None
        n. None takes the number of records where it is public; under add/remove declare one.
    step_constant, sparsity_constant, steps_constant : float
        c1, c2 and c3.

    Notes
    -----
    *Privacy.* Nothing here may be chosen by looking at the records; all of it is in the record.
    """

    smoothness: float = 1.0
    strong_convexity: float = 0.25
    true_nonzero: int | None = None
    weights_norm: float = 1.0
    lipschitz: float | None = None
    n_records: int | None = None
    step_constant: float = 1.0
    sparsity_constant: float = 1.0
    steps_constant: float = 1.0

    def __post_init__(self) -> None:
        for name in ("smoothness", "strong_convexity", "weights_norm"):
            check_size(name, getattr(self, name))
        for name in ("step_constant", "sparsity_constant", "steps_constant"):
            check_size(name, getattr(self, name))
        check_size("lipschitz", self.lipschitz, optional=True)
        for name in ("true_nonzero", "n_records"):
            if getattr(self, name) is not None:
                check_positive_integer(name, getattr(self, name))
        if self.strong_convexity > self.smoothness:
            raise ValueError(
                f"strong_convexity={self.strong_convexity:g} is more than "
                f"smoothness={self.smoothness:g}: no function is that"
            )

    @property
    def condition(self) -> float:
        """k, at least 1."""
        return self.smoothness / self.strong_convexity

    @property
    def step_size(self) -> float:
        """Of steps along the mean gradient."""
        return self.step_constant / (self.smoothness + self.strong_convexity)

    def n_nonzero(self, public: PublicFacts) -> int:
        """Features to keep, at most all."""
        true = public.n_nonzero if self.true_nonzero is None else self.true_nonzero
        asked = self.sparsity_constant * self.condition**2 * true
        return int(min(max(math.ceil(asked), 1), public.n_features))

    def n_steps(self, public: PublicFacts, n_nonzero: int, clip: float | None) -> int:
        """Gradients to release, at least one."""
        epsilon, delta = planned_budget(public)
        n = planned_records(public, self.n_records, "theory=SparseTheory(n_records=...)")
        bound = self.lipschitz or clip or _norm_bound(public)
        rho = zcdp_of(epsilon, delta)
        signal = math.sqrt(rho) * n * self.strong_convexity * self.weights_norm
        noise = self.condition * bound * math.sqrt(n_nonzero * math.log(max(public.n_features, 2)))
        steps = 2 * self.steps_constant * self.condition * math.log(signal / noise)
        return max(1, math.ceil(steps))


def zcdp_of(epsilon: float, delta: float) -> float:
    """The rho that the paper's Lemma 3.4 turns into (epsilon, delta)."""
    log = math.log(1 / delta)
    return (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2


def _norm_bound(public: PublicFacts) -> float:
    """On a record with its constant column: in the unit box, or as declared."""
    features = math.sqrt(public.n_features) if public.row_norm is None else public.row_norm
    return math.hypot(features, float(public.intercept))
