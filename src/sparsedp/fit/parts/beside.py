"""What is released about those who are not in the fit, at the same epsilon."""

from typing import Protocol

import numpy as np

from sparsedp.fit.problem import Problem
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Budget, Parallel, Part, Schedule
from sparsedp.privacy.kind import Listed
from sparsedp.solvers import Solution

Listing = tuple[tuple[str, Listed], ...]
"""Releases with the names of their purposes."""

FIT = "fit"
"""Name of the part that the model is fitted to."""


class Beside(Protocol):
    """A release about another part of the persons, made once there is a model."""

    @property
    def name(self) -> str:
        """Of the part."""
        ...

    @property
    def schedule(self) -> Schedule:
        """What will be asked for: pure requests."""
        ...

    def release(self, problem: Problem, solution: Solution, curator: Curator) -> np.ndarray:
        """What crosses the door about the records of ``problem``, those of the part."""
        ...


def divided(listed: Listing, beside: Beside, other: Budget, share: float) -> Parallel:
    """The event of a fit and of what is released beside it, each about its part of the persons."""
    return Parallel(
        (
            Part(FIT, 1 - share, listed),
            Part(beside.name, share, tuple(zip(other.names, other.events, strict=True))),
        )
    )
