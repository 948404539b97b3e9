"""Selections by the largest score plus Laplace noise, with a paper's scale.

*Proof.* One selection is (moved / scale)-differentially private, where moved is the range over the
candidates of what a record changes. Laplace noisy max is not of bounded range: its log-odds slope
exceeds 1/scale when several candidates tie. So only the pure guarantee is counted.
"""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost
from sparsedp.privacy.events.selections import EULER, selection_lines
from sparsedp.privacy.kind import Claim, Plan, Words
from sparsedp.privacy.neighbors import Neighbors, Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts


@dataclass(frozen=True)
class LaplaceSelect:
    """Request for ``count`` selections with the noise of Talwar et al. (2015).

    The paper adds Laplace noise of scale ``radius * L * sqrt(8 T ln(1/delta)) / (n epsilon)`` to
    ``radius * gradient / n``; radius and n cancel, so in units of L the scale needs neither.

    Parameters
    ----------
    count : int
        Selections, T in the formula.
    fraction, delta_fraction : float
        Parts of epsilon and delta that these selections are meant to cost.
    budgeted : int or None
        T in the formula where a paper counts other steps than it takes; None for ``count``.
    sensitivity : float
        What a record really adds to a score at most, in units of L.
    """

    count: int
    fraction: float = 1.0
    name: str = "select"
    delta_fraction: float = 1.0
    budgeted: int | None = None
    sensitivity: float = 1.0

    @property
    def units(self) -> int:
        """Selections."""
        return self.count

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> "LaplaceSelections":
        """The noise that the paper's formula gives at this budget."""
        n_steps = self.count if self.budgeted is None else self.budgeted
        root = math.sqrt(8 * n_steps * math.log(1 / (self.delta_fraction * delta)))
        scale = root / (self.fraction * epsilon)
        moved = Sensitivity.of_scores(self.sensitivity).under(neighbors)
        return LaplaceSelections(scale, self.count, moved / scale)


@dataclass(frozen=True)
class LaplaceSelections:
    """Selections by the largest of scores plus Laplace noise, ``epsilon0`` each."""

    scale: float
    """Noise scale in units of one record's largest contribution to a score, as the paper has it."""
    count: int
    epsilon0: float

    stored_as: ClassVar[str] = "LaplaceSelections"
    costs: ClassVar[tuple[str, ...]] = ("epsilon0",)

    def cost(self) -> Cost:
        """Pure releases."""
        return Cost(pure=((self.epsilon0, self.count),))

    def contradiction(self, claim: Claim) -> str | None:
        """A record that says "sound" has no published noise."""
        return not_sound(claim)

    def needed(self, public: PublicFacts) -> float:
        """A perfect feature is found with even odds when it has the noise times log d records."""
        return self.scale * math.log(max(public.n_features, 2))

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="choice of the best candidate, Laplace noise (published formula)",
            count=self.count,
            cost=f"epsilon0 = {self.epsilon0:.4g} each",
            meaning=f"Laplace noise of {self.scale:.4g} times what one record can add to a score",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """Laplace noise, and how far it alone lifts a candidate."""
        floor = self.scale * (math.log(public.n_columns) + EULER)
        lines = selection_lines(self.count, self.epsilon0, "Laplace", self.scale, floor, public)
        return Plan(numbers={"noise": "laplace", "noise_floor": floor}, lines=lines)

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}


def not_sound(claim: Claim) -> str | None:
    """Why a record that says "sound" cannot list published noise."""
    if claim.calibration == "sound":
        return "noise of a published formula is listed, and the record says 'sound'"
    return None
