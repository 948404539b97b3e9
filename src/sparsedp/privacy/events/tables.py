"""A table of counts with integer noise in every cell, with pure differential privacy.

What one record (or one person, all rows together) adds to the table are numbers that are not
negative and add up to at most one, in whole units of 2**-30.

*Proof.* Between neighbors the table then moves by at most one in L1 norm if someone is added or
removed, and by at most two if someone is replaced. Every cell gets discrete Laplace noise for that
whole distance, in the same units, so two neighbors' tables are exp(epsilon) apart at most:
evaluation/evaluation.md, section 1. It composes like all pure releases (account/accounting.md,
section 2).
"""

from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Cost, check_cost, check_count
from sparsedp.privacy.kind import Claim, NotTunable, Plan, Scale, Words
from sparsedp.privacy.neighbors import Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.schedule import check_number

MOVED = Sensitivity(add_remove=1, replace_one=2)
"""How far a table moves in L1 norm."""


@dataclass(frozen=True)
class Tabulate:
    """Ask for one table of counts with integer noise.

    Parameters
    ----------
    cells : int
        Of the table; public.
    fraction : float, default=1.0
        The table is (fraction * epsilon)-differentially private; above 0, at most 1.
    name : str, default="table"
        How the ledger calls it; unique within a schedule.
    """

    cells: int
    fraction: float = 1.0
    name: str = "table"

    becomes: ClassVar[str] = "LaplaceTable"

    def __post_init__(self) -> None:
        check_number(self.name, self.cells)
        if not 0 < self.fraction <= 1:
            raise ValueError(
                f"{self.name}: fraction must lie between 0 and 1, got {self.fraction!r}"
            )

    @property
    def share(self) -> float:
        """It takes a part of epsilon instead."""
        return 0.0

    @property
    def units(self) -> int:
        """One table."""
        return 1

    def at_scale(self, scale: Scale) -> "LaplaceTable":
        """What it asks for, whatever the scale."""
        return LaplaceTable(self.fraction * scale.epsilon, self.cells)

    def at_rho(self, rho: float) -> "LaplaceTable":
        """Refused: it asks for a part of an epsilon."""
        raise NotTunable(self)


@dataclass(frozen=True)
class LaplaceTable:
    """One table of counts that is ``epsilon``-differentially private, with delta zero.

    Parameters
    ----------
    epsilon : float
        Cost of the whole table.
    cells : int
        How many there are, each with noise of its own.
    """

    epsilon: float
    cells: int

    stored_as: ClassVar[str] = "LaplaceTable"
    costs: ClassVar[tuple[str, ...]] = ("epsilon",)

    def __post_init__(self) -> None:
        check_cost("epsilon", self.epsilon)
        check_count(self.cells)

    def cost(self) -> Cost:
        """One pure release: cells need not be paid one by one."""
        return Cost(pure=((self.epsilon, 1),))

    def contradiction(self, claim: Claim) -> str | None:
        """Any record may list it."""
        return None

    def needed(self, public: PublicFacts) -> float:
        """Tables are not about features."""
        return 0.0

    def words(self, neighbors: str) -> Words:
        """For the report."""
        moved = MOVED.add_remove if neighbors == "add_remove" else MOVED.replace_one
        return Words(
            kind=f"a table of {self.cells} counts with two-sided geometric noise",
            count=1,
            cost=f"epsilon = {self.epsilon:.4g} for the whole table",
            meaning=f"noise of {moved / self.epsilon:.4g} records in every cell",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """Geometric noise in every cell."""
        scale = MOVED.under(public.neighbors) / self.epsilon
        return Plan(
            numbers={"noise": "geometric", "scale": scale},
            lines=(
                f"1 table of {self.cells} counts, epsilon = {self.epsilon:.4g}",
                f"noise of {scale:.4g} records in every cell",
            ),
        )

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        return {"event": self.stored_as, **asdict(self)}
