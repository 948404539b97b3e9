"""Which candidate has a high score? One, or several at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparsedp.mechanisms.questions.question import Answer, Query, kept, unanswered
from sparsedp.mechanisms.samplers.linear import laplace_top_k
from sparsedp.mechanisms.samplers.select import (
    exponential_mechanism,
    exponential_top_k,
    laplace_noisy_max,
)
from sparsedp.privacy import Event, LaplaceSelections, LaplaceVotes, Selections, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy

SELECTING = (Selections, LaplaceSelections, LaplaceVotes)
"""Kinds of releases that can answer."""


@dataclass(frozen=True, eq=False)
class Selection:
    """One candidate; see `Curator.select`."""

    scores: np.ndarray
    sensitivity: float | Sensitivity
    signed: bool = False
    excluded: np.ndarray | None = None

    free: ClassVar[bool] = False

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return SELECTING

    @property
    def steps(self) -> int:
        """One."""
        return 1

    def amount(self, event: Event) -> float:
        """One selection."""
        return 1

    def noisy(self, event: Event | None, noise: "Noisy") -> int:
        """By the exponential mechanism, or with a paper's Laplace noise."""
        if isinstance(event, LaplaceSelections):
            assert not isinstance(self.sensitivity, Sensitivity), (
                "a paper scales noise to one bound"
            )
            assert self.excluded is None, "no paper excludes candidates"
            scale = event.scale * self.sensitivity
            return laplace_noisy_max(self.scores, scale, noise.stream, signed=self.signed)
        if isinstance(event, Selections):
            return exponential_mechanism(
                self.scores,
                event.epsilon0,
                noise.score_range(self.sensitivity),
                noise.stream,
                signed=self.signed,
                excluded=self.excluded,
            )
        raise unanswered(self, event)  # votes choose several at once

    def exact(self) -> int:
        """The best candidate."""
        scores = self.scores
        ranked = np.abs(scores) if self.signed else np.array(scores, dtype=float)
        if self.excluded is not None:
            ranked[self.excluded] = -np.inf
        best = int(np.argmax(ranked))
        return best + len(scores) if self.signed and scores[best] < 0 else best

    def observed(self) -> "Selection":
        """As it is."""
        return self

    def queries(self, answer: int, name: str | None) -> list[Query]:
        """The scores and the choice."""
        declared, settings = Sensitivity.of_scores(self.sensitivity), ("signed",) * self.signed
        excluded = self.excluded
        return [kept("select", self.scores, declared, settings, name, answer, excluded=excluded)]

    def scripted(self, following: Callable[[], Answer]) -> int:
        """The next answer."""
        return following()


@dataclass(frozen=True, eq=False)
class TopSelection:
    """Several different candidates, best first; see `Curator.select_many`."""

    scores: np.ndarray
    sensitivity: float | Sensitivity
    count: int
    excluded: np.ndarray | None = None

    free: ClassVar[bool] = False

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return SELECTING

    @property
    def steps(self) -> int:
        """One per candidate."""
        return self.count

    def amount(self, event: Event) -> float:
        """One selection per candidate."""
        return self.count

    def noisy(self, event: Event | None, noise: "Noisy") -> np.ndarray:
        """One selection after another, or the most votes after a paper's Laplace noise."""
        if isinstance(event, LaplaceVotes):
            assert self.excluded is None, "no paper excludes candidates"
            return laplace_top_k(self.scores, event.scale, self.count, noise.stream)
        if isinstance(event, Selections):
            return exponential_top_k(
                self.scores,
                event.epsilon0,
                noise.score_range(self.sensitivity),
                self.count,
                noise.stream,
                excluded=self.excluded,
            )
        raise unanswered(self, event)  # no paper publishes a one-shot top-k

    def exact(self) -> np.ndarray:
        """The best candidates."""
        ranked = np.array(self.scores, dtype=float)
        if self.excluded is not None:
            ranked[self.excluded] = -np.inf
        return np.argsort(-ranked, kind="stable")[: self.count]

    def observed(self) -> "TopSelection":
        """As it is."""
        return self

    def queries(self, answer: np.ndarray, name: str | None) -> list[Query]:
        """The scores and the choices."""
        declared, excluded = Sensitivity.of_scores(self.sensitivity), self.excluded
        how = (declared, (self.count,), name, answer)
        return [kept("select_many", self.scores, *how, excluded=excluded)]

    def scripted(self, following: Callable[[], Answer]) -> np.ndarray:
        """The next answer."""
        return following()
