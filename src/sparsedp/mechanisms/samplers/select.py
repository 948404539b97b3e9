"""Private selection: the exponential mechanism, sampled exactly."""

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import numpy as np

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sampling.sample_reference import EXCLUDED
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.samplers.exact import bernoulli_exp

if COMPILED:
    from sparsedp._kernels.sampling import sample as kernel
else:
    from sparsedp._kernels.sampling import sample_reference as kernel

_DEPTH = 61  # levels below which candidates share one envelope; together they weigh d * 2**-61
_LARGEST_GAP = 2**53  # in grid units; larger gaps between scores count as this one


def exponential_mechanism(
    scores: np.ndarray,
    epsilon0: float,
    score_range: float,
    stream: KeyStream,
    *,
    signed: bool = False,
    excluded: np.ndarray | None = None,
) -> int:
    """Choose a candidate with probability proportional to ``exp(epsilon0 * score / score_range)``.

    Parameters
    ----------
    scores : ndarray of shape (d,)
        Private scores; large is good.
    epsilon0 : float
        Cost of the selection.
    score_range : float
        How much more one score can move than another between neighbors, at most.
    stream : KeyStream
        Source of the bits.
    signed : bool
        Choose among ``2 * d`` candidates: `j` has ``scores[j]``, ``d + j`` has ``-scores[j]``.
    excluded : ndarray, optional
        Features, both signs of each, that may not be chosen: a mask of bools or an array of
        indices. Must be released or public.

    Returns
    -------
    int
        The chosen candidate.

    Notes
    -----
    *Privacy.* Bounded range with exactly epsilon0, hence also epsilon0-DP: the scores are rounded
    to a public grid, what the rounding adds to the range is paid for, and the choice among the
    rounded scores has exactly the stated distribution. See samplers.md for the proof.
    """
    scores = _checked(scores)
    grid, rate = grid_and_rate(epsilon0, score_range)
    rounded = kernel.round_to_grid(scores, grid)
    return _Candidates(rounded, _mask(excluded, scores.size), signed, grid, rate).choose(stream)


def exponential_top_k(
    scores: np.ndarray,
    epsilon0: float,
    score_range: float,
    k: int,
    stream: KeyStream,
    *,
    excluded: np.ndarray | None = None,
) -> np.ndarray:
    """Choose `k` different candidates, one after the other.

    Parameters
    ----------
    scores, epsilon0, score_range, stream, excluded
        As for `exponential_mechanism`; epsilon0 is the cost of each of the selections.
    k : int
        How many to choose.

    Returns
    -------
    ndarray of int64, shape (k,)
        In the order of selection.

    Notes
    -----
    *Privacy.* The composition of `k` selections, each of bounded range with exactly epsilon0.
    """
    scores = _checked(scores)
    mask = _mask(excluded, scores.size)
    if mask.size == 0:
        mask = np.zeros(scores.size, dtype=bool)
    if not 0 <= k <= scores.size - mask.sum():
        raise ValueError(f"cannot choose {k} of {scores.size - mask.sum()} candidates")
    grid, rate = grid_and_rate(epsilon0, score_range)
    rounded = kernel.round_to_grid(scores, grid)
    chosen = np.empty(k, dtype=np.int64)
    candidates: _Candidates | None = None
    for i in range(k):
        if candidates is None:
            candidates = _Candidates(rounded, mask, False, grid, rate)
        chosen[i] = candidates.choose(stream)
        mask[chosen[i]] = True
        if not candidates.remove(int(chosen[i])):
            candidates = None
    return chosen


def laplace_noisy_max(
    scores: np.ndarray, scale: float, stream: KeyStream, *, signed: bool = True
) -> int:
    """Return the candidate whose score plus Laplace noise is largest.

    Kept to reproduce published methods; `exponential_mechanism` costs less for the same noise.

    Parameters
    ----------
    scores : ndarray of shape (d,)
        Private scores.
    scale : float
        Scale of the Laplace noise.
    stream : KeyStream
        Source of the bits.
    signed : bool
        Whether the negated scores are candidates too, ``d + j`` for ``-scores[j]``.

    Notes
    -----
    *Privacy.* Pure DP of twice the sensitivity over the scale, and no better bounded range than
    that implies. The noise is computed in ordinary double precision, so near ties are decided up
    to rounding errors; unlike the other samplers this one is not exact.
    """
    scores = _checked(scores)
    if not 0 < scale < math.inf:
        raise ValueError(f"scale must be positive and finite, got {scale}")
    candidates = np.concatenate((scores, -scores)) if signed else scores
    first, second = stream.words(2 * candidates.size).reshape(2, -1)
    # 126 bits per draw: uniforms near zero, which make large noise, keep their full precision.
    coarse = (first >> np.uint64(1)).view(np.int64).astype(np.float64)
    fine = ((second >> np.uint64(1)).view(np.int64) + 0.5) * 2.0**-63
    magnitude = -scale * np.log((coarse + fine) * 2.0**-63)
    noise = np.where(first & np.uint64(1), -magnitude, magnitude)
    return int(np.argmax(candidates + noise))


def _checked(scores: np.ndarray) -> np.ndarray:
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim != 1 or scores.size == 0:
        raise ValueError(f"scores must be a vector with entries, got shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    return scores


def _mask(excluded: np.ndarray | None, n_features: int) -> np.ndarray:
    """Return a fresh mask of bools, empty when nothing is excluded."""
    if excluded is None or np.size(excluded) == 0:
        return np.zeros(0, dtype=bool)
    given = np.asarray(excluded)
    mask = np.zeros(n_features, dtype=bool)
    if given.dtype == bool and given.shape != mask.shape:
        raise ValueError(f"a mask over {n_features} features cannot have shape {given.shape}")
    mask[given] = True
    if mask.all():
        raise ValueError("every candidate is excluded")
    return mask


def grid_and_rate(epsilon0: float, score_range: float) -> tuple[float, Fraction]:
    """Return the grid that scores are rounded to, and the log weight of one grid unit."""
    if not 0 < epsilon0 <= 2.0**100:
        raise ValueError(f"epsilon0 must be positive and of ordinary size, got {epsilon0}")
    if not 2.0**-900 <= score_range <= 2.0**900:
        raise ValueError(f"score_range must be positive and of ordinary size, got {score_range}")
    grid = math.ldexp(1.0, math.frexp(score_range)[1] - 32)
    # Rounding moves the change of a score by at most one unit, hence the range by at most two.
    n_units = Fraction(score_range) / Fraction(grid) + 2
    return grid, Fraction(epsilon0) / n_units


class _Candidates:
    """Candidates with weights ``exp(-rate * gap / grid)`` where gap is the distance to the best.

    A candidate of level b, with ``2**-b >= weight``, is proposed with probability proportional to
    ``2**-b`` and accepted with probability ``weight * 2**b``. The depth of the deepest level and
    the step of the acceptance test change the speed only.
    """

    def __init__(
        self,
        rounded: np.ndarray,
        mask: np.ndarray,
        signed: bool,
        grid: float,
        rate: Fraction,
        *,
        depth: int = _DEPTH,
        step: int = 64,
    ) -> None:
        self._rounded, self._grid, self._rate = rounded, grid, rate
        self._depth, self._step = depth, step
        # Rounded down by more than the four roundings it is made of and the one of its use, so that
        # a level is never too deep: 2**-level >= weight must be certain.
        levels_per_score = float(rate) * math.log2(math.e) * (1 - 2.0**-49) / grid
        self._cap = _LARGEST_GAP * grid
        allowed = rounded[~mask] if mask.size else rounded
        self._top = float(max(allowed.max(), -allowed.min()) if signed else allowed.max())
        self._levels, counts = kernel.dyadic_levels(
            rounded, mask, signed, self._top, levels_per_score, self._cap, depth
        )
        self._counts: list[int] = counts.tolist()

    def choose(self, stream: KeyStream) -> int:
        """Choose one."""
        rounded, top, depth = self._rounded, self._top, self._depth
        weights = [count << (depth - level) for level, count in enumerate(self._counts)]
        ends = list(accumulate(weights))
        while True:
            point = stream.integer_below(ends[-1])
            level = bisect_right(ends, point)
            rank = (point - ends[level] + weights[level]) >> (depth - level)
            candidate = kernel.locate(self._levels, level, rank)
            score = float(rounded[candidate % rounded.size])
            gap = top - score if candidate < rounded.size else top + score
            n_units = int(min(gap, self._cap) / self._grid)
            if bernoulli_exp(
                n_units * self._rate.numerator,
                self._rate.denominator,
                stream,
                shift=level,
                step=self._step,
            ):
                return candidate

    def remove(self, candidate: int) -> bool:
        """Take out one of the unsigned candidates, unless it is the best: all gaps change then."""
        if self._rounded[candidate] == self._top:
            return False
        self._counts[self._levels[candidate]] -= 1
        self._levels[candidate] = EXCLUDED
        return True
