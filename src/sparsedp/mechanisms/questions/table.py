"""How many are there in each cell of a table?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.units import ONE
from sparsedp.mechanisms.questions.question import Answer, Query, kept, unanswered
from sparsedp.mechanisms.samplers.count import discrete_laplace
from sparsedp.privacy import MOVED, Event, LaplaceTable

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy

TABULATING = (LaplaceTable,)
"""Kinds of releases that can answer."""


@dataclass(frozen=True, eq=False)
class Table:
    """Whole numbers, in units of 1 / ONE, as weights of rows are; see `Curator.table`."""

    counts: NDArray[np.int64]

    free: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.counts.dtype != np.int64:
            raise TypeError("a table is asked for in whole units: sums of them are exact")

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return TABULATING

    @property
    def steps(self) -> int:
        """One."""
        return 1

    def amount(self, event: Event) -> float:
        """One table."""
        return 1

    def noisy(self, event: Event | None, noise: "Noisy") -> np.ndarray:
        """With two-sided geometric noise in every cell, for what one unit moves in all of them.

        Notes
        -----
        *Privacy.* Drawn and added in whole numbers of any size. What comes out is rounded to
        floating point only then, which is post-processing.
        """
        if not isinstance(event, LaplaceTable) or event.cells != self.counts.size:
            raise unanswered(self, event)
        distance = int(MOVED.under(noise.neighbors)) * ONE
        drawn = [
            (int(count) + discrete_laplace(event.epsilon, distance, noise.stream)) / ONE
            for count in self.counts.ravel()
        ]
        return np.array(drawn).reshape(self.counts.shape)

    def exact(self) -> np.ndarray:
        """The counts as they are."""
        return self.counts / ONE

    def observed(self) -> "Table":
        """As it is."""
        return self

    def queries(self, answer: np.ndarray, name: str | None) -> list[Query]:
        """The counts and their release."""
        return [kept("table", self.counts / ONE, MOVED, (), name, answer)]

    def scripted(self, following: Callable[[], Answer]) -> np.ndarray:
        """The next answer."""
        return following()
