"""The last step: how far to shift and to stretch margins, so that probabilities are honest.

Steps clip residuals, noise spreads margins, and short steps leave them too close together.
Residuals of calibrated predictions sum up to zero, and so do their products with any function of
the margins. A look at both sums tells how far margins are off; one before it has brought mean
predictions close to the base rates, where margins of a rare class are to be seen, and one after it
brings them back. All take a small share, and no rank changes. What looks tell is in two_classes.py
and many_classes.py. Proof: shapes.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparsedp.solvers.pursuit.moments import Moments

OF_TWO_CLASSES = math.sqrt(2)
"""What one record moves a look by: its residual, and the product of it with its height."""

OF_MORE_CLASSES = 2.0
"""The same where residuals have a norm of at most the root of 2."""

STRETCH_DOUBT = 0.3
"""Margins are too far apart or too close by about this part, beside what noise makes of them."""

FIT_DOUBT, PUBLIC_DOUBT = 0.7, 0.2
"""Margins are off by about this after a fit, and by this where a public model is the better part
of it."""

LEAST_FACTOR = 0.05
"""Above zero, so that margins rank records as they did."""

OF_RESIDUALS = 0.25
"""Part of the share of calibration for each of two looks at residuals alone."""


LARGEST_MEAN = 1e6
"""Of numbers between -2 and 2: answers far beyond end in a poor model, and not in none."""


@dataclass(frozen=True)
class Moved:
    """Margins about a center, shifted and stretched. Released."""

    shift: np.ndarray
    factor: float


@dataclass(frozen=True)
class Spread:
    """How far margins are from their center, root mean square, as far as releases tell."""

    whole: float
    by_noise: float
    left: float = 1.0
    """What steps have left of them: they were short, or pulled to zero."""
    doubt: float = STRETCH_DOUBT
    """Part by which they may be too far apart or too close."""

    def likely_factor(self, least: float = LEAST_FACTOR) -> float:
        """What margins are without noise, over margins with it (Wiener 1949); at least so much."""
        return max(1 - (self.by_noise / self.whole) ** 2, least) / self.left


@dataclass(frozen=True, eq=False)
class Center:
    """Where margins are on average, as far as releases tell."""

    value: np.ndarray
    doubt: float
    """Standard deviation of what is not known of it."""
    fit_doubt: float = FIT_DOUBT
    """Mean predictions of the fit are the base rate as if margins were off by about this."""


Looker = Callable[[Moved, float], np.ndarray]
"""Sums of `LookSums` at moved margins, for a reach; private."""


class Law(Protocol):
    """What is believed of margins, from one look to the next. Released."""

    reach: float
    """Heights end here."""

    @property
    def moved(self) -> Moved:
        """How margins are to be moved."""
        ...

    def see_residuals(self, means: np.ndarray, noise: float) -> None:
        """Learn from mean residuals of margins that are moved as believed so far."""
        ...

    def see_all(self, means: np.ndarray, noise: float) -> None:
        """Learn from all that a look tells."""
        ...


@dataclass(frozen=True)
class Calibration:
    """Looks at predictions, with noise.

    Parameters
    ----------
    moments : Moments
    share : float
        Of the Gaussian budget, for all looks.
    n_outputs : int
    n_records : float
    """

    moments: Moments
    share: float
    n_outputs: int
    n_records: float

    def found(self, look: Looker, law: Law) -> Moved:
        """How to move margins: look at residuals, at all, and at residuals again."""
        k, n, moments = self.n_outputs, self.n_records, self.moments
        whole, short = (OF_TWO_CLASSES, 1.0) if k == 1 else (OF_MORE_CLASSES, math.sqrt(2))
        at_residuals = k, short, OF_RESIDUALS * self.share, law.see_residuals
        at_all = k + 1, whole, (1 - 2 * OF_RESIDUALS) * self.share, law.see_all
        for count, sensitivity, share, see in (at_residuals, at_all, at_residuals):
            exact = look(law.moved, law.reach)[:count]  # private
            noisy = moments.release(exact, sensitivity, share)  # released
            means = np.clip(np.nan_to_num(noisy / n), -LARGEST_MEAN, LARGEST_MEAN)
            see(means, moments.deviation(sensitivity, share) / n)
        return law.moved
