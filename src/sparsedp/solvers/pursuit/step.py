"""The chosen features and one kind of step on them: a Newton step in whitened coordinates."""

import math

import numpy as np

from sparsedp.data.columns.crossed import Crossing
from sparsedp.data.dataset import Dataset
from sparsedp.data.records import Derived
from sparsedp.solvers.pursuit.columns.cells import Hats, WaveGradient
from sparsedp.solvers.pursuit.columns.gram import Alike, GramBudget
from sparsedp.solvers.pursuit.columns.means import Means
from sparsedp.solvers.pursuit.columns.pairs import (
    CLIPPED,
    PAIR_EVIDENCE,
    PROMISING,
    PairMetric,
    Pairs,
    apart,
    strongest,
    within_reach,
)
from sparsedp.solvers.pursuit.columns.shapes import Shapes
from sparsedp.solvers.pursuit.exact import CLOSE, MOST_STEPS, ExactFit, Penalty
from sparsedp.solvers.pursuit.frame import Frame, Trail
from sparsedp.solvers.pursuit.gradient import Steepness
from sparsedp.solvers.pursuit.inference.coordinates import Coordinates
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.prune import FEWEST_KEPT, Elimination, nearest
from sparsedp.solvers.pursuit.records import (
    Cross,
    SelectionGradient,
    StepSums,
    Whiten,
    Widen,
    WidenShapes,
    columns_of,
    no_features,
)
from sparsedp.solvers.pursuit.targets.response import Response

LONGEST_STEP = 2.0
"""In whitened coordinates: no step changes margins by more than this, root mean square."""

N_SEEN = 3
"""Steps by whose mean features are left out on the way."""

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
        self._columns: Derived = data.derive(no_features)  # private
        self._alike: Alike | None = None
        self._hats: Derived | None = None  # private, made for the first choice among features
        self._law: PairMetric | None = None
        self._alone: tuple[Frame, Derived] | None = None  # coordinates without pairs
        self._penalty = self._plain(self.first)
        self._take(Frame.of_constant(self.first))

    def selection_gradient(self, share: float) -> tuple[np.ndarray, float]:
        """Gradient over all features (private), and what one record moves an entry by at most.

        The bound is released at the cost of this share, where the response asks for it.
        """
        response, weights = self.response, self._frame.unwhitening @ self.weights
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
            weights = self._frame.unwhitening @ self.weights
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
        frame, deviation = self._frame, self._budget.noise / self.response.n_records
        means = frame.whitening.T @ frame.gram[0]
        return Coordinates(
            frame.whitening,
            frame.unwhitening,
            frame.likely,
            means,
            frame.norm,
            frame.gram,
            deviation,
        )

    @property
    def lengths(self) -> np.ndarray:
        """Of steps along every column that is not constant, over what they would be."""
        assert self._alike is not None
        lengths = self._alike.lengths
        return np.ones(len(self.weights) - self.first) if lengths is None else lengths

    def reweigh(self, means: Means, weights: np.ndarray) -> None:
        """Change to coordinates in which steps along some columns are longer."""
        limits = self._limits(self.features)
        means.reweigh(self._columns, limits, weights)  # released
        self._alike = means.alike
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
        self._staying = self.pairs.only(self._evident(weights, noise, PAIR_EVIDENCE))
        found = self._elimination(weights)
        size = found.kept(float(np.mean(np.square(noise))), weights.shape[1], most)
        stays = np.isin(found.order, self._staying.features)
        stays[:size] = True
        order = found.order[stays]
        return self._refitted(self.nearest(weights, order)[-1], order), order

    def _elimination(self, weights: np.ndarray) -> Elimination:
        """Features in the order in which they are worth keeping."""
        metric, first, alike = self._frame.metric, self.first, self._alike
        mains = slice(first, len(weights) - len(self.pairs))
        if alike is not None:
            return Elimination.alike(alike.each, weights[mains], self.sizes)
        inner = metric[mains, mains]
        if first:
            inner = inner - np.outer(metric[0, mains], metric[0, mains]) / metric[0, 0]
        try:
            return Elimination.of(inner, weights[mains], self.sizes)
        except np.linalg.LinAlgError:  # moments that nothing but noise can have
            return Elimination.alike(1.0, weights[mains], self.sizes)

    def _evident(self, weights: np.ndarray, noise: np.ndarray, times: float) -> np.ndarray:
        """Numbers of the pairs that change margins by more than so often what chance would."""
        count = len(self.pairs)
        if not count:
            return np.zeros(0, dtype=np.intp)
        pairs = slice(-count, None)
        of_noise = float(np.mean(np.square(noise[pairs])))
        clipped = CLIPPED if self.response.calibrated else 1.0
        # Mean squares along pairs count as more than they are, and so does what chance makes.
        chance = self._chance / max(float(np.mean(self._frame.likely[pairs])), 1e-300)
        evidence = times * (clipped * of_noise + chance)
        metric, sizes = self._frame.metric[pairs, pairs], np.ones(count, dtype=np.intp)
        found = Elimination.of(metric, weights[pairs], sizes)
        return found.order[: found.kept(evidence, weights.shape[1], count, fewest=0)]

    @property
    def _chance(self) -> float:
        """Mean square of what the choice of records does to one weight that does nothing."""
        response, n_outputs = self.response, self.weights.shape[1]
        return (response.spread / response.curvature) ** 2 / (n_outputs * response.n_records)

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
        """The models with the first i features of an order, and their pairs; see `nearest`."""
        return nearest(self._frame.metric, weights, *self._columns_of(order))

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
        self._columns = self._data.derive(self._widen(features), self._columns)  # private
        block = self._budget.block(self._columns, old, self._squares, limits)  # released
        self._alike = self._budget.alike
        self._squares += float(np.sum(limits**2))
        self._gram = np.pad(self._gram, ((0, len(limits)), (0, len(limits))))
        upper = np.arange(new)[:, None] <= np.arange(old, new)
        rows, columns = np.nonzero(upper)
        self._gram[rows, columns + old] = block[upper]
        self._gram[columns + old, rows] = block[upper]
        self._whiten()

    def _widen(self, features: np.ndarray) -> Widen | WidenShapes:
        """Takes in the columns of the last ones of the features."""
        shapes = self.shapes
        if not len(shapes.bent) and not shapes.crowded:
            return Widen(features)
        basis = shapes.basis(self.features)
        return WidenShapes(features, shapes.knots[features], shapes.ends[features], basis)

    def interact(self, most: int) -> None:
        """Take in products of the features that matter most, at most so many.

        Nothing is released: what is not known of them is as if all features were normal.
        """
        if self._alike is not None or not self.first or not most:
            return
        if self._moments.curator.noiseless:
            self.weights = self._settled_exactly()
        metric, sizes = self._frame.metric, self.sizes
        if not within_reach(metric):
            return
        found = strongest(metric, self.weights, sizes, most)
        straight, pairs = self.first + np.cumsum(sizes) - sizes, Pairs.among(found)
        pairs = pairs.only(apart(metric, straight[pairs.first], straight[pairs.second]))
        if not len(pairs):
            return
        self._alone = self._frame, self._whitened
        self._cross(pairs)
        nothing_yet = np.zeros((len(pairs), self.weights.shape[1]))
        self.weights = np.concatenate([self.weights, nothing_yet])
        self._penalty = self._penalty.followed(len(pairs))

    def _cross(self, pairs: Pairs) -> None:
        """Go on with products of these features alone, after the columns of all."""
        assert self._alone is not None
        (frame, whitened), sizes = self._alone, self.sizes
        self.pairs = self._staying = pairs.anew()
        self._law = None
        if len(pairs):
            straight = self.first + np.cumsum(sizes) - sizes
            law = PairMetric.of(frame.metric, straight[pairs.first], straight[pairs.second])
            first, second = self.features[pairs.first], self.features[pairs.second]
            centers = law.centers[law.first], law.centers[law.second]
            cross = Cross.to(Crossing.of(first, second, *centers, law.levels), law.whitening)
            whitened = self._data.derive(cross, whitened)  # private
            frame = frame.followed(law.whitening, law.unwhitening, law.likely)
            self._law = law
        self._whitened = whitened
        self._columns = whitened.derive(columns_of)  # private
        self._frame, self._steepness = frame, Steepness()

    def plain(self, weights: np.ndarray) -> np.ndarray:
        """Weights of the columns and, if features interact, of plain products of two of them."""
        return weights if self._law is None else self._law.plain(weights)

    def _whiten(self) -> None:
        """Change to coordinates in which the noisy Gram matrix is the identity."""
        n, alike = self.response.n_records, self._alike
        noise = self._budget.noise * math.sqrt(len(self.weights)) / n
        gram = self._gram / n
        if alike is None:
            self._take(Frame.by_eigenvectors(gram, noise, self._floor))
        else:
            self._take(Frame.alike(gram, alike))

    def _take(self, frame: Frame) -> None:
        self._frame, self._steepness = frame, Steepness()
        whiten = Whiten.to(frame.whitening)
        self._whitened = self._columns.derive(whiten, self._targets)  # private

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
        trail = Trail()
        for number in range(n_steps):
            if len(self.pairs) and number == n_steps // 2:
                trail = self._halfway(trail)
            self.walk(trail, 1, share / n_steps, share)
        return trail.average(n_averaged), trail.noise(self._frame, n_averaged)

    def walk(
        self, trail: Trail, n_steps: int, share: float, phase: float, centering: float = 0.0
    ) -> None:
        """Take some steps, as `step` does, and note where they have led."""
        for _ in range(n_steps):
            trail.variances.append(self.step(share, phase, centering) ** 2)
            trail.weights.append(self.weights)

    def _halfway(self, trail: Trail) -> Trail:
        """Go on without the pairs that have shown nothing: the others then have less noise.

        Returns the trail of the columns that stay.
        """
        count = len(trail.weights)
        average, noise = trail.average(count), trail.noise(self._frame, count)
        staying = np.sort(self._evident(average, noise, PROMISING))
        size = len(self.weights) - len(self.pairs)
        kept = np.concatenate([np.arange(size), size + staying])
        self._cross(self.pairs.only(staying))
        self.weights = self.weights[kept]
        return Trail([weights[kept] for weights in trail.weights], trail.variances)

    def thin(self, trail: Trail) -> None:
        """Go on without the features that have shown nothing: the others then have less noise."""
        if len(self.features) <= FEWEST_KEPT:
            return
        average, noise = trail.average(N_SEEN), trail.noise(self._frame, N_SEEN)
        found = self._elimination(average)
        level = float(np.mean(np.square(noise))) + self._chance
        count = found.going_on(level, average.shape[1])
        if count == len(found.order):
            return
        stay = np.sort(found.order[:count])
        places, _ = self._columns_of(stay)
        metric, last = self._frame.metric, np.array([len(places) - 1])
        self.weights = nearest(metric, average, places, last)[0, places]
        self._gram = self._gram[np.ix_(places, places)]
        if self._alike is not None:
            self._alike = self._alike.only(places[self.first :] - self.first)
        self._penalty, self.features = self._plain(len(places)), self.features[stay]
        self._columns = self._data.derive(no_features)  # private
        self._columns = self._data.derive(self._widen(self.features), self._columns)  # private
        self._whiten()

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
        square = float(np.sum(np.square((self._frame.unwhitening @ away) / noise[:, None])))
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
        frame = self._frame
        signal = n * response.curvature / (unit_noise * frame.norm * math.sqrt(size))
        clip = clip_factor(signal) * frame.norm * response.scale
        sums = StepSums(response.record_loss, frame.unwhitening @ self.weights, clip)
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
        self.weights = self.weights - frame.whitening @ step
        self._steepness.stepped(step, gradient, level)
        noise = level / (n * np.asarray(curvature))
        return float(np.sqrt(np.mean(noise**2)))


def clip_factor(signal: float) -> float:
    """Where to clip records, over their root mean square norm: the louder the noise, the harder."""
    return min(max(0.25 * math.sqrt(signal), 0.25), 1.0)
