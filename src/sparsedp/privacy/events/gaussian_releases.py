"""Gaussian releases with a paper's noise, each with the same.

*Proof.* account/accounting.md, section 1, for what a record really moves: the paper's noise is in
units of the sensitivity that it states, which need not be true. Where a record can move the query
without limit, nothing is proven.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import NOTHING_PROVEN, Cost, check_cost
from sparsedp.privacy.events.laplace_selections import not_sound
from sparsedp.privacy.kind import Claim, Plan, Words
from sparsedp.privacy.neighbors import Neighbors, Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts


@dataclass(frozen=True)
class GaussianPerturb:
    """Request for ``count`` Gaussian releases with a paper's noise.

    Parameters
    ----------
    count : int
        Releases.
    multiplier : callable
        The paper's formula: (epsilon, delta) to noise over stated sensitivity, for each release.
    truth : Sensitivity or None
        How far a record really moves the query, in units of the stated sensitivity; None if there
        is no limit.
    """

    count: int
    multiplier: Callable[[float, float], float]
    truth: Sensitivity | None
    name: str = "perturb"
    fraction: float = 1.0

    @property
    def units(self) -> int:
        """Releases."""
        return self.count

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> "GaussianReleases":
        """The noise that the paper's formula gives at this budget."""
        multiplier = self.multiplier(self.fraction * epsilon, delta)
        mu = None
        if self.truth is not None:
            mu = math.sqrt(self.count) * self.truth.under(neighbors) / multiplier
        return GaussianReleases(multiplier, self.count, mu)


@dataclass(frozen=True)
class GaussianReleases:
    """Gaussian releases whose noise is ``multiplier`` times the sensitivity that a paper states."""

    multiplier: float
    count: int
    mu: float | None
    """What all of them together really cost; None if one record can change them without limit."""

    stored_as: ClassVar[str] = "GaussianReleases"
    costs: ClassVar[tuple[str, ...]] = ("mu",)

    def cost(self) -> Cost:
        """One Gaussian release of mu."""
        if self.mu is None:
            return NOTHING_PROVEN
        check_cost("mu", self.mu)
        return Cost(mu=self.mu)

    def contradiction(self, claim: Claim) -> str | None:
        """A record that says "sound" has no published noise."""
        return not_sound(claim)

    def needed(self, public: PublicFacts) -> float:
        """A sum over records as long as the noise of all releases together."""
        return self.multiplier / math.sqrt(self.count) * math.sqrt(public.n_nonzero)

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="numbers with Gaussian noise (published formula)",
            count=self.count,
            cost="no limit is proven" if self.mu is None else f"mu = {self.mu:.4g} together",
            meaning=f"noise of {self.multiplier:.4g} times the sensitivity that the paper states",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """The noise of each release."""
        cost = "nothing is proven" if self.mu is None else f"mu = {self.mu:.4g} together"
        return Plan(
            numbers={"noise": "gaussian", "scale": self.multiplier},
            lines=(
                f"Gaussian releases, {cost}",
                f"each has noise of {self.multiplier:.4g}, in units of one record's contribution",
            ),
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}
