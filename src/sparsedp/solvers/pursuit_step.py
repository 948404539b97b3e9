"""The chosen features and one kind of step on them: a Newton step in whitened coordinates."""

import math

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit_moments import Moments
from sparsedp.solvers.pursuit_response import Response, shrunk
from sparsedp.solvers.solver import SolutionPath

LONGEST_STEP = 2.0
"""In whitened coordinates: no step changes margins by more than this, root mean square."""

CURVATURE_SHARE = 0.03
"""Part of a step's budget that finds out how long it should be."""


class ActiveSet:
    """The columns of the chosen features (private), their Gram matrix and weights (released).

    Parameters
    ----------
    data : Dataset
        Private; an intercept is the first column of the set.
    response : Response
    moments : Moments
    capacity : int
        Features that will be added.
    gram_noise : float
        Standard deviation of the noise in the entries of the Gram matrix.
    floor : float
        Eigenvalues of the Gram matrix are raised to this multiple of what noise alone makes.
    """

    def __init__(
        self,
        data: Dataset,
        response: Response,
        moments: Moments,
        capacity: int,
        gram_noise: float,
        floor: float,
    ) -> None:
        self._data, self._response, self._moments = data, response, moments
        self._gram_noise, self._floor = gram_noise, floor
        self._first = int(data.intercept)
        size = capacity + self._first
        self._columns = np.ones((data.n_records, size), order="F")
        self._gram = np.zeros((size, size))
        self._gram[: self._first, : self._first] = response.n_records
        self.features = np.zeros(0, dtype=np.intp)
        self.weights = np.zeros((self._first, response.intercept.size))
        self.weights[:] = response.intercept

    @property
    def columns(self) -> np.ndarray:
        """Of the features chosen so far, a constant one first if there is an intercept."""
        return self._columns[:, : len(self.weights)]

    def residuals(self) -> np.ndarray:
        """Derivatives of the loss at the current weights (private)."""
        return self._response.residuals(self.columns @ self.weights)

    @property
    def rows(self) -> np.ndarray:
        """Where the weights belong in a full vector of weights, the intercept last."""
        return np.concatenate([np.full(self._first, self._data.n_features), self.features])

    @property
    def constant(self) -> np.ndarray:
        """Margins of a record at the center of the coordinates."""
        return self.weights[: self._first].sum(axis=0)

    def path(self, weights: np.ndarray) -> SolutionPath:
        """The models with fewer features that come closest to ``weights``, from releases alone.

        For the first i features: the weights whose margins differ least from those of the full
        model, root mean square, as the noisy Gram matrix measures it.
        """
        k, n_outputs = len(self.features), weights.shape[1]
        entered, intercepts = np.zeros((k, k, n_outputs)), np.zeros((k, n_outputs))
        for i in range(1, k + 1):
            size = self._first + i
            toward = self._metric[:size] @ weights
            nearest = np.linalg.solve(self._metric[:size, :size], toward)
            intercepts[i - 1] = nearest[: self._first].sum(axis=0)
            entered[i - 1, :i] = nearest[self._first :]
        return SolutionPath(self.features, entered, intercepts)

    def add(self, features: np.ndarray, reach: Sensitivity, share: float) -> None:
        """Take in features (released or public) and release their part of the Gram matrix."""
        old, new = len(self.weights), len(self.weights) + len(features)
        self._columns[:, old:new] = self._data.columns(features)
        self.features = np.concatenate([self.features, features])
        self.weights = np.pad(self.weights, ((0, len(features)), (0, 0)))
        products = self.columns.T @ self._columns[:, old:new]  # private
        upper = np.arange(new)[:, None] <= np.arange(old, new)
        rows, columns = np.nonzero(upper)
        noisy = self._moments.release(products[upper], reach, share)  # released
        self._gram[rows, columns + old] = noisy
        self._gram[columns + old, rows] = noisy
        self._whiten()

    def _whiten(self) -> None:
        """Change to coordinates in which the noisy Gram matrix is the identity."""
        size, n = len(self.weights), self._response.n_records
        values, vectors = np.linalg.eigh(self._gram[:size, :size] / n)
        noise = self._gram_noise * math.sqrt(size) / n
        # Directions that the noise of the Gram matrix drowns are not stretched further.
        raised = np.maximum(values, max(self._floor * noise, 1e-4))
        self._metric = vectors * raised @ vectors.T
        self._whitening = vectors / np.sqrt(raised)
        # Root mean square norm of a record in these coordinates. Noise spreads the eigenvalues by
        # up to twice its level and raises those that stand out by a known amount, but it leaves
        # their sum alone: what does not stand out shares the rest of the sum.
        distinct = values > 2 * noise
        large = values[distinct]
        large = (large + np.sqrt(large**2 - 4 * noise**2)) / 2
        rest = max(float(values.sum() - large.sum()), 0.0)
        square = float(np.sum(large / raised[distinct]))
        if not distinct.all():
            square += rest * float(np.mean(1 / raised[~distinct]))
        self._norm = math.sqrt(max(square, 1.0))
        self._whitened = self.columns @ self._whitening  # private
        self._norms = np.sqrt(np.einsum("ij,ij->i", self._whitened, self._whitened))  # private

    def step(self, share: float, phase: float, centering: float = 0.0) -> None:
        """Move the weights.

        Parameters
        ----------
        share : float
            Of the Gaussian budget, for this step.
        phase : float
            For all steps of the phase together: the louder the noise of all, the harder records
            are clipped.
        centering : float
            Part of the step's share that was already spent.
        """
        response, moments, n = self._response, self._moments, self._response.n_records
        size, unit_noise = len(self.weights), moments.deviation(1.0, phase)
        signal = n * response.curvature / (unit_noise * self._norm * math.sqrt(size))
        clip = min(max(0.25 * math.sqrt(signal), 0.25), 1.0) * self._norm * response.scale
        residuals = self.residuals()  # private
        clipped = shrunk(residuals, clip / np.maximum(self._norms, 1e-9))  # private
        gradient = moments.release(
            self._whitened.T @ clipped, clip, share * (1 - CURVATURE_SHARE - centering)
        )  # released
        curvature = response.curvatures(
            residuals, share * CURVATURE_SHARE, unit_noise * len(self._gram)
        )  # released
        step = gradient / (n * curvature)
        lengths = np.linalg.norm(step, axis=0)
        step *= np.minimum(1, LONGEST_STEP / np.maximum(lengths, 1e-300))
        self.weights = self.weights - self._whitening @ step
