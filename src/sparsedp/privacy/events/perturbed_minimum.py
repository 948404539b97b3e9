"""The minimum of an objective with a Gaussian linear term (objective perturbation).

*Proof.* solvers/objective/objective.md: the privacy loss of the exact minimum is a log-determinant
plus that of a Gaussian shift, bounded by a discrete loss (account/objective.py) that composes with
all others; Gaussian noise of its own covers that the minimum is inexact. No concentrated cost is
known for it.
"""

import math
from dataclasses import asdict, dataclass
from typing import ClassVar

from sparsedp.privacy.account.cost import Atoms, Cost, check_cost
from sparsedp.privacy.account.objective import ROUNDING, minimum_atoms, pure_determinant
from sparsedp.privacy.kind import Claim, NotTunable, Plan, Scale, Words
from sparsedp.privacy.neighbors import Neighbors, Sensitivity
from sparsedp.privacy.plain import Plain
from sparsedp.privacy.public import PublicFacts
from sparsedp.privacy.schedule import check_share

KIFER_RATIO = 0.5
"""Kifer et al. (2012): the largest curvature of a record over the regularization, per epsilon."""

MOST_ROWS = 1_000_000
"""Of a person: what more of them would cost has never been compared with anything."""


@dataclass(frozen=True)
class Minimize:
    """Ask for one minimum of a perturbed objective, with a Gaussian linear term.

    Parameters
    ----------
    regularization : float or None
        Curvature of the regularization over the largest curvature of one record's loss. None
        takes as little as costs next to nothing, which depends on epsilon.
    shape : {"logistic", "log_cosh", "any", "multinomial"}
        Of the loss, see :class:`PerturbedMinimum`.
    neighbors : {"add_remove", "replace_one"}
        The relation that is accounted for.
    n_outputs : int
        Classes of a multinomial loss.
    share : float, default=1.0
        Part of the budget, relative to the other requests that have a share.
    name : str, default="minimize"
        How the ledger calls it; unique within a schedule.
    rows_per_unit : int, default=1
        Most rows that the person who is protected can have; 1 where a row is.
    ratio_of_epsilon : float, optional
        One over ``regularization`` as a part of the request's epsilon, as a paper may have it.
    """

    regularization: float | None
    shape: str
    neighbors: Neighbors
    n_outputs: int = 1
    share: float = 1.0
    name: str = "minimize"
    rows_per_unit: int = 1
    ratio_of_epsilon: float | None = None

    becomes: ClassVar[str] = "PerturbedMinimum"

    def __post_init__(self) -> None:
        check_share(self.name, self.share)
        check_rows(self.rows_per_unit)
        if self.regularization is not None:
            check_regularization(self.name, self.regularization)

    @property
    def fraction(self) -> float:
        """None of it is pure."""
        return 0.0

    @property
    def units(self) -> int:
        """One minimum."""
        return 1

    def at_scale(self, scale: Scale) -> "PerturbedMinimum":
        """The linear term gets its part of mu; the regularization may have been left to us."""
        part = math.sqrt(self.share / scale.total_share)
        rest, shape, n_outputs, rows = scale.rest, self.shape, self.n_outputs, self.rows_per_unit
        if self.ratio_of_epsilon is not None:
            ratio = self.ratio_of_epsilon * self.share / scale.total_share * rest
        elif self.regularization is None:
            # Under add/remove a curvature that vanishes with the largest gradient costs nothing up
            # to about a quarter of epsilon (objective.md); otherwise it costs what it is.
            joint = self.neighbors == "add_remove" and shape != "multinomial"
            ratio = part * rest / (4 if joint else 10)
            if shape == "multinomial":
                ratio *= n_outputs / (2 * (n_outputs - 1))
        else:
            ratio = 1 / self.regularization
        if pure_determinant(ratio, shape, n_outputs, rows) > 0.9 * rest:
            enough = n_outputs / math.expm1(rest) if rows == 1 else min(n_outputs, 2) / rest
            raise ValueError(
                f"regularization={self.regularization} is too little for epsilon={rest:g}: no "
                f"noise is enough. Take None, or more than {1.2 * enough:.3g}"
            )
        mu, rounding = part * scale.mu, ROUNDING * part * scale.mu
        return PerturbedMinimum(mu, ratio, shape, self.neighbors, rounding, n_outputs, rows)

    def at_rho(self, rho: float) -> "PerturbedMinimum":
        """Refused: no concentrated cost is known."""
        raise NotTunable(self)


@dataclass(frozen=True)
class KiferMinimize:
    """Request for one perturbed minimum with the noise of Kifer et al. (2012).

    The linear term has variance xi^2 (8 ln(2 / delta) + 4 epsilon) / epsilon^2, with xi the largest
    gradient of a record, and the regularization is twice the largest curvature over epsilon. The
    paper takes the exact minimum; here rounding noise makes up for an inexact one, and is counted.
    """

    shape: str
    n_outputs: int = 1
    fraction: float = 1.0
    name: str = "minimize"
    count: int = 1

    @property
    def units(self) -> int:
        """One minimum."""
        return self.count

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> "PerturbedMinimum":
        """The noise that the paper's formula gives at this budget."""
        spent = self.fraction * epsilon
        multiplier = math.sqrt(8 * math.log(2 / delta) + 4 * spent) / spent
        mu = (1 if neighbors == "add_remove" else 2) / multiplier
        ratio = KIFER_RATIO * spent
        return PerturbedMinimum(mu, ratio, self.shape, neighbors, ROUNDING * mu, self.n_outputs)


@dataclass(frozen=True)
class PerturbedMinimum:
    """The minimum of an objective with a random linear term (objective perturbation).

    Parameters
    ----------
    mu : float
        How far one record can move the gradient, in L2 norm, over the standard deviation of the
        linear term's entries.
    ratio : float
        Largest curvature of one record's loss over the curvature of the regularization.
    shape : {"logistic", "log_cosh", "any", "multinomial"}
        How a record's curvature and gradient go together; "any" covers the first two.
    neighbors : {"add_remove", "replace_one"}
        What ``mu`` was counted for: here the relation changes more than a factor.
    rounding_mu : float
        Cost of the Gaussian noise that covers an inexact minimum and floating point.
    n_outputs : int
        Classes of a multinomial loss.
    rows_per_unit : int
        Most rows with which a person, whose weights add up to at most one, can enter. 1, and not
        stored, where a row is protected or one row of each person.
    """

    mu: float
    ratio: float
    shape: str
    neighbors: str
    rounding_mu: float
    n_outputs: int = 1
    rows_per_unit: int = 1

    stored_as: ClassVar[str] = "PerturbedMinimum"
    costs: ClassVar[tuple[str, ...]] = ("mu", "rounding_mu")

    def __post_init__(self) -> None:
        for name in ("mu", "ratio", "rounding_mu"):
            check_cost(name, getattr(self, name))
        if self.shape not in ("logistic", "log_cosh", "any", "multinomial"):
            raise ValueError(f"unknown shape of a loss: {self.shape!r}")
        if (self.shape == "multinomial") != (self.n_outputs > 1):
            raise ValueError(f"{self.shape} does not go with {self.n_outputs} outputs")
        check_rows(self.rows_per_unit)

    def atoms(self, tail: float) -> Atoms:
        """Privacy loss of the exact minimum."""
        return minimum_atoms(self, tail)

    def cost(self) -> Cost:
        """The loss of the exact minimum, and the Gaussian noise that covers its being inexact."""
        return Cost(losses=(self,), mu=self.rounding_mu)

    def contradiction(self, claim: Claim) -> str | None:
        """It holds for one neighbor relation only, and for so many rows of a person."""
        if self.neighbors != claim.neighbors:
            return "a minimum was counted for other neighbors than the record states"
        if claim.unit is not None and self.rows_per_unit != claim.rows_per_unit:
            return (
                "a minimum was counted for another number of rows of a person than the settings say"
            )
        return None

    def needed(self, public: PublicFacts) -> float:
        """A gradient as long as the linear term in as many directions as there are weights."""
        moved = Sensitivity.of_sum(1.0).under(public.neighbors)
        return moved / self.mu * math.sqrt(public.n_nonzero)

    def words(self, neighbors: str) -> Words:
        """For the report."""
        return Words(
            kind="minimum of an objective with a Gaussian linear term",
            count=None,
            cost=f"mu = {self.mu:.4g}, curvature ratio {self.ratio:.4g}",
            meaning=f"linear term with noise of {1 / self.mu:.4g} times what one "
            f"{'record' if self.rows_per_unit == 1 else 'person'} can add to the gradient",
        )

    def plan(self, public: PublicFacts) -> Plan:
        """The size of the linear term."""
        return linear_term(1 / self.mu)

    def to_dict(self) -> Plain:
        """Plain data, ready for JSON."""
        stored = {"event": self.stored_as, **asdict(self)}
        if self.rows_per_unit == 1:
            del stored["rows_per_unit"]  # files of before there were people mean this
        return stored


def linear_term(scale: float) -> Plan:
    """How ``sparsedp plan`` describes a perturbed minimum."""
    return Plan(
        numbers={"noise": "linear", "scale": scale},
        lines=(
            "minimum of an objective with a random linear term",
            f"of size {scale:.4g}, in units of one record's gradient",
        ),
    )


def check_regularization(name: str, regularization: float) -> None:
    """Raise unless this is the curvature of a regularization."""
    if not (math.isfinite(regularization) and regularization > 0):
        raise ValueError(
            f"{name}: regularization must be a positive number, got {regularization!r}"
        )


def check_rows(rows_per_unit: int) -> None:
    """Raise unless a unit of protection can have this many rows."""
    if isinstance(rows_per_unit, bool) or not isinstance(rows_per_unit, int):
        raise ValueError(f"rows of a person must be a whole number, got {rows_per_unit!r}")
    if not 1 <= rows_per_unit <= MOST_ROWS:
        raise ValueError(f"rows of a person must be from 1 to {MOST_ROWS:,}, got {rows_per_unit}")
