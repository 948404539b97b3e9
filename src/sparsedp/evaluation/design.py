"""What every kind of target says of its table and scores."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.dataset import Dataset
from sparsedp.data.gate.units import ONE
from sparsedp.evaluation.score import Score

NOISE = (
    "the table is mostly noise where this score divides by a count: evaluate more records, or with "
    "a larger epsilon"
)


@dataclass(frozen=True)
class Found:
    """Scores by name, what was refused and why, and scores of a model that knows nothing else
    than how often each class occurs.
    """

    scores: dict[str, Score] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    null: dict[str, float] = field(default_factory=dict)


Curve = dict[str, list[float]]
"""Columns of a picture, all of one length."""


class Design(Protocol):
    """A table of cells, public before any record is seen, and what can be read from it."""

    @property
    def task(self) -> str:
        """Kind of target."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the table."""
        ...

    def counts(self, data: Dataset) -> NDArray[np.int64]:
        """The exact table, in units of 1 / ONE (private).

        Each row adds numbers that are not negative and come to at most its weight.
        """
        ...

    def found(self, table: np.ndarray, variance: float) -> Found:
        """Scores from a released table whose cells have noise of this variance."""
        ...

    def curves(self, table: np.ndarray, variance: float) -> dict[str, Curve]:
        """Pictures from a released table."""
        ...

    def described(self) -> dict[str, object]:
        """For the record and for files."""
        ...


def row_units(data: Dataset) -> NDArray[np.int64]:
    """What each row counts, in units of 1 / ONE (private); a person's rows come to at most ONE."""
    if data.weights is None:
        return np.full(data.n_records, ONE, dtype=np.int64)
    return np.rint(data.weights * ONE).astype(np.int64)  # whole already: weights are k / ONE
