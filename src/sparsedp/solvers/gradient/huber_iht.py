"""Iterative hard thresholding with Huber's loss, for heavy tails (proof: huber_iht.md)."""

from dataclasses import dataclass

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Huber, Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, PublishedSchedule, Schedule
from sparsedp.solvers.gradient.ight import IGHT
from sparsedp.solvers.solver import Solution


@dataclass(frozen=True, kw_only=True)
class HuberIHT:
    """Gradient steps on Huber's loss; each time features are peeled and noise goes to them only.

    After DP-IHT-H of Tian et al. (2025): the threshold of the loss bounds what a record does to a
    gradient, so targets with heavy tails need no truncation of their own. `Huber.for_tails` has
    the threshold that theory takes, with many records too large a one. A bad idea with light tails,
    where Pursuit is better.

    Parameters
    ----------
    n_nonzero : int, optional
        Features to keep; None takes the estimator's. The intercept does not count.
    n_steps : int
        Gradients to release, each with ``n_nonzero`` selections.
    step_size : float
        The first step, in units of the inverse curvature along a feature of average variance; it
        then adapts.

    Notes
    -----
    *Privacy.* Released are the records' number, means and squares, the features of every step, and
    the gradient of these features with Gaussian noise.
    """

    n_nonzero: int | None = None
    n_steps: int = 10
    step_size: float = 0.25

    needs = (Huber,)

    def __post_init__(self) -> None:
        self._peeling()

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: the guarantee is proven."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """Moments once; features and their gradient in every step."""
        if public.loss is not None:
            _refuse_others(public.loss)
        return self._peeling().schedule(public)

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Peel with residuals that the loss has bounded already."""
        return self._peeling(_refuse_others(loss).threshold).solve(data, loss, curator)

    def _peeling(self, clip: float | None = None) -> IGHT:
        return IGHT(
            n_nonzero=self.n_nonzero,
            n_steps=self.n_steps,
            step_size=self.step_size,
            clip=clip,
            peeling=True,
        )


def _refuse_others(loss: Loss) -> Huber:
    """The loss, if it is Huber's."""
    if not isinstance(loss, Huber):
        raise ValueError(
            f"HuberIHT minimizes Huber's loss, not {type(loss).__name__}: say loss='huber' or "
            "loss=Huber(threshold=...) of SparseLinearRegression, or take another solver"
        )
    return loss
