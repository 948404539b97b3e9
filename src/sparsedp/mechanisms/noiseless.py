"""Answers without noise: those of a fit without privacy."""

from dataclasses import dataclass
from typing import TypeVar

from sparsedp.mechanisms.curator import Curator, OnRelease, Released
from sparsedp.mechanisms.questions.question import Question
from sparsedp.mechanisms.walk.protocol import Walk
from sparsedp.privacy import Event, PublicFacts

A = TypeVar("A")


@dataclass(frozen=True)
class Exact:
    """Answers exactly."""

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact."""
        return True

    def quick(self, walk: Walk) -> None:
        """One by one."""
        return None

    def answer(self, question: Question[A], event: Event | None, name: str | None) -> A:
        """As the question says."""
        return question.exact()


def NoiselessCurator(public: PublicFacts, on_release: OnRelease | None = None) -> Curator:
    """Answers exactly. For ``epsilon=inf``, and inside a solver for values that it then protects.

    Nothing that comes out of it may be published as private.
    """
    return Curator(public, Exact(), None, Released(on_release))
