"""The door: the only way from private data to anything that leaves a solver.

A solver hands in exact (private) values with a declared sensitivity and never learns more than the
answer. Every question goes the same way: it is charged, answered, and counted. What the answers
are is another matter: noisy.py, noiseless.py, scripted.py, recording.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np

from sparsedp.mechanisms.questions.minimum import Minimum, Objective
from sparsedp.mechanisms.questions.partition import Partition
from sparsedp.mechanisms.questions.perturbation import NoiseLevel, Perturbation
from sparsedp.mechanisms.questions.question import Question
from sparsedp.mechanisms.questions.selection import Selection, TopSelection
from sparsedp.mechanisms.questions.steps import Steps
from sparsedp.mechanisms.questions.table import Table
from sparsedp.mechanisms.questions.whole_number import WholeNumber
from sparsedp.mechanisms.walk.protocol import CompactWalk, RoundWalk, Walk, one_by_one
from sparsedp.privacy import Charges, Event, PublicFacts, Sensitivity

A = TypeVar("A")
OnRelease = Callable[[int], None]


class Answers(Protocol):
    """Where answers come from."""

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact: nothing needs to be bounded then."""
        ...

    def quick(self, walk: Walk) -> CompactWalk | RoundWalk | None:
        """The form in which a whole walk is taken; None to be asked for one step at a time."""
        ...

    def answer(self, question: Question[A], event: Event | None, name: str | None) -> A:
        """Answer a question that has been charged to ``event``, if there is a budget."""
        ...


@dataclass
class Released:
    """How many releases there were: shared by all doors of one fit."""

    on_release: OnRelease | None = None
    count: int = 0

    def add(self, steps: int) -> None:
        """Count, and tell whoever shows progress."""
        self.count += steps
        if self.on_release is not None:
            self.on_release(self.count)


@dataclass(frozen=True, eq=False)
class Curator:
    """What a solver may ask.

    Parameters
    ----------
    public : PublicFacts
        The facts that need no protection.
    answers : Answers
        Where answers come from.
    charges : Charges or None
        What pays for them; None where answers are exact or from a script.
    released : Released
        Counts for progress bars.
    """

    public: PublicFacts
    answers: Answers
    charges: Charges | None
    released: Released = field(default_factory=Released)

    @property
    def noiseless(self) -> bool:
        """Whether answers are exact: nothing needs to be bounded then."""
        return self.answers.noiseless

    def ask(self, question: Question[A], name: str | None = None) -> A:
        """Charge a question, answer it, count it.

        Parameters
        ----------
        question : Question
        name : str, optional
            Which request of the schedule this belongs to, where there are several.

        Notes
        -----
        *Privacy.* Nothing is drawn before the charge has been made.
        """
        event = self._charged(question, name)
        answer = self.answers.answer(question, event, name)
        if not question.free:
            self.released.add(question.steps)
        return answer

    def _charged(self, question: Question[A], name: str | None) -> Event | None:
        if self.charges is None or not question.paid_by:
            return None
        event = self.charges.find(question.paid_by, name)
        if question.free:
            return event
        return self.charges.charge(question.paid_by, question.amount(event), name)

    def _declared(self, sensitivity: float | Sensitivity) -> float | Sensitivity:
        """What a record can move, if it may count less than 1: a float allows for that already."""
        if isinstance(sensitivity, Sensitivity) and self.public.weighting == "sub_unit":
            return sensitivity.with_smaller_weights()
        return sensitivity

    def narrowed(self, public: PublicFacts) -> "Curator":
        """The same door with other public facts: for a solver on a released part of the data."""
        return replace(self, public=public)

    def close(self) -> None:
        """Raise unless exactly the scheduled releases have been made."""
        if self.charges is not None:
            self.charges.close()

    def select(
        self,
        scores: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        signed: bool = False,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> int:
        """Release the number of a candidate with a high score (one selection).

        Parameters
        ----------
        scores : ndarray of shape (d,)
            Private.
        sensitivity : float or Sensitivity
            A float bounds one record's contribution to any score, in absolute value; a
            Sensitivity gives the range of the change over the candidates.
        signed : bool
            Choose among 2d candidates: ``j`` has ``scores[j]``, ``d + j`` has ``-scores[j]``.
        excluded : ndarray of int, optional
            Candidates (both signs) that may not be chosen; must be released or public.
        name : str, optional
            Which request of the schedule this belongs to, where there are several.
        """
        declared = self._declared(sensitivity)
        return self.ask(Selection(scores, declared, signed, excluded), name)

    def select_many(
        self,
        scores: np.ndarray,
        sensitivity: float | Sensitivity,
        count: int,
        *,
        excluded: np.ndarray | None = None,
        name: str | None = None,
    ) -> np.ndarray:
        """Release ``count`` different candidates, best first; costs ``count`` selections."""
        declared = self._declared(sensitivity)
        return self.ask(TopSelection(scores, declared, count, excluded), name)

    def select_along(self, walk: Walk, count: int, *, name: str | None = None) -> np.ndarray:
        """Release one vertex per step of a walk, ``count`` in all; costs ``count`` selections.

        The same as ``select`` on the walk's scores again and again, signed, each answer handed to
        ``walk.advance``; nothing but the answers comes back.
        """
        quick = self.answers.quick(walk)
        if quick is None:
            return one_by_one(self, walk, count, name=name)
        return self.ask(Steps(quick, count), name)

    def perturb(
        self,
        values: np.ndarray,
        sensitivity: float | Sensitivity,
        *,
        share: float = 1.0,
        name: str | None = None,
    ) -> np.ndarray:
        """Release an array with Gaussian noise.

        ``sensitivity`` is in L2 norm; a float bounds the norm of one record's contribution.
        ``share`` is the part of the request's budget that this release uses.
        """
        return self.ask(Perturbation(values, self._declared(sensitivity), share), name)

    def noise_level(
        self, sensitivity: float | Sensitivity, *, share: float = 1.0, name: str | None = None
    ) -> float:
        """Standard deviation of the noise that `perturb` would add; releases nothing.

        Public: it follows from schedule and budget alone. ``share`` may be anything above zero.
        Where ``name`` is a request for selections, the answer is the scale of the Gumbel noise
        that makes the same choices, and ``sensitivity`` is as in `select`.
        """
        declared = self._declared(sensitivity)
        return self.ask(NoiseLevel(declared, share, named=name is not None), name)

    def count(self, value: int, lower: int, upper: int, *, name: str | None = None) -> int:
        """Release a whole number, clipped to [lower, upper], with pure differential privacy."""
        return self.ask(WholeNumber(value, lower, upper), name)

    def table(self, counts: np.ndarray, *, name: str | None = None) -> np.ndarray:
        """Release a table of counts with pure differential privacy.

        Parameters
        ----------
        counts : ndarray of int64
            Private, in units of 2**-30. What one record (one person, all rows together) adds is not
            negative and comes to at most 2**30 over all cells.
        name : str, optional
            Which request of the schedule this belongs to, where there are several.

        Returns
        -------
        ndarray of float
            In units of one record; may be negative.
        """
        return self.ask(Table(counts), name)

    def minimize(self, objective: Objective, *, name: str | None = None) -> np.ndarray:
        """Release the minimum of an objective to which a random linear term has been added."""
        return self.ask(Minimum(objective), name)

    def partition(self, n_records: int, n_blocks: int) -> np.ndarray:
        """Assign each of n records to a block by an independent coin; nothing is released."""
        return self.ask(Partition(n_records, n_blocks))
