"""Published noise of methods that perturb an objective or count votes."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from sparsedp.privacy.account.objective import ROUNDING, pure_determinant
from sparsedp.privacy.events import PerturbedMinimum, PureMinima, PureReleases
from sparsedp.privacy.neighbors import Neighbors


@dataclass(frozen=True)
class LaplaceVotes:
    """``count`` candidates with the most votes after Laplace noise on every number of votes."""

    scale: float
    """In votes."""
    count: int
    epsilon: float

    def proven(self) -> PureReleases:
        """What the accountant may count."""
        return PureReleases(self.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"event": "LaplaceVotes", **asdict(self)}


@dataclass(frozen=True)
class VoteSelect:
    """Request for the ``count`` candidates with the most votes, each block voting for as many.

    One record changes one block's votes: at most ``count`` fall and ``count`` rise by one, so that
    Laplace noise of scale ``2 count / epsilon`` on all numbers of votes is enough, under both
    neighbor relations.
    """

    count: int
    fraction: float = 1.0
    name: str = "votes"

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> LaplaceVotes:
        """The noise that the formula gives at this budget."""
        spent = self.fraction * epsilon
        return LaplaceVotes(2 * self.count / spent, self.count, spent)


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

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> PerturbedMinimum:
        """The noise that the paper's formula gives at this budget."""
        spent = self.fraction * epsilon
        multiplier = math.sqrt(8 * math.log(2 / delta) + 4 * spent) / spent
        mu = (1 if neighbors == "add_remove" else 2) / multiplier
        return PerturbedMinimum(mu, spent / 2, self.shape, neighbors, ROUNDING * mu, self.n_outputs)


@dataclass(frozen=True)
class WangZhangMinimize:
    """Request for ``count`` perturbed minima with the noise of Wang and Zhang (2020).

    In the paper rows have norm one, the objective is a mean over n records with the quadratic
    (c / 2) ||w - ...||^2 and the linear term c b'w, b of density exp(-gamma ||b||), and one step
    costs epsilon1 = (8 gamma + 2.8) / (4 c n), which fixes c.
    """

    count: int
    gamma: float
    shape: str
    n_outputs: int = 1
    fraction: float = 1.0
    name: str = "minimize"

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> PureMinima:
        """The noise that the paper's formula gives at this budget, and what it really costs."""
        each = self.fraction * epsilon / self.count
        if each > 2:
            raise ValueError(
                "the paper asks for gamma <= c n - 7/20, here epsilon / n_steps <= 2: "
                f"take more steps than {epsilon / 2:g}"
            )
        regularization = (8 * self.gamma + 2.8) / (4 * each)  # c n
        ratio = 0.25 / regularization
        rate = self.gamma / regularization
        reach = 1 if neighbors == "add_remove" else 2
        rounding = ROUNDING * each
        cost = reach * rate + pure_determinant(ratio, self.shape, self.n_outputs) + rounding
        return PureMinima(cost, self.count, rate, ratio, rounding)
