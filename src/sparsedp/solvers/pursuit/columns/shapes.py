"""Shapes: which features may bend, and into which columns; from private histograms of them.

A feature that bends has a straight column, its value in the unit box, and cosines of 1, 2, ... half
waves, made piecewise linear on knots at its quantiles. The l-th cosine is scaled by 1 / l, so that
steep waves need more evidence. Every column lies in [-1, 1]. Proof: shapes.md.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from sparsedp.data.columns.hats import waves
from sparsedp.data.dataset import Dataset
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.columns.cells import CellCounts
from sparsedp.solvers.pursuit.moments import Moments

N_KNOTS, MOST_WAVES, FEWEST_WAVES = 17, 10, 2

N_CELLS = 32
"""Of a histogram between the bounds of a feature."""

FEWEST_CELLS = 4
"""Where noise is loud: fewer cells hold more records each. They place knots well enough for
`FEWEST_WAVES`, not for more."""

LOUDEST = 0.05
"""Histograms are of use if the noise of one of `N_CELLS` is below this part of the records; of
fewer cells each may be louder, as long as all of them together are not."""

EARLY = 3.0
"""So many columns over the signal are enough for `FEWEST_WAVES` where features bend early."""

EVEN = 0.2
"""Part of the knots that are spread evenly, the others follow the records."""

FEW_BETWEEN = 0.01
"""A feature with no more than this part of the records between its ends has two values."""

MOST_COLUMNS = 240
"""Of a model, bends included: steps take time in proportion."""

CROWDED = 0.2
"""If no more than this part of all values is away from ends, the others need not be stored."""

MOST_FEATURES = 256
"""Features that may bend; with more, their hats would take more memory than the records."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Columns of every feature: released.

    Parameters
    ----------
    knots : ndarray of shape (n_features, q)
        In unit coordinates, from -1 to 1; not numbers where a feature stays straight.
    n_waves : int
        Cosines of a feature that bends.
    ends : ndarray of shape (n_features,)
        -1 or 1, where most records of a feature of two values are thought to be.
    crowded : bool
        Whether most features are at their ends in most records.
    """

    knots: np.ndarray
    n_waves: int
    ends: np.ndarray
    crowded: bool = False

    @classmethod
    def straight(cls, n_features: int) -> "Shapes":
        """No feature bends."""
        return cls(np.full((n_features, N_KNOTS), np.nan), 0, np.full(n_features, -1.0))

    @classmethod
    def of_ends(cls, away: np.ndarray) -> "Shapes":
        """No feature bends; ``away`` are parts of the records away from ends, (features, 2)."""
        crowded = bool(np.minimum(*away.T).mean() <= CROWDED)
        ends = np.where(away[:, 1] < away[:, 0], 1.0, -1.0)
        return replace(cls.straight(len(away)), ends=ends, crowded=crowded)

    @cached_property
    def bends(self) -> np.ndarray:
        """Which features bend: a mask."""
        return ~np.isnan(self.knots[:, 0]) & (self.n_waves > 0)

    @cached_property
    def bent(self) -> np.ndarray:
        """Features that bend."""
        return np.flatnonzero(self.bends)

    def sizes(self, features: np.ndarray) -> np.ndarray:
        """Numbers of columns of some features."""
        return np.where(self.bends[features], 1 + self.n_waves, 1)

    @cached_property
    def heights(self) -> np.ndarray:
        """Of the cosines at the knots, unscaled."""
        return waves(self.knots.shape[1], self.n_waves)

    def limits(self, feature: int) -> np.ndarray:
        """Largest absolute values of the columns of a feature."""
        if not self.bends[feature]:
            return np.ones(1)
        return np.concatenate([[1.0], 1 / np.arange(1, self.n_waves + 1)])

    def columns(self, feature: int) -> np.ndarray:
        """Heights of a feature's columns at its knots, (q, columns), or 1 where it is straight."""
        if not self.bends[feature]:
            return np.ones((1, 1))
        scaled = self.heights * self.limits(feature)[1:]
        return np.column_stack([self.knots[feature], scaled])

    def basis(self, features: np.ndarray) -> np.ndarray:
        """Columns of several features, one after another, in terms of what is stored of them."""
        return np.asarray(block_diag(*[self.columns(j) for j in features]))

    def most_columns(self, size: int) -> int:
        """Columns of any choice of so many features, at most."""
        return size + min(len(self.bent), size) * self.n_waves

    def largest(self, size: int) -> float:
        """Sum of squares of the limits of all columns, for any choice of so many features."""
        squares = sorted(
            (float(np.sum(self.limits(j) ** 2)) for j in range(len(self.knots))), reverse=True
        )
        return sum(squares[:size])


def shaped(
    data: Dataset,
    moments: Moments,
    n_records: float,
    share: float,
    n_waves: "Room",
    straight: Shapes,
) -> tuple[Shapes, float]:
    """Release histograms of the features and place knots.

    Parameters
    ----------
    data : Dataset
        In the unit box of the tightened bounds. Private.
    moments : Moments
    n_records : float
        Released.
    share : float
        Of the Gaussian budget.
    n_waves : Room
        How many cosines noise leaves room for.
    straight : Shapes
        If no feature bends.

    Returns
    -------
    shapes : Shapes
    unused : float
        The share that is left.
    """
    d = data.n_features
    features = np.flatnonzero(~data.bounds.binary_features(d))
    if not 0 < len(features) <= MOST_FEATURES or not data.intercept:
        return straight, share
    # A record is in one cell of each histogram; a replaced one leaves it for another.
    m = len(features)
    sensitivity = Sensitivity(add_remove=math.sqrt(m), replace_one=math.sqrt(2 * m))
    deviation = moments.deviation(sensitivity, share)
    n_cells = _n_cells(deviation / n_records, FEWEST_CELLS if n_waves.early else N_CELLS)
    # Nobody knows yet how many features have two values, so one that bends is enough to ask.
    if n_cells == 0 or n_waves.of(1 / d) < FEWEST_WAVES:
        return straight, share
    counts = data.total(CellCounts(features, n_cells))  # private
    noisy = moments.release(counts, sensitivity, share)  # released
    knots = straight.knots.copy()
    ends = straight.ends.copy()
    ends[features[noisy[:, -1] > noisy[:, 0]]] = 1.0
    for feature, cells in zip(features, noisy, strict=True):
        knots[feature] = _knots(cells, deviation, n_records)
    n_bent = int((~np.isnan(knots[:, 0])).sum())
    count = n_waves.of(n_bent / d) if n_bent else 0
    if n_cells < N_CELLS:
        count = min(count, FEWEST_WAVES)
    return (Shapes(knots, count, ends) if count >= FEWEST_WAVES else straight), 0.0


def _n_cells(noise: float, fewest: int) -> int:
    """How many cells noise leaves room for; ``noise`` is that of a cell over all records."""
    n_cells = N_CELLS
    while n_cells >= fewest:
        if noise * math.sqrt(n_cells) <= LOUDEST * math.sqrt(N_CELLS):
            return n_cells
        n_cells //= 2
    return 0


@dataclass(frozen=True)
class Room:
    """How many cosines to take.

    Parameters
    ----------
    size : int
        Features of the model.
    columns : float
        That noise leaves room for: more would drown each other.
    early : bool
        Whether `FEWEST_WAVES` are worth more than the noise that they bring.
    """

    size: int
    columns: float
    early: bool

    def of(self, bent: float) -> int:
        """For this part of the features, the bent ones: at most `MOST_WAVES`."""
        n_bent = max(1.0, self.size * bent)
        room = (min(self.columns, MOST_COLUMNS) - self.size) / n_bent
        if self.early and room < FEWEST_WAVES:
            few = min(EARLY * self.columns, MOST_COLUMNS) - self.size
            room = min(few / n_bent, FEWEST_WAVES)
        return int(min(max(room, 0.0), MOST_WAVES))


def _knots(cells: np.ndarray, deviation: float, n_records: float) -> np.ndarray:
    """Knots at quantiles of released counts, in [-1, 1]; NaN for a feature of two values."""
    inner = float(cells[1:-1].sum())
    if inner <= 3 * deviation * math.sqrt(len(cells) - 2) + FEW_BETWEEN * n_records:
        return np.full(N_KNOTS, np.nan)
    counts = np.where(cells > 1.5 * deviation, cells, 0.0)
    part = counts / max(float(counts.sum()), 1e-300)
    # Cells without records keep a part of the even spread, so that knots are never too close.
    part = (1 - EVEN) * part + EVEN / len(cells)
    below = np.concatenate([[0.0], np.cumsum(part)]) / part.sum()
    edges = np.linspace(-1, 1, len(cells) + 1)
    knots = np.interp(np.linspace(0, 1, N_KNOTS), below, edges)
    knots[0], knots[-1] = -1.0, 1.0
    return knots
