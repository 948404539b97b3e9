"""Several classes, or labels alone: true class by predicted class by bin of confidence."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.dataset import Dataset
from sparsedp.evaluation.design import NOISE, Curve, Found, row_units
from sparsedp.evaluation.score import Score, drowned

MOST_CELLS = 2**14
"""A larger table takes long to draw, and more records than anybody has to tell from its noise."""


@dataclass(frozen=True)
class Multiclass:
    """True by predicted by confidence.

    Parameters
    ----------
    n_classes : int
    n_bins : int
        Of equal width from 1 / n_classes to 1; one if there are labels and no probabilities.
    """

    n_classes: int
    n_bins: int

    task = "multiclass"

    @classmethod
    def of(cls, n_classes: int, *, labels: bool) -> "Multiclass":
        """As many bins of confidence as the number of classes leaves cells for."""
        if n_classes**2 > MOST_CELLS:
            raise ValueError(
                f"{n_classes} classes are too many for a private table of true by predicted class: "
                "put classes together"
            )
        wanted = (1,) if labels else (8 if n_classes <= 4 else 4, 1)
        return cls(n_classes, next(b for b in wanted if n_classes**2 * b <= MOST_CELLS))

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of the table."""
        return self.n_classes, self.n_classes, self.n_bins

    @property
    def edges(self) -> np.ndarray:
        """Between bins of confidence."""
        return np.linspace(1 / self.n_classes, 1, self.n_bins + 1)[1:-1]

    def counts(self, data: Dataset) -> NDArray[np.int64]:
        """One cell per row (private)."""
        table = np.zeros(self.shape, dtype=np.int64)
        # Probabilities, in unit coordinates; for labels a one where the label is.
        columns = data.columns(np.arange(self.n_classes))
        predicted = columns.argmax(axis=1)
        confidence = columns[np.arange(len(columns)), predicted]
        bins = np.searchsorted(2 * self.edges - 1, confidence, side="left")
        np.add.at(table, (data.target.astype(np.int64), predicted, bins), row_units(data))
        return table

    def found(self, table: np.ndarray, variance: float) -> Found:
        """Scores of the noisy table."""
        found = Found()
        if drowned(table.sum(), table.size, variance):
            found.refused.update(dict.fromkeys(("accuracy", "balanced accuracy"), NOISE))
            return found
        right = np.broadcast_to(np.eye(self.n_classes)[:, :, None], self.shape)
        found.scores["accuracy"] = Score.of_mean(right, table, variance)
        totals = table.sum(axis=(1, 2))
        found.null["accuracy"] = float(np.clip(totals.max() / table.sum(), 0, 1))
        if any(drowned(total, table[0].size, variance) for total in totals):
            found.refused["balanced accuracy"] = NOISE
        else:
            found.scores["balanced accuracy"] = _balanced(table, right, totals, variance)
            found.null["balanced accuracy"] = 1 / self.n_classes
        return found

    def curves(self, table: np.ndarray, variance: float) -> dict[str, Curve]:
        """How often predictions are right, by confidence."""
        if self.n_bins == 1:
            return {}
        ends = np.concatenate([[1 / self.n_classes], self.edges, [1.0]])
        right = np.eye(self.n_classes)
        bins = [
            ((low + high) / 2, Score.of_mean(right, table[:, :, b], variance))
            for b, (low, high) in enumerate(pairwise(ends.tolist()))
            if not drowned(table[:, :, b].sum(), table[:, :, b].size, variance)
        ]
        return {
            "calibration": {
                "predicted": [middle for middle, _ in bins],
                "observed": [score.value for _, score in bins],
                "lower": [score.lower for _, score in bins],
                "upper": [score.upper for _, score in bins],
            }
        }

    def described(self) -> dict[str, object]:
        """For the record."""
        return {"n_classes": self.n_classes, "edges": self.edges.tolist(), "scale": "confidence"}


def _balanced(table: np.ndarray, right: np.ndarray, totals: np.ndarray, variance: float) -> Score:
    """Mean over the classes of the share that is predicted right."""
    recall = (table * right).sum(axis=(1, 2)) / totals
    gradient = (right - recall[:, None, None]) / (len(totals) * totals[:, None, None])
    return Score.of(float(recall.mean()), table, gradient, gradient**2, variance, (0.0, 1.0))
