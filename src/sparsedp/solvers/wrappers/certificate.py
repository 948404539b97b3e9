"""What screening may cost: a promise before it, a private bound after it (proof: screened.md)."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.losses import gradient_sum
from sparsedp.data.sums.products import column_sums
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Loss
from sparsedp.losses.clip import clipped
from sparsedp.mechanisms import Curator
from sparsedp.solvers.solver import check_share, check_size

REQUEST = "certificate"
"""How the ledger calls it."""

GRID = 1e-6
"""In standard deviations: more than rounding to a grid can move a release."""


@dataclass(frozen=True)
class Safety:
    """What screening promises, whatever the data.

    With probability at least ``1 - beta`` no feature is dropped whose score exceeds that of the
    best feature outside the true ``n_keep`` best by more than ``tau``.
    """

    tau: float
    beta: float


def selection_safety(noise: float, n_features: int, n_keep: int, beta: float) -> Safety:
    """Safety of drawing the features one by one, at a Gumbel noise of this scale."""
    if n_keep == n_features:
        return Safety(0.0, beta)
    rises = math.log(2 * (n_features - n_keep) / beta)
    return Safety(noise * (rises + math.log(math.log(2 * n_keep / beta))), beta)


def gradient_safety(
    noise: float, n_features: int, n_keep: int, n_outputs: int, beta: float
) -> Safety:
    """Safety of ranking a gradient released with this standard deviation."""
    if n_keep == n_features:
        return Safety(0.0, beta)
    rises = -ndtri(beta / (4 * n_outputs * (n_features - n_keep)))
    falls = -ndtri(beta / (2 * n_keep))
    return Safety(noise * float(rises + falls), beta)


@dataclass(frozen=True)
class Screen:
    """What screening released.

    Parameters
    ----------
    kept : ndarray of int
        In ascending order.
    safety : Safety
        With ``tau`` in the units of the scores, which are sums over records.
    bound : float
        What one record adds to a score at most.
    n_records : float
        Public, or a noisy count.
    """

    kept: np.ndarray
    safety: Safety
    bound: float
    n_records: float

    def sentence(self) -> str:
        """For the record."""
        records = self.safety.tau / self.bound if self.bound else 0.0
        return (
            f"Screening kept {len(self.kept)} features. With probability {1 - self.safety.beta:g} "
            f"the score of no dropped one is above the best possible cut by more than "
            f"{self.safety.tau:.4g}, which is what {records:.3g} records can add to a score."
        )


@dataclass(frozen=True)
class Bound:
    """A released upper bound on what a model leaves on the table.

    Parameters
    ----------
    value : float
        Of a sum over records, in the units of the loss.
    confidence : float
        Probability, over the noise, that the exact value is not larger.
    radius : float or None
        As asked for, see :class:`Certificate`.
    """

    value: float
    confidence: float
    radius: float | None

    def sentence(self, n_records: float) -> str:
        """For the record; ``n_records`` is released or public."""
        mean = self.value / max(n_records, 1.0)
        if self.radius is None:
            what = "Adding dropped features of total absolute weight t (in unit coordinates)"
            gain, mean_gain = f"{self.value:.4g} t", f"{mean:.3g} t"
        else:
            what = (
                f"Any model, on all features, of total absolute weight {self.radius:g} (in unit "
                "coordinates)"
            )
            gain, mean_gain = f"{self.value:.4g}", f"{mean:.3g}"
        return (
            f"{what} lowers the sum of losses by at most {gain} (about {mean_gain} per record), "
            f"with confidence {self.confidence:g}: the certificate of what screening cost."
        )


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Ask, after the fit, how much better a model with the dropped features could be.

    Parameters
    ----------
    share : float
        Part of the (squared) budget of the whole fit.
    confidence : float
        Of the upper bound that is released.
    radius : float or None
        None bounds what dropped features can add to the released model, per unit of weight: the
        largest entry of the loss's gradient among them. A number bounds how much better than the
        released model any model in the L1 ball of this radius is, all features included: the
        Wolfe gap, which counts also what the noise in the fit has cost.

    Notes
    -----
    *Privacy.* One Gaussian release. The bound is about these records, not about new ones.
    """

    share: float = 0.02
    confidence: float = 0.95
    radius: float | None = None

    def __post_init__(self) -> None:
        check_share("share", self.share)
        if not 0.5 <= self.confidence < 1:
            raise ValueError(f"confidence must be at least 0.5 and below 1: {self.confidence!r}")
        check_size("radius", self.radius, optional=True)

    def release(
        self,
        data: Dataset,
        loss: Loss,
        weights: np.ndarray,
        kept: np.ndarray,
        curator: Curator,
    ) -> Bound:
        """Release the bound at released weights.

        Parameters
        ----------
        data : Dataset
            Private, in the unit coordinates of the weights.
        loss : Loss
        weights : ndarray
            Of the whole model, zero where features were dropped.
        kept : ndarray of int
            Features that were not dropped.
        curator : Curator
        """
        bound = loss.residual_bound(weights)
        gradient = np.abs(gradient_sum(data, loss, weights, bound))  # private
        steepest = gradient.reshape(len(weights), -1).max(axis=1)  # private
        if self.radius is None:
            sensitivity = bound
            value = np.delete(steepest[: data.n_features], kept).max(initial=0.0)  # private
        else:
            length = float(np.abs(weights).sum())
            margins = clipped(data.matvec(weights), length)
            products = margins * loss.clipped(loss.residual(margins, data.target), bound)
            products = weighed(products.reshape(len(products), loss.n_outputs), data.weights)
            product = column_sums(products).sum()
            value = product + self.radius * steepest.max()  # private
            sensitivity = bound * (length + self.radius)
        noisy = curator.perturb(np.array([value]), sensitivity, name=REQUEST)[0]  # released
        quantile = float(ndtri(self.confidence)) + GRID
        upper = float(noisy + quantile * curator.noise_level(sensitivity, name=REQUEST))
        return Bound(max(upper, 0.0), self.confidence, self.radius)
