"""Frank-Wolfe over records in blocks: what is known about scores between looks at the records."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsedp.data.blocks.blocked import BlockedDataset
from sparsedp.data.columns.transposed import by_columns
from sparsedp.data.records import Derived
from sparsedp.losses import Loss, ScalingBound
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.block_looks import FirstLook, Look, Place, SomeColumns

WIDER = 1 + 1e-6
"""Bounds grow by this factor for their own rounding."""

ROUNDING = 1e-6
"""How far a computed sum is from the exact one, at most, in units of a record's share
(data/sums/summation.md has half of it for two sums)."""

LEAST_DRIFT = 2.0**-500
"""Distances are never zero by rounding: that means something else."""


@dataclass(frozen=True, eq=False)
class Point:
    """Where a walk is: after so many steps, with weights on the entries visited so far."""

    n_taken: int
    weights: np.ndarray


@dataclass(frozen=True, eq=False)
class Reference:
    """A point where scores of the followed entries are known (private)."""

    point: Point
    scores: np.ndarray
    length: float
    """L2 norm of all margins there."""
    is_asked: bool = True
    """Whether the scores are, to the last bit, those that `BlockWalk.ask` gives."""


class BlockWalk:
    """A walk that looks at the records now and then, at many points at once. Private.

    Parameters
    ----------
    data : BlockedDataset
    loss : Loss
    ball : L1Ball
    steps : ndarray of shape (n_steps,)
        Which part of the way to its vertex each step goes.
    bound : float
        Residuals are clipped to it, in all of the walk.

    Attributes
    ----------
    limits : ndarray of shape (size,)
        No score of an entry is ever larger in absolute value.
    """

    def __init__(
        self, data: BlockedDataset, loss: Loss, ball: L1Ball, steps: np.ndarray, bound: float
    ) -> None:
        self.bound, self.steps = bound, steps
        self._loss, self._ball, self._intercept = loss, ball, data.intercept
        self._n_features, self._n_outputs = data.n_features, loss.n_outputs
        self._blocks = data.derive(by_columns)
        first = self._blocks.total(FirstLook(loss, bound))  # private
        sums, squares, n_records, gradient = first
        self._n_records = float(n_records)
        self._sums = np.repeat(sums, loss.n_outputs) * WIDER
        self._norms = np.repeat(np.sqrt(squares), loss.n_outputs) * WIDER
        self.limits = bound * (self._sums + ROUNDING)
        self._first = ball.scores(gradient)
        # At either point a margin is a sum of few terms, which add up to twice the radius at most,
        # and a residual has roundings of its own.
        steepest = max(1.0, loss.residual_lipschitz)
        wrong = (len(steps) + 16) * 2.0**-50 * ball.radius * steepest
        wrong += (loss.n_outputs + 16) * 2.0**-50
        self._least_drift = math.sqrt(self._n_records * loss.n_outputs) * wrong
        # A residual keeps the sign that its label gives it; one of a number does not.
        self._swing = bound * (2 if loss.n_classes is None else 1)
        self._slots: dict[int, int] = {}
        self._slot_norms = np.zeros(len(steps))
        with np.errstate(divide="ignore"):  # a step of one forgets all that was before
            self._log_kept = np.log1p(-steps)
        self._references: list[Reference] = []

    @property
    def start(self) -> Point:
        """The first point: weights zero."""
        return Point(0, np.zeros(0))

    def follow(self, entries: np.ndarray) -> None:
        """Say which entries' scores to fetch with every look; starts over with references."""
        self._entries = entries
        columns = np.unique(entries // self._n_outputs)
        self._columns = columns[columns < self._n_features]
        self._places = self._rows_of(entries, self._columns)
        self._followed: Derived = self._blocks.derive(SomeColumns(_some(self._columns)))
        self._entry_norms, self._entry_sums = self._norms[entries], self._sums[entries]
        self._references = [Reference(self.start, self._first[entries], 0.0, is_asked=False)]
        self._reference = self._references[0]

    def moved(self, point: Point, vertex: int) -> Point:
        """The point one step further, toward a vertex."""
        size = len(self.limits)
        entry = vertex % size
        slot = self._slots.setdefault(entry, len(self._slots))
        if slot >= len(self._slot_norms):
            self._slot_norms = np.concatenate([self._slot_norms, np.zeros(slot)])
        self._slot_norms[slot] = self._norms[entry]
        step = self.steps[point.n_taken]
        weights = np.zeros(max(len(point.weights), slot + 1))
        weights[: len(point.weights)] = (1 - step) * point.weights
        weights[slot] += step * (-self._ball.radius if vertex >= size else self._ball.radius)
        return Point(point.n_taken + 1, weights)

    def anchor(self, point: Point) -> None:
        """Use the reference that tells most about this point."""
        self._reference = min(self._references, key=lambda one: self._distance(point, one))

    def drift(self, point: Point) -> float:
        """How far residuals have moved from the reference, at most, in L2 norm.

        Zero at the reference itself, and nowhere else: scores there are the ones that were asked.
        """
        return self._distance(point, self._reference)

    def around(self, drift: float, which: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Scores of followed entries at the reference, and how far they can be from that."""
        with np.errstate(invalid="ignore"):  # no number where an empty column drifts without bound
            widths = self._entry_norms[which] * drift
        widths = np.fmin(widths, self._entry_sums[which] * self._swing)
        return self._reference.scores[which], widths + self.bound * ROUNDING

    def scores(self, point: Point) -> np.ndarray:
        """All scores at a point: one look at the records."""
        look = Look(self._loss, self.bound, (self._place(point),), np.arange(self._n_features), 0)
        (found,) = self._blocks.total(look, self._followed)  # private
        return self._ball.scores(found).ravel()

    def first_score(self, entry: int) -> float:
        """The score at weights zero."""
        return float(self._first[entry])

    def ask(
        self, questions: Sequence[tuple[Point, int]], references: Sequence[Point]
    ) -> list[float]:
        """Scores of entries at points, and new references: one look at the records."""
        points: dict[int, Point] = {id(point): point for point in references}
        points |= {id(point): point for point, _ in questions}
        entries = np.array([entry for _, entry in questions], dtype=np.int64)
        columns = np.unique(entries // self._n_outputs)
        columns = columns[columns < self._n_features]
        places = tuple(map(self._place, points.values()))
        look = Look(self._loss, self.bound, places, _some(columns), len(references))
        found = iter(self._blocks.total(look, self._followed))  # private
        answers: dict[int, np.ndarray] = {}
        self._references = []
        for number, (key, point) in enumerate(points.items()):
            answers[key] = self._ball.scores(next(found))
            if number < len(references):
                scores = self._ball.scores(next(found))[self._places]
                length = math.sqrt(next(found)) * WIDER
                self._references.append(Reference(point, scores, length))
        rows = self._rows_of(entries, columns)
        pairs = zip(questions, rows, strict=True)
        return [float(answers[id(point)][row]) for (point, _), row in pairs]

    def _distance(self, point: Point, reference: Reference) -> float:
        """Of residuals at two points: by weights that differ, and by those that shrank alike."""
        if reference.is_asked and point is reference.point:
            return 0.0
        norms = self._slot_norms
        here, there = point.weights, reference.point.weights
        n = max(len(here), len(there))
        new, old = np.zeros(n), np.zeros(n)
        new[: len(here)], old[: len(there)] = here, there
        steepness = self._loss.residual_lipschitz
        least = steepness * float(np.abs(new - old) @ norms[:n])
        if point.n_taken > reference.point.n_taken:
            lost = self._lost(reference.point.n_taken, point.n_taken)
            kept = math.exp(-lost)
            shrunk = steepness * -math.expm1(-lost) * reference.length
            if isinstance(self._loss, ScalingBound):
                moved = self._loss.scaling_bound * lost
                shrunk = min(shrunk, moved * math.sqrt(self._n_records))
            least = min(least, shrunk + steepness * float(np.abs(new - kept * old) @ norms[:n]))
        return least * WIDER + max(self._least_drift, LEAST_DRIFT)

    def _lost(self, before: int, after: int) -> float:
        """Minus the logarithm of what is left of weights after some steps."""
        return -float(np.sum(self._log_kept[before:after]))

    def _place(self, point: Point) -> Place:
        entries = np.fromiter(self._slots, dtype=np.int64, count=len(point.weights))
        columns, outputs = np.divmod(entries, self._n_outputs)
        features = np.unique(columns[(point.weights != 0) & (columns < self._n_features)])
        features = _some(features)
        weights = np.zeros((len(features) + self._intercept, self._n_outputs))
        rows = np.where(columns < self._n_features, np.searchsorted(features, columns), -1)
        held = point.weights != 0
        weights[rows[held], outputs[held]] = point.weights[held]
        return Place(features, weights if self._n_outputs > 1 else weights[:, 0])

    def _rows_of(self, entries: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Where entries stand among the scores of some columns, the intercept's last."""
        wanted, outputs = np.divmod(entries, self._n_outputs)
        n_kept = len(_some(columns))
        rows = np.where(wanted < self._n_features, np.searchsorted(columns, wanted), n_kept)
        return rows * self._n_outputs + outputs


def _some(columns: np.ndarray) -> np.ndarray:
    """The columns, or the first one where there would be none."""
    return columns if len(columns) else np.zeros(1, dtype=np.int64)
