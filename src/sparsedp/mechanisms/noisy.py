"""Answers with noise: those of a private fit."""

from dataclasses import dataclass
from typing import TypeVar

from sparsedp.mechanisms.curator import Curator, OnRelease, Released
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.questions.question import Question
from sparsedp.mechanisms.slack import SUMMATION_SLACK
from sparsedp.mechanisms.walk.protocol import CompactWalk, RoundWalk, Walk
from sparsedp.privacy import Budget, Charges, Event, Neighbors, PublicFacts, Sensitivity

A = TypeVar("A")


@dataclass(frozen=True)
class Noisy:
    """Draws noise for what was declared, at the level that the charged event carries.

    Parameters
    ----------
    stream : KeyStream
        Where randomness comes from.
    neighbors : {"add_remove", "replace_one"}
        The relation that sensitivities are taken for.
    """

    stream: KeyStream
    neighbors: Neighbors

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact."""
        return False

    def quick(self, walk: Walk) -> CompactWalk | RoundWalk | None:
        """Compiled, or in rounds where the records are far away."""
        return walk.compact() or walk.in_rounds()

    def answer(self, question: Question[A], event: Event | None, name: str | None) -> A:
        """As the question says, with the event's noise."""
        return question.noisy(event, self)

    def norm(self, sensitivity: float | Sensitivity) -> float:
        """L2 sensitivity that noise is made for."""
        declared = Sensitivity.of_sum(sensitivity)
        return declared.under(self.neighbors) * SUMMATION_SLACK

    def score_range(self, sensitivity: float | Sensitivity) -> float:
        """Range of the change over candidates that selections are made for."""
        return Sensitivity.of_scores(sensitivity).under(self.neighbors) * SUMMATION_SLACK


def NoisyCurator(
    budget: Budget | Charges,
    public: PublicFacts,
    stream: KeyStream,
    on_release: OnRelease | None = None,
) -> Curator:
    """The curator of a private fit.

    Parameters
    ----------
    budget : Budget or Charges
        Answers every charge with a noise level.
    public : PublicFacts
        The facts that need no protection, the neighbor relation among them.
    stream : KeyStream
        Where randomness comes from.
    on_release : callable, optional
        Called after every release with the number of releases so far: for progress bars.
    """
    charges = budget.charges if isinstance(budget, Budget) else budget
    return Curator(public, Noisy(stream, public.neighbors), charges, Released(on_release))
