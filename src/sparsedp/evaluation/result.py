"""The scores of a model, as they may be published."""

import math
from dataclasses import dataclass, field

import numpy as np

from sparsedp.evaluation.design import Curve, Design
from sparsedp.evaluation.record import TEST
from sparsedp.evaluation.score import Score, hint
from sparsedp.privacy import MOVED, Neighbors, PrivacyRecord
from sparsedp.privacy.events import listed_in


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation:
    """Private scores with intervals, and the noisy table that all of them follow from.

    Parameters
    ----------
    task : {"binary", "multiclass", "regression"}
    scores : dict of str to Score
        Each with a 95 % interval that covers sampling and noise.
    refused : dict of str to str
        Scores that the table does not tell, and why.
    null : dict of str to float
        What a model would have that knows only how often each class occurs, or the mean.
    curves : dict of str to dict
        Points of pictures, column by column: "roc" and "calibration".
    classes : tuple or None
        In the order of the table; None for numbers.
    table : ndarray
        The release itself. Cells may be negative; sums of them must keep those.
    design : dict
        What its cells are: public.
    privacy : PrivacyRecord
        What was guaranteed, and where it was charged.
    hint : str or None
        What is to be known of intervals where counts are not far above noise.

    Privacy
    -------
    Everything follows from ``table`` and public facts, so all of it may be published under the
    guarantee in ``privacy``. The intervals are no part of that guarantee: a score whose noise
    is large passes the guard now and then by that noise.
    """

    task: str
    scores: dict[str, Score]
    refused: dict[str, str]
    null: dict[str, float]
    curves: dict[str, Curve] = field(default_factory=dict)
    classes: tuple[object, ...] | None
    table: np.ndarray
    design: dict[str, object]
    privacy: PrivacyRecord
    hint: str | None = None

    def __getitem__(self, name: str) -> Score:
        """A score by name; a refused one raises with the reason."""
        if name in self.scores:
            return self.scores[name]
        if name in self.refused:
            raise KeyError(f"{name}: {self.refused[name]}")
        raise KeyError(f"there is no score {name!r}; there are {', '.join(self.scores) or 'none'}")

    @property
    def confusion(self) -> np.ndarray | None:
        """Noisy counts, true class by predicted class; None for numbers."""
        if self.task == "regression":
            return None
        if self.task == "multiclass":
            return self.table.sum(axis=2)
        half = self.table.shape[1] // 2
        return np.stack([self.table[:, :half].sum(axis=1), self.table[:, half:].sum(axis=1)], 1)

    def to_dict(self) -> dict[str, object]:
        """Plain data, ready for JSON."""
        return {
            "task": self.task,
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "refused": dict(self.refused),
            "null": dict(self.null),
            "curves": {name: dict(curve) for name, curve in self.curves.items()},
            "classes": None if self.classes is None else list(self.classes),
            "table": self.table.tolist(),
            "design": dict(self.design),
            "privacy": self.privacy.to_dict(),
        }

    def __repr__(self) -> str:
        """A table to read."""
        lines = [self.privacy.statement()]
        wide = max([len(name) for name in (*self.scores, *self.refused)], default=0)
        if self.scores:
            lines.append(f"{'':{wide}}  estimate   95 % interval        null   noise")
        for name, score in self.scores.items():
            null = f"{self.null[name]:9.4g}" if name in self.null else " " * 9
            lines.append(
                f"{name:{wide}}  {score.value:8.4g}   {score.lower:8.4g} to {score.upper:8.4g}"
                f"  {null}   {score.noise_share:4.0%}"
            )
        lines += [f"{name:{wide}}  refused: {reason}" for name, reason in self.refused.items()]
        lines += [] if self.hint is None or not self.scores else [f"{self.hint}."]
        return "\n".join(lines)


def scored(
    design: Design,
    method: str,
    table: np.ndarray,
    record: PrivacyRecord,
    classes: tuple[object, ...] | None,
) -> Evaluation:
    """What follows from a released table, without the records."""
    variance = 0.0
    if not math.isinf(record.epsilon):
        # The fit's releases are listed too where the scores are of those who were held out of it.
        (released,) = listed_in(record.events, TEST)
        variance = noise_variance(released["epsilon"], record.neighbors)
    found = design.found(table, variance)
    return Evaluation(
        task=design.task,
        scores=found.scores,
        refused=found.refused,
        null=found.null,
        curves=design.curves(table, variance),
        classes=classes,
        table=table,
        design=design.described() | {"method": method},
        privacy=record,
        hint=hint(table, variance, by_class=classes is not None),
    )


def noise_variance(epsilon: float, neighbors: Neighbors) -> float:
    """Of Laplace noise on a fine grid in a cell, in records: twice the square of its scale."""
    return 2 * (MOVED.under(neighbors) / epsilon) ** 2
