"""Scores that move with every answer: how a solver asks for one vertex after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sparsedp._kernels.walk.records import Records

if TYPE_CHECKING:
    from sparsedp.mechanisms.curator import Curator

Point = Any
"""Where a walk in rounds is, in a form that it alone knows."""


@dataclass(frozen=True)
class CompactWalk:
    """A walk over an L1 ball in the form that the compiled kernel takes. Private.

    Parameters
    ----------
    columns : Records
        The records by columns, in whole numbers.
    loss : {"logistic", "squared", "multinomial"}
    start : ndarray of int64, shape (n_columns * n_outputs,)
        Scores at weights zero.
    n_outputs : int
    bound : float
        Residuals are clipped to it: what one record adds to a score at most. Public.
    radius : float
        Of the ball. Public.
    steps : ndarray of shape (n_steps,)
        Which part of the way to its vertex each step goes. Public.
    mode : {"auto", "lazy", "full"}
        Which scores are computed when. It changes the time that a walk takes, and nothing else.
    """

    columns: Records
    loss: str
    start: np.ndarray
    n_outputs: int
    bound: float
    radius: float
    steps: np.ndarray
    mode: str = "auto"


class RoundWalk(Protocol):
    """A walk whose scores are far away, and what is known about them here. Private.

    Points of the walk are whatever it says; scores are those of positive vertices.
    """

    bound: float
    """What one record adds to a score at most. Public, like the steps."""
    steps: np.ndarray
    limits: np.ndarray
    """No score is ever larger in absolute value; one number per positive vertex."""

    @property
    def start(self) -> Point:
        """The first point."""
        ...

    def follow(self, entries: np.ndarray) -> None:
        """Say which scores are to be known at references; the start becomes the only one."""
        ...

    def moved(self, point: Point, vertex: int) -> Point:
        """The point one step further, toward a vertex."""
        ...

    def anchor(self, point: Point) -> None:
        """Use the reference that tells most about this point."""
        ...

    def drift(self, point: Point) -> float:
        """How far a point is from the reference; zero only where its scores are known exactly."""
        ...

    def around(self, drift: float, which: slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        """Followed scores at the reference, and how far they can be from that after a drift."""
        ...

    def first_score(self, entry: int) -> float:
        """The score at the start."""
        ...

    def scores(self, point: Point) -> np.ndarray:
        """All scores at a point: one round."""
        ...

    def ask(
        self, questions: Sequence[tuple[Point, int]], references: Sequence[Point]
    ) -> list[float]:
        """Scores of entries at points, and points that become the references: one round."""
        ...


class Walk(Protocol):
    """A point that moves by one vertex at a time, and the scores of the vertices there."""

    @property
    def sensitivity(self) -> float:
        """Bound on one record's contribution to any score at the current point. Public."""
        ...

    def scores(self) -> np.ndarray:
        """Scores of the positive vertices; negative ones have minus that (private)."""
        ...

    def advance(self, vertex: int) -> None:
        """Move toward a released vertex."""
        ...

    def compact(self) -> CompactWalk | None:
        """The same walk, from its beginning, for the compiled kernel; None where it has no form."""
        ...

    def in_rounds(self) -> RoundWalk | None:
        """The same walk, from its beginning, over records that are far away; None if they are not.

        It may look at the records.
        """
        ...


def one_by_one(
    curator: "Curator", walk: Walk, count: int, *, name: str | None = None
) -> np.ndarray:
    """Ask for every vertex by itself: the reference for everything faster.

    Parameters
    ----------
    curator : Curator
        Whose ``select`` answers.
    walk : Walk
        At its beginning.
    count : int
        How many vertices to choose.
    name : str, optional
        The request of the schedule.

    Returns
    -------
    ndarray of int64, shape (count,)
        The released vertices.
    """
    chosen = np.empty(count, dtype=np.int64)
    for t in range(count):
        scores = walk.scores()  # private
        chosen[t] = curator.select(scores, walk.sensitivity, signed=True, name=name)  # released
        walk.advance(int(chosen[t]))
    return chosen
