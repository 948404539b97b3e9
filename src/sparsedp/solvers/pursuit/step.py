"""The chosen features and one kind of step on them: a Newton step in whitened coordinates."""

import math

import numpy as np
from scipy.linalg import solve_triangular

from sparsedp.data.dataset import Dataset
from sparsedp.privacy import Sensitivity
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import (
    GramColumns,
    SelectionGradient,
    StepSums,
    Whiten,
    Widen,
    no_features,
    targets_of,
)
from sparsedp.solvers.pursuit.response import Response
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
        self._gram = np.zeros((size, size))
        self._gram[: self._first, : self._first] = response.n_records
        self.features = np.zeros(0, dtype=np.intp)
        self.weights = np.zeros((self._first, response.intercept.size))
        self.weights[:] = response.intercept
        self._targets = data.derive(targets_of)  # private
        self._columns = data.derive(no_features)  # private
        self._change_coordinates(np.eye(self._first), np.eye(self._first))

    def selection_gradient(self, share: float) -> tuple[np.ndarray, float]:
        """Gradient over all features (private), and what one record moves an entry by at most.

        The bound is released at the cost of this share, where the response asks for it.
        """
        response, weights = self._response, self._unwhitening @ self.weights
        norm = response.selection_norm(self._whitened, weights, self.constant, share)  # released
        gradient = SelectionGradient(response.record_loss, weights, norm)
        return self._data.total(gradient, self._whitened), norm

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
        # With the metric R R', the nearest weights are a sum of one term for each column taken in:
        # leading blocks of a triangular inverse are the inverses of leading blocks.
        root = np.linalg.cholesky(self._metric)
        inverse = np.asarray(solve_triangular(root, np.eye(len(root)), lower=True))
        terms = inverse[:, :, None] * (root.T @ weights)[:, None, :]
        nearest = np.cumsum(terms, axis=0)[self._first :]
        entered, intercepts = nearest[:, self._first :], nearest[:, : self._first].sum(axis=1)
        return SolutionPath(self.features, entered, intercepts)

    def add(self, features: np.ndarray, sensitivity: Sensitivity, share: float) -> None:
        """Take in features (released or public) and release their part of the Gram matrix."""
        old, new = len(self.weights), len(self.weights) + len(features)
        self.features = np.concatenate([self.features, features])
        nothing_yet = np.zeros((len(features), self.weights.shape[1]))
        self.weights = np.concatenate([self.weights, nothing_yet])
        self._columns = self._data.derive(Widen(features), self._columns)  # private
        products = self._columns.total(GramColumns(old))  # private
        upper = np.arange(new)[:, None] <= np.arange(old, new)
        rows, columns = np.nonzero(upper)
        noisy = self._moments.release(products[upper], sensitivity, share)  # released
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
        roots = np.sqrt(raised)
        self._change_coordinates(vectors / roots, roots[:, None] * vectors.T)
        # Root mean square norm of a record in these coordinates. Noise spreads the eigenvalues by
        # up to twice its level and raises those that stand out by a known amount, but it leaves
        # their sum alone: what does not stand out shares the rest of the sum.
        distinct = values > 2 * noise
        large = values[distinct]
        large = (large + np.sqrt(large**2 - 4 * noise**2)) / 2
        rest = max(float(values.sum() - large.sum()), 0.0)
        likely = np.full(size, rest / max(size - len(large), 1))
        likely[distinct] = large
        self._norm = math.sqrt(max(float(np.sum(likely / raised)), 1.0))
        # What a step leaves of an error in each of these coordinates.
        self._lasting = 1 - np.minimum(likely / raised, 1)

    def _change_coordinates(self, whitening: np.ndarray, unwhitening: np.ndarray) -> None:
        self._whitening, self._unwhitening = whitening, unwhitening
        self._whitened = self._columns.derive(Whiten(whitening), self._targets)  # private

    def settle(self, n_steps: int, n_averaged: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Take the steps of the fit.

        Returns
        -------
        average : ndarray
            Mean weights of the last ones.
        noise : ndarray of shape (size,)
            What is left of the noise in it: standard deviation of every whitened coordinate.
        """
        iterates, variances = [], []
        for _ in range(n_steps):
            variances.append(self.step(share / n_steps, share) ** 2)
            iterates.append(self.weights)
        average = np.mean(iterates[-n_averaged:], axis=0)
        # Later steps take the noise of a step back, but not where the Gram matrix is drowned.
        ages = np.subtract.outer(np.arange(n_steps - n_averaged, n_steps), np.arange(n_steps))
        left = np.where(ages >= 0, self._lasting[:, None, None] ** np.maximum(ages, 0), 0.0)
        factors = np.square(left.mean(axis=1)).sum(axis=1)
        return average, np.sqrt(np.mean(variances) * factors)

    def pulled(self, weights: np.ndarray, model: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Pull weights toward those of a public model, as far as noise may explain the distance.

        In whitened coordinates and units of their noise a squared distance is that without noise
        plus one for each coordinate: what is left without these is the part that counts.
        """
        away = weights - model
        square = float(np.sum(np.square((self._unwhitening @ away) / noise[:, None])))
        return model + away * max(0.0, 1 - away.size / max(square, 1e-300))

    def step(self, share: float, phase: float, centering: float = 0.0) -> float:
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

        Returns
        -------
        float
            Standard deviation of the noise in the step, per whitened coordinate.
        """
        response, moments, n = self._response, self._moments, self._response.n_records
        size, unit_noise = len(self.weights), moments.deviation(1.0, phase)
        signal = n * response.curvature / (unit_noise * self._norm * math.sqrt(size))
        clip = clip_factor(signal) * self._norm * response.scale
        sums = StepSums(response.record_loss, self._unwhitening @ self.weights, clip)
        exact, curvatures = self._whitened.total(sums)  # private
        gradient_share = share * (1 - CURVATURE_SHARE - centering)
        gradient = moments.release(exact, clip, gradient_share)  # released
        curvature = response.curvatures(
            curvatures, share * CURVATURE_SHARE, unit_noise * len(self._gram)
        )  # released
        step = gradient / (n * curvature)
        lengths = np.linalg.norm(step, axis=0)
        step *= np.minimum(1, LONGEST_STEP / np.maximum(lengths, 1e-300))
        self.weights = self.weights - self._whitening @ step
        noise = moments.deviation(clip, gradient_share) / (n * np.asarray(curvature))
        return float(np.sqrt(np.mean(noise**2)))


def clip_factor(signal: float) -> float:
    """Where to clip records, over their root mean square norm: the louder the noise, the harder."""
    return min(max(0.25 * math.sqrt(signal), 0.25), 1.0)
