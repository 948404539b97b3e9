"""The records of a walk in whole numbers: arrays that the kernel and its reference share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

ONE = 2**14
"""An entry of 1, and a residual at its bound, in their units."""
WHOLE_WEIGHT = 2**30
"""A weight of 1 in its units."""
LOSSES = {"logistic": 0, "squared": 1, "multinomial": 2}
MOST_OUTPUTS = 1024
MOST_RECORDS = 2**28
MOST_ENTRIES = 2**30
LARGEST_RADIUS = 2.0**100


@dataclass(frozen=True, eq=False)
class Records:
    """Columns in the order of their caps; entries are whole numbers of 1 / ONE. Private.

    Parameters
    ----------
    n_records : int
    x : ndarray of int16
        Stored entries, within ONE.
    indptr, rows : ndarray
        Compressed columns: int64, and uint16 or int32, increasing within a column. A column that
        stores as many entries as there are records needs none: what ``rows`` has is not read.
    base : ndarray of int16
        What the entries of each column are that are not stored.
    target : ndarray of float32
    order : ndarray of int64
        Which feature each column is.
    cap : ndarray of float64
        No score of a column is larger: its entries times what residuals are at most, which is ONE
        times the weight, rounded down; as doubles, to the nearest. They must not decrease.
    l2 : ndarray of float64
        L2 norms of the columns, rounded up.
    weights : ndarray of int32, optional
        Of the records, whole numbers of 1 / WHOLE_WEIGHT, at most 1; those of one person add up to
        at most 1, which the gate sees to. None if all are 1.
    """

    n_records: int
    x: np.ndarray
    indptr: np.ndarray
    rows: np.ndarray
    base: np.ndarray
    target: np.ndarray
    order: np.ndarray
    cap: np.ndarray
    l2: np.ndarray
    weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.n_records <= MOST_RECORDS:
            raise ValueError("a walk needs records, and no more than sums of whole numbers hold")
        if not (self.x.min() >= -ONE and self.x.max() <= ONE):
            raise ValueError("entries must lie in [-1, 1]")
        if (np.diff(self.cap) < 0).any():
            raise ValueError("columns must lie in the order of their caps")
        if self.weights is not None and not _are_weights(self.weights, self.n_records):
            raise ValueError("weights must be whole numbers of 2**-30 in [0, 1], one per record")

    @property
    def n_columns(self) -> int:
        """Columns, the constant one included."""
        return len(self.order)

    @cached_property
    def n_full(self) -> np.ndarray:
        """How many of the columns before each, and of all of them, are stored in full."""
        return np.concatenate(
            [[0], np.cumsum(np.diff(self.indptr) == self.n_records, dtype=np.int64)]
        )

    @property
    def n_bytes(self) -> int:
        """Memory of the copy."""
        arrays = (self.x, self.indptr, self.rows, self.base, self.target, self.order, self.weights)
        arrays = (*arrays, self.cap, self.l2)
        return sum(array.nbytes for array in arrays if array is not None)

    def by_feature(self, scores: np.ndarray, n_outputs: int) -> np.ndarray:
        """Scores (..., n_columns * n_outputs) in the order of features instead of columns."""
        shape = (*scores.shape[:-1], self.n_columns, n_outputs)
        found = np.empty(shape, dtype=scores.dtype)
        found[..., self.order, :] = scores.reshape(shape)
        return found.reshape(scores.shape)

    def vertices(self, candidates: np.ndarray, n_outputs: int) -> np.ndarray:
        """Candidates 2 * entry + negative as numbers of vertices."""
        entry, negative = candidates >> 1, candidates & 1
        feature = self.order[entry // n_outputs] * n_outputs + entry % n_outputs
        return feature + negative * (self.n_columns * n_outputs)

    def candidates(self, vertices: np.ndarray, n_outputs: int) -> np.ndarray:
        """The other way around."""
        size = self.n_columns * n_outputs
        column = np.empty(self.n_columns, dtype=np.int64)
        column[self.order] = np.arange(self.n_columns)
        feature = vertices % size
        entry = column[feature // n_outputs] * n_outputs + feature % n_outputs
        return 2 * entry + (vertices >= size)


def _are_weights(weights: np.ndarray, n_records: int) -> bool:
    of_kind = weights.dtype == np.int32 and weights.shape == (n_records,)
    return of_kind and bool((weights >= 0).all() and (weights <= WHOLE_WEIGHT).all())


def check(
    records: Records, loss: str, n_outputs: int, bound: float, radius: float, steps: np.ndarray
) -> None:
    """Refuse what the proof does not cover; all of this is public."""
    if loss not in LOSSES or not 1 <= n_outputs <= MOST_OUTPUTS:
        raise ValueError("the walk knows logistic, squared and multinomial loss, 1024 outputs")
    if loss != "multinomial" and n_outputs != 1:
        raise ValueError(f"{loss} loss has one output, got {n_outputs}")
    if records.n_columns * n_outputs > MOST_ENTRIES:
        raise ValueError(f"a walk chooses among at most {MOST_ENTRIES} entries")
    if not 2.0**-60 <= bound <= 2.0**60:
        raise ValueError(f"the bound on residuals must be of ordinary size, got {bound}")
    if not 0 < radius <= LARGEST_RADIUS:
        raise ValueError(f"radius must be positive and at most {LARGEST_RADIUS:g}, got {radius}")
    if not (np.ndim(steps) == 1 and len(steps) < 2**31 - 1):
        raise ValueError("steps must be a vector")
    if not bool(((steps > 0) & (steps <= 1)).all()):
        raise ValueError("every step must lie in (0, 1]")
