"""Selections along a walk whose scores are far away: guess, then ask for many; see rounds.md."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.walk.envelope import Levels
from sparsedp.mechanisms.walk.proposals import LOG2, Noise, Proposal, certain, likely
from sparsedp.mechanisms.walk.protocol import Point, RoundWalk

LIGHT = 0.3
"""Vertices whose log weight is never larger share one envelope; other scores are followed."""

PATIENCE = 32
"""Guesses after which the records are asked."""

MOST_TRIES = 1024
"""Proposals for one step after which all its scores are asked for."""

LOOSE = 6.0
"""Envelopes so many times above what weights are believed to be call for a new reference."""

ALLOWANCE = 1.1
"""Envelopes are made for a drift that is so many times what it is now."""


class Envelope:
    """Bounds on the scores of all vertices, and proposals drawn by them. Private.

    Parameters
    ----------
    walk : RoundWalk
    noise : Noise
    light : float
        Vertices with a log weight of at most this share one envelope for the whole walk. The
        others have one for a drift that is allowed.
    """

    def __init__(self, walk: RoundWalk, noise: Noise, light: float) -> None:
        self._walk, self._noise = walk, noise
        self.size = len(walk.limits)
        self._limits = self._outward(walk.limits / noise.grid)
        is_light = noise.rate * self._limits <= light
        self._light, self._heavy = np.flatnonzero(is_light), np.flatnonzero(~is_light)
        self._highest_light = float(self._limits[self._light].max(initial=0.0))
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
        lower, upper, centers = self._around(self._allowed)
        self._levels = Levels(
            np.concatenate([upper, -lower]),
            self._noise.rate,
            n_more=2 * len(self._light),
            high_of_more=self._highest_light,
        )
        self.is_loose = self._log_mass > math.log(LOOSE) + self._log_believed(centers)

    def propose(self, level: float, stream: KeyStream) -> Proposal:
        """Draw a vertex with a probability in proportion to its envelope."""
        levels = self._levels
        level = self._noise.next_level(level, levels, stream)
        number, envelope = levels.draw(stream)
        entries = self._heavy
        if number >= 2 * len(entries):
            number, entries = number - 2 * len(entries), self._light
        sign, number = divmod(number, len(entries))
        vertex = int(entries[number]) + sign * self.size
        return Proposal(vertex, envelope, levels.octaves, levels.top, stream.bits(64), level)

    def bounds(self, vertex: int, drift: float) -> tuple[float, float, float]:
        """Bounds on a vertex's score after a drift, and what it may be, in grid units."""
        sign, entry = divmod(vertex, self.size)
        number = int(np.searchsorted(self._heavy, entry))
        if number < len(self._heavy) and self._heavy[number] == entry:
            found = self._around(drift, slice(number, number + 1))
            lower, upper, middle = (float(part[0]) for part in found)
        else:
            upper = float(self._limits[entry])
            lower, middle = -upper, self._walk.first_score(entry) / self._noise.grid
        return (-upper, -lower, -middle) if sign else (lower, upper, middle)

    def _around(
        self, drift: float, which: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Bounds on the scores of followed entries, and what they may be, in grid units.

        At the reference itself they are known: rounded to the grid, or not, as the noise has it.
        """
        centers, widths = self._walk.around(drift, which)
        centers, grid = centers / self._noise.grid, self._noise.grid
        if drift == 0:
            known = np.rint(centers) if self._noise.slack else centers
            return known, known, known
        limits = self._limits[self._heavy[which]]
        # A bound that is not a number says nothing: fmin and fmax pass over it.
        upper = np.fmin(self._outward(centers + widths / grid), limits)
        lower = np.fmax(-self._outward(widths / grid - centers), -limits)
        return lower, upper, centers

    def _outward(self, units: np.ndarray) -> np.ndarray:
        """Upper bounds on what decides, from upper bounds on computed scores, with roundings."""
        return units + np.abs(units) * 2.0**-50 + self._noise.slack

    @property
    def _log_mass(self) -> float:
        """Logarithm of the sum of all envelopes, relative to the weight of the top."""
        return math.log(self._levels.total) - self._levels.octaves * LOG2

    def _log_believed(self, centers: np.ndarray) -> float:
        """The same of what weights may be; light ones count with their envelopes."""
        rate, top = self._noise.rate, self._levels.top
        believed = -math.inf
        if len(centers):
            sizes = rate * np.abs(centers)
            largest = float(sizes.max())
            # The largest of them contributes one, so that the sum never vanishes.
            log_sum = math.log(np.exp(sizes - largest).sum() + np.exp(-sizes - largest).sum())
            believed = log_sum + largest - rate * top
        if len(self._light):
            light = math.log(2 * len(self._light)) + rate * (self._highest_light - top)
            believed = float(np.logaddexp(believed, light))
        return believed


@dataclass(frozen=True)
class Place:
    """Where a walk is, and how many proposals were refused there, the last at a level."""

    point: Point
    n_chosen: int = 0
    n_refused: int = 0
    level: float = math.inf

    def after(self, proposal: Proposal, accepted: bool, walk: RoundWalk) -> "Place":
        """The next place: where the walk moves to, or here again."""
        if accepted:
            return Place(walk.moved(self.point, proposal.vertex), self.n_chosen + 1)
        return Place(self.point, self.n_chosen, self.n_refused + 1, proposal.level)


@dataclass(frozen=True)
class Guess:
    """A proposal that bounds did not decide."""

    place: Place
    proposal: Proposal
    accepted: bool


def walk_in_rounds(
    walk: RoundWalk,
    noise: Noise,
    stream: KeyStream,
    *,
    light: float = LIGHT,
    patience: int = PATIENCE,
    most_tries: int = MOST_TRIES,
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
        See `Envelope`; it changes the number of rounds only, and so do the others.
    patience : int
        Guesses after which the records are asked.
    most_tries : int
        Proposals for one step after which all its scores are asked for.

    Returns
    -------
    ndarray of int64
        One vertex per step, released all at once.

    Notes
    -----
    *Privacy.* Vertices have the distribution of one selection after the other. How many rounds a
    walk takes depends on the records; it ends, as every round settles a proposal or a step, and a
    step has at most ``most_tries`` proposals.
    """
    envelope = Envelope(walk, noise, light)
    chosen: list[int] = []
    place, n_steps = Place(walk.start), len(walk.steps)
    while True:
        place, guesses = _ahead(envelope, walk, noise, stream, place, chosen, patience, most_tries)
        if not guesses and place.n_chosen == n_steps:
            return np.array(chosen, dtype=np.int64)
        if not guesses and place.n_refused >= most_tries:
            scores = walk.scores(place.point)  # private
            chosen.append(noise.choose(scores, place.level, stream))
            place = Place(walk.moved(place.point, chosen[-1]), place.n_chosen + 1)
            continue
        # The first guess was made at a point of the walk for certain, the last ones probably.
        first = [guess.place.point for guess in guesses[:1] if guess.place.point is not place.point]
        questions = [
            (guess.place.point, guess.proposal.vertex % envelope.size) for guess in guesses
        ]
        scores = walk.ask(questions, [*first, place.point])  # private
        wrong = _first_wrong(guesses, scores, noise, stream, envelope.size)
        if wrong is not None:
            # What came after belongs to a walk that did not happen, and so do its words.
            del chosen[wrong.place.n_chosen :]
            chosen += [] if wrong.accepted else [wrong.proposal.vertex]
            place = wrong.place.after(wrong.proposal, not wrong.accepted, walk)


def _first_wrong(
    guesses: list[Guess], scores: list[float], noise: Noise, stream: KeyStream, size: int
) -> Guess | None:
    """The first guess that the scores of its vertex and point refute."""
    for guess, score in zip(guesses, scores, strict=True):
        sign = -1 if guess.proposal.vertex >= size else 1
        if noise.accepts(guess.proposal, sign * score, stream) != guess.accepted:
            return guess
    return None


def _ahead(
    envelope: Envelope,
    walk: RoundWalk,
    noise: Noise,
    stream: KeyStream,
    place: Place,
    chosen: list[int],
    patience: int,
    most_tries: int,
) -> tuple[Place, list[Guess]]:
    """Walk on with what is known here, until it is time to ask; adds to what was chosen."""
    walk.anchor(place.point)
    envelope.forget()
    guesses: list[Guess] = []
    while place.n_chosen < len(walk.steps) and len(guesses) < patience:
        drift = walk.drift(place.point)
        envelope.allow(drift)
        if place.n_refused >= most_tries or (envelope.is_loose and drift > 0):
            break
        proposal = envelope.propose(place.level, stream)
        lower, upper, middle = envelope.bounds(proposal.vertex, drift)
        accepted = certain(noise, proposal, lower, upper)
        if accepted is None and lower == upper:
            accepted = noise.accepts(proposal, middle * noise.grid, stream)
        elif accepted is None:
            accepted = likely(noise, proposal, middle)
            guesses.append(Guess(place, proposal, accepted))
        if accepted:
            chosen.append(proposal.vertex)
        place = place.after(proposal, accepted, walk)
    return place, guesses
