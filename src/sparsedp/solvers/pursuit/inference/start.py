"""Newton steps to where scores are released."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.records import Derived
from sparsedp.losses import Squared
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.inference.coordinates import Coordinates
from sparsedp.solvers.pursuit.inference.matrices import released, shrunk
from sparsedp.solvers.pursuit.inference.records import Point, Squares, Sums
from sparsedp.solvers.pursuit.moments import Moments

N_STEPS, N_LINEAR_STEPS, N_EXACT_STEPS = 12, 4, 30
"""Steps, those of a regression, and steps without noise. Where classes are far apart curvatures
fall on the way, so that every step is too short; those of a regression hardly change."""

SCORE_SHARE, SPREAD_SHARE = 0.6, 0.07
"""Of a step, the second for the spread of the residuals of a regression; the rest is for the
Hessian."""

LEAST_CLIP, LARGEST_CLIP = 1e-3, 2.0
"""Of residuals of a regression: targets lie in [-1, 1]."""

SAFE = 0.1
"""Eigenvalues of the Hessian, over their mean: not smaller for a step."""

LINEAR = 0.3
"""Root mean square change of margins over which curvatures hardly change."""

FORGOTTEN = 2.0
"""What was known before a step counts at most one over this after it."""

LONGEST_STEP = 2.0
"""In whitened coordinates: no step changes margins by more than this, root mean square."""


@dataclass(frozen=True, eq=False)
class Started:
    """Where the steps led.

    Parameters
    ----------
    at : Point
    hessian : ndarray of shape (p, p)
        What is believed about the Hessian there.
    precision : ndarray of shape (p, p)
        Inverse of the covariance of what noise makes of the weights.
    """

    at: Point
    hessian: np.ndarray
    precision: np.ndarray


def moved(
    weights: np.ndarray, precision: np.ndarray, score: np.ndarray, noise: float, safe: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A Newton step that counts as much as it is known, against what was known before.

    Parameters
    ----------
    weights : ndarray of shape (p,)
        Where the score was released.
    precision : ndarray of shape (p, p)
        Of these weights.
    score : ndarray of shape (p,)
    noise : float
        Standard deviation of the noise in it.
    safe : ndarray of shape (p, p)
        The Hessian.

    Returns
    -------
    step : ndarray of shape (p,)
    precision : ndarray of shape (p, p)
        After it.
    """
    if noise == 0:
        return -np.linalg.solve(safe, score), precision
    precision = precision + safe @ safe / noise**2
    step = -np.linalg.solve(precision, safe @ score) / noise**2
    step *= min(1.0, LONGEST_STEP / max(float(np.linalg.norm(step)), 1e-300))
    return step, precision


@dataclass(frozen=True, eq=False)
class Start:
    """Newton steps with noisy scores and Hessians, each weighed by how well it is known.

    Parameters
    ----------
    coordinates : Coordinates
    moments : Moments
    n_records : float
        Released.
    """

    coordinates: Coordinates
    moments: Moments
    n_records: float

    def settled(self, records: Derived, at: Point, share: float) -> Started:
        """Take the steps.

        Parameters
        ----------
        records : Derived
            Of `Whitened`. Private.
        at : Point
            Where to begin.
        share : float
        """
        logistic = not isinstance(at.loss, Squared)
        expected = self.coordinates.expected_hessian(at.weights, logistic=logistic)
        found = Started(at, self.n_records * expected, np.eye(len(expected)))
        n_steps = N_STEPS if logistic else N_LINEAR_STEPS
        if self.moments.curator.noiseless:
            n_steps = N_EXACT_STEPS
        for _ in range(n_steps):
            found = self._stepped(records, found, share / n_steps)
        return found

    def _stepped(self, records: Derived, before: Started, share: float) -> Started:
        at = before.at
        exact, hessian, _ = records.total(Sums(at))  # private
        largest = at.reach * at.clip
        score = self.moments.release(exact, largest, share * SCORE_SHARE)  # released
        noise = self.moments.deviation(largest, share * SCORE_SHARE)
        clip, spread_share = at.clip, 0.0
        if isinstance(at.loss, Squared):
            spread_share = SPREAD_SHARE
            spread = self._spread(records, at, share * spread_share)
            clip = min(max(at.loss.residual_tails * spread, LEAST_CLIP), LARGEST_CLIP)
        left, largest = share * (1 - SCORE_SHARE - spread_share), at.reach**2
        noisy = released(hessian, at.loss.curvature_bound * largest, self.moments, left)
        believed = shrunk(noisy, before.hessian).values
        step, precision = moved(at.weights, before.precision, score, noise, safe(believed))
        # After a long step little is left of what was known before: curvatures have changed.
        way = max(float(step @ step) - float(np.trace(np.linalg.inv(precision))), 0.0)
        forgotten = max(1 + way / LINEAR**2, FORGOTTEN)
        at = replace(at, weights=at.weights + step, clip=clip)
        return Started(at, believed, precision / forgotten)

    def _spread(self, records: Derived, at: Point, share: float) -> float:
        """Of the residuals; noise makes it larger rather than smaller."""
        largest = Sensitivity(add_remove=at.clip**2, replace_one=at.clip**2)
        exact = records.total(Squares(at))  # private
        squares = float(self.moments.release(exact, largest, share)[0])  # released
        squares = max(squares, 0.0) + self.moments.deviation(largest, share)
        return math.sqrt(squares / self.n_records)


def safe(hessian: np.ndarray) -> np.ndarray:
    """With eigenvalues that noise does not make too small for a step."""
    values, vectors = np.linalg.eigh(hessian)
    return vectors * np.maximum(values, SAFE * max(float(values.mean()), 1e-9)) @ vectors.T
