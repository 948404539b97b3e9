"""Any answers, with a copy of every question and answer: what an audit compares."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from sparsedp.mechanisms.curator import Answers, Curator
from sparsedp.mechanisms.questions.question import Query, Question
from sparsedp.mechanisms.walk.protocol import CompactWalk, Walk
from sparsedp.privacy import Event

A = TypeVar("A")


@dataclass(frozen=True)
class Recording:
    """Leaves every answer to another, and keeps a copy."""

    answers: Answers
    queries: list[Query] = field(default_factory=list)

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact."""
        return self.answers.noiseless

    def quick(self, walk: Walk) -> CompactWalk | None:
        """The compiled walk, whose scores can be had afterwards; others go one by one."""
        return walk.compact()

    def answer(self, question: Question[A], event: Event | None, name: str | None) -> A:
        """As it is, and kept."""
        observed = question.observed()
        answer = self.answers.answer(observed, event, name)
        self.queries.extend(observed.queries(answer, name))
        return answer


def recorded(curator: Curator) -> tuple[Curator, list[Query]]:
    """The same door, and the list into which all that crosses it is copied."""
    recording = Recording(curator.answers)
    return replace(curator, answers=recording), recording.queries
