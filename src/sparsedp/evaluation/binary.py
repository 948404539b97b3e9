"""Two classes: how many records of each class have a score in each bin of log odds."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sparsedp.data.dataset import Dataset
from sparsedp.evaluation.design import NOISE, Curve, Found, row_units
from sparsedp.evaluation.score import Score, drowned

FINE, COARSE = np.arange(-2.0, 2.0, 0.25), np.arange(2.0, 5.5, 0.5)

EDGES = np.concatenate([[-7.0, -6.0], -COARSE[:0:-1], FINE, COARSE, [6.0, 7.0]])
"""Of the bins, public: 32 that are narrow around zero and two open ones. An edge belongs to the bin
below it, as ties go to the first class."""

END = 4.0
"""Losses count log odds as clipped to this: noise in far bins would drown them otherwise."""

MIDDLES = np.clip(np.concatenate([[-END], (EDGES[1:] + EDGES[:-1]) / 2, [END]]), -END, END)
"""Log odds that stand for a bin."""

CUT = 17
"""Bins from here on are predictions of the second class: log odds above zero."""

NO_ODDS = (
    "the model has margins and no probabilities: calibrate it, or give a column of probabilities"
)


@dataclass(frozen=True)
class Binary:
    """Class by bin.

    Parameters
    ----------
    edges : ndarray
        Between bins, in the coordinates in which predictions come through the gate.
    odds : bool
        Whether bins are of log odds; otherwise of margins that only rank records.
    """

    edges: np.ndarray
    odds: bool = True

    task = "binary"
    shape = (2, 34)

    def counts(self, data: Dataset) -> NDArray[np.int64]:
        """One cell per row (private)."""
        table = np.zeros(self.shape, dtype=np.int64)
        bins = np.searchsorted(self.edges, data.columns([0])[:, 0], side="left")
        np.add.at(table, (data.target.astype(np.int64), bins), row_units(data))
        return table

    def found(self, table: np.ndarray, variance: float) -> Found:
        """Scores of the noisy table."""
        found = Found()
        n_bins = table.shape[1]
        few = [drowned(total, n_bins, variance) for total in table.sum(axis=1)]
        if drowned(table.sum(), table.size, variance):
            names = ("AUC", "accuracy", "recall", "specificity", "log loss", "Brier score")
            found.refused.update(dict.fromkeys(names, NOISE))
            return found
        if any(few):
            found.refused["AUC"] = NOISE
        else:
            found.scores["AUC"], found.null["AUC"] = _area(table, variance), 0.5
        after = (np.arange(n_bins) >= CUT).astype(float)
        right = np.stack([1 - after, after])
        found.scores["accuracy"] = Score.of_mean(right, table, variance)
        for name, label in (("recall", 1), ("specificity", 0)):
            if few[label]:
                found.refused[name] = NOISE
            else:
                found.scores[name] = Score.of_mean(right[label], table[label], variance)
        self._odds(table, variance, found)
        self._null(table, found)
        return found

    def _odds(self, table: np.ndarray, variance: float, found: Found) -> None:
        """Scores of probabilities."""
        if not self.odds:
            found.refused.update(dict.fromkeys(("log loss", "Brier score"), NO_ODDS))
            return
        p = expit(MIDDLES)
        losses = np.logaddexp(0, np.stack([MIDDLES, -MIDDLES]))
        most = float(np.logaddexp(0, END))
        found.scores["log loss"] = Score.of_mean(losses, table, variance, (0.0, most))
        squares = np.stack([p**2, (1 - p) ** 2])
        found.scores["Brier score"] = Score.of_mean(squares, table, variance)

    def _null(self, table: np.ndarray, found: Found) -> None:
        """Scores of the class shares themselves, from the same table."""
        share = float(np.clip(table[1].sum() / table.sum(), 0.0, 1.0))
        found.null["accuracy"] = max(share, 1 - share)
        if self.odds and 0 < share < 1:
            found.null["log loss"] = float(-share * np.log(share) - (1 - share) * np.log1p(-share))
            found.null["Brier score"] = share * (1 - share)

    def curves(self, table: np.ndarray, variance: float) -> dict[str, Curve]:
        """ROC and calibration curve, as far as they are not noise."""
        drawn: dict[str, Curve] = {}
        if not any(drowned(total, table.shape[1], variance) for total in table.sum(axis=1)):
            drawn["roc"] = _roc(table)
        if self.odds:
            drawn["calibration"] = _calibration(table, variance)
        return drawn

    def described(self) -> dict[str, object]:
        """For the record."""
        return {"edges": EDGES.tolist(), "scale": "log odds" if self.odds else "margins"}


def _order() -> np.ndarray:
    """How a record of the first class in bin a counts with one of the second in bin b.

    One if a is below b and half in the same bin; and a little more or less in neighboring bins,
    which is what halves lose where densities are smooth (evaluation.md, section 2).
    """
    n_bins = EDGES.size + 1
    order = np.triu(np.ones((n_bins, n_bins)), 1) + np.eye(n_bins) / 2
    width, middle = np.diff(EDGES), (EDGES[1:] + EDGES[:-1]) / 2
    last = len(width) - 1
    for b in range(last + 1):  # bins without the open ones
        left, right = max(b - 1, 0), min(b + 1, last)
        for other, sign in ((left, -1), (right, 1)):
            if other != b:
                part = sign * width[b] ** 2 / (12 * (middle[right] - middle[left]) * width[other])
                order[b + 1, other + 1] += part
                order[other + 1, b + 1] -= part
    return order


ORDER = _order()


def _area(table: np.ndarray, variance: float) -> Score:
    """Area under the ROC curve: how often the second class is ranked above the first."""
    totals = table.sum(axis=1)
    share = table / totals[:, None]
    above, below = ORDER @ share[1], share[0] @ ORDER
    area = float(share[1] @ below)
    gradient = np.stack([(above - area) / totals[0], (below - area) / totals[1]])
    rare = max(float((table * gradient**4).sum()), 0.0)
    score = Score.of(area, table, gradient, gradient**2, variance, (0.0, 1.0), rare)
    # Within the open bins no order is known: what a model that ranks there loses by halves.
    ends = np.clip(share[:, [0, -1]], 0.0, 1.0)
    return replace(score, upper=min(score.upper + float(ends.prod(axis=0).sum()) / 2, 1.0))


def _roc(table: np.ndarray) -> Curve:
    """From all records called second class to none; noise is taken out where curves cannot turn."""
    rates = []
    for row in table:
        above = 1 - np.append(0.0, np.cumsum(row)) / row.sum()
        falling = np.minimum.accumulate(np.clip(above, 0.0, 1.0))
        falling[-1] = 0.0
        rates.append(falling)
    thresholds = [0.0, *expit(EDGES).tolist(), 1.0]
    return {
        "threshold": thresholds,
        "false positive rate": rates[0].tolist(),
        "true positive rate": rates[1].tolist(),
    }


def _calibration(table: np.ndarray, variance: float) -> Curve:
    """Predicted and observed share of the second class, in bins that are not noise."""
    columns: Curve = {name: [] for name in ("predicted", "observed", "lower", "upper")}
    for b, column in enumerate(table.T):
        if drowned(column.sum(), 2, variance):
            continue
        observed = Score.of_mean(np.array([0.0, 1.0]), column, variance)
        columns["predicted"].append(float(expit(MIDDLES[b])))
        for name, value in (("observed", observed.value), ("lower", observed.lower)):
            columns[name].append(value)
        columns["upper"].append(observed.upper)
    return columns
