"""Minima of objectives with a linear term of density exp(-rate ||b||): pure differential privacy.

*Proof.* solvers/objective/objective.md, the pure variant: one minimum costs what the linear term
costs, rate times one (two if a record is replaced), plus the largest log-determinant of a record
or, for a person with any number of rows, the trace that bounds it, plus the Laplace noise that
covers its being inexact. They compose like all pure releases
(account/accounting.md, section 2).
"""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost, check_cost, check_count
from sparsedp.privacy.account.objective import ROUNDING, pure_determinant
from sparsedp.privacy.events.perturbed_minimum import check_regularization, linear_term
from sparsedp.privacy.kind import Claim, NotTunable, Plan, Scale, Words
from sparsedp.privacy.neighbors import Neighbors, Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.schedule import check_number

RATE_OF_RATIO = 4.0
"""Rate over gamma times ratio: a record's curvature is a quarter of its squared gradient there."""


@dataclass(frozen=True)
class PureMinimize:
    """Ask for ``count`` minima of perturbed objectives with pure differential privacy.

    Parameters
    ----------
    count : int
        How many.
    fraction : float
        All of them together are (fraction * epsilon)-differentially private; between 0 and 1.
    regularization, shape, neighbors, n_outputs, name
        As for ``Minimize``.
    rows_per_unit : int or None
        Most rows that the person who is protected can have, None for any number; 1 where a row is.
    gamma : float, optional
        Noise parameter of Wang and Zhang (2020), see :class:`WangZhangMinimize`: fixes how the
        cost of a minimum is divided between the linear term and the log-determinant.
    """

    count: int
    fraction: float
    regularization: float | None
    shape: str
    neighbors: Neighbors
    n_outputs: int = 1
    name: str = "minimize"
    rows_per_unit: int | None = 1
    gamma: float | None = None

    becomes: ClassVar[str] = "PureMinima"

    def __post_init__(self) -> None:
        check_number(self.name, self.count)
        if not 0 < self.fraction <= 1:
            raise ValueError(
                f"{self.name}: fraction must lie between 0 and 1, got {self.fraction!r}"
            )
        if self.regularization is not None:
            check_regularization(self.name, self.regularization)

    @property
    def share(self) -> float:
        """It takes a part of epsilon instead."""
        return 0.0

    @property
    def units(self) -> int:
        """Minima."""
        return self.count

    def at_scale(self, scale: Scale) -> "PureMinima":
        """What is left for the linear term once the log-determinant is paid for."""
        each = self.fraction * scale.epsilon / self.count
        moved = Sensitivity.of_sum(1.0).under(self.neighbors)
        if self.gamma is not None:
            ratio = self._ratio_by_gamma((1 - ROUNDING) * each, moved, self.gamma)
        elif self.regularization is None:
            ratio = each / (4 * max(1, self.n_outputs - 1))  # a quarter for the log-determinant
        else:
            ratio = 1 / self.regularization
        left = (1 - ROUNDING) * each - self._determinant(ratio)
        if left <= 0:
            raise ValueError(
                f"at epsilon={scale.epsilon:g} each of {self.count} minima may cost {each:g}, "
                f"which a regularization of {self.regularization:g} uses up: raise it above "
                f"{2 * self.n_outputs / each:.3g}, or take fewer steps"
            )
        return PureMinima(each, self.count, left / moved, ratio, ROUNDING * each)

    def _determinant(self, ratio: float) -> float:
        return pure_determinant(ratio, self.shape, self.n_outputs, self.rows_per_unit)

    def _ratio_by_gamma(self, cost: float, moved: float, gamma: float) -> float:
        """The largest ratio at which linear term and log-determinant cost no more than this."""
        low, high = 0.0, cost / (moved * gamma * RATE_OF_RATIO)
        for _ in range(100):
            ratio = (low + high) / 2
            if moved * gamma * RATE_OF_RATIO * ratio + self._determinant(ratio) <= cost:
                low = ratio
            else:
                high = ratio
        return low

    def at_rho(self, rho: float) -> "PureMinima":
        """Refused: it asks for a part of an epsilon."""
        raise NotTunable(self)


@dataclass(frozen=True)
class WangZhangMinimize:
    """Request for ``count`` perturbed minima with the noise of Wang and Zhang (2020).

    In the paper rows have norm one, the objective is a mean over n records with the quadratic
    (c / 2) ||w - ...||^2 and the linear term c b'w, b of density exp(-gamma ||b||), and one step
    costs epsilon1 = (8 gamma + 2.8) / (4 c n), which fixes c.
    """

    count: int
    gamma: float
    shape: str
    n_outputs: int = 1
    fraction: float = 1.0
    name: str = "minimize"

    @property
    def units(self) -> int:
        """Minima."""
        return self.count

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> "PureMinima":
        """The noise that the paper's formula gives at this budget, and what it really costs."""
        each = self.fraction * epsilon / self.count
        if each > 2:
            raise ValueError(
                "the paper asks for gamma <= c n - 7/20, here epsilon / n_steps <= 2: "
                f"take more steps than {epsilon / 2:g}"
            )
        regularization = (8 * self.gamma + 2.8) / (4 * each)  # c n
        ratio = 1 / (RATE_OF_RATIO * regularization)
        rate = self.gamma / regularization
        moved = Sensitivity.of_sum(1.0).under(neighbors)
        rounding = ROUNDING * each
        cost = moved * rate + pure_determinant(ratio, self.shape, self.n_outputs) + rounding
        return PureMinima(cost, self.count, rate, ratio, rounding)


@dataclass(frozen=True)
class PureMinima:
    """``count`` minima whose linear term b has a density proportional to exp(-rate * ||b||).

    Parameters
    ----------
    epsilon : float
        Pure cost of one minimum, all included.
    count : int
        How many there are.
    rate : float
        In units of one over the largest gradient of a record.
    ratio : float
        Largest curvature of one record's loss over the curvature of the regularization.
    rounding_epsilon : float
        The part of ``epsilon`` that covers an inexact minimum and floating point.
    """

    epsilon: float
    count: int
    rate: float
    ratio: float
    rounding_epsilon: float

    stored_as: ClassVar[str] = "PureMinima"
    costs: ClassVar[tuple[str, ...]] = ("epsilon", "rounding_epsilon")

    def __post_init__(self) -> None:
        for name in ("epsilon", "rate", "ratio", "rounding_epsilon"):
            check_cost(name, getattr(self, name))
        check_count(self.count)

    def cost(self) -> Cost:
        """Pure releases."""
        return Cost(pure=((self.epsilon, self.count),))

    def contradiction(self, claim: Claim) -> str | None:
        """A minimum costs what its linear term costs, and the log-determinant of any shape."""
        shift = 1 if claim.neighbors == "add_remove" else 2  # of the gradient, in its bounds
        determinant = pure_determinant(self.ratio, "any", 1, claim.rows_per_unit)
        least = shift * self.rate + determinant + self.rounding_epsilon
        if least > self.epsilon * (1 + 1e-9):  # both are sums in floating point
            return "a minimum is said to cost less than its noise does for these neighbors"
        return None

    def needed(self, public: PublicFacts) -> float:
        """A gradient as long as the linear term, whose length is about its dimension over rate."""
        size = public.n_columns * public.n_outputs
        return math.sqrt(size) / self.rate * math.sqrt(public.n_nonzero)

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="minima of objectives with a random linear term",
            count=self.count,
            cost=f"epsilon = {self.epsilon:.4g} each",
            meaning=f"linear term of typical length {1 / self.rate:.4g} per weight, in units of a "
            "record's gradient",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """The size of the linear term."""
        return linear_term(1 / self.rate)

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}
