"""Private values, one per block of records, on this machine or on the workers of a cluster."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from sparsedp.data.records import Derived, Sums, Watch

Result = TypeVar("Result")


class BlockValues(Derived, Protocol):
    """What `LocalBlocks` and `ClusterBlocks` have in common."""

    def derive(
        self, function: Callable[..., object], *others: Derived, kept: bool = True
    ) -> "BlockValues":
        """Values computed from these; where they are not `kept` they are computed when needed."""
        ...

    def given(self, values: Sequence[object]) -> "BlockValues":
        """Values that are here already, one per block."""
        ...

    def each(self, function: Callable[..., Result], *others: Derived) -> list[Result]:
        """Results for all blocks, in their order."""
        ...

    def total(self, function: Callable[..., Sums], *others: Derived) -> Sums:
        """Sum over the blocks, in their order."""
        ...

    def watched(self, watch: Watch | None) -> None:
        """Report progress to a function, or no longer."""
        ...

    def close(self) -> None:
        """Let go of everything that is kept."""
        ...


def foreign() -> TypeError:
    """For values of other blocks, which do not go together with these."""
    return TypeError("values of other records do not go together with these blocks")
