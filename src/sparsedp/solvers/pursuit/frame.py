"""Coordinates of the steps: those in which released moments of the columns are the identity."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import block_diag

from sparsedp.solvers.pursuit.columns.gram import Alike


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates, and what was released about records in them.

    Parameters
    ----------
    whitening, unwhitening : ndarray of shape (size, size)
        Weights of columns are ``whitening @ weights`` of coordinates.
    gram : ndarray of shape (size, size)
        Mean products of the columns, as released.
    metric : ndarray of shape (size, size)
        The same with what noise drowns raised: steps go by it.
    likely : ndarray of shape (size,)
        Mean squares of the coordinates, noise taken out.
    """

    whitening: np.ndarray
    unwhitening: np.ndarray
    gram: np.ndarray
    metric: np.ndarray
    likely: np.ndarray

    @classmethod
    def of_constant(cls, first: int) -> "Frame":
        """Of a constant column, or of none."""
        one = np.eye(first)
        return cls(one, one, one, one, np.ones(first))

    @classmethod
    def alike(cls, gram: np.ndarray, columns: Alike) -> "Frame":
        """Of columns that are alike, so that nothing has to be found out."""
        whitening, unwhitening, likely = columns.coordinates()
        return cls(whitening, unwhitening, gram, gram, likely)

    @classmethod
    def by_eigenvectors(cls, gram: np.ndarray, noise: float, floor: float) -> "Frame":
        """Of a noisy Gram matrix.

        Parameters
        ----------
        gram : ndarray of shape (size, size)
            Mean products of the columns.
        noise : float
            Level of what noise alone adds to its eigenvalues.
        floor : float
            Eigenvalues are raised to so many times that.
        """
        values, vectors = np.linalg.eigh(gram)
        # Directions that the noise of the Gram matrix drowns are not stretched further.
        raised = np.maximum(values, max(floor * noise, 1e-4))
        metric = vectors * raised @ vectors.T
        roots = np.sqrt(raised)
        # Noise spreads the eigenvalues by up to twice its level and raises those that stand out by
        # a known amount, but it leaves their sum alone: what does not stand out shares the rest of
        # the sum.
        distinct = values > 2 * noise
        large = values[distinct]
        large = (large + np.sqrt(large**2 - 4 * noise**2)) / 2
        rest = max(float(values.sum() - large.sum()), 0.0)
        likely = np.full(len(values), rest / max(len(values) - len(large), 1))
        likely[distinct] = large
        return cls(vectors / roots, roots[:, None] * vectors.T, gram, metric, likely / raised)

    def followed(self, whitening: np.ndarray, back: np.ndarray, likely: np.ndarray) -> "Frame":
        """With more columns that have nothing to do with these, and coordinates of their own."""
        metric = back.T @ back
        return Frame(
            np.asarray(block_diag(self.whitening, whitening)),
            np.asarray(block_diag(self.unwhitening, back)),
            np.asarray(block_diag(self.gram, metric)),
            np.asarray(block_diag(self.metric, metric)),
            np.concatenate([self.likely, likely]),
        )

    @property
    def norm(self) -> float:
        """Root mean square norm of a record."""
        return math.sqrt(max(float(np.sum(self.likely)), 1.0))

    @property
    def lasting(self) -> np.ndarray:
        """What a step leaves of an error in each of the coordinates."""
        return 1 - np.minimum(self.likely, 1)


@dataclass
class Trail:
    """Where steps in the same coordinates have led.

    Attributes
    ----------
    weights : list of ndarray
        After every step.
    variances : list of float
        Of the noise in it, per coordinate.
    """

    weights: list[np.ndarray] = field(default_factory=list)
    variances: list[float] = field(default_factory=list)

    def average(self, count: int) -> np.ndarray:
        """Mean weights after the last steps."""
        return np.asarray(np.mean(self.weights[-count:], axis=0))

    def noise(self, frame: Frame, count: int) -> np.ndarray:
        """What is left of it in `average`: standard deviation of every coordinate.

        Later steps take the noise of a step back, but not where the Gram matrix is drowned.
        """
        n_steps = len(self.variances)
        ages = np.subtract.outer(np.arange(n_steps - count, n_steps), np.arange(n_steps))
        lasting = frame.lasting[:, None, None]
        left = np.where(ages >= 0, lasting ** np.maximum(ages, 0), 0.0)
        factors = np.square(left.mean(axis=1)).sum(axis=1)
        return np.asarray(np.sqrt(np.mean(self.variances) * factors))
