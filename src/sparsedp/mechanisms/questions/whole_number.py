"""How many? A whole number from a public range."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparsedp.mechanisms.questions.question import Answer, Query, kept, unanswered
from sparsedp.mechanisms.samplers.count import noisy_count
from sparsedp.privacy import Event, PureReleases, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy

COUNTING = (PureReleases,)
"""Kinds of releases that can answer."""


@dataclass(frozen=True)
class WholeNumber:
    """A number clipped to [lower, upper]; see `Curator.count`."""

    value: int
    lower: int
    upper: int

    free: ClassVar[bool] = False

    @property
    def paid_by(self) -> tuple[type, ...]:
        """Whatever has such noise."""
        return COUNTING

    @property
    def steps(self) -> int:
        """One."""
        return 1

    def amount(self, event: Event) -> float:
        """One release."""
        return 1

    def noisy(self, event: Event | None, noise: "Noisy") -> int:
        """With two-sided geometric noise for the width of the range."""
        if isinstance(event, PureReleases):
            return noisy_count(self.value, self.lower, self.upper, event.epsilon, noise.stream)
        raise unanswered(self, event)

    def exact(self) -> int:
        """The value, clipped."""
        return min(max(int(self.value), self.lower), self.upper)

    def observed(self) -> "WholeNumber":
        """As it is."""
        return self

    def queries(self, answer: int, name: str | None) -> list[Query]:
        """The door clips the number, so the clipped value is what may move."""
        width = self.upper - self.lower
        clipped = np.array([min(max(self.value, self.lower), self.upper), 0.0])
        declared = Sensitivity(add_remove=width, replace_one=width)
        return [kept("count", clipped, declared, (self.lower, self.upper), name, answer)]

    def scripted(self, following: Callable[[], Answer]) -> int:
        """The next answer."""
        return following()
