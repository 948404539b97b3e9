"""Scores of those who were held out of a fit, from the table in its file."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparsedp.evaluation.design import Curve, Design
from sparsedp.evaluation.holdout import TEST, design_of
from sparsedp.evaluation.result import noise_variance
from sparsedp.evaluation.score import Score, hint
from sparsedp.privacy.events import LaplaceTable, Parallel, Part, event_from_dict, flattened
from sparsedp.release.checks import NotAModel, checked_fields, is_number, need
from sparsedp.release.document import Json, Label, Record, Target

LARGEST = 1e15
"""Of a cell, in records."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Private scores of a published model.

    Parameters
    ----------
    scores, refused, null, curves
        As in an ``Evaluation``.
    share : float
        Part of the rows or persons that was held out.
    hint : str or None
        As in an ``Evaluation``.
    """

    scores: dict[str, Score]
    refused: dict[str, str]
    null: dict[str, float]
    curves: dict[str, Curve]
    share: float
    hint: str | None

    def to_dict(self) -> dict[str, object]:
        """Plain data, ready for JSON."""
        return {
            "share": self.share,
            "scores": {name: score.to_dict() for name, score in self.scores.items()},
            "refused": self.refused,
            "null": self.null,
        }


def held_out(
    table: NDArray[np.float64] | None,
    classes: tuple[Label, ...] | None,
    target: Target,
    record: Record,
) -> HeldOut | None:
    """What follows from the table of a file; None if nobody was held out."""
    part = None if table is None else _part(record)
    if table is None or part is None:
        return None
    released = part.events[0][1]
    assert isinstance(released, LaplaceTable)  # _part sees to it
    design = _design(classes, target)
    variance = noise_variance(released.epsilon, record["neighbors"])
    found = design.found(table, variance)
    return HeldOut(
        scores=found.scores,
        refused=found.refused,
        null=found.null,
        curves=design.curves(table, variance),
        share=part.share,
        hint=hint(table, variance, by_class=classes is not None),
    )


def checked_table(
    content: Json, classes: tuple[Label, ...] | None, target: Target, record: Record
) -> NDArray[np.float64] | None:
    """The table of a file, if it is one that its record can have released."""
    if content is None:
        return None
    shape = _design(classes, target).shape
    fields = checked_fields(content, ("table",), "evaluation")
    part = _part(record)
    if part is None:
        raise NotAModel("evaluation belongs to no release that is listed")
    released = part.events[0][1]
    right = isinstance(released, LaplaceTable) and released.cells == math.prod(shape)
    need(right, "evaluation has another number of cells than was released")
    return np.array(_cells(fields["table"], shape), dtype=np.float64).reshape(shape)


def _design(classes: tuple[Label, ...] | None, target: Target) -> Design:
    limits = None if classes is not None else (float(target["lower"]), float(target["upper"]))
    try:
        return design_of(classes, limits)
    except ValueError:
        raise NotAModel("evaluation is of more classes than a table can hold") from None


def _part(record: Record) -> Part | None:
    """Those who were held out, if the record lists one table about them and nothing else."""
    for event in record["events"]:
        try:
            flattened([event])  # raises where parts are within parts without end
            listed = event_from_dict({k: v for k, v in event.items() if k != "name"})
        except (ValueError, TypeError):
            continue
        for part in listed.parts if isinstance(listed, Parallel) else ():
            tables = [isinstance(released, LaplaceTable) for _, released in part.events]
            if part.name == TEST and tables == [True]:
                return part
    return None


def _cells(content: Json, shape: tuple[int, ...]) -> list[float]:
    """Numbers in nested lists of this shape, one after the other."""
    if not shape:
        if not is_number(content) or abs(content) > LARGEST:
            raise NotAModel("evaluation.table must be numbers")
        return [float(content)]
    if not isinstance(content, list) or len(content) != shape[0]:
        raise NotAModel("evaluation.table has another shape than this kind of model")
    return [cell for row in content for cell in _cells(row, shape[1:])]
