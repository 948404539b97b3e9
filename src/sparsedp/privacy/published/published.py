"""Noise as the papers print it: kept to reproduce them, accounted for what it really proves.

A published request fixes its noise by the paper's formula from (epsilon, delta). What that noise
guarantees is computed afterwards like for any other event, so a record can show the claim and the
proven figure side by side.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sparsedp.privacy.events import Gaussians, PureReleases
from sparsedp.privacy.neighbors import Neighbors, Sensitivity
from sparsedp.privacy.published.minima import KiferMinimize, VoteSelect, WangZhangMinimize


class UnprovenGuarantee(UserWarning):
    """A published calibration was used: the claimed guarantee is not proven."""


@dataclass(frozen=True)
class LaplaceSelections:
    """Selections by the largest of scores plus Laplace noise.

    Laplace noisy max is not bounded-range (its log-odds slope exceeds 1/scale when several
    candidates tie), so only its pure guarantee, ``epsilon0`` per selection, is counted.
    """

    scale: float
    """Noise scale in units of one record's largest contribution to a score, as the paper has it."""
    count: int
    epsilon0: float

    def proven(self) -> PureReleases:
        """What the accountant may count."""
        return PureReleases(self.epsilon0, self.count)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"event": "LaplaceSelections", **asdict(self)}


@dataclass(frozen=True)
class GaussianReleases:
    """Gaussian releases whose noise is ``multiplier`` times the sensitivity that a paper states."""

    multiplier: float
    count: int
    mu: float | None
    """What all of them together really cost; None if one record can change them without limit."""

    def proven(self) -> Gaussians | None:
        """What the accountant may count; None if nothing is proven."""
        return None if self.mu is None else Gaussians(self.mu)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"event": "GaussianReleases", **asdict(self)}


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
    reach : float
        What a record really adds to a score at most, in units of L.
    """

    count: int
    fraction: float = 1.0
    name: str = "select"
    delta_fraction: float = 1.0
    budgeted: int | None = None
    reach: float = 1.0

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> LaplaceSelections:
        """The noise that the paper's formula gives at this budget."""
        n_steps = self.count if self.budgeted is None else self.budgeted
        root = math.sqrt(8 * n_steps * math.log(1 / (self.delta_fraction * delta)))
        scale = root / (self.fraction * epsilon)
        moved = Sensitivity.of_scores(self.reach).under(neighbors)
        return LaplaceSelections(scale, self.count, moved / scale)


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

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> GaussianReleases:
        """The noise that the paper's formula gives at this budget."""
        multiplier = self.multiplier(self.fraction * epsilon, delta)
        mu = None
        if self.truth is not None:
            mu = math.sqrt(self.count) * self.truth.under(neighbors) / multiplier
        return GaussianReleases(multiplier, self.count, mu)


@dataclass(frozen=True)
class RoundedCount:
    """Request for the count of Khanna et al. (2024): rounding after noise, real clipping bounds.

    The noise is scaled to ``upper - lower`` while the rounded count can move by
    ``round(upper) - round(lower)``, which may be larger: the cost is what the latter gives.
    """

    fraction: float
    lower: float
    upper: float
    name: str = "count"
    count: int = 1

    def event(self, epsilon: float, delta: float, neighbors: Neighbors) -> PureReleases:
        """The cost of a count with noise for ``upper - lower``."""
        width = round(self.upper) - round(self.lower)
        return PureReleases(self.fraction * epsilon * width / (self.upper - self.lower))


PublishedRequest = (
    LaplaceSelect | GaussianPerturb | RoundedCount | VoteSelect | KiferMinimize | WangZhangMinimize
)


@dataclass(frozen=True)
class PublishedSchedule:
    """What a solver will ask for, with the noise of a paper."""

    requests: tuple[PublishedRequest, ...]


def at_fraction(request: PublishedRequest, fraction: float) -> PublishedRequest:
    """The same request, meant to cost only this part of epsilon."""
    return replace(request, fraction=request.fraction * fraction)
