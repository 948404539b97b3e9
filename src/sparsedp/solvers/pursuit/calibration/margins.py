"""Where the margins of a fit lie, as far as releases tell, and looks at them for calibration."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.records import Derived
from sparsedp.solvers.pursuit.calibration.looks import (
    FIT_DOUBT,
    PUBLIC_DOUBT,
    Center,
    Moved,
    Spread,
)
from sparsedp.solvers.pursuit.columns.levels import (
    LEVEL_DOUBT,
    ONE_LEVEL,
    center_and_spread,
    likely_size,
    of_distances,
)
from sparsedp.solvers.pursuit.inference.coordinates import Coordinates
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import LabelLoss, LookSums, MarginCells
from sparsedp.solvers.pursuit.step import ActiveSet
from sparsedp.solvers.pursuit.targets.response import Response, between

LEAST_SPREAD, LARGEST_SPREAD = 0.05, 20.0
"""Margins are not believed to be closer together, or farther apart."""

FARTHEST_SEEN = 6.0
"""Margins that are so many times farther from the center than weights let expect are not told
apart."""

UNSURE = 0.7
"""Part by which margins of a descent may be too far apart or too close."""


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins of weights, about a center.

    Parameters
    ----------
    weights : ndarray of shape (size, n_outputs)
        Released.
    noise : ndarray of shape (size,)
        In them: standard deviation of every whitened coordinate.
    at : Coordinates
        What was released about the columns.
    records : Derived
        In whitened coordinates. Private.
    response : Response
    first : int
        1 with a constant column, else 0.
    off_center, doubt : float
        By which means of the columns lead past the center, and the standard deviation of what is
        not known of that.
    fit_doubt : float
        See `Center`.
    """

    weights: np.ndarray
    noise: np.ndarray
    at: Coordinates
    records: Derived
    response: Response
    first: int
    off_center: float = 0.0
    doubt: float = 0.0
    fit_doubt: float = FIT_DOUBT

    @classmethod
    def of(
        cls, active: ActiveSet, weights: np.ndarray, noise: np.ndarray, *, public: bool = False
    ) -> "Margins":
        """Of the columns of an active set, and whether weights come from a public model too."""
        at, records, response = active.coordinates, active.whitened, active.response
        # Noise in the means of columns, all of which lie between -1 and 1.
        doubt = min(at.deviation, 1.0) * float(np.linalg.norm(weights[active.first :]))
        fit_doubt = PUBLIC_DOUBT if public else FIT_DOUBT
        return cls(
            weights, noise, at, records, response, active.first, doubt=doubt, fit_doubt=fit_doubt
        )

    @property
    def center(self) -> np.ndarray:
        """Mean margins, as far as means of the columns tell them."""
        if not self.first:
            return np.zeros(self.weights.shape[1])
        # Noise must not lead out of the box.
        return np.clip(self.at.gram[0], -1, 1) @ self.weights + self.off_center

    @property
    def spread(self) -> Spread:
        """How far margins are from the center, as far as weights tell."""
        centered = self.weights.copy()
        centered[: self.first] -= self.center
        squares = np.square(self.at.unwhitening @ centered).sum(axis=1) @ self.at.likely
        whole = between(LEAST_SPREAD, math.sqrt(float(squares)), LARGEST_SPREAD)
        by_noise = float(np.square(self.noise) @ np.minimum(self.at.likely, 1))
        return Spread(whole, math.sqrt(by_noise * self.weights.shape[1]))

    def seen(self, moments: Moments, left: float, share: float) -> tuple["Margins", Spread]:
        """Look how far most margins are from the center, and with one output where that is.

        Parameters
        ----------
        moments : Moments
        left : float
            What steps have left of margins.
        share : float
            Of the Gaussian budget.
        """
        expected = self.spread
        most = FARTHEST_SEEN * expected.whole
        sums = MarginCells(self.at.unwhitening @ self.weights, self.center, most)
        exact = self.records.total(sums)  # private
        noisy = moments.release(exact, ONE_LEVEL, share)  # released
        told = noisy, self.response.n_records, moments.deviation(ONE_LEVEL, share)
        center, doubt = self.off_center, self.doubt
        if self.weights.shape[1] > 1:
            squares = expected.whole**2, 2 * LEVEL_DOUBT, most**2
            seen = math.sqrt(likely_size(*told, *squares, of_distances))
        else:
            center, doubt, seen = center_and_spread(*told, expected.whole, most)
        whole = between(LEAST_SPREAD, seen, LARGEST_SPREAD)
        # The part of noise in margins is that in weights.
        spread = Spread(whole, whole * expected.by_noise / expected.whole, left, UNSURE)
        return replace(self, off_center=center, doubt=doubt), spread

    def look(self, moved: Moved, reach: float) -> np.ndarray:
        """Sums that tell whether moved margins are calibrated; private. See `LookSums`."""
        loss = self.response.record_loss
        assert isinstance(loss, LabelLoss)
        moving = self.center, moved.shift, moved.factor, reach
        return self.records.total(LookSums(loss, self.at.unwhitening @ self.weights, *moving))

    def calibrated(self, spread: Spread, share: float) -> np.ndarray:
        """Weights of margins that are moved so that predictions are honest."""
        center = Center(self.center, self.doubt, self.fit_doubt)
        return self.moved(self.response.calibration(self.look, spread, center, share))

    def moved(self, moved: Moved) -> np.ndarray:
        """The weights of moved margins."""
        found = moved.factor * self.weights
        found[: self.first] += moved.shift + (1 - moved.factor) * self.center
        return found
