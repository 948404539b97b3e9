"""A score with an interval that covers both sampling and noise (evaluation.md, section 3)."""

import math
from dataclasses import dataclass

import numpy as np

Z = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations."""

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
        gradient: np.ndarray,
        sampling: float,
        variance: float,
        limits: tuple[float, float],
    ) -> "Score":
        """A smooth function of the table, with the interval of its linear part.

        Parameters
        ----------
        value : float
        gradient : ndarray
            Of the function at the noisy table.
        sampling : float
            Estimated variance by sampling; below zero it counts as none.
        variance : float
            Of the noise in a cell.
        limits : (float, float)
            Between which the score lies whatever the records.
        """
        noise = variance * float(np.sum(gradient**2))
        total = max(sampling, 0.0) + noise
        reach = Z * math.sqrt(total)
        low, high = limits
        return cls(
            value=min(max(value, low), high),
            lower=min(max(value - reach, low), high),
            upper=max(min(value + reach, high), low),
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
        return cls.of(mean, gradient, float((table * gradient**2).sum()), variance, limits)

    def to_dict(self) -> dict[str, float]:
        """Plain data, ready for JSON."""
        return dict(vars(self))


def drowned(total: float, cells: int, variance: float) -> bool:
    """Whether a total over so many cells may be noise: scores that divide by it are refused."""
    return not total > GUARD * math.sqrt(variance * cells)
