"""What is to be fitted: records behind the gate, a loss, and what was declared about the target."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

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

    @property
    def class_weight(self) -> tuple[float, ...] | None:
        """Public weights of the labels; None where all count the same."""
        ...

    @property
    def margin_shift(self) -> np.ndarray | None:
        """What class weights add to the margins of every record; None for nothing."""
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
    held: NDArray[np.bool_] | None = None
    """Whether each row's person is held out by a coin that persists. Private."""

    @property
    def shift(self) -> np.ndarray | float:
        """How much larger margins are in the fit than for whoever predicts: public.

        By class weights, which shift log odds, and by the middle of an offset's limits, which the
        gate takes off offsets. Only an intercept can take it up.
        """
        shift = self.target.margin_shift
        center = self.data.offset_center
        return center if shift is None else shift + center
