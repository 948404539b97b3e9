"""Proposals that are accepted with a probability known only through bounds (proof: rounds.md)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.exact import is_below
from sparsedp.mechanisms.samplers.select import grid_and_rate
from sparsedp.mechanisms.walk.envelope import Levels

MARGIN = 2.0**-36
"""Log probabilities near zero are trusted up to this, in double precision."""

RELATIVE = 2.0**-46
"""Others up to this part of what they were computed from."""

MOST_ATTEMPTS = 4096
"""With all scores known a proposal is accepted with probability .84 or more."""

LOG2 = math.log(2)


@dataclass(frozen=True)
class Proposal:
    """A vertex that was drawn by its envelope, and the word that decides whether it is accepted.

    Parameters
    ----------
    vertex : int
    envelope : int
        At least its weight, ``2**octaves * exp(rate * (q - top))`` for a score q in grid units.
    octaves, top : int
    word : int
        The first 64 binary digits of a uniform variable.
    level : float
        For Laplace noise: the noisy score that is proposed, in units of the noise.
    """

    vertex: int
    envelope: int
    octaves: int
    top: int
    word: int
    level: float

    @property
    def log_envelope(self) -> float:
        """Relative to the weight of the top; at most zero."""
        return math.log(self.envelope) - self.octaves * LOG2


class Noise(Protocol):
    """How proposals are made and decided. Scores are in units of the grid, a power of two."""

    grid: float
    slack: float
    """How far the score that decides is from the one computed, in grid units, at most."""

    @property
    def rate(self) -> float:
        """Log weight of a grid unit."""
        ...

    def next_level(self, level: float, levels: Levels, stream: KeyStream) -> float:
        """Where the next proposal is made."""
        ...

    def log_probability(self, proposal: Proposal, units: float) -> tuple[float, float]:
        """Of accepting a proposal if its vertex had this score; increasing in it; and its error."""
        ...

    def accepts(self, proposal: Proposal, score: float, stream: KeyStream) -> bool:
        """Whether a proposal is accepted, given the score of its vertex (private)."""
        ...

    def choose(self, scores: np.ndarray, level: float, stream: KeyStream) -> int:
        """A vertex, given all scores (private), and that nothing was accepted above a level."""
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

    slack = 0.5

    def __init__(self, epsilon0: float, score_range: float) -> None:
        self.grid, self._rate = grid_and_rate(epsilon0, score_range)
        self.rate = float(self._rate)

    def next_level(self, level: float, levels: Levels, stream: KeyStream) -> float:
        """Proposals have no level."""
        return level

    def log_probability(self, proposal: Proposal, units: float) -> tuple[float, float]:
        """Weight over envelope."""
        below = self.rate * (units - proposal.top)
        return below - proposal.log_envelope, MARGIN + RELATIVE * abs(below)

    def accepts(self, proposal: Proposal, score: float, stream: KeyStream) -> bool:
        """In integers where doubles do not tell."""
        units = round(score / self.grid)
        decided = certain(self, proposal, units, units)
        if decided is None:
            factor = Fraction(1 << proposal.octaves, proposal.envelope)
            return is_below(proposal.word, self._rate * (units - proposal.top), factor, stream)
        return decided

    def choose(self, scores: np.ndarray, level: float, stream: KeyStream) -> int:
        """By proposals that are hardly ever refused."""
        units = np.rint(scores / self.grid)
        levels = Levels(np.concatenate([units, -units]), self.rate)
        for _ in range(MOST_ATTEMPTS):
            vertex, envelope = levels.draw(stream)
            word = stream.bits(64)
            proposal = Proposal(vertex, envelope, levels.octaves, levels.top, word, level)
            sign, entry = divmod(vertex, len(scores))
            if self.accepts(proposal, (1 - 2 * sign) * float(scores[entry]), stream):
                return vertex
        raise ArithmeticError("no proposal was accepted: this has a probability below 2**-9000")


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

    slack = 0.0

    def __init__(self, scale: float) -> None:
        if not 2.0**-900 <= scale <= 2.0**900:
            raise ValueError(f"scale must be positive and of ordinary size, got {scale}")
        self.grid = math.ldexp(1.0, math.frexp(scale)[1] - 32)  # far below the noise
        self.rate = self.grid / scale

    def next_level(self, level: float, levels: Levels, stream: KeyStream) -> float:
        """The next point below of a Poisson process with intensity mass times exp(-level)."""
        gap = -math.log((stream.bits(53) + 0.5) * 2.0**-53)
        log_mass = self.rate * levels.top + math.log(levels.total) - levels.octaves * LOG2
        return log_mass - float(np.logaddexp(log_mass - level, math.log(gap)))

    def log_probability(self, proposal: Proposal, units: float) -> tuple[float, float]:
        """Intensity of noise plus score at the level, over that of the envelope."""
        top, log_weight = self.rate * proposal.top, self.rate * units
        error = MARGIN + RELATIVE * (abs(top) + abs(log_weight))
        above = proposal.level - log_weight
        if above <= 0:
            return proposal.level - top - proposal.log_envelope, error
        found = log_weight - top - proposal.log_envelope - math.log(2 - math.exp(-above))
        return found, error

    def accepts(self, proposal: Proposal, score: float, stream: KeyStream) -> bool:
        """Up to rounding."""
        return likely(self, proposal, score / self.grid)

    def choose(self, scores: np.ndarray, level: float, stream: KeyStream) -> int:
        """By noise that keeps every score below the level."""
        heights = np.concatenate([scores, -scores]) * (self.rate / self.grid)
        words = stream.words(len(heights)) >> np.uint64(11)
        uniform = (words.astype(np.float64) + 0.5) * 2.0**-53
        room = level - heights
        # Where the level is below the score, what is left of the noise is exponential.
        with np.errstate(divide="ignore"):
            part = uniform * (1 - 0.5 * np.exp(-np.maximum(room, 0)))
            noise = np.where(part <= 0.5, np.log(2 * part), -np.log(2 * (1 - part)))
            noisy = np.where(room <= 0, level + np.log(uniform), heights + noise)
        return int(np.argmax(noisy))


def certain(noise: Noise, proposal: Proposal, lower: float, upper: float) -> bool | None:
    """Whether a proposal is accepted, if that follows from bounds on its score; else None."""
    word = proposal.word
    least, error = noise.log_probability(proposal, lower)
    if math.log(word + 1) - 64 * LOG2 <= least - error:
        return True
    most, error = noise.log_probability(proposal, upper)
    if word and math.log(word) - 64 * LOG2 >= most + error:
        return False
    return None


def likely(noise: Noise, proposal: Proposal, units: float) -> bool:
    """Whether a proposal is accepted if this is the score, up to rounding."""
    probability, _ = noise.log_probability(proposal, units)
    return math.log(proposal.word + 0.5) - 64 * LOG2 < probability
