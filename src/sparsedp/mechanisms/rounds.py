"""Selections along a walk whose scores are far away: guess, then ask for many (proof: lazy.md)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.proposals import LOG2, Noise, Proposal, certain, likely
from sparsedp.mechanisms.walk import RoundWalk

LIGHT = 0.3
"""Vertices whose log weight is never larger keep one envelope; other scores are followed."""

PATIENCE = 32
"""Guesses after which the records are asked."""

LOOSE = 6.0
"""Envelopes so many times above what weights are believed to be call for a new reference."""

ALLOWANCE = 1.1
"""Envelopes are made for a drift that is so many times what it is now."""


class Envelope:
    """Whole numbers, at least the weights of all vertices, to draw proposals from. Private.

    Parameters
    ----------
    walk : RoundWalk
    noise : Noise
    light : float
        Log weights up to this, at most 2, have an envelope for the whole walk. The others have one
        for a drift that is allowed, in a unit that is some octaves larger.
    """

    def __init__(self, walk: RoundWalk, noise: Noise, light: float) -> None:
        self._walk, self._noise = walk, noise
        self.size = len(walk.limits)
        self._unit = 60 - (2 * self.size).bit_length()  # all sums stay below 2**63
        self._tops = noise.steepness * walk.limits + noise.slack
        self._light = np.flatnonzero(self._tops <= light)
        self._heavy = np.flatnonzero(self._tops > light)
        self._light_ends = np.cumsum(self._above(self._tops[self._light], 0))
        self._half = int(self._light_ends[-1]) if len(self._light) else 0  # of either sign
        walk.follow(self._heavy)
        self.forget()

    def forget(self) -> None:
        """The reference has changed."""
        self._allowed = -1.0

    def allow(self, drift: float) -> None:
        """Make sure that envelopes hold after this drift from the reference."""
        if drift <= self._allowed:
            return
        self._allowed = ALLOWANCE * drift
        centers, widths = self._walk.around(self._allowed)
        heights = self._noise.steepness * np.concatenate([centers, -centers])
        tops = heights + self._noise.steepness * np.tile(widths, 2) + self._noise.slack
        tops = np.minimum(tops, np.tile(self._tops[self._heavy], 2))
        highest = float(tops.max(initial=0.0))
        self._octaves = math.ceil(highest / LOG2)
        self._heavy_ends = np.cumsum(self._above(tops, self._octaves))
        heavy_mass = int(self._heavy_ends[-1]) if len(tops) else 0
        self._mass = 2 * self._half + (heavy_mass << self._octaves)
        self._log_mass = math.log(self._mass) - self._unit * LOG2
        believed = float(np.exp(heights - highest).sum())
        believed += 2 * self._half * math.exp(-highest - self._unit * LOG2)
        self.is_loose = self._log_mass - highest > math.log(LOOSE) + math.log(believed)

    def propose(self, level: float, stream: KeyStream) -> Proposal:
        """Draw a vertex with a probability in proportion to its envelope."""
        level = self._noise.next_level(level, self._log_mass, stream)
        place = stream.integer_below(self._mass)
        if place < 2 * self._half:
            sign, place = divmod(place, self._half)
            number, envelope = _located(self._light_ends, place)
            entry = int(self._light[number])
        else:
            place = (place - 2 * self._half) >> self._octaves
            number, envelope = _located(self._heavy_ends, place)
            envelope <<= self._octaves
            sign, number = divmod(number, len(self._heavy))
            entry = int(self._heavy[number])
        vertex = entry + sign * self.size
        return Proposal(vertex, envelope, self._unit, stream.bits(64), level)

    def bounds(self, vertex: int, drift: float) -> tuple[float, float, float]:
        """Bounds on a vertex's log weight after a drift, and what it may be."""
        sign, entry = divmod(vertex, self.size)
        top = float(self._tops[entry])
        number = int(np.searchsorted(self._heavy, entry))
        if number < len(self._heavy) and self._heavy[number] == entry:
            center, width = map(float, self._walk.around(drift, number))
        else:
            center, width = self._walk.first_score(entry), math.inf
        center *= (1 - 2 * sign) * self._noise.steepness
        width = width * self._noise.steepness + self._noise.slack
        return max(center - width, -top), min(center + width, top), center

    def _above(self, tops: np.ndarray, octaves: int) -> np.ndarray:
        weights = np.exp(tops + (self._unit - octaves) * LOG2)
        return (weights * (1 + 1e-9)).astype(np.uint64) + np.uint64(2)


@dataclass(frozen=True)
class Guess:
    """A proposal that bounds did not decide, made at a point after so many choices."""

    n_chosen: int
    point: Any
    proposal: Proposal
    accepted: bool


def walk_in_rounds(
    walk: RoundWalk,
    noise: Noise,
    stream: KeyStream,
    *,
    light: float = LIGHT,
    patience: int = PATIENCE,
) -> np.ndarray:
    """Choose every vertex of a walk.

    Parameters
    ----------
    walk : RoundWalk
        Private.
    noise : Noise
        Which distribution the choices have.
    stream : KeyStream
        Source of the bits.
    light : float
        See `Envelope`; it changes the number of rounds only, and so does `patience`.
    patience : int
        Guesses after which the records are asked.

    Returns
    -------
    ndarray of int64
        One vertex per step, released all at once.

    Notes
    -----
    *Privacy.* Vertices have the distribution of one selection after the other. How many rounds a
    walk takes depends on the records.
    """
    envelope = Envelope(walk, noise, light)
    chosen: list[int] = []
    point = asked = walk.start
    level = math.inf
    while True:
        walk.anchor(point)
        envelope.forget()
        guesses: list[Guess] = []
        while len(chosen) < len(walk.steps) and len(guesses) < patience:
            drift = walk.drift(point)
            envelope.allow(drift)
            if envelope.is_loose and point is not asked:
                break
            proposal = envelope.propose(level, stream)
            lower, upper, middle = envelope.bounds(proposal.vertex, drift)
            accepted = certain(noise, proposal, lower, upper)
            if accepted is None:
                accepted = likely(noise, proposal, middle)
                guesses.append(Guess(len(chosen), point, proposal, accepted))
            level = proposal.level
            if accepted:
                chosen.append(proposal.vertex)
                point, level = walk.moved(point, proposal.vertex), math.inf
        if len(chosen) == len(walk.steps) and not guesses:
            return np.array(chosen, dtype=np.int64)
        # The first guess was made at a point of the walk for certain, the last ones probably.
        references = [guess.point for guess in guesses[:1] if guess.point is not point] + [point]
        questions = [(guess.point, guess.proposal.vertex % envelope.size) for guess in guesses]
        scores = walk.ask(questions, references)  # private
        asked = point
        for guess, score in zip(guesses, scores, strict=True):
            proposal = guess.proposal
            sign = -1 if proposal.vertex >= envelope.size else 1
            accepted = noise.accepts(proposal, sign * score, stream)
            if accepted != guess.accepted:
                # What came after belongs to a walk that did not happen, and so do its words.
                del chosen[guess.n_chosen :]
                point, level = guess.point, proposal.level
                if accepted:
                    chosen.append(proposal.vertex)
                    point, level = walk.moved(point, proposal.vertex), math.inf
                break


def _located(ends: np.ndarray, place: int) -> tuple[int, int]:
    """Which of the numbers with these running sums holds a place, and how large it is."""
    number = int(np.searchsorted(ends, np.uint64(place), side="right"))
    before = int(ends[number - 1]) if number else 0
    return number, int(ends[number]) - before
