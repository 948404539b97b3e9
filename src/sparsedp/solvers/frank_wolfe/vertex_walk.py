"""Frank-Wolfe over an L1 ball as seen by the data: where it is, and how good each vertex is."""

import numpy as np

from sparsedp._kernels.walk.records import MOST_ENTRIES, MOST_OUTPUTS
from sparsedp.data.blocks.blocked import BlockedDataset
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum, residual_bound
from sparsedp.losses import CompiledWalk, Lipschitz, Loss
from sparsedp.mechanisms import CompactWalk
from sparsedp.sets import L1Ball
from sparsedp.solvers.frank_wolfe.block_walk import BlockWalk
from sparsedp.solvers.frank_wolfe.compact import compact_columns


class VertexWalk:
    """The private side of Frank-Wolfe: weights move toward vertices chosen from outside.

    Parameters
    ----------
    data : Dataset
        Private.
    loss : Loss
    ball : L1Ball
    steps : ndarray of shape (n_steps,)
        Which part of the way to its vertex each step goes.
    shape : tuple of int
        Of the weights.
    clip : float
        Residuals beyond this are clipped.
    bound : float or None
        What to declare as the bound on residuals; None for the smaller of ``clip`` and what the
        loss says at the current weights.
    mode : {"auto", "lazy", "full"}
        How the compiled kernel works.
    """

    def __init__(
        self,
        data: Dataset,
        loss: Loss,
        ball: L1Ball,
        steps: np.ndarray,
        shape: tuple[int, ...],
        *,
        clip: float,
        bound: float | None,
        mode: str,
    ) -> None:
        self._data, self._loss, self._ball, self._steps = data, loss, ball, steps
        # Zeros without memory: the compiled walk keeps margins instead and never looks here.
        self._weights = np.broadcast_to(0.0, shape)
        self._clip, self._bound, self._mode = clip, bound, mode
        self._n_taken = 0

    @property
    def sensitivity(self) -> float:
        """Bound on one record's contribution to any score: features lie in [-1, 1]."""
        if self._bound is not None:
            return self._bound
        return min(residual_bound(self._data, self._loss, self._weights), self._clip)

    def scores(self) -> np.ndarray:
        """How steeply the loss falls toward each positive vertex (private)."""
        bound = self.sensitivity
        return self._ball.scores(gradient_sum(self._data, self._loss, self._weights, bound))

    def advance(self, vertex: int) -> None:
        """Move toward a released vertex."""
        step = self._steps[self._n_taken]
        self._weights = self._ball.step_toward(self._weights, vertex, step)
        self._n_taken += 1

    def compact(self) -> CompactWalk | None:
        """The walk for the kernel, if that knows the loss and one bound holds for all of it."""
        loss, bound, n_outputs = self._loss, self._lasting_bound, self._loss.n_outputs
        if not isinstance(loss, CompiledWalk) or bound is None or n_outputs > MOST_OUTPUTS:
            return None
        if self._data.n_columns * n_outputs > MOST_ENTRIES:
            return None
        # The kernel clips to the bound alone: a loss whose residuals end earlier, such as Huber's
        # beside the bound of a published calibration, would not be the one that it minimizes.
        if isinstance(loss, Lipschitz) and loss.lipschitz < bound:
            return None
        columns = compact_columns(self._data)
        if columns is None:
            return None
        return CompactWalk(
            columns.columns,
            loss.walk_name,
            columns.start(loss.walk_name, n_outputs, bound),
            n_outputs,
            bound,
            self._ball.radius,
            self._steps,
            self._mode,
        )

    def in_rounds(self) -> BlockWalk | None:
        """The walk for records in blocks, under the same condition."""
        bound = self._lasting_bound
        if not isinstance(self._data, BlockedDataset) or self._mode == "full":
            return None
        if bound is None:
            return None
        return BlockWalk(self._data, self._loss, self._ball, self._steps, bound)

    @property
    def _lasting_bound(self) -> float | None:
        """A bound on residuals that holds from the first step to the last, if there is one."""
        # Walks of the kernel and of blocks start from margins of zero, which offsets are not.
        if self._n_taken or self._data.offset_bounds is not None:
            return None
        if self._bound is not None:
            return self._bound
        # The bound is least at weights zero; there one feature says as much as all of them, in less
        # time. It stays where it is if it is the clip already, or what no residual ever exceeds.
        loss, clip = self._loss, self._clip
        least = loss.residual_bound(np.zeros((1, *self._weights.shape[1:])))
        if clip <= least:
            return clip
        return least if isinstance(loss, Lipschitz) and loss.lipschitz <= least else None
