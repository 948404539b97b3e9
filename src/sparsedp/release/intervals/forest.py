"""A forest plot: effects across the limits of features, with intervals, for the report."""

from dataclasses import dataclass

import numpy as np

from sparsedp.inference.table import CoefficientTable
from sparsedp.release.feature import Feature

WIDTH, MOST_ROWS = 200.0, 40
"""Of a drawing, in its own units; features beyond so many are in the model file only."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A feature: where point and ends are drawn, or None where there is no interval."""

    feature: Feature
    lower: float
    upper: float
    noise_share: float
    p_value: float
    nonzero: bool
    ends: tuple[float, float] | None
    at: float


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Rows on one scale.

    Parameters
    ----------
    rows : tuple of Row
    zero : float
        Where the line of no effect is.
    confidence : float
    method : {"same", "split"}
    sentence : str
        Which features are certain.
    n_more : int
        Features that are not drawn.
    """

    rows: tuple[Row, ...]
    zero: float
    confidence: float
    method: str
    sentence: str
    n_more: int

    width = WIDTH


def forest_of(table: CoefficientTable, features: tuple[Feature, ...]) -> Forest:
    """Draw intervals of effects across the limits, the largest effects first.

    Privacy
    -------
    Drawn from the model file alone.
    """
    widths = np.array([feature.upper - feature.lower for feature in features])
    effects = table.estimates[:-1] * widths
    ends = table.intervals[:-1] * widths[:, None]
    known = [bool(np.isfinite(each).all()) for each in ends]
    order = np.argsort(-np.abs(effects), kind="stable")
    drawn = [j for j in order.tolist() if np.isfinite(effects[j])][:MOST_ROWS]
    values = [0.0, *(effects[j] for j in drawn), *(v for j in drawn if known[j] for v in ends[j])]
    low, high = min(values), max(values)
    span = high - low if 0 < high - low < np.inf else 1.0

    def across(value: float) -> float:
        return 4 + (WIDTH - 8) * float(value - low) / span

    rows = tuple(
        Row(
            feature=features[j],
            lower=float(table.intervals[j, 0]),
            upper=float(table.intervals[j, 1]),
            noise_share=float(table.noise_shares[j]),
            p_value=float(table.p_values[j]),
            nonzero=bool(table.nonzero[j]),
            ends=(across(ends[j, 0]), across(ends[j, 1])) if known[j] else None,
            at=across(effects[j]),
        )
        for j in drawn
    )
    return Forest(
        rows=rows,
        zero=across(0.0),
        confidence=table.confidence,
        method=table.method,
        sentence=table.sentence([feature.label for feature in features]),
        n_more=len(features) - len(rows),
    )
