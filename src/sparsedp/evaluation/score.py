"""A score with an interval that covers both sampling and noise (evaluation.md, section 3)."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

LEVEL = 0.95
"""How often an interval is to cover."""

LEAST_FREEDOM = 20.0
"""Of a noisy variance; where it is mostly noise, its positive part is too large as it is."""

FEWEST = 4.0
"""Degrees of freedom that a score has at least whose variance few records decide about."""

GUARD = 8.0
"""A total that is divided by must be so many standard deviations of its noise: ratios of noise are
not normal."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """An estimate and its 95 % interval.

    Parameters
    ----------
    value : float
        From the noisy table.
    lower, upper : float
        Of the interval: where the score of a model lies in the population that the records were
        drawn from, persons as units, in 95 of 100 evaluations.
    noise_share : float
        Part of the interval's squared width that is privacy noise; the rest is sampling.
    """

    value: float
    lower: float
    upper: float
    noise_share: float

    @classmethod
    def of(
        cls,
        value: float,
        table: np.ndarray,
        gradient: np.ndarray,
        squares: np.ndarray,
        variance: float,
        limits: tuple[float, float],
        rare: float = 0.0,
    ) -> "Score":
        """A smooth function of the table, with the interval of its linear part.

        Parameters
        ----------
        value : float
        table : ndarray
            Noisy.
        gradient : ndarray
            Of the function at the noisy table.
        squares : ndarray
            What a record in a cell adds to the variance by sampling.
        variance : float
            Of the noise in a cell.
        limits : (float, float)
            Between which the score lies whatever the records.
        rare : float
            Variance of the variance by sampling: large where few records decide about the score.
        """
        noise = variance * float(np.sum(gradient**2))
        sampling = max(float((table * squares).sum()), 0.0)
        total, wobble = sampling + noise, variance * float(np.sum(squares**2))
        # The variance is itself noisy: as many degrees of freedom as an estimate of that spread.
        few = max(wobble / (2 * total**2), 0.0) if total > 0 else 0.0
        sparse = max(rare / (2 * total**2), 0.0) if total > 0 else 0.0
        few, sparse = min(few, 1 / LEAST_FREEDOM), min(sparse, 1 / FEWEST)
        freedom = 1 / (few + sparse) if few + sparse > 0 else math.inf
        z = float(stdtrit(freedom, (1 + LEVEL) / 2))
        lower, upper = _ends(value, sampling, noise, z, limits)
        low, high = limits
        return cls(
            value=min(max(value, low), high),
            lower=min(max(lower, low), high),
            upper=max(min(upper, high), low),
            noise_share=noise / total if total > 0 else 0.0,
        )

    @classmethod
    def of_mean(
        cls,
        values: np.ndarray,
        table: np.ndarray,
        variance: float,
        limits: tuple[float, float] = (0.0, 1.0),
    ) -> "Score":
        """Mean of a value that each cell has, over the cells of ``table``."""
        total = float(table.sum())
        mean = float((table * values).sum()) / total
        gradient = (values - mean) / total
        return cls.of(mean, table, gradient, gradient**2, variance, limits)

    def to_dict(self) -> dict[str, float]:
        """Plain data, ready for JSON."""
        return dict(vars(self))


def _ends(
    value: float, sampling: float, noise: float, z: float, limits: tuple[float, float]
) -> tuple[float, float]:
    """All scores that are not too far from the estimate, each by its own variance (Wilson 1927).

    The variance by sampling falls towards the limits, as (score - low) (high - score) does.
    """
    low, high = limits
    if not (math.isfinite(low) and low < value < high):
        reach = z * math.sqrt(sampling + noise)
        return value - reach, value + reach
    # (value - x)^2 = z^2 (falls (x - low) (high - x) + noise), a quadratic in x.
    falls = sampling / ((value - low) * (high - value))
    square = 1 + z**2 * falls
    half = value + z**2 * falls * (low + high) / 2
    constant = value**2 + z**2 * (falls * low * high - noise)
    root = math.sqrt(max(half**2 - square * constant, 0.0))
    return (half - root) / square, (half + root) / square


NEAR = 2.0
"""Up to so many times the guard, noise may have decided whether a score is shown."""

LIFTED = (
    "Counts are close to what is refused as noise: scores that are shown may be those that noise "
    "lifted over that border, and their intervals cover less often than 95 times in 100"
)


def hint(table: np.ndarray, variance: float, *, by_class: bool) -> str | None:
    """What is to be said with scores that the guard may have selected by their noise."""
    parts = list(table) if by_class else [table]
    near = (drowned(part.sum() / NEAR, part.size, variance) for part in parts)
    return LIFTED if variance > 0 and any(near) else None


def drowned(total: float, cells: int, variance: float) -> bool:
    """Whether a total over so many cells may be noise: scores that divide by it are refused."""
    return not total > GUARD * math.sqrt(variance * cells)
