"""The chosen features and one kind of step on them: a Newton step in whitened coordinates."""

import math

import numpy as np
from scipy.linalg import solve_triangular

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.solvers.pursuit.columns.cells import Hats, WaveGradient
from sparsedp.solvers.pursuit.columns.gram import GramBudget
from sparsedp.solvers.pursuit.columns.means import Means
from sparsedp.solvers.pursuit.columns.pairs import (
    CLIPPED,
    PAIR_EVIDENCE,
    PairMetric,
    Pairs,
    apart,
    strongest,
    within_reach,
)
from sparsedp.solvers.pursuit.columns.shapes import Shapes
from sparsedp.solvers.pursuit.exact import CLOSE, MOST_STEPS, ExactFit, Penalty
from sparsedp.solvers.pursuit.gradient import Steepness
from sparsedp.solvers.pursuit.inference.coordinates import Coordinates
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.prune import Elimination
from sparsedp.solvers.pursuit.records import (
    SelectionGradient,
    StepSums,
    Whiten,
    Widen,
    WidenPairs,
    WidenShapes,
    no_features,
)
from sparsedp.solvers.pursuit.targets.response import Response

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
    gram : GramBudget
        Pays for the Gram matrix.
    shapes : Shapes
        The columns of every feature.
    capacity : int
        Columns that there may be at most, without the constant one.
    floor : float
        Eigenvalues of the Gram matrix are raised to this multiple of what noise alone makes.
    """

    def __init__(
        self,
        data: Dataset,
        response: Response,
        moments: Moments,
        gram: GramBudget,
        shapes: Shapes,
        capacity: int,
        floor: float,
    ) -> None:
        self._data, self.response, self._moments = data, response, moments
        self._budget, self.shapes, self._floor = gram, shapes, floor
        self._capacity = capacity + int(data.intercept)
        self.first = int(data.intercept)
        self._gram = np.full((self.first, self.first), response.n_records)
        self._squares = float(self.first)
        self.features = np.zeros(0, dtype=np.intp)
        self.pairs = self._staying = Pairs.none()
        self.weights = np.zeros((self.first, response.intercept.size))
        self.weights[:] = response.intercept
        self._targets = response.targets  # private
        self._columns = data.derive(no_features)  # private
        self._hats: Derived | None = None  # private, made for the first choice among features
        self._penalty = self._plain(self.first)
        self._change_coordinates(np.eye(self.first), np.eye(self.first))

    def selection_gradient(self, share: float) -> tuple[np.ndarray, float]:
        """Gradient over all features (private), and what one record moves an entry by at most.

        The bound is released at the cost of this share, where the response asks for it.
        """
        response, weights = self.response, self._unwhitening @ self.weights
        norm = response.selection_norm(self._whitened, weights, self.constant, share)  # released
        gradient = SelectionGradient(response.record_loss, weights, norm)
        return self._data.total(gradient, self._whitened), norm

    def scores(self, gradient: np.ndarray, norm: float) -> np.ndarray:
        """How steep each feature's gradient is, along its steepest column; private.

        One record moves no column's gradient by more than the norm, and so no maximum over them.
        """
        scores = np.linalg.norm(gradient, axis=1)
        bent = self.shapes.bent
        if len(bent):
            if self._hats is None:
                self._hats = self._data.derive(Hats(bent, self.shapes.knots[bent]))  # private
            weights = self._unwhitening @ self.weights
            waves = WaveGradient(self.response.record_loss, weights, norm, self.shapes.heights)
            steep = self._data.total(waves, self._whitened, self._hats)  # private
            steepest = np.linalg.norm(steep, axis=2).max(axis=1)
            scores[bent] = np.maximum(scores[bent], steepest)
        return scores

    @property
    def rows(self) -> np.ndarray:
        """Where weights belong in a full vector of them, the intercept last; no feature bends."""
        return np.concatenate([np.full(self.first, self._data.n_features), self.features])

    @property
    def sizes(self) -> np.ndarray:
        """Columns of every chosen feature."""
        return self.shapes.sizes(self.features)

    @property
    def back(self) -> tuple[float, float]:
        """Factor and offset that carry margins to those of the targets as they were."""
        return self.response.back

    @property
    def whitened(self) -> Derived:
        """The records in whitened coordinates. Private."""
        return self._whitened

    @property
    def coordinates(self) -> Coordinates:
        """What was released about them there; the constant is the first column."""
        n = self.response.n_records
        return Coordinates(
            self._whitening,
            self._unwhitening,
            self._likely,
            self._whitening.T @ (self._gram[0] / n),
            self._norm,
            self._gram / n,
            self._budget.noise / n,
        )

    @property
    def lengths(self) -> np.ndarray:
        """Of steps along every column that is not constant, over what they would be."""
        alike = self._budget.alike
        assert alike is not None
        return np.ones(len(self.weights) - self.first) if alike.lengths is None else alike.lengths

    def reweigh(self, means: Means, weights: np.ndarray) -> None:
        """Change to coordinates in which steps along some columns are longer."""
        limits = self._limits(self.features)
        means.reweigh(self._columns, limits, weights)  # released
        self._whiten()

    @property
    def unspent(self) -> float:
        """The share of the Gram matrix that the chosen columns did not need."""
        return self._budget.left

    @property
    def constant(self) -> np.ndarray:
        """Margins of a record at the center of the coordinates."""
        return self.weights[: self.first].sum(axis=0)

    def pruned(
        self, weights: np.ndarray, noise: np.ndarray, most: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Leave out features that noise explains, and more until there are at most so many.

        Parameters
        ----------
        weights : ndarray
        noise : ndarray
            What is left of it in every whitened coordinate, as `settle` says.
        most : int

        Returns
        -------
        weights : ndarray
            Zero for the features that are left out; those of the others make up for them.
        order : ndarray
            Positions of the features that stay, the one that matters most first.
        """
        metric, first, alike = self._metric, self.first, self._budget.alike
        n_outputs = weights.shape[1]
        if alike is not None:
            found = Elimination.alike(alike.each, weights[first:], self.sizes)
        else:
            inner = metric[first:, first:]
            if first:
                inner = inner - np.outer(metric[0, 1:], metric[0, 1:]) / metric[0, 0]
            mains = weights[first:]
            if len(self.pairs):
                mains = self._without_pairs(inner, mains, noise)
            found = Elimination.of(inner[: len(mains), : len(mains)], mains, self.sizes)
        size = found.kept(float(np.mean(np.square(noise))), n_outputs, most)
        stays = np.isin(found.order, self._staying.features)
        stays[:size] = True
        order = found.order[stays]
        return self._refitted(self.nearest(weights, order)[-1], order), order

    def _without_pairs(
        self, metric: np.ndarray, weights: np.ndarray, noise: np.ndarray
    ) -> np.ndarray:
        """Drop pairs that noise or chance explains; the nearest weights of features alone.

        ``metric`` and ``weights`` are those of all columns but the constant one.
        """
        count, n, response = len(self.pairs), self.response.n_records, self.response
        rest, pairs = slice(0, -count), slice(-count, None)
        # What only pairs explain.
        inner = np.linalg.inv(np.linalg.inv(metric)[pairs, pairs])
        chance = (response.spread / response.curvature) ** 2 / n
        of_noise = float(np.mean(np.square(noise[pairs])))
        clipped = CLIPPED if response.calibrated else 1.0
        # Mean squares along pairs count as more than they are, and so does what chance makes.
        chance /= max(float(np.mean(self._likely[pairs])), 1e-300)
        evidence = PAIR_EVIDENCE * (clipped * of_noise + chance)
        found = Elimination.of(inner, weights[pairs], np.ones(count, dtype=np.intp))
        size = found.kept(evidence, weights.shape[1], count, fewest=0)
        self._staying = self.pairs.only(found.order[:size])
        return weights[rest] + np.linalg.solve(
            metric[rest, rest], metric[rest, pairs] @ weights[pairs]
        )

    def _columns_of(self, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the columns of some features, after that of the constant.

        Those of a feature are followed by those of its pairs with earlier ones.

        Returns
        -------
        places : ndarray
        last : ndarray of shape (k,)
            Where in these the columns of every feature end.
        """
        sizes, stays = self.sizes, self._staying
        ends = self.first + np.cumsum(sizes)
        of_pairs = len(self.weights) - len(self.pairs) + stays.numbers
        complete = stays.entering(order, len(self.features))
        found = [np.arange(self.first)]
        for i, j in enumerate(order):
            own = np.arange(ends[j] - sizes[j], ends[j])
            found.append(np.concatenate([own, of_pairs[complete == i]]))
        return np.concatenate(found), np.cumsum([len(part) for part in found])[1:] - 1

    def nearest(self, weights: np.ndarray, order: np.ndarray) -> np.ndarray:
        """The models with fewer features that come closest to ``weights``, from releases alone.

        For the first i features of the order: the weights whose margins differ least from those of
        the full model, root mean square, as the noisy Gram matrix measures it; of shape (k,
        columns, outputs), zero for the others.
        """
        places, last = self._columns_of(order)
        # What is in none of the models comes last: what it did they are to make up for.
        others = np.setdiff1d(np.arange(len(weights)), places)
        places = np.concatenate([places, others])
        # With the metric R R', the nearest weights are a sum of one term for each column taken in:
        # leading blocks of a triangular inverse are the inverses of leading blocks.
        root = np.linalg.cholesky(self._metric[np.ix_(places, places)])
        inverse = np.asarray(solve_triangular(root, np.eye(len(root)), lower=True))
        terms = inverse[:, :, None] * (root.T @ weights[places])[:, None, :]
        found = np.zeros((len(order), *weights.shape))
        found[:, places] = np.cumsum(terms, axis=0)[last]
        return found

    def _limits(self, features: np.ndarray) -> np.ndarray:
        """Of all columns of some features."""
        return np.concatenate([self.shapes.limits(int(j)) for j in features])

    def add(self, features: np.ndarray) -> None:
        """Take in features (released or public) and release their part of the Gram matrix."""
        limits = self._limits(features)
        old, new = len(self.weights), len(self.weights) + len(limits)
        self.features = np.concatenate([self.features, features])
        nothing_yet = np.zeros((len(limits), self.weights.shape[1]))
        self.weights = np.concatenate([self.weights, nothing_yet])
        self._penalty = self._plain(new)
        widen = Widen(features)
        if len(self.shapes.bent):
            knots, basis = self.shapes.knots[features], self.shapes.basis(self.features)
            widen = WidenShapes(features, knots, basis)
        self._columns = self._data.derive(widen, self._columns)  # private
        block = self._budget.block(self._columns, old, self._squares, limits)  # released
        self._squares += float(np.sum(limits**2))
        self._gram = np.pad(self._gram, ((0, len(limits)), (0, len(limits))))
        upper = np.arange(new)[:, None] <= np.arange(old, new)
        rows, columns = np.nonzero(upper)
        self._gram[rows, columns + old] = block[upper]
        self._gram[columns + old, rows] = block[upper]
        self._whiten()

    def interact(self, most: int) -> None:
        """Take in products of the features that matter most, at most so many.

        Nothing is released: what is not known of them is as if all features were normal.
        """
        if self._budget.alike is not None or not self.first or not most:
            return
        if self._moments.curator.noiseless:
            self.weights = self._settled_exactly()
        metric, sizes = self._metric, self.sizes
        if not within_reach(metric):
            return
        found = strongest(metric, self.weights, sizes, most)
        straight, pairs = self.first + np.cumsum(sizes) - sizes, Pairs.among(found)
        pairs = pairs.only(apart(metric, straight[pairs.first], straight[pairs.second])).anew()
        if not len(pairs):
            return
        self.pairs = self._staying = pairs
        law = PairMetric.of(metric, straight[pairs.first], straight[pairs.second])
        first, second = self.features[pairs.first], self.features[pairs.second]
        self._columns = self._data.derive(WidenPairs(first, second), self._columns)  # private
        old, n = len(self.weights), self.response.n_records
        whitening, back = law.extended(self._whitening, self._unwhitening)
        gram = n * (back.T @ back)
        gram[:old, :old] = self._gram
        self._gram, self._metric = gram, back.T @ back
        nothing_yet = np.zeros((len(pairs), self.weights.shape[1]))
        self.weights = np.concatenate([self.weights, nothing_yet])
        self._penalty = self._penalty.followed(len(pairs))
        self._likely = np.concatenate([self._likely, law.likely])
        self._change_coordinates(whitening, back)
        self._look_at_lengths()

    def _whiten(self) -> None:
        """Change to coordinates in which the noisy Gram matrix is the identity."""
        alike = self._budget.alike
        if alike is None:
            self._whiten_by_eigenvectors()
        else:
            whitening, back, self._likely = alike.coordinates()
            self._metric = self._gram / self.response.n_records
            self._change_coordinates(whitening, back)
        self._look_at_lengths()

    def _look_at_lengths(self) -> None:
        """How long records are likely to be, and how much of an error steps leave."""
        self._norm = math.sqrt(max(float(np.sum(self._likely)), 1.0))
        # What a step leaves of an error in each of these coordinates.
        self._lasting = 1 - np.minimum(self._likely, 1)

    def _whiten_by_eigenvectors(self) -> None:
        """Also find out how long records are likely to be."""
        size, n = len(self.weights), self.response.n_records
        values, vectors = np.linalg.eigh(self._gram / n)
        noise = self._budget.noise * math.sqrt(size) / n
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
        self._likely = likely / raised

    def _change_coordinates(self, whitening: np.ndarray, unwhitening: np.ndarray) -> None:
        self._whitening, self._unwhitening = whitening, unwhitening
        self._steepness = Steepness()
        self._whitened = self._columns.derive(Whiten.to(whitening), self._targets)  # private

    def settle(self, n_steps: int, n_averaged: int, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Take the steps of the fit.

        Returns
        -------
        average : ndarray
            Mean weights of the last ones.
        noise : ndarray of shape (size,)
            What is left of the noise in it: standard deviation of every whitened coordinate.
        """
        if self._moments.curator.noiseless:
            return self._settled_exactly(), np.zeros(len(self.weights))
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

    @property
    def _exact(self) -> ExactFit:
        """Where nothing has to be protected."""
        response = self.response
        return ExactFit(self._columns, self._targets, response.loss, response.n_records)

    def _plain(self, size: int) -> Penalty:
        """Without noise: every column takes part."""
        return Penalty.of(np.ones(size, dtype=bool), self.first, self.response.n_records)

    def _settled_exactly(self) -> np.ndarray:
        """Without noise: features bend, and then interact, as far as records tell."""
        exact = self._exact
        if len(self.pairs):
            weights, self._penalty = exact.wider(
                self.weights, self._penalty, len(self.pairs), self.first
            )
            return weights
        start = np.zeros_like(self.weights)
        start[: self.first] = self.response.intercept
        counts = [np.arange(size) for size in self.sizes]
        waves = np.concatenate([np.zeros(self.first, dtype=int), *counts])
        weights, self._penalty = exact.best(start, waves, self.first)
        return weights

    def _refitted(self, weights: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Without noise: the best weights of these features alone; else the weights as they are."""
        if not self._moments.curator.noiseless:
            return weights
        kept = np.isin(np.arange(len(weights)), self._columns_of(order)[0])
        penalty = self._penalty.among(kept)
        start = np.where(penalty.kept[:, None], weights, 0.0)
        return self._exact.newton(start, penalty, MOST_STEPS)

    def pulled(
        self, weights: np.ndarray, model: np.ndarray, noise: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pull weights toward those of a public model, as far as noise may explain the distance.

        In whitened coordinates and units of their noise a squared distance is that without noise
        plus one for each coordinate: what is left without these is the part that counts. Without
        noise that is all of it.

        Returns
        -------
        weights : ndarray
        noise : ndarray
            What is left of it.
        """
        if not noise.any():
            return weights, noise
        away = weights - model
        square = float(np.sum(np.square((self._unwhitening @ away) / noise[:, None])))
        counts = max(0.0, 1 - away.size / max(square, 1e-300))
        return model + away * counts, noise * counts

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
        response, moments, n = self.response, self._moments, self.response.n_records
        if moments.curator.noiseless:
            self.weights = self._exact.newton(self.weights, self._penalty, MOST_STEPS, CLOSE)
            return 0.0
        size, unit_noise = len(self.weights), moments.deviation(1.0, phase)
        signal = n * response.curvature / (unit_noise * self._norm * math.sqrt(size))
        clip = clip_factor(signal) * self._norm * response.scale
        sums = StepSums(response.record_loss, self._unwhitening @ self.weights, clip)
        exact, curvatures = self._whitened.total(sums)  # private
        gradient_share = share * (1 - CURVATURE_SHARE - centering)
        gradient = moments.release(exact, clip, gradient_share)  # released
        curvature = response.curvatures(
            curvatures, share * CURVATURE_SHARE, unit_noise * self._capacity
        )  # released
        level = moments.deviation(clip, gradient_share)
        curvature = curvature * self._steepness.look(gradient, level, n, float(np.mean(curvature)))
        step = gradient / (n * curvature)
        lengths = np.linalg.norm(step, axis=0)
        step *= np.minimum(1, LONGEST_STEP / np.maximum(lengths, 1e-300))
        self.weights = self.weights - self._whitening @ step
        self._steepness.stepped(step, gradient, level)
        noise = level / (n * np.asarray(curvature))
        return float(np.sqrt(np.mean(noise**2)))


def clip_factor(signal: float) -> float:
    """Where to clip records, over their root mean square norm: the louder the noise, the harder."""
    return min(max(0.25 * math.sqrt(signal), 0.25), 1.0)
