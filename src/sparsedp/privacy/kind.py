"""What every kind of release says of itself, and every request that becomes one.

The kinds are in ``events/``, one file each. Whatever counts, plans, reports or reads releases knows
these protocols only.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from sparsedp.privacy.account.cost import Cost
from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts


@dataclass(frozen=True, kw_only=True)
class Words:
    """A release in the words of a report."""

    kind: str
    count: int | None
    cost: str
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A release before there are data: ``sparsedp plan`` shows the lines, its JSON has the numbers.

    ``numbers`` has the law of the noise ("noise") and, in units of what one record can add, its
    scale.
    """

    numbers: Plain
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """What a record states about all that it lists; a delta or a unit of None is not compared.

    ``rows_per_unit`` is how many rows of a person count, by the settings; None for all of them.
    """

    neighbors: str
    calibration: str
    delta: float | None = None
    unit: str | None = None
    rows_per_unit: int | None = 1


@dataclass(frozen=True)
class Scale:
    """The scale at which a whole schedule is tried (account/calibration.py).

    Parameters
    ----------
    mu : float
        Of everything that has a share, as if it were Gaussian.
    total_share : float
        By which each share is divided.
    epsilon : float
        The whole budget, of which pure requests take their fractions.
    rest : float
        What they leave.
    """

    mu: float
    total_share: float
    epsilon: float
    rest: float


class Listed(Protocol):
    """A group of releases that a record can list; see events/contract.md for the stored form."""

    stored_as: ClassVar[str]
    """Its name in files, for good."""
    costs: ClassVar[tuple[str, ...]]
    """Fields that are costs: beyond a limit they protect nobody, and no fit has them."""

    def cost(self) -> Cost:
        """What the accountant counts."""
        ...

    def contradiction(self, claim: Claim) -> str | None:
        """Why a record with this claim cannot list it; None if it can."""
        ...

    def words(self, neighbors: str) -> Words:
        """For the report."""
        ...

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        ...


class Event(Listed, Protocol):
    """A group of releases that a budget can hold."""

    def needed(self, public: PublicFacts) -> float:
        """Records below which its noise outweighs even a perfectly predictive feature."""
        ...

    def plan(self, public: PublicFacts) -> Plan:
        """What it will be, before there are data."""
        ...


class Named(Protocol):
    """A line of a schedule."""

    @property
    def name(self) -> str:
        """How record and ledger call it."""
        ...

    @property
    def units(self) -> int:
        """How many releases are to be made of it; a total that they share is one whole."""
        ...


class Request(Named, Protocol):
    """A line of a schedule whose noise is calibrated, and proven."""

    becomes: ClassVar[str]
    """Stored name of the event that it becomes."""

    @property
    def share(self) -> float:
        """Part of the (squared) budget, relative to the other requests; 0 if it is pure."""
        ...

    @property
    def fraction(self) -> float:
        """Part of epsilon that it takes with pure differential privacy; 0 if it has a share."""
        ...

    def at_scale(self, scale: Scale) -> Event:
        """What it buys at this scale."""
        ...

    def at_rho(self, rho: float) -> Event:
        """What it buys with this concentrated cost; ValueError if it has none."""
        ...


class PublishedRequest(Named, Protocol):
    """A line of a schedule with the noise that a paper's formula gives; a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def fraction(self) -> float:
        """Part of epsilon that it is meant to cost."""
        ...

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> Event:
        """The noise that the formula gives at this budget, and what it really costs."""
        ...


class NotTunable(ValueError):
    """A request without a concentrated cost was to be made within a private search."""

    def __init__(self, request: Named) -> None:
        super().__init__(
            f"a solver that asks for {type(request).__name__} cannot be tuned privately: "
            "only selections and Gaussian releases have the cost that the theorem needs"
        )
