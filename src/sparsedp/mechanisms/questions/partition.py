"""Which block is each record in? Secret, and the same whatever the records say."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparsedp.mechanisms.questions.question import Answer, Query, kept
from sparsedp.privacy import Event, Sensitivity

if TYPE_CHECKING:
    from sparsedp.mechanisms.noisy import Noisy


@dataclass(frozen=True)
class Partition:
    """A block for each of n records; see `Curator.partition`."""

    n_records: int
    n_blocks: int

    free: ClassVar[bool] = True

    @property
    def paid_by(self) -> tuple[type, ...]:
        """No release."""
        return ()

    @property
    def steps(self) -> int:
        """None."""
        return 0

    def amount(self, event: Event) -> float:
        """Nothing is released."""
        return 0.0

    def noisy(self, event: Event | None, noise: "Noisy") -> np.ndarray:
        """By independent coins.

        Notes
        -----
        *Privacy.* Blocks are secret. Their probabilities are equal up to 2**-50, which does not
        matter: what matters is that a record's block has nothing to do with any record.
        """
        words = noise.stream.words(self.n_records) >> np.uint64(11)
        return (words.astype(np.float64) * 2.0**-53 * self.n_blocks).astype(np.int64)

    def exact(self) -> np.ndarray:
        """By position: without privacy there is nothing to keep secret."""
        return np.arange(self.n_records) % self.n_blocks

    def observed(self) -> "Partition":
        """As it is."""
        return self

    def queries(self, answer: np.ndarray, name: str | None) -> list[Query]:
        """Nothing crosses the door, but replay must repeat it."""
        nothing = Sensitivity(add_remove=0.0, replace_one=0.0)
        return [kept("partition", np.zeros(1), nothing, (self.n_blocks,), None, answer)]

    def scripted(self, following: Callable[[], Answer]) -> np.ndarray:
        """The next answer; a record more gets a block too."""
        return np.resize(following(), self.n_records)
