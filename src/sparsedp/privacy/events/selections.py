"""Selections of bounded range: the exponential mechanism, one after another.

*Proof.* account/accounting.md, sections 3 and 5: a selection with scores whose changes have a
range of r, made with weights exp(epsilon0 score / r), has a privacy loss in an interval of length
epsilon0; compositions in a fixed order are an exact dynamic program. Concentrated cost
epsilon0^2 / 8 each: Cesar and Rogers (2021).
"""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost, check_cost, check_count
from sparsedp.privacy.kind import Claim, Plan, Scale, Words
from sparsedp.privacy.neighbors import Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.schedule import check_number, check_share

EULER = 0.5772156649015329
"""Mean of a Gumbel variable; by so much the largest of many lies above the logarithm."""


@dataclass(frozen=True)
class Select:
    """Ask for ``count`` private selections.

    Parameters
    ----------
    count : int
        How many are paid for, at most.
    share : float, default=1.0
        Part of the budget, relative to the other requests that have a share.
    name : str, default="select"
        How the ledger calls it; unique within a schedule.
    drawn : int, optional
        How many are made, where several that see the same released values cost no more than
        fewer do, since one record cannot move all of them in full. The solver's note proves it
        (accounting.md, section 3, has the condition). By default ``count``.
    """

    count: int
    share: float = 1.0
    name: str = "select"
    drawn: int | None = None

    becomes: ClassVar[str] = "Selections"

    def __post_init__(self) -> None:
        check_number(self.name, self.count)
        if self.drawn is not None and self.drawn < self.count:
            raise ValueError(f"{self.name}: {self.count} selections pay for {self.drawn} only")
        check_share(self.name, self.share)

    @property
    def fraction(self) -> float:
        """None of it is pure."""
        return 0.0

    @property
    def units(self) -> int:
        """Selections to be made."""
        return self.drawn or self.count

    def at_scale(self, scale: Scale) -> "Selections":
        """Their privacy loss has the same variance as that of a Gaussian of this part of mu."""
        part = self.share / scale.total_share
        return Selections(2 * math.sqrt(part / self.count) * scale.mu, self.count)

    def at_rho(self, rho: float) -> "Selections":
        """``count`` selections of epsilon0 cost count * epsilon0^2 / 8."""
        return Selections(math.sqrt(8 * rho / self.count), self.count)


@dataclass(frozen=True)
class Selections:
    """``count`` selections, one after another, each ``epsilon0``-bounded-range.

    Parameters
    ----------
    epsilon0 : float
        Length of the interval in which the privacy loss of one selection lies, whatever came
        before (exponential mechanism, or report-noisy-max with Gumbel noise).
    count : int
        How many there are; stopping earlier costs no more.
    """

    epsilon0: float
    count: int

    stored_as: ClassVar[str] = "Selections"
    costs: ClassVar[tuple[str, ...]] = ("epsilon0",)

    def __post_init__(self) -> None:
        check_cost("epsilon0", self.epsilon0)
        check_count(self.count)

    def cost(self) -> Cost:
        """Selections, in order."""
        return Cost(selections=((self.epsilon0, self.count),))

    def contradiction(self, claim: Claim) -> str | None:
        """Any record may list them."""
        return None

    def needed(self, public: PublicFacts) -> float:
        """A perfect feature is found with even odds when it has the noise times log d records."""
        score_range = Sensitivity.of_scores(1.0).under(public.neighbors)
        return score_range / self.epsilon0 * math.log(max(public.n_features, 2))

    def words(self, neighbors: str) -> Words:
        """For the report."""
        noise = (2 if neighbors == "add_remove" else 4) / self.epsilon0
        return Words(
            kind="choice of the best candidate, exponential mechanism",
            count=self.count,
            cost=f"epsilon0 = {self.epsilon0:.4g} each",
            meaning=f"like Gumbel noise of {noise:.4g} times what one record can add to a score",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """Gumbel noise, and how far it alone lifts a candidate."""
        scale = Sensitivity.of_scores(1.0).under(public.neighbors) / self.epsilon0
        floor = scale * (math.log(2 * public.n_columns) + EULER)
        return Plan(
            numbers={"noise": "gumbel", "scale": scale, "noise_floor": floor},
            lines=selection_lines(self.count, self.epsilon0, "Gumbel", scale, floor, public),
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}


def selection_lines(
    count: int, epsilon0: float, law: str, scale: float, floor: float, public: PublicFacts
) -> tuple[str, ...]:
    """How ``sparsedp plan`` describes selections with noise on every score."""
    return (
        f"{count} selections, epsilon0 = {epsilon0:.4g} each",
        f"{law} noise of scale {scale:.4g}, in units of what one record can add to a score",
        f"alone it lifts one of {2 * public.n_columns} candidates to about {floor:.4g}: what is "
        "to be found needs more records",
    )
