"""The candidates with the most votes, after Laplace noise on every number of votes.

*Proof.* solvers/wrappers/two_stage.md: one record changes one block's votes, of which at most
``count`` fall and ``count`` rise by one, under both neighbor relations. Laplace noise of scale
``2 count / epsilon`` on all numbers makes them, and whatever is read off them, pure.
"""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost
from sparsedp.privacy.events.laplace_selections import not_sound
from sparsedp.privacy.kind import Claim, Plan, Words
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts


@dataclass(frozen=True)
class VoteSelect:
    """Request for the ``count`` candidates with the most votes, each block voting for as many."""

    count: int
    fraction: float = 1.0
    name: str = "votes"

    @property
    def units(self) -> int:
        """Candidates."""
        return self.count

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> "LaplaceVotes":
        """The noise that the formula gives at this budget."""
        spent = self.fraction * epsilon
        return LaplaceVotes(2 * self.count / spent, self.count, spent)


@dataclass(frozen=True)
class LaplaceVotes:
    """``count`` candidates with the most votes after Laplace noise on every number of votes."""

    scale: float
    """In votes."""
    count: int
    epsilon: float

    stored_as: ClassVar[str] = "LaplaceVotes"
    costs: ClassVar[tuple[str, ...]] = ("epsilon",)

    def cost(self) -> Cost:
        """One pure release: all candidates are read off the same noisy votes."""
        return Cost(pure=((self.epsilon, 1),))

    def contradiction(self, claim: Claim) -> str | None:
        """A record that says "sound" has no published noise; nor do votes cost less than theirs."""
        if 2 * self.count > self.epsilon * self.scale * (1 + 1e-9):
            return "votes are said to cost less than their noise does"
        return not_sound(claim)

    def needed(self, public: PublicFacts) -> float:
        """A perfect feature is found with even odds when it has the noise times log d votes."""
        return self.scale * math.log(max(public.n_features, 2))

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="votes for features, Laplace noise (published formula)",
            count=self.count,
            cost=f"epsilon = {self.epsilon:.4g} together",
            meaning="noise on every feature's number of votes",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """Noise in votes."""
        return Plan(
            numbers={"noise": "votes"},
            lines=(
                f"{self.count} features with the most votes, epsilon = {self.epsilon:.4g}",
                f"Laplace noise of scale {self.scale:.4g} votes",
            ),
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}
