"""Quality as a band: what is promised, what is likely, and where a guess of the ceiling enters."""

import math
from dataclasses import asdict, dataclass

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import ndtri

from sparsedp.planning.facts import Facts
from sparsedp.planning.law import LEVELS, Curves

N_GUESSES = 15
"""Ceilings that a range stands for."""

FEWEST, MOST = 20.0, 1e11
"""Between which a number of records is looked for."""

LOSSES = (0.05, 0.02, 0.01)
"""Of quality, for which records are counted."""

NOTHING, NEARLY = 0.1, 0.02
"""A model that keeps less than this part of what is possible in the middle of its band, or is
better than guessing by less than the second number, is as good as guessing."""


@dataclass(frozen=True)
class Band:
    """Quantiles of quality over data sets and noise: 5, 25, 50, 75 and 95 %."""

    at_least: float
    low: float
    expected: float
    high: float
    at_most: float

    def to_dict(self) -> dict[str, float]:
        """Rounded to what is meant."""
        return {name: round(value, 4) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Ceiling:
    """What a good model without privacy would reach: a range that holds in nine of ten cases."""

    low: float
    high: float

    @classmethod
    def of(cls, given: "float | tuple[float, float]", facts: Facts) -> "Ceiling":
        """Check a guess, which may be one number."""
        low, high = (given, given) if isinstance(given, int | float) else given
        if not (facts.null < low <= high <= 1):
            raise ValueError(
                f"ceiling must be a range of {facts.metric} above {facts.null:g} (which is "
                "guessing) and up to 1, such as (0.80, 0.88): what a good model without privacy "
                "reaches"
            )
        return cls(float(low), float(high))

    @property
    def middle(self) -> float:
        """Of the range."""
        return (self.low + self.high) / 2

    def guesses(self, facts: Facts) -> np.ndarray:
        """Equally likely values of a normal guess with this range."""
        if self.low == self.high:
            return np.array([self.low])
        z = ndtri((np.arange(N_GUESSES) + 0.5) / N_GUESSES)
        deviation = (self.high - self.low) / (2 * ndtri(0.95))
        least = facts.null + 0.1 * (self.low - facts.null)
        return np.clip(self.middle + deviation * z, least, 1.0)


def band(law: Curves, facts: Facts, ceiling: Ceiling) -> Band:
    """Quality to expect: the law's bands of all guesses, mixed."""
    found = law.band(facts, ceiling.guesses(facts))
    if len(found) == 1:
        return Band(*map(float, found[0]))
    u = (np.arange(200) + 0.5) / 200
    # Beyond the outer levels a tail as long as the part before it.
    ends = 2 * found[:, [0, -1]] - found[:, [1, -2]]
    tables = np.column_stack([ends[:, 0], found, ends[:, 1]])
    levels = (0.0, *LEVELS, 1.0)
    pool = np.concatenate([np.interp(u, levels, row) for row in tables])
    return Band(*map(float, np.quantile(pool, LEVELS)))


def records_for(law: Curves, facts: Facts, ceiling: Ceiling, loss: float, *, sure: bool) -> float:
    """Records with which noise costs no more than this, against a fit without noise.

    In the middle of the band, or at its promised end. Infinite where no number is enough.
    """

    def quality(n_records: float) -> float:
        found = band(law, facts.at(n_records=n_records), ceiling)
        return found.at_least if sure else found.expected

    goal = quality(MOST) - loss
    low, high = math.log(FEWEST), math.log(MOST)
    if quality(FEWEST) > goal:
        return FEWEST
    missing = root_scalar(
        lambda at: quality(math.exp(at)) - goal, bracket=(low, high), method="bisect", xtol=0.02
    )
    return math.exp(missing.root)


def hopeless(found: Band, facts: Facts, ceiling: Ceiling) -> bool:
    """Whether nothing better than guessing is to be expected."""
    better = found.expected - facts.null
    return better < max(NOTHING * (ceiling.middle - facts.null), NEARLY)
