"""A model with scores from persons who were not in its fit, at the epsilon of the fit alone.

privacy/events/parallel.md has the proof: everybody is in one part, by a secret coin.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate.units import as_weights, as_whole
from sparsedp.evaluation.binary import EDGES, Binary
from sparsedp.evaluation.design import Design
from sparsedp.evaluation.multiclass import Multiclass
from sparsedp.evaluation.predictions import MARGIN, probabilities_of
from sparsedp.evaluation.record import HELD_OUT, TEST
from sparsedp.evaluation.regression import Regression
from sparsedp.evaluation.result import Evaluation, scored
from sparsedp.fit.coefficients import Coefficients
from sparsedp.fit.fit import divided_fit, private_fit
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import Settings
from sparsedp.fit.solve import margins_of
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PrivacyRecord, Schedule, Tabulate
from sparsedp.solvers import Solution


def scored_fit(
    settings: Settings, problem: Problem
) -> tuple[Coefficients, PrivacyRecord, Evaluation | None]:
    """Fit and, where the settings have a holdout, score the model on those who were held out.

    Parameters
    ----------
    settings : Settings
    problem : Problem
        Private. Its records are closed, whatever happens.
    """
    if settings.holdout is None:
        return *private_fit(settings, problem), None
    classes = problem.target.classes
    scores = HeldOutScores(design_of(classes, problem.target.bounds))
    released, record, (table, paid) = divided_fit(settings, problem, scores)
    method = "predict" if classes is None else "decision_function"  # as `evaluate` asks our models
    return released, record, scored(scores.design, method, table, of_scores(paid), classes)


def design_of(classes: tuple[object, ...] | None, limits: tuple[float, float] | None) -> Design:
    """The table of a kind of target: public."""
    if classes is not None and len(classes) == 2:
        return Binary(EDGES / MARGIN)
    if classes is not None:
        return Multiclass.of(len(classes), labels=False)
    assert limits is not None
    return Regression((limits[1] - limits[0]) / 2)


def of_scores(record: PrivacyRecord) -> PrivacyRecord:
    """The record of the scores: they tell what the model says, so all that it cost is in them.

    Whoever was in the fit is protected by the releases of the fit alone, also from the scores.
    """
    return replace(record, solver={"name": "evaluation"}, notes=(HELD_OUT, *record.notes))


@dataclass(frozen=True)
class HeldOutScores:
    """The table of those who were held out, released once there is a model."""

    design: Design

    name = TEST

    @property
    def schedule(self) -> Schedule:
        """One table."""
        return Schedule((Tabulate(math.prod(self.design.shape)),))

    def release(self, problem: Problem, solution: Solution, curator: Curator) -> np.ndarray:
        """Predictions as cells like all others, and the table of these."""
        data = predicted(problem, solution)
        counts = self.design.counts(data)  # private
        return curator.table(counts)  # released


def predicted(problem: Problem, solution: Solution) -> Dataset:
    """What the solution says of each record, in the coordinates of its table (private).

    Each record by itself, as in evaluation.md: margins by local products, and then the gate.
    """
    data, target = problem.data, problem.target
    margins = margins_of(data, solution)
    if target.margin_shift is not None:  # what class weights added in the fit
        margins = margins - target.margin_shift
    margins = margins.reshape(data.n_records, problem.loss.n_outputs)
    if target.classes is None:
        values, bounds = _numbers(margins, target.interval, target.bounds), Bounds(-1.0, 1.0)
    elif len(target.classes) == 2:
        values, bounds = margins, Bounds(-MARGIN, MARGIN)
    else:
        values, bounds = probabilities_of(margins), Bounds(0.0, 1.0)
    codes = None if target.classes is None else tuple(range(len(target.classes)))
    found = Dataset.clip(
        values,
        data.target,
        bounds,
        classes=(0, 1) if codes is None else codes,
        target_bounds=(-1.0, 1.0) if codes is None else None,
        invalid="replace",
    )
    return replace(found, weights=_weights(problem), persons=data.persons)


def _numbers(
    margins: np.ndarray,
    interval: tuple[float, float] | None,
    limits: tuple[float, float] | None,
) -> np.ndarray:
    """Predicted numbers with the target's limits at -1 and 1; margins of counts are logarithms."""
    if interval is not None or limits is None:
        return margins
    return 2 * np.exp(np.minimum(margins, math.log(limits[1]))) / limits[1] - 1


def _weights(problem: Problem) -> np.ndarray | None:
    """What each row counts, without the weights of classes: scores are of the records as they are.

    A row with class weight c has floor(c v) of its own v <= 2**30 units; divided by c and rounded
    down that is at most v, as the three roundings in between come to less than one unit.
    """
    data, by_class = problem.data, problem.target.class_weight
    if by_class is None or data.weights is None:
        return data.weights
    whole = as_whole(data.weights) / np.asarray(by_class)[data.target.astype(np.int64)]
    return as_weights(np.floor(whole).astype(np.int64))
