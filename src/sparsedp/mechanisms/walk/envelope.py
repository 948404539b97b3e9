"""Whole numbers that dominate the weights of all candidates, to draw proposals from (rounds.md)."""

import math
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

import numpy as np

from sparsedp.mechanisms.entropy import KeyStream

STEPS_PER_OCTAVE = 4
"""Levels differ by this root of two: the finer they are, the fewer proposals are refused."""


class Levels:
    """Candidates by upper bounds on their scores, in levels that share one whole number. Private.

    A candidate with score q, in grid units, has the weight ``2**octaves * exp(rate * (q - top))``.
    A level is the floor of a linear function of the bound, cut at a last level where the number is
    one: no exponential is taken, so nothing overflows or vanishes however steep the weights are.

    Parameters
    ----------
    highs : ndarray
        Upper bounds on scores in grid units, certain. Not NaN.
    rate : float
        Log weight of a grid unit, up to four roundings.
    n_more : int
        Further candidates, which come after these and share one bound.
    high_of_more : float

    Attributes
    ----------
    top : int
        At least all bounds.
    octaves : int
    total : int
        Sum of all numbers, below ``2**62``.
    """

    def __init__(
        self, highs: np.ndarray, rate: float, *, n_more: int = 0, high_of_more: float = -math.inf
    ) -> None:
        self._n_own, self._n_more = len(highs), n_more
        highest = max(float(highs.max(initial=-math.inf)), high_of_more if n_more else -math.inf)
        if not math.isfinite(highest):
            raise ArithmeticError("scores must be finite")
        self.top = math.ceil(highest)
        self.octaves = 61 - (len(highs) + n_more).bit_length()
        self._numbers = _numbers(self.octaves)
        # Rounded down by more than the seven roundings of a level, so that none is too deep.
        per_unit = rate * STEPS_PER_OCTAVE / math.log(2) * (1 - 2.0**-48)
        last = len(self._numbers) - 1
        with np.errstate(over="ignore"):  # infinitely deep is cut
            depths = (float(self.top) - highs) * per_unit
            depth_of_more = (self.top - high_of_more) * per_unit if n_more else 0.0
        levels = np.minimum(np.floor(depths), last).astype(np.uint8)
        self._order = np.argsort(levels, kind="stable")
        counts = np.bincount(levels, minlength=last + 1)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).tolist()
        self._level_of_more = math.floor(min(depth_of_more, last))
        sizes = counts.tolist()
        sizes[self._level_of_more] += n_more
        self._ends = list(accumulate(n * e for n, e in zip(sizes, self._numbers, strict=True)))
        self.total = self._ends[-1]

    def draw(self, stream: KeyStream) -> tuple[int, int]:
        """A candidate with a probability in proportion to its number, and this number."""
        place = stream.integer_below(self.total)
        level = bisect_right(self._ends, place)
        number = self._numbers[level]
        rank = (place - (self._ends[level - 1] if level else 0)) // number
        start, stop = self._starts[level : level + 2]
        if rank < stop - start:
            return int(self._order[start + rank]), number
        return self._n_own + rank - (stop - start), number

    def number(self, candidate: int) -> int:
        """The number of a candidate; slow, for tests."""
        if candidate >= self._n_own:
            return self._numbers[self._level_of_more]
        place = int(np.flatnonzero(self._order == candidate)[0])
        return self._numbers[bisect_right(self._starts, place) - 1]


@lru_cache(maxsize=64)
def _numbers(octaves: int) -> tuple[int, ...]:
    """``ceil(2**(octaves - level / 4))`` for all levels down to where it is one."""
    found = []
    for left in range(STEPS_PER_OCTAVE * octaves, -1, -1):
        root = math.isqrt(math.isqrt(1 << left))
        found.append(root if root**STEPS_PER_OCTAVE == 1 << left else root + 1)
    return tuple(found)
