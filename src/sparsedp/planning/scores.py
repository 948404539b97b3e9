"""What private scores will be able to tell: the interval of a table as it is to be expected.

The table of `evaluation` is filled as it would be without noise for a model of the planned quality,
and handed to the same function that reads scores from noisy tables: its guard and its interval.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logit, ndtr, ndtri

from sparsedp.evaluation.binary import EDGES, Binary
from sparsedp.evaluation.design import Design
from sparsedp.evaluation.multiclass import Multiclass
from sparsedp.evaluation.regression import Regression, divided
from sparsedp.planning.facts import Facts
from sparsedp.privacy import MOVED

N_POINTS = 60
"""Of a normal distribution, by its quantiles."""

FINE = 2**30


@dataclass(frozen=True)
class Telling:
    """What an evaluation by a coin holdout will tell.

    Parameters
    ----------
    holdout : float
        Share of the records that are kept for it.
    half_width : float or None
        Of the 95 % interval of the metric; None where the score will be refused.
    noise_share : float or None
        Part of the squared width that is privacy noise.
    """

    holdout: float
    half_width: float | None
    noise_share: float | None

    def words(self, metric: str) -> str:
        """A sentence."""
        if self.half_width is None:
            return f"{metric} will be refused: the table would be noise"
        return f"{metric} to within {self.half_width:.3f} (95 %, noise and sampling)"


def telling(facts: Facts, quality: float, holdout: float, total: float) -> Telling:
    """The interval at the planned quality, if so many records are divided by a coin."""
    n, moved = holdout * total, MOVED.under(facts.neighbors)
    variance = 2 * (moved / facts.epsilon) ** 2
    design, table = _expected(facts, quality, n)
    score = design.found(table, variance).scores.get(facts.metric)
    if score is None:
        return Telling(holdout, None, None)
    return Telling(holdout, (score.upper - score.lower) / 2, score.noise_share)


def _expected(facts: Facts, quality: float, n: float) -> tuple[Design, np.ndarray]:
    if facts.kind == "binary":
        return Binary(EDGES), _two_classes(facts.rate, quality, n)
    if facts.kind == "regression":
        return Regression(1.0), _numbers(facts.spread, quality, n)
    return _classes(facts, quality, n)


def _two_classes(rate: float, area: float, n: float) -> np.ndarray:
    """Two normal classes as far apart as the area says, whose scores are their log odds."""
    distance = max(math.sqrt(2) * float(ndtri(min(area, 0.9999))), 0.1)
    rows = []
    for share, side in ((1 - rate, -1), (rate, 1)):
        middle = logit(rate) + side * distance**2 / 2
        below = ndtr((np.concatenate([[-np.inf], EDGES, [np.inf]]) - middle) / distance)
        rows.append(n * share * np.diff(below))
    return np.array(rows)


def _numbers(spread: float, r2: float, n: float) -> np.ndarray:
    """Normal predictions and errors."""
    z = ndtri((np.arange(N_POINTS) + 0.5) / N_POINTS)
    kept = min(max(r2, 0.0), 0.999)
    predicted = np.repeat(spread * math.sqrt(kept) * z, N_POINTS)
    target = predicted + np.tile(spread * math.sqrt(1 - kept) * z, N_POINTS)
    units = np.full(len(target), FINE, dtype=np.int64)
    table = divided(np.clip(target, -1, 1), np.clip(predicted, -1, 1), units)
    return n * table / table.sum()


def _classes(facts: Facts, accuracy: float, n: float) -> tuple[Design, np.ndarray]:
    """One class of the planned rate, all others alike; confidences spread evenly."""
    count = facts.n_classes
    design = Multiclass.of(count, labels=False)
    share = np.full(count, (1 - facts.rate) / (count - 1))
    share[0] = facts.rate
    right = np.eye(count) * accuracy + (1 - np.eye(count)) * (1 - accuracy) / (count - 1)
    cells = (share[:, None] * right)[:, :, None] / design.n_bins
    return design, n * np.broadcast_to(cells, design.shape)
