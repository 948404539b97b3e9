"""What a solver will ask for, stated before it sees data.

A schedule names the requests and how they share the budget; ``calibrate`` turns it into events.
"""

import math
from dataclasses import dataclass

from sparsedp.privacy.neighbors import Neighbors


@dataclass(frozen=True)
class Select:
    """Ask for ``count`` private selections.

    Parameters
    ----------
    count : int
        How many are paid for, at most.
    share : float, default=1.0
        Part of the budget, relative to the other ``Select`` and ``Perturb`` requests.
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

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise ValueError(
                f"{self.name}: count must be an integer of at least 1, got {self.count!r}"
            )
        if self.drawn is not None and self.drawn < self.count:
            raise ValueError(f"{self.name}: {self.count} selections pay for {self.drawn} only")
        _check_share(self.name, self.share)


@dataclass(frozen=True)
class Perturb:
    """Ask for Gaussian releases; how many share the budget may be decided later.

    Parameters
    ----------
    share : float, default=1.0
        Part of the budget, relative to the other ``Select`` and ``Perturb`` requests.
    name : str, default="perturb"
        How the ledger calls it; unique within a schedule.
    """

    share: float = 1.0
    name: str = "perturb"

    def __post_init__(self) -> None:
        _check_share(self.name, self.share)


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

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1:
            raise ValueError(
                f"{self.name}: fraction must lie strictly between 0 and 1, got {self.fraction!r}"
            )


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
        Part of the budget, relative to the other ``Select`` and ``Perturb`` requests.
    name : str, default="minimize"
        How the ledger calls it; unique within a schedule.
    """

    regularization: float | None
    shape: str
    neighbors: Neighbors
    n_outputs: int = 1
    share: float = 1.0
    name: str = "minimize"

    def __post_init__(self) -> None:
        _check_share(self.name, self.share)
        if self.regularization is not None:
            _check_regularization(self.name, self.regularization)


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
    """

    count: int
    fraction: float
    regularization: float | None
    shape: str
    neighbors: Neighbors
    n_outputs: int = 1
    name: str = "minimize"

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise ValueError(
                f"{self.name}: count must be an integer of at least 1, got {self.count!r}"
            )
        if not 0 < self.fraction <= 1:
            raise ValueError(
                f"{self.name}: fraction must lie between 0 and 1, got {self.fraction!r}"
            )
        if self.regularization is not None:
            _check_regularization(self.name, self.regularization)


Request = Select | Perturb | Count | Minimize | PureMinimize


def _check_regularization(name: str, regularization: float) -> None:
    if not (math.isfinite(regularization) and regularization > 0):
        raise ValueError(
            f"{name}: regularization must be a positive number, got {regularization!r}"
        )


def _check_share(name: str, share: float) -> None:
    if not (math.isfinite(share) and share > 0):
        raise ValueError(f"{name}: share must be a positive finite number, got {share!r}")


@dataclass(frozen=True)
class Schedule:
    """All that a solver will ask for, in order.

    Parameters
    ----------
    requests : tuple of requests
        Empty for a model that releases nothing private.
    """

    requests: tuple[Request, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "requests", tuple(self.requests))
        names = [request.name for request in self.requests]
        if len(set(names)) < len(names):
            raise ValueError(f"the names of the requests must be unique, got {names}")
        if self.counted >= 1 and len(self.requests) > 1:
            raise ValueError(f"the counts ask for {self.counted:g} of epsilon: leave a rest")

    @property
    def counted(self) -> float:
        """Part of epsilon that the counts and other pure requests take."""
        return math.fsum(r.fraction for r in self.requests if isinstance(r, Count | PureMinimize))

    @property
    def total_share(self) -> float:
        """Sum of the relative shares, by which each is divided."""
        return math.fsum(r.share for r in self.requests if not isinstance(r, Count | PureMinimize))
