"""The models with fewer features that come along with a model, at no further charge."""

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparsedp.data.bend import Bend
from sparsedp.data.interaction import Interaction
from sparsedp.estimators.border import Estimator
from sparsedp.estimators.raw import names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ModelPath:
    """One model for every number of features up to that of the fitted model.

    Dense models, of solvers that choose no features, have a path of their 500 heaviest ones.

    Attributes
    ----------
    order : ndarray of int
        Features in the order in which they enter.
    coefs : ndarray of shape (n_steps, n_outputs, n_steps)
        ``coefs[k - 1, :, :k]`` belong to the features ``order[:k]``.
    intercepts : ndarray of shape (n_steps, n_outputs)
    bends : tuple of tuple of Bend
        ``bends[k - 1]`` belong to the model with k features; empty if no effect bends.
    interactions : tuple of tuple of Interaction
        Likewise, of pairs of its features; empty if none interact.

    Notes
    -----
    *Privacy.* Computed from what was released for the full model, so it costs nothing. Choosing k
    by looking at private data would: choose it on public data or by the plot.
    """

    order: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    _estimator: Estimator
    bends: tuple[tuple[Bend, ...], ...] = ()
    interactions: tuple[tuple[Interaction, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.order)

    def model(self, k: int) -> Estimator:
        """The fitted estimator with the first ``k`` features only."""
        if not 1 <= k <= len(self):
            raise ValueError(f"k must be between 1 and {len(self)}, got {k!r}")
        model = copy.copy(self._estimator)
        coef = np.zeros_like(np.atleast_2d(model.coef_))
        coef[:, self.order[:k]] = self.coefs[k - 1, :, :k]
        model.coef_ = coef.reshape(np.shape(model.coef_))
        model.intercept_ = (
            float(self.intercepts[k - 1, 0])
            if isinstance(model.intercept_, float)
            else self.intercepts[k - 1].copy()
        )
        model.bends_ = self.bends[k - 1] if self.bends else ()
        model.interactions_ = self.interactions[k - 1] if self.interactions else ()
        return model

    def plot(self, ax: "Axes | None" = None, *, output: int = 0, labelled: int = 8) -> "Axes":
        """Draw coefficients against the number of features (needs matplotlib).

        Coefficients are shown as effects across a feature's bounds, so that units do not matter.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        ax = ax if ax is not None else plt.subplots(figsize=(7, 4.5))[1]
        lower, upper = self._estimator.clip_bounds_
        names = names_of(self._estimator)
        steps = np.arange(1, len(self) + 1)
        for i, feature in enumerate(self.order):
            effect = self.coefs[i:, output, i] * (upper[feature] - lower[feature])
            name = f"x{feature}" if names is None else str(names[feature])
            (line,) = ax.plot(steps[i:], effect, marker=".", linewidth=1.2)
            if i < labelled:
                ax.annotate(
                    name,
                    (steps[-1], effect[-1]),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                    color=line.get_color(),
                )
        ax.axhline(0, color="0.7", linewidth=0.8)
        ax.set_xlabel("features used")
        ax.set_ylabel("effect across the feature's bounds")
        ax.set_xlim(0.5, 1.1 * len(self) + 0.5)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return ax
