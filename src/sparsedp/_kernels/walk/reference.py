"""The walk without a compiler: the same law, every score computed in every step.

Scores are those of the kernel to the last bit: plain IEEE operations in the same order.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np

from sparsedp._kernels.walk.records import ONE, WHOLE_WEIGHT, Records, check

_F = np.float32
_SHIFT = _F(12582912.0)  # adding it rounds to a whole number, found in the lowest bits
_OCTAVES = 40
_LN2 = math.log(2)

Settle = Callable[[int, int, int, int], bool]
"""Whether a proposal is accepted, from word, gap to the top, octaves and weight of its level."""


def exp_single(x: np.ndarray) -> np.ndarray:
    """The exponential in single precision, within 2**-20 for |x| <= 80, else that of an end."""
    x = np.clip(x, _F(-80), _F(80)).astype(_F)
    shifted = x * _F(1.44269504) + _SHIFT
    halvings = shifted - _SHIFT
    rest = (x - halvings * _F(0.693359375)) + halvings * _F(2.12194440e-4)
    p = np.full_like(x, _F(1) / _F(720))
    for c in (_F(1) / _F(120), _F(1) / _F(24), _F(1) / _F(6), _F(0.5), _F(1), _F(1)):
        p = p * rest + c
    exponent = shifted.view(np.uint32) << np.uint32(23)
    return (p.view(np.uint32) + exponent).view(_F)


def residuals(
    loss: str,
    v: np.ndarray,
    scale: float,
    target: np.ndarray,
    bound: float,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Residuals (n_outputs, n) in units of bound / ONE at margins scale * v, times weights."""
    unit = _F(ONE / bound)
    if loss == "logistic":
        margins = (scale * v).astype(_F)
        r = (_F(1) / (_F(1) + exp_single(-margins)) - target) * unit
    elif loss == "squared":
        r = (scale * v - target) * np.float64(unit)
    else:
        p = exp_single((scale * (v - v.max(axis=0))).astype(_F))
        total = np.zeros(v.shape[1])
        for row in p:
            total += row
        label = np.arange(len(v))[:, None] == np.clip(target, 0, len(v) - 1).astype(int)
        own = np.where(label, p, _F(0)).sum(axis=0)
        miss = np.maximum(total - own, 0) / total
        with np.errstate(divide="ignore"):
            per = np.where(miss * unit > ONE, ONE / miss, np.float64(unit))
        r = (np.where(label, -miss, p / total) * per).astype(_F)
    whole = np.rint(np.clip(r, -ONE, ONE)).astype(np.int64)
    if weights is None:
        return whole
    return np.sign(whole) * (np.abs(whole) * weights // WHOLE_WEIGHT)  # toward zero


class _Point:
    """Where a walk is, and the scores there."""

    def __init__(
        self,
        records: Records,
        loss: str,
        n_outputs: int,
        bound: float,
        radius: float,
        steps: np.ndarray,
    ) -> None:
        check(records, loss, n_outputs, bound, radius, steps)
        self.records, self.loss, self.bound, self.radius = records, loss, bound, radius
        self.v, self.scale = np.zeros((n_outputs, records.n_records)), 1.0
        sizes, n_entries = np.diff(records.indptr), records.indptr[-1]
        self.full = np.flatnonzero(sizes == records.n_records)
        self.base = records.base.astype(np.int64)
        column = np.repeat(np.arange(records.n_columns), sizes)
        self.over = records.x[:n_entries].astype(np.int64) - self.base[column]
        # A full column needs no numbers of records, and may not have any.
        self.loose = np.flatnonzero(~np.isin(column, self.full))
        self.loose_column, self.loose_row = column[self.loose], self.records.rows[self.loose]

    def scores(self) -> np.ndarray:
        """All of them, column after column."""
        m = self.records
        r = residuals(self.loss, self.v, self.scale, m.target, self.bound, m.weights)
        sums = np.empty((m.n_columns, len(r)), dtype=np.int64)
        for c, residual in enumerate(r):
            sums[:, c] = self.base * residual.sum()
            terms = self.over[self.loose] * residual[self.loose_row]
            np.add.at(sums[:, c], self.loose_column, terms)
            for k in self.full:
                sums[k, c] = residual @ self._column(int(k))
        return -sums.reshape(-1)

    def advance(self, candidate: int, step: float) -> None:
        """Go a part of the way to a vertex."""
        m = self.records
        entry, sign = candidate // 2, -1.0 if candidate % 2 else 1.0
        self.scale *= 1 - step
        if self.scale < 2.0**-60:
            self.v *= self.scale
            self.scale = 1.0
        jump = sign * step * self.radius / self.scale / ONE
        k, v = entry // len(self.v), self.v[entry % len(self.v)]
        part = slice(m.indptr[k], m.indptr[k + 1])
        if part.stop - part.start == m.n_records:
            column = self._column(k)
        else:
            column = np.full(m.n_records, self.base[k])
            column[m.rows[part]] = m.x[part]
        v += jump * column  # rounded alike however the column is stored

    def _column(self, k: int) -> np.ndarray:
        return self.records.x[self.records.indptr[k] : self.records.indptr[k + 1]].astype(np.int64)


class _Words:
    """Random words one by one."""

    def __init__(self, draw: Callable[[], np.ndarray]) -> None:
        self.draw = draw
        self.words: Iterator[int] = iter(())

    def next(self) -> int:
        for word in self.words:
            return int(word)
        self.words = iter(self.draw())
        return self.next()

    def below(self, n: int) -> int:
        """A uniform whole number below n."""
        shift = 64 - (n - 1).bit_length()
        while True:
            point = self.next() >> shift
            if point < n:
                return point

    def laplace(self) -> float:
        """In double precision."""
        size = -math.log(((self.next() >> 11) + 0.5) * 2.0**-53)
        return size if self.next() & 1 else -size


def _choose(scores: np.ndarray, rate: float, words: _Words, settle: Settle) -> int:
    """A candidate by rejection from levels, an octave apart, no less than the wanted weights."""
    both = np.column_stack([scores, -scores]).reshape(-1)
    top = int(both.max())
    down = np.minimum((top - both) * (rate / _LN2 * (1 - 1e-9)), _OCTAVES)
    level = down.astype(np.int64)
    counts = np.bincount(level, minlength=_OCTAVES + 1)
    while True:
        point = words.below(sum(int(n) << (_OCTAVES - b) for b, n in enumerate(counts)))
        b = 0
        while point >= int(counts[b]) << (_OCTAVES - b):
            point -= int(counts[b]) << (_OCTAVES - b)
            b += 1
        candidate = int(np.flatnonzero(level == b)[point >> (_OCTAVES - b)])
        if settle(words.next(), int(both[candidate]) - top, _OCTAVES, 1 << (_OCTAVES - b)):
            return candidate


def walk(
    records: Records,
    loss: str,
    start: np.ndarray,
    n_outputs: int,
    bound: float,
    radius: float,
    steps: np.ndarray,
    rate: float,
    draw: Callable[[], np.ndarray],
    settle: Settle,
    *,
    laplace: bool = False,
    mode: str = "auto",
) -> tuple[np.ndarray, dict[str, int]]:
    """Choose one vertex per step; parameters and results as those of the compiled ``walk``."""
    point, words = _Point(records, loss, n_outputs, bound, radius, steps), _Words(draw)
    chosen = np.empty(len(steps), dtype=np.int64)
    for t, step in enumerate(steps):
        scores = point.scores()
        if laplace:
            both = rate * np.column_stack([scores, -scores]).reshape(-1)
            chosen[t] = np.argmax(both + [words.laplace() for _ in both])
        else:
            chosen[t] = _choose(scores, rate, words, settle)
        point.advance(int(chosen[t]), step)
    return records.vertices(chosen, n_outputs), {"all": len(steps)}


def scores_along(
    records: Records,
    loss: str,
    n_outputs: int,
    bound: float,
    radius: float,
    steps: np.ndarray,
    vertices: np.ndarray,
) -> np.ndarray:
    """Scores of the positive vertices before each step of a walk to given vertices."""
    point = _Point(records, loss, n_outputs, bound, radius, steps)
    found = np.empty((len(steps), records.n_columns * n_outputs), dtype=np.int64)
    candidates = records.candidates(np.asarray(vertices), n_outputs)
    for scores, candidate, step in zip(found, candidates, steps, strict=True):
        scores[:] = point.scores()
        point.advance(int(candidate), step)
    return records.by_feature(found, n_outputs)


def scores_at_zero(records: Records, loss: str, n_outputs: int, bound: float) -> np.ndarray:
    """Scores where every walk begins, in the order of columns."""
    return _Point(records, loss, n_outputs, bound, 1.0, np.ones(1)).scores()
