"""The screening rule of Frank-Wolfe, and how far one record moves it (proof: screening.md)."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.products import column_sums
from sparsedp.data.sums.weighed import length, weighed
from sparsedp.losses import Loss, StronglyConvex
from sparsedp.losses.clip import clipped
from sparsedp.losses.loss import BallBounds
from sparsedp.privacy import Sensitivity


@dataclass(frozen=True, kw_only=True)
class ScreeningRule:
    """A number per feature: below zero only where the optimum over the L1 ball has no weight.

    With f the mean loss as a function of the margins u = Xw, Wolfe gap G, smoothness L and strong
    convexity m, the value at feature j is

        scale |x_j' f'(u)| + u' f'(u) + L (scale ||x_j|| + ||u||) sqrt(G / m).

    With ``scale = radius`` the rule is safe; Khanna et al. have 1.

    Parameters
    ----------
    radius : float
        Of the L1 ball: margins are at most that.
    scale : float
        What multiplies the terms of one feature.
    record : BallBounds
        What the loss promises for one record in the ball; L / sqrt(m) is its stiffness.
    """

    radius: float
    scale: float
    record: BallBounds

    @classmethod
    def of(cls, loss: Loss, radius: float, scale: float) -> "ScreeningRule":
        """The rule of a loss over the ball."""
        if not isinstance(loss, StronglyConvex):
            raise ValueError(f"the screening rule has no bounds for the loss {loss}")
        return cls(radius=radius, scale=scale, record=loss.over_ball(radius))

    def values(
        self, data: Dataset, loss: Loss, w: np.ndarray, norms: np.ndarray, n: float
    ) -> np.ndarray:
        """The rule at every feature (private), given the norms of the features' columns.

        ``n`` stands in for the total weight of the records. Root-mean-squares and gap are cut off
        at what they cannot exceed if it is right, so that sensitivities hold even if it is not.
        """
        u, gradient, product, gap = self._figures(data, loss, w, n)
        lengths = (self.scale * norms + length(u, data.weights)) / math.sqrt(n)
        lengths = np.minimum(lengths, self.scale + self.radius)
        first = self.scale * gradient[: data.n_features]
        return (first + product) / n + self.record.stiffness * lengths * math.sqrt(gap)

    def differences(
        self, data: Dataset, loss: Loss, w: np.ndarray, norms: np.ndarray, n: float
    ) -> np.ndarray:
        """The rule without what it adds to all features alike (private): its least is the same."""
        _, gradient, _, gap = self._figures(data, loss, w, n)
        lengths = np.minimum(self.scale * norms / math.sqrt(n), self.scale)
        first = self.scale * gradient[: data.n_features]
        return first / n + self.record.stiffness * lengths * math.sqrt(gap)

    def _figures(
        self, data: Dataset, loss: Loss, w: np.ndarray, n: float
    ) -> tuple[np.ndarray, np.ndarray, float, float]:
        """Margins, absolute gradient, their product with the residuals, and the gap (private)."""
        u = clipped(data.matvec(w), self.radius)
        residual = loss.residual(u, data.target)
        gradient = np.abs(data.rmatvec(residual))
        if gradient.ndim == 2:
            gradient = gradient.max(axis=1)
        products = weighed((u * residual).reshape(len(u), loss.n_outputs), data.weights)
        product = float(column_sums(products).sum())
        gap = min(max(product + self.radius * gradient.max(), 0.0) / n, self.record.gap_range[1])
        return u, gradient, product, gap

    def sensitivity(self, n: float) -> Sensitivity:
        """How far one record moves the rule at one feature."""
        return Sensitivity(
            add_remove=self._movement(
                n,
                self.record.residual,
                max(map(abs, self.record.product_range)),
                max(map(abs, self.record.gap_range)),
            ),
            replace_one=self._movement(
                n,
                2 * self.record.residual,
                self.record.product_range[1] - self.record.product_range[0],
                self.record.gap_range[1] - self.record.gap_range[0],
            ),
        )

    def _movement(self, n: float, residual: float, product: float, gap: float) -> float:
        most = self.record.gap_range[1]
        at_most = math.sqrt(most + gap / n) - math.sqrt(most) + math.sqrt(most / n)
        third = (
            self.record.stiffness * (self.scale + self.radius) * max(math.sqrt(gap / n), at_most)
        )
        return (self.scale * residual + product) / n + third

    def spread(self, n: float) -> Sensitivity:
        """Range over the features of what one record changes in the differences."""
        gap = self.record.gap_range
        return Sensitivity(
            add_remove=self._spread(n, self.record.residual, max(map(abs, gap)), 1),
            replace_one=self._spread(n, 2 * self.record.residual, gap[1] - gap[0], 2),
        )

    def _spread(self, n: float, residual: float, gap: float, either_way: int) -> float:
        """A column's norm only grows if a record is added, and may do either if one is replaced."""
        most = self.record.gap_range[1]
        at_most = math.sqrt(most + gap / n) - math.sqrt(most) + either_way * math.sqrt(most / n)
        third = self.record.stiffness * self.scale * max(math.sqrt(gap / n), at_most)
        return 2 * self.scale * residual / n + third

    def published_sensitivity(self, n: float) -> float:
        """Equations (2) and (3) of Khanna et al., for one feature: about sqrt(n) / 2 too small."""
        most = self.record.stated_residual
        gap = self.record.stiffness * (self.scale + self.radius) * math.sqrt(4 * self.radius * most)
        return (2 * self.scale * most + 2 * self.radius * most + gap) / n


def column_norms(data: Dataset) -> np.ndarray:
    """L2 norm of every feature's column, by weight (private), a few dense columns at a time."""
    block = max(1, 2_000_000 // max(data.n_records, 1))
    features = np.arange(data.n_features)
    blocks = [features[i : i + block] for i in range(0, data.n_features, block)]
    roots = None if data.weights is None else np.sqrt(data.weights)
    columns = (weighed(data.columns(part), roots) for part in blocks)
    return np.concatenate([np.linalg.norm(some, axis=0) for some in columns])
