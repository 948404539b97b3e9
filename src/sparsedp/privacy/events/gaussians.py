"""Gaussian releases that share one total: how many, and their shares, may be decided on the way.

*Proof.* account/accounting.md, section 4 (the filter): as long as the squares of sensitivity over
noise add up to mu^2 on every path, the whole is no worse than one Gaussian release of mu, exactly
(Balle and Wang 2018). Concentrated cost mu^2 / 2: Bun and Steinke (2016).
"""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost, check_cost
from sparsedp.privacy.kind import Claim, Plan, Scale, Words
from sparsedp.privacy.neighbors import Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.schedule import check_share

ROUNDING = 1e-9
"""Shares of a request may add up to 1 plus this, as they are sums in floating point. Paid for by
all noise of the request: `Gaussians.mu_of` divides every share by 1 + ROUNDING, so that the squares
add up to mu^2 at most."""


@dataclass(frozen=True)
class Perturb:
    """Ask for Gaussian releases; how many share the budget may be decided later.

    Parameters
    ----------
    share : float, default=1.0
        Part of the budget, relative to the other requests that have a share.
    name : str, default="perturb"
        How the ledger calls it; unique within a schedule.
    """

    share: float = 1.0
    name: str = "perturb"

    becomes: ClassVar[str] = "Gaussians"

    def __post_init__(self) -> None:
        check_share(self.name, self.share)

    @property
    def fraction(self) -> float:
        """None of it is pure."""
        return 0.0

    @property
    def units(self) -> int:
        """The total is one whole."""
        return 1

    def at_scale(self, scale: Scale) -> "Gaussians":
        """Its part of mu^2."""
        return Gaussians(math.sqrt(self.share / scale.total_share) * scale.mu)

    def at_rho(self, rho: float) -> "Gaussians":
        """Gaussians of mu cost mu^2 / 2."""
        return Gaussians(math.sqrt(2 * rho))


@dataclass(frozen=True)
class Gaussians:
    """Any number of Gaussian releases that together cost at most ``mu``.

    Parameters
    ----------
    mu : float
        Bound on the root of the sum of (sensitivity / sigma)^2 over the releases, on every path;
        how many releases share it may depend on what was released before.
    """

    mu: float

    stored_as: ClassVar[str] = "Gaussians"
    costs: ClassVar[tuple[str, ...]] = ("mu",)

    def __post_init__(self) -> None:
        check_cost("mu", self.mu)

    def mu_of(self, share: float) -> float:
        """Sensitivity over noise of a release with this share of the total."""
        return self.mu * math.sqrt(share / (1 + ROUNDING))

    def cost(self) -> Cost:
        """One Gaussian release of mu."""
        return Cost(mu=self.mu)

    def contradiction(self, claim: Claim) -> str | None:
        """Any record may list them."""
        return None

    def needed(self, public: PublicFacts) -> float:
        """A sum over records as long as the noise in as many directions as there are weights."""
        moved = Sensitivity.of_sum(1.0).under(public.neighbors)
        return moved / self.mu * math.sqrt(public.n_nonzero)

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="numbers with Gaussian noise",
            count=None,
            cost=f"mu = {self.mu:.4g} together",
            meaning=f"like one release with noise of {1 / self.mu:.4g} times what one record can "
            "change",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """The noise of one release that takes all."""
        scale = Sensitivity.of_sum(1.0).under(public.neighbors) / self.mu
        return Plan(
            numbers={"noise": "gaussian", "scale": scale},
            lines=(
                f"Gaussian releases, mu = {self.mu:.4g} together",
                f"like one with noise of {scale:.4g}, in units of one record's contribution",
            ),
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}
