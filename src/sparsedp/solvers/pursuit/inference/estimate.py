"""From noisy scores and matrices to weights, their covariance, and which of them are known at all.

The formulas and what they rest on: inference.md. Everything here is computed from releases.
"""

from dataclasses import dataclass

import numpy as np

from sparsedp.solvers.pursuit.inference.matrices import Noisy, shrunk
from sparsedp.solvers.pursuit.inference.start import moved

SAFE, LEAST = 0.1, 0.002
"""Eigenvalues of the Hessian, over their mean: not smaller for moves, not smaller for estimates."""

DROWNED = 3.0
"""A direction is weak where its eigenvalue is below this many deviations of the noise ..."""

FLAT = 0.1
"""... or below this part of the mean: there a maximum may be infinitely far away."""


@dataclass(frozen=True, eq=False)
class Curvature:
    """A Hessian and the spread of scores as far as they are believed, in whitened coordinates.

    Parameters
    ----------
    values, vectors : ndarray
        Eigenvalues and eigenvectors of the Hessian, as shrunk.
    deviation : float
        What noise is left in it.
    spread : ndarray of shape (p, p)
        Covariance of the score without noise.
    """

    values: np.ndarray
    vectors: np.ndarray
    deviation: float
    spread: np.ndarray

    @classmethod
    def of(cls, hessian: Noisy, spread: Noisy, expected: np.ndarray) -> "Curvature":
        """Shrink both: the Hessian to what is expected, the spread of scores to the Hessian."""
        hessian = shrunk(hessian, expected)
        values, vectors = np.linalg.eigh(hessian.values)
        safe = vectors * np.maximum(values, SAFE * _mean(values)) @ vectors.T
        # They are alike where the model is right.
        scores, axes = np.linalg.eigh(shrunk(spread, safe).values)
        return cls(values, vectors, hessian.deviation, axes * np.maximum(scores, 0.0) @ axes.T)

    @property
    def floored(self) -> np.ndarray:
        """Eigenvalues for estimates: noise alone makes none smaller."""
        least = max(self.deviation / 2, LEAST * _mean(self.values))
        return np.maximum(self.values, least)

    @property
    def inverse(self) -> np.ndarray:
        """For estimates."""
        return self.vectors / self.floored @ self.vectors.T

    @property
    def safe(self) -> np.ndarray:
        """For moves."""
        return self.vectors * np.maximum(self.values, SAFE * _mean(self.values)) @ self.vectors.T

    @property
    def safe_inverse(self) -> np.ndarray:
        """For moves: none is long because of noise."""
        return self.vectors / np.maximum(self.values, SAFE * _mean(self.values)) @ self.vectors.T

    @property
    def weak(self) -> np.ndarray:
        """Projection on directions about which next to nothing is known."""
        least = max(DROWNED * self.deviation, FLAT * _mean(self.values))
        some = self.vectors[:, self.values < least]
        return some @ some.T


def _mean(values: np.ndarray) -> float:
    return max(float(values.mean()), 1e-9)


@dataclass
class OneStep:
    """Newton steps from where scores are released, and the covariance of their weighted mean.

    Parameters
    ----------
    curvature : Curvature
    noise : float
        Standard deviation of the noise in every entry of a score.
    precision : ndarray of shape (p, p)
        Inverse of the covariance of what noise makes of the weights to begin with.
    """

    curvature: Curvature
    noise: float
    precision: np.ndarray

    def __post_init__(self) -> None:
        self._estimates: list[np.ndarray] = []
        self._steps: list[np.ndarray] = []
        self._scores: list[np.ndarray] = []

    def move(self, weights: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Take in a score that was released at these weights; where to release the next one."""
        self._scores.append(score)
        self._steps.append(-self.curvature.safe_inverse @ score)
        self._estimates.append(weights - self.curvature.inverse @ score)
        step, self.precision = moved(
            weights, self.precision, score, self.noise, self.curvature.safe
        )
        return weights + step

    def _error(self, step: np.ndarray) -> np.ndarray:
        """Covariance of the noise of the Hessian times a step."""
        square = float(step @ step) * np.eye(len(step))
        return self.curvature.deviation**2 / 2 * (square + np.outer(step, step))

    def settled(self) -> tuple[np.ndarray, ...]:
        """Weights, their covariance, the parts of sampling and of weak directions in it, the last
        step and its noise.

        All in whitened coordinates.
        """
        curvature, p = self.curvature, len(self.curvature.values)
        traces = np.array([float(np.trace(self._error(step))) for step in self._steps])
        precisions = 1 / np.maximum(self.noise**2 * p + traces, 1e-300)
        parts = precisions / precisions.sum()
        weights = parts @ np.array(self._estimates)
        # One and the same error of the Hessian acts through the mean of the steps, which noise of
        # the scores makes longer than the way is: that of a step is taken back by the next one.
        step = parts @ np.array(self._steps)
        lasting = float(np.sum(np.square(np.diff(parts, prepend=0.0)))) - float(parts[0] ** 2)
        own = self.noise**2 * float(np.sum(np.square(curvature.safe_inverse)))
        part = max(1 - lasting * own / max(float(step @ step), 1e-300), 0.5)
        omega = curvature.spread + self.noise**2 * float(parts @ parts) * np.eye(p)
        omega += part * self._error(step)
        inverse, weak = curvature.inverse, curvature.weak
        covariance = inverse @ omega @ inverse
        sampling = inverse @ curvature.spread @ inverse
        last, noise = -inverse @ self._scores[-1], self.noise**2 * inverse @ inverse
        return weights, covariance, sampling, weak @ covariance @ weak, last, noise
