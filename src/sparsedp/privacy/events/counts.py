"""Whole numbers with integer noise, with pure differential privacy.

*Proof.* account/accounting.md, section 2: discrete Laplace noise for the width of a public range,
to which the number is clipped. Worst case of pure releases: randomized response (Kairouz, Oh and
Viswanath 2015). Concentrated cost epsilon^2 / 2 each: Bun and Steinke (2016).
"""

from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost, check_cost, check_count
from sparsedp.privacy.kind import Claim, NotTunable, Plan, Scale, Words
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts


@dataclass(frozen=True)
class Count:
    """Ask for one count with integer noise.

    Parameters
    ----------
    fraction : float
        The count is (fraction * epsilon)-differentially private; between 0 and 1.
    name : str, default="count"
        How the ledger calls it; unique within a schedule.
    """

    fraction: float
    name: str = "count"

    becomes: ClassVar[str] = "PureReleases"

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1:
            raise ValueError(
                f"{self.name}: fraction must lie strictly between 0 and 1, got {self.fraction!r}"
            )

    @property
    def share(self) -> float:
        """It takes a part of epsilon instead."""
        return 0.0

    @property
    def units(self) -> int:
        """One number."""
        return 1

    def at_scale(self, scale: Scale) -> "PureReleases":
        """What it asks for, whatever the scale."""
        return PureReleases(self.fraction * scale.epsilon)

    def at_rho(self, rho: float) -> "PureReleases":
        """Refused: it asks for a part of an epsilon."""
        raise NotTunable(self)


@dataclass(frozen=True)
class RoundedCount:
    """Request for the count of Khanna et al. (2024): rounding after noise, real clipping bounds.

    The noise is scaled to ``upper - lower`` while the rounded count can move by
    ``round(upper) - round(lower)``, which may be larger: the cost is what the latter gives.
    """

    fraction: float
    lower: float
    upper: float
    name: str = "count"
    count: int = 1

    @property
    def units(self) -> int:
        """One number."""
        return self.count

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> "PureReleases":
        """The cost of a count with noise for ``upper - lower``."""
        width = round(self.upper) - round(self.lower)
        return PureReleases(self.fraction * epsilon * width / (self.upper - self.lower))


@dataclass(frozen=True)
class PureReleases:
    """``count`` releases, each ``epsilon``-differentially private with delta zero.

    Parameters
    ----------
    epsilon : float
        Cost of one release.
    count : int, default=1
        How many there are.
    """

    epsilon: float
    count: int = 1

    stored_as: ClassVar[str] = "PureReleases"
    costs: ClassVar[tuple[str, ...]] = ("epsilon",)

    def __post_init__(self) -> None:
        check_cost("epsilon", self.epsilon)
        check_count(self.count)

    def cost(self) -> Cost:
        """Pure releases."""
        return Cost(pure=((self.epsilon, self.count),))

    def contradiction(self, claim: Claim) -> str | None:
        """Any record may list them."""
        return None

    def needed(self, public: PublicFacts) -> float:
        """Counts are not about features."""
        return 0.0

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="a whole number with two-sided geometric noise",
            count=self.count,
            cost=f"epsilon = {self.epsilon:.4g} each",
            meaning=f"noise of {1 / self.epsilon:.4g} times the width of its public range",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """Geometric noise, over the width of the range."""
        scale = 1 / self.epsilon
        return Plan(
            numbers={"noise": "geometric", "scale": scale},
            lines=(
                f"{self.count} count, epsilon = {self.epsilon:.4g}",
                f"noise of {scale:.4g} times the width of its public range",
            ),
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}
