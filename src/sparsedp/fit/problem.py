"""What is to be fitted: records behind the gate, a loss, and what was declared about the target."""

from dataclasses import dataclass
from typing import Protocol

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss


class Target(Protocol):
    """What was declared about the target, and all that follows from it; public."""

    @property
    def classes(self) -> tuple[object, ...] | None:
        """Labels that the gate lets through; None for numbers."""
        ...

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Limits that the gate clips numbers to; None for labels."""
        ...

    @property
    def interval(self) -> tuple[float, float] | None:
        """What [-1, 1] of a margin stands for; None where margins have no unit (log odds)."""
        ...

    def declared(self) -> dict[str, object]:
        """For the record."""
        ...


@dataclass(frozen=True)
class Problem:
    """Records behind the gate, and what is to be learned from them.

    Parameters
    ----------
    data : Dataset
        Private; or records in blocks, which answer all that solvers ask of a `Dataset`.
    loss : Loss
        What is minimized.
    target : Target
        What was declared about the target.
    """

    data: Dataset
    loss: Loss
    target: Target
