"""What every question at the door says of itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from sparsedp.privacy import Event, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy
    from sparsedp.mechanisms.questions.minimum import WatchedObjective

A = TypeVar("A")
Answer = Any
"""An int, a float or an array, as the question has it."""


@dataclass(frozen=True)
class Query:
    """One crossing of the door, as an audit keeps it."""

    kind: str
    values: np.ndarray
    """What was asked about (private)."""
    declared: Sensitivity
    settings: tuple[Answer, ...]
    """Everything else that was said: must not depend on the data."""
    answer: Answer
    excluded: np.ndarray | None = None
    name: str | None = None
    """The request of the schedule that it was charged to."""
    share: float = 1.0
    """Part of that request's budget, for Gaussian releases."""
    objective: "WatchedObjective | None" = None
    """What was minimized."""

    def movement(self, other: "Query") -> float:
        """How far the query moved: L2 norm, L1 for tables, the range over candidates else."""
        change = self.values - other.values
        if self.kind == "table":
            return float(np.abs(change).sum())
        if self.kind in ("perturb", "minimize"):
            return float(np.linalg.norm(change))
        if self.excluded is not None:
            change = np.delete(change, self.excluded)
        if "signed" in self.settings:
            change = np.concatenate([change, -change])
        return float(change.max() - change.min())


class Question(Protocol[A]):
    """Exact (private) values with a declared sensitivity; the answer is a release."""

    free: ClassVar[bool]
    """Whether nothing is released, so that nothing is charged."""

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Kinds of events that carry its noise; none if it needs none."""
        ...

    @property
    def steps(self) -> int:
        """What a progress bar counts."""
        ...

    def amount(self, event: Event) -> float:
        """What is charged of the event."""
        ...

    def noisy(self, event: Event | None, noise: "Noisy") -> A:
        """The answer of a private fit, once it has been charged."""
        ...

    def exact(self) -> A:
        """The answer of a fit without privacy."""
        ...

    def observed(self) -> "Question[A]":
        """The same question, which keeps what an audit wants to know of the way to its answer."""
        ...

    def queries(self, answer: A, name: str | None) -> list[Query]:
        """What an audit keeps of question and answer."""
        ...

    def scripted(self, following: Callable[[], Answer]) -> A:
        """The answer, put together from the next ones of a script."""
        ...


def kept(
    kind: str,
    values: object,
    declared: Sensitivity,
    settings: tuple[object, ...],
    name: str | None,
    answer: object,
    *,
    excluded: np.ndarray | None = None,
    share: float = 1.0,
    objective: "WatchedObjective | None" = None,
) -> Query:
    """A query with copies: the solver may go on to write into what it asked about."""
    copied = np.array(values, dtype=float)
    return Query(
        kind,
        copied,
        declared,
        (*settings, name, copied.shape),
        answer.copy() if isinstance(answer, np.ndarray) else answer,
        None if excluded is None else np.array(excluded),
        name,
        share,
        objective,
    )


def unanswered(question: object, event: object) -> TypeError:
    """What to raise where an event has no answer to a question: nothing has been released."""
    return TypeError(f"{type(event).__name__} has no noise for {type(question).__name__}")
