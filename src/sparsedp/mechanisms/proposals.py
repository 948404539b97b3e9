"""Proposals that are accepted with a probability known only through bounds (proof: lazy.md)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.exact import is_below
from sparsedp.mechanisms.select import grid_and_rate

MARGIN = 2.0**-36
"""Log probabilities in double precision are trusted up to this."""

LOG2 = math.log(2)


@dataclass(frozen=True)
class Proposal:
    """A vertex that was drawn by its envelope, and the word that decides whether it is accepted.

    Parameters
    ----------
    vertex : int
    envelope : int
        At least the weight of the vertex, in units of ``2**-unit``.
    unit : int
    word : int
        The first 64 binary digits of a uniform variable.
    level : float
        For Laplace noise: the noisy score that is proposed, times the steepness.
    """

    vertex: int
    envelope: int
    unit: int
    word: int
    level: float

    @property
    def log_envelope(self) -> float:
        """In the unit of weights."""
        return math.log(self.envelope) - self.unit * LOG2


class Noise(Protocol):
    """How proposals are made and decided."""

    @property
    def steepness(self) -> float:
        """Log weight of a score of one."""
        ...

    @property
    def slack(self) -> float:
        """How far a log weight can be from steepness times score."""
        ...

    def next_level(self, level: float, log_mass: float, stream: KeyStream) -> float:
        """Where the next proposal is made, by the logarithm of the sum of all envelopes."""
        ...

    def log_probability(self, proposal: Proposal, log_weight: float) -> float:
        """Of accepting a proposal if its vertex had this weight; increasing in it."""
        ...

    def accepts(self, proposal: Proposal, score: float, stream: KeyStream) -> bool:
        """Whether a proposal is accepted, given the score of its vertex (private)."""
        ...


class ExponentialNoise:
    """Weights ``exp(epsilon0 * score / score_range)``, on the grid of `exponential_mechanism`.

    Parameters
    ----------
    epsilon0 : float
        Cost of each selection.
    score_range : float
        How much more one score can move than another between neighbors, at most.

    Notes
    -----
    *Privacy.* Exact: what doubles do not decide for certain is decided in integers.
    """

    def __init__(self, epsilon0: float, score_range: float) -> None:
        self._grid, self._rate = grid_and_rate(epsilon0, score_range)
        self.steepness = float(self._rate) / self._grid
        self.slack = 4 * float(self._rate) + 1e-10

    def next_level(self, level: float, log_mass: float, stream: KeyStream) -> float:
        """Proposals have no level."""
        return level

    def log_probability(self, proposal: Proposal, log_weight: float) -> float:
        """Weight over envelope."""
        return log_weight - proposal.log_envelope

    def accepts(self, proposal: Proposal, score: float, stream: KeyStream) -> bool:
        """In integers where doubles do not tell."""
        n_units = round(score / self._grid)
        log_weight = float(self._rate) * n_units
        decided = certain(self, proposal, log_weight, log_weight)
        if decided is None:
            factor = Fraction(1 << proposal.unit, proposal.envelope)
            return is_below(proposal.word, self._rate * n_units, factor, stream)
        return decided


class LaplaceNoise:
    """The largest of scores plus Laplace noise.

    Parameters
    ----------
    scale : float
        Of the noise.

    Notes
    -----
    *Privacy.* As `laplace_noisy_max`: kept to reproduce published methods, in double precision.
    """

    def __init__(self, scale: float) -> None:
        if not 0 < scale < math.inf:
            raise ValueError(f"scale must be positive and finite, got {scale}")
        self.steepness = 1 / scale
        self.slack = 1e-10

    def next_level(self, level: float, log_mass: float, stream: KeyStream) -> float:
        """The next point below of a Poisson process with intensity mass times exp(-level)."""
        gap = -math.log((stream.bits(53) + 0.5) * 2.0**-53)
        return log_mass - float(np.logaddexp(log_mass - level, math.log(gap)))

    def log_probability(self, proposal: Proposal, log_weight: float) -> float:
        """Intensity of noise plus score at the level, over that of the envelope."""
        above = proposal.level - log_weight
        if above <= 0:
            return proposal.level - proposal.log_envelope
        return log_weight - proposal.log_envelope - math.log(2 - math.exp(-above))

    def accepts(self, proposal: Proposal, score: float, stream: KeyStream) -> bool:
        """Up to rounding."""
        return likely(self, proposal, self.steepness * score)


def certain(noise: Noise, proposal: Proposal, lower: float, upper: float) -> bool | None:
    """Whether a proposal is accepted, if that follows from bounds on its log weight; else None."""
    word = proposal.word
    if math.log(word + 1) - 64 * LOG2 <= noise.log_probability(proposal, lower) - MARGIN:
        return True
    most = noise.log_probability(proposal, upper) + MARGIN
    if word and math.log(word) - 64 * LOG2 >= most:
        return False
    return None


def likely(noise: Noise, proposal: Proposal, log_weight: float) -> bool:
    """Whether a proposal is accepted if this is its log weight, up to rounding."""
    return math.log(proposal.word + 0.5) - 64 * LOG2 < noise.log_probability(proposal, log_weight)
