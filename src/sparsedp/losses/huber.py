"""Huber's loss: squared for small residuals, linear for large ones."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.losses.clip import clipped
from sparsedp.losses.log_cosh import LogCosh

SMALLEST_THRESHOLD, LARGEST_THRESHOLD = 1e-3, 2.0
"""In half target ranges: below, all is linear; above, nothing is that a good model leaves."""


@dataclass(frozen=True)
class Huber:
    """r^2 / 2 for residuals up to the threshold c, c (|r| - c/2) beyond, with r = margin - target.

    Targets far off pull no harder than one at the threshold: for heavy tails and gross errors. The
    residual is r clipped to [-c, c], so it is bounded by c at any margin, and 1-Lipschitz. The
    curvature is 1 within and 0 beyond, so at most 1; not continuous, which is why a perturbed
    minimum takes `LogCosh` with the same bound instead.

    Parameters
    ----------
    threshold : float
        In units of half the declared target range. Public.
    """

    threshold: float = 0.25

    task = "linear"
    n_outputs = 1
    n_classes = None
    typical_curvature = 1.0
    curvature_bound = 1.0
    margin_curvature_bound = 1.0
    residual_lipschitz = 1.0
    shape = "log_cosh"  # what `bounded` makes of it
    walk_name = "squared"
    """Clipped to a bound that is not above the threshold, as in walks, residuals are the same."""

    def __post_init__(self) -> None:
        # Written so that NaN is refused.
        if not SMALLEST_THRESHOLD <= self.threshold <= LARGEST_THRESHOLD:
            raise ValueError(
                f"threshold must lie between {SMALLEST_THRESHOLD:g} and {LARGEST_THRESHOLD:g}, in "
                f"units of half the target range, got {self.threshold!r}"
            )

    @classmethod
    def for_tails(
        cls,
        *,
        n_records: int,
        epsilon: float,
        n_nonzero: int,
        n_features: int,
        scale: float,
        tail: float = 1.0,
    ) -> "Huber":
        """The threshold that balances what it cuts off against the noise that it lets through.

        As theory has it for sparse regression by hard thresholding, up to constants (derivation:
        solvers/gradient/huber_iht.md): scale * m ** (1 / (1 + tail)), where m is the lesser of
        n / log d and n epsilon / (sqrt(s) log^2 d).

        Parameters
        ----------
        n_records : int
            About how many there are; public knowledge, not a count.
        epsilon : float
        n_nonzero, n_features : int
            s and d.
        scale : float
            Of the errors, in half target ranges: the root of order 1 + ``tail`` of that moment. A
            public guess.
        tail : float
            Errors have a finite moment of order 1 + ``tail``: 1 for a variance, less for heavier
            tails.

        Notes
        -----
        *Privacy.* Whatever is given here is public, and none of it may be counted in the records.
        """
        sizes = (n_records, epsilon, n_nonzero, n_features, scale)
        if not (all(0 < size < math.inf for size in sizes) and 0 < tail <= 1):
            raise ValueError(
                "for_tails takes positive numbers, and a tail above 0 and at most 1; got "
                f"{(*sizes, tail)}"
            )
        log = max(math.log(n_features), 1.0)
        records = min(n_records / log, n_records * epsilon / (math.sqrt(n_nonzero) * log**2))
        threshold = scale * records ** (1 / (1 + tail))
        return cls(min(max(threshold, SMALLEST_THRESHOLD), LARGEST_THRESHOLD))

    @property
    def lipschitz(self) -> float:
        """The threshold."""
        return self.threshold

    def value(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Loss of each record (private)."""
        size = np.abs(margins - target)
        within = np.minimum(size, self.threshold)
        return within * (size - within / 2)

    def residual(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Prediction minus target, clipped to the threshold (private)."""
        return clipped(margins - target, self.threshold)

    def curvature(self, margins: np.ndarray, target: np.ndarray) -> np.ndarray:
        """One where the residual is within the threshold, else zero (private)."""
        return (np.abs(margins - target) <= self.threshold).astype(np.float64)

    def clipped(self, residual: np.ndarray, bound: float) -> np.ndarray:
        """Residuals clipped to ``bound``, in place; NaN becomes zero."""
        return clipped(residual, bound)

    def residual_bound(self, weights: np.ndarray) -> float:
        """The threshold, or what no residual over the unit box exceeds: 1 + ||w||_1."""
        return min(self.threshold, float(1 + np.abs(weights).sum()))

    def mean(self, margins: np.ndarray) -> np.ndarray:
        """The margin itself."""
        return margins

    def link(self, mean: np.ndarray | float) -> np.ndarray:
        """The mean itself."""
        return np.clip(mean, -1.0, 1.0)

    def bounded(self, clip: float) -> LogCosh:
        """The smooth relative: its residuals stay below the threshold and the clip."""
        return LogCosh(min(clip, self.threshold))
