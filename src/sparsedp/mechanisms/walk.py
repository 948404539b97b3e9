"""Scores that move with every answer: how a solver asks for one vertex after another."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from sparsedp.mechanisms.curator import Curator


@dataclass(frozen=True)
class CompactWalk:
    """A walk over an L1 ball in the form that the compiled kernel takes. Private.

    Parameters
    ----------
    columns : sparsedp._kernels.lazy.Columns
        The records by columns.
    loss : {"logistic", "squared", "multinomial"}
    start : ndarray of shape (n_columns, n_outputs)
        Sums of derivatives times entries at weights zero.
    bound : float
        Derivatives are clipped to it: what one record adds to a score at most. Public.
    radius : float
        Of the ball. Public.
    steps : ndarray of shape (n_steps,)
        Which part of the way to its vertex each step goes. Public.
    mode : {"auto", "lazy", "full"}
        Which scores are computed when. It changes the time that a walk takes, and nothing else.
    """

    columns: Any
    loss: str
    start: np.ndarray
    bound: float
    radius: float
    steps: np.ndarray
    mode: str = "auto"


class Walk(Protocol):
    """A point that moves by one vertex at a time, and the scores of the vertices there."""

    @property
    def reach(self) -> float:
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
        chosen[t] = curator.select(scores, walk.reach, signed=True, name=name)  # released
        walk.advance(int(chosen[t]))
    return chosen
