"""The screening rule of Frank-Wolfe, and how far one record moves it (proof: screening.md)."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, wrightomega

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.products import column_sums
from sparsedp.losses import Logistic, Loss, Squared
from sparsedp.losses.clip import clipped
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
    derivative : float
        Largest absolute derivative of a record's loss.
    product_range : tuple of float
        Least and largest value of u l'(u) for one record.
    gap_range : tuple of float
        Least and largest value of (u - v) l'(u) for one record, v any other margin.
    stiffness : float
        L / sqrt(m) for one record.
    stated_derivative : float
        What Khanna et al. take for the derivative: for the squared loss they leave out the target.
    """

    radius: float
    scale: float
    derivative: float
    product_range: tuple[float, float]
    gap_range: tuple[float, float]
    stiffness: float
    stated_derivative: float

    @classmethod
    def of(cls, loss: Loss, radius: float, scale: float) -> "ScreeningRule":
        """The rule of a loss over the ball."""
        if isinstance(loss, Squared):
            most, stiffness = radius + 1.0, 1.0
            at, at_gap = min(0.5, radius), min((1 - radius) / 2, radius)
            lowest, lowest_gap = at * (at - 1), (at_gap + radius) * (at_gap - 1)
        elif isinstance(loss, Logistic):
            most = float(expit(radius))
            stiffness = 1 / (4 * math.sqrt(most * float(expit(-radius))))
            # (u + a) / (1 + exp(u)) is largest where exp(-u) = W(exp(a - 1)).
            at = min(-math.log(wrightomega(-1)), radius)
            at_gap = min(-math.log(wrightomega(radius - 1)), radius)
            lowest = -at * float(expit(-at))
            lowest_gap = -(at_gap + radius) * float(expit(-at_gap))
        else:  # multinomial: the absolute margins of a record add up to at most the radius
            least = float(expit(-radius - math.log(loss.n_outputs - 1)))
            most, stiffness = 1 - least, 1 / (2 * math.sqrt(least))
            lowest, lowest_gap = -radius * most, -2 * radius * most
        return cls(
            radius=radius,
            scale=scale,
            derivative=most,
            product_range=(lowest, radius * most),
            gap_range=(lowest_gap, 2 * radius * most),
            stiffness=stiffness,
            stated_derivative=radius if isinstance(loss, Squared) else most,
        )

    def values(
        self, data: Dataset, loss: Loss, w: np.ndarray, norms: np.ndarray, n: float
    ) -> np.ndarray:
        """The rule at every feature (private), given the norms of the features' columns.

        ``n`` stands in for the number of records. Root-mean-squares and gap are cut off at what
        they cannot exceed if it is right, so that sensitivities hold even if it is not.
        """
        u = clipped(data.matvec(w), self.radius)
        derivative = loss.derivative(u, data.target)
        slopes = np.abs(data.rmatvec(derivative))
        if slopes.ndim == 2:
            slopes = slopes.max(axis=1)
        product = float(column_sums((u * derivative).reshape(len(u), loss.n_outputs)).sum())
        gap = min(max(product + self.radius * slopes.max(), 0.0) / n, self.gap_range[1])
        lengths = (self.scale * norms + float(np.linalg.norm(u))) / math.sqrt(n)
        lengths = np.minimum(lengths, self.scale + self.radius)
        first = self.scale * slopes[: data.n_features]
        return (first + product) / n + self.stiffness * lengths * math.sqrt(gap)

    def sensitivity(self, n: float) -> Sensitivity:
        """How far one record moves the rule at one feature."""
        return Sensitivity(
            add_remove=self._movement(
                n,
                self.derivative,
                max(map(abs, self.product_range)),
                max(map(abs, self.gap_range)),
            ),
            replace_one=self._movement(
                n,
                2 * self.derivative,
                self.product_range[1] - self.product_range[0],
                self.gap_range[1] - self.gap_range[0],
            ),
        )

    def _movement(self, n: float, slope: float, product: float, gap: float) -> float:
        most = self.gap_range[1]
        at_most = math.sqrt(most + gap / n) - math.sqrt(most) + math.sqrt(most / n)
        third = self.stiffness * (self.scale + self.radius) * max(math.sqrt(gap / n), at_most)
        return (self.scale * slope + product) / n + third

    def published_sensitivity(self, n: float) -> float:
        """Equations (2) and (3) of Khanna et al., for one feature: about sqrt(n) / 2 too small."""
        most = self.stated_derivative
        gap = self.stiffness * (self.scale + self.radius) * math.sqrt(4 * self.radius * most)
        return (2 * self.scale * most + 2 * self.radius * most + gap) / n


def column_norms(data: Dataset) -> np.ndarray:
    """L2 norm of every feature's column (private), a few dense columns at a time."""
    block = max(1, 2_000_000 // max(data.n_records, 1))
    features = np.arange(data.n_features)
    blocks = [features[i : i + block] for i in range(0, data.n_features, block)]
    return np.concatenate([np.linalg.norm(data.columns(part), axis=0) for part in blocks])
