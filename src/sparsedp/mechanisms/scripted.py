"""Answers from a script, whatever is asked: what a solver does then cannot depend on data."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sparsedp.mechanisms.curator import Curator
from sparsedp.mechanisms.questions.question import Answer, Question
from sparsedp.mechanisms.walk.protocol import Walk
from sparsedp.privacy import Event, PublicFacts

A = TypeVar("A")


class ControlFlowChanged(AssertionError):
    """On other data, with the same answers, the solver asked something else."""


@dataclass(frozen=True)
class Scripted:
    """Answers from a list, which it uses up."""

    answers: list[Answer]

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact."""
        return False

    def quick(self, walk: Walk) -> None:
        """One by one."""
        return None

    def answer(self, question: Question[A], event: Event | None, name: str | None) -> A:
        """The next answer, or several."""
        return question.scripted(self._next)

    def close(self) -> None:
        """Raise unless the whole script was used."""
        if self.answers:
            raise ControlFlowChanged("less was asked than the script has answers for")

    def _next(self) -> Answer:
        if not self.answers:
            raise ControlFlowChanged("more was asked than the script has answers for")
        answer = self.answers.pop(0)
        return answer.copy() if isinstance(answer, np.ndarray) else answer


def ScriptedCurator(public: PublicFacts, script: Scripted) -> Curator:
    """A door without data behind it, and without a budget."""
    return Curator(public, script, None)
