"""Numbers: how target and error are distributed, as sums of products of Bernstein polynomials.

The 25 polynomials of a record are not negative and add up to one, so they are a table like any
other; and every mean of y^i |e|^j with i, j <= 4 is a sum over its cells, without rounding to bins
(evaluation.md, section 2).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.dataset import Dataset
from sparsedp.evaluation.design import NOISE, Curve, Found, row_units
from sparsedp.evaluation.score import GUARD, Score, drowned

DEGREE = 4
BINOMIAL = np.array([math.comb(DEGREE, j) for j in range(DEGREE + 1)], dtype=float)
ROWS_PER_BLOCK = 2**16


@dataclass(frozen=True)
class Regression:
    """Target by absolute error.

    Parameters
    ----------
    half_width : float
        Of the target's limits, which stand for [-1, 1].
    """

    half_width: float

    task = "regression"
    shape = (DEGREE + 1, DEGREE + 1)

    def counts(self, data: Dataset) -> NDArray[np.int64]:
        """Each row's weight, divided among the cells and rounded down (private)."""
        table = np.zeros(self.shape, dtype=np.int64)
        predicted, units = data.columns([0])[:, 0], row_units(data)
        for start in range(0, len(units), ROWS_PER_BLOCK):
            rows = slice(start, start + ROWS_PER_BLOCK)
            table += divided(data.target[rows], predicted[rows], units[rows])
        return table

    def found(self, table: np.ndarray, variance: float) -> Found:
        """Scores of the noisy table."""
        found = Found()
        n = float(table.sum())
        if drowned(n, table.size, variance):
            found.refused.update(dict.fromkeys(("R2", "RMSE", "MAE"), NOISE))
            return found
        found.scores["RMSE"] = _root(self._mean(power(0, 2), table, variance), self.half_width)
        absolute = self._mean(power(0, 1), table, variance)
        found.scores["MAE"] = _scaled(absolute, self.half_width)
        mean = float((table * cells(power(1, 0))).sum()) / n
        spread = power(2, 0) - 2 * mean * power(1, 0) + mean**2 * power(0, 0)
        total = float((table * cells(spread)).sum())
        if not total > GUARD * math.sqrt(variance * np.sum(cells(spread) ** 2)):
            found.refused["R2"] = NOISE
            return found
        unexplained = float((table * cells(power(0, 2))).sum()) / total
        influence = (unexplained * spread - power(0, 2)) / total
        squares = cells(squared(influence))
        found.scores["R2"] = Score.of(
            1 - unexplained, table, cells(influence), squares, variance, (-math.inf, 1.0)
        )
        found.null.update({"R2": 0.0, "RMSE": self.half_width * math.sqrt(total / n)})
        return found

    def _mean(self, polynomial: np.ndarray, table: np.ndarray, variance: float) -> Score:
        """Mean of a polynomial of target and error."""
        n = float(table.sum())
        mean = float((table * cells(polynomial)).sum()) / n
        influence = (polynomial - mean * power(0, 0)) / n
        squares = cells(squared(influence))
        return Score.of(mean, table, cells(influence), squares, variance, (0.0, 4.0))

    def curves(self, table: np.ndarray, variance: float) -> dict[str, Curve]:
        """There are none."""
        return {}

    def described(self) -> dict[str, object]:
        """For the record."""
        return {"degree": DEGREE, "scale": "Bernstein polynomials of target and absolute error"}


def divided(
    target: np.ndarray, predicted: np.ndarray, units: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Sum over rows of whole numbers that come to at most the units of each row (private)."""
    by_target = _bernstein((1 + target) / 2)
    by_error = _bernstein(np.abs(target - predicted) / 2)
    parts = by_target[:, :, None] * by_error[:, None, :] * units[:, None, None]
    # Rounded down, whole numbers whose real sum is below units + 1 come to at most units.
    whole = np.floor(parts).astype(np.int64)
    right = (whole >= 0).all(axis=(1, 2)) & (whole.sum(axis=(1, 2)) <= units)
    whole[~right] = 0  # cannot be, and would not be private
    return whole.sum(axis=0)


def _bernstein(x: np.ndarray) -> np.ndarray:
    """Values of the polynomials at points of [0, 1], one row each."""
    x = np.clip(x, 0.0, 1.0)
    # By plain products, which round the same wherever a record stands in the table.
    rising, falling = [np.ones_like(x)], [np.ones_like(x)]
    for _ in range(DEGREE):
        rising.append(rising[-1] * x)
        falling.append(falling[-1] * (1 - x))
    return BINOMIAL * np.stack(rising, axis=1) * np.stack(falling[::-1], axis=1)


def power(i: int, j: int) -> np.ndarray:
    """The polynomial y^i |e|^j: coefficients of y and |e|, whose powers go along the axes."""
    polynomial = np.zeros((DEGREE + 1, DEGREE + 1))
    polynomial[i, j] = 1.0
    return polynomial


def squared(polynomial: np.ndarray) -> np.ndarray:
    """Of degree up to 2 in both, times itself."""
    small = polynomial[:3, :3]
    product = np.zeros_like(polynomial)
    for i in range(3):
        for j in range(3):
            product[i : i + 3, j : j + 3] += small[i, j] * small
    return product


def cells(polynomial: np.ndarray) -> np.ndarray:
    """What each cell of a table counts in the sum of a polynomial over records."""
    return TARGET.T @ polynomial @ ERROR


def _powers(slope: float, start: float) -> np.ndarray:
    """Row i: what Bernstein polynomials in x count in (slope x + start)^i."""
    k = np.arange(DEGREE + 1)
    # x^m is a sum over k of C(k, m) / C(DEGREE, m) times polynomial k.
    plain = np.array([[math.comb(int(c), m) / math.comb(DEGREE, m) for c in k] for m in k])
    rows = []
    for i in k.tolist():
        terms = [math.comb(i, m) * slope**m * start ** (i - m) * plain[m] for m in range(i + 1)]
        rows.append(np.sum(terms, axis=0))
    return np.array(rows)


TARGET = _powers(2.0, -1.0)
ERROR = _powers(2.0, 0.0)


def _scaled(score: Score, factor: float) -> Score:
    return Score(
        value=factor * score.value,
        lower=factor * score.lower,
        upper=factor * score.upper,
        noise_share=score.noise_share,
    )


def _root(square: Score, factor: float) -> Score:
    """The square root, end by end: its interval covers as often as that of the square."""
    return Score(
        value=factor * math.sqrt(square.value),
        lower=factor * math.sqrt(square.lower),
        upper=factor * math.sqrt(square.upper),
        noise_share=square.noise_share,
    )
