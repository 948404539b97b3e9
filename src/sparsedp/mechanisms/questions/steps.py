"""Which vertices, one after another, where every answer moves the scores? (walk/protocol.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparsedp.mechanisms.questions.question import Answer, Query, kept, unanswered
from sparsedp.mechanisms.questions.selection import SELECTING
from sparsedp.mechanisms.walk.lazy import exponential_walk, laplace_walk, scores_along
from sparsedp.mechanisms.walk.proposals import ExponentialNoise, LaplaceNoise
from sparsedp.mechanisms.walk.protocol import CompactWalk, RoundWalk
from sparsedp.mechanisms.walk.rounds import walk_in_rounds
from sparsedp.privacy import Event, LaplaceSelections, Selections, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy


@dataclass(frozen=True, eq=False)
class Steps:
    """All vertices of a walk, taken in one go; see `Curator.select_along`."""

    walk: CompactWalk | RoundWalk
    count: int

    free: ClassVar[bool] = False

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return SELECTING

    def __post_init__(self) -> None:
        assert len(self.walk.steps) == self.count, "a walk has as many steps as selections"

    @property
    def steps(self) -> int:
        """One per vertex."""
        return self.count

    def amount(self, event: Event) -> float:
        """All selections are charged before the first word of noise is drawn."""
        return self.count

    def noisy(self, event: Event | None, noise: "Noisy") -> np.ndarray:
        """The same law as selections one by one."""
        walk = self.walk
        if isinstance(event, LaplaceSelections):
            scale = event.scale * walk.bound
            if isinstance(walk, CompactWalk):
                return laplace_walk(walk, scale, noise.stream)
            return walk_in_rounds(walk, LaplaceNoise(scale), noise.stream)
        if isinstance(event, Selections):
            score_range = noise.score_range(walk.bound)
            if isinstance(walk, CompactWalk):
                return exponential_walk(walk, event.epsilon0, score_range, noise.stream)
            law = ExponentialNoise(event.epsilon0, score_range)
            return walk_in_rounds(walk, law, noise.stream)
        raise unanswered(self, event)  # votes choose several at once

    def exact(self) -> np.ndarray:
        """Never asked: exact answers take walks one by one."""
        raise unanswered(self, None)

    def observed(self) -> "Steps":
        """As it is."""
        return self

    def queries(self, answer: np.ndarray, name: str | None) -> list[Query]:
        """Selection by selection, with all scores on the way; the walk may have computed none."""
        assert isinstance(self.walk, CompactWalk), "others are recorded one by one"
        declared = Sensitivity.of_scores(self.walk.bound)
        return [
            kept("select", scores, declared, ("signed",), name, int(vertex))
            for scores, vertex in zip(scores_along(self.walk, answer), answer, strict=True)
        ]

    def scripted(self, following: Callable[[], Answer]) -> np.ndarray:
        """The next answers, one per step."""
        return np.array([following() for _ in range(self.count)], dtype=np.int64)
