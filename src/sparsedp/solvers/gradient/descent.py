"""Noisy gradient descent on clipped records, as IGHT and NoisyGD run it (proof: noisy_gd.md)."""

import math
from collections.abc import Callable

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule
from sparsedp.solvers.gradient.records import ClippedGradient, Lengths
from sparsedp.solvers.gradient.scale import Clip, Moments, Pace
from sparsedp.solvers.solver import check_positive_integer, check_size

MOMENTS = Perturb(0.1, name="moments")
GRADIENT = Perturb(0.9, name="gradient")

RECORDS = Perturb(0.02, name="records")
EVERY_GRADIENT = Perturb(0.98, name="gradient")

PRIOR, TRUST = 1.0, 0.025
"""How far margins are expected to be from zero, or from those of a public model: as a variance,
in units of the inverse curvature of the loss."""

Projection = Callable[[np.ndarray], np.ndarray]


def descent_schedule() -> Schedule:
    """What `descend` asks for: moments once, then equal shares for every gradient."""
    return Schedule((MOMENTS, GRADIENT))


def constant_schedule(public: PublicFacts) -> Schedule:
    """What constant steps along mean gradients ask for: the number of records, if it is private."""
    if public.total_weight is None:
        return Schedule((RECORDS, EVERY_GRADIENT))
    return Schedule((EVERY_GRADIENT,))


def descend(
    data: Dataset,
    loss: Loss,
    curator: Curator,
    *,
    n_steps: int,
    step_size: float,
    clip: float | None,
    n_weights: int,
    projection: Projection,
) -> np.ndarray:
    """Descend from zero or from the public model; returns weights in unit coordinates.

    Features are centered at their released means, which makes the intercept's direction independent
    of the others. With a declared row norm the records stay in declared units, where it holds.

    Parameters
    ----------
    data : Dataset
        Private.
    loss : Loss
    curator : Curator
    n_steps : int
        Gradients to release.
    step_size : float
        First step, in units of the inverse curvature along a feature of average variance.
    clip : float or None
        Bound on the norm of one record's gradient; None for one that follows released figures.
    n_weights : int
        Features that the model may use.
    projection : callable
        Applied after every step to weights of features in the unit box.
    """
    public, d = curator.public, data.n_features
    view = working_view(data)
    moments = Moments.release(view, curator, MOMENTS.name, centered=data.intercept)  # released
    frame = Frame(data, view, moments.center)
    curvature = loss.typical_curvature
    pace = Pace(step_size / (curvature * moments.variance))
    clipping = Clip.start(clip, moments.length(data.intercept), loss, public.weights_shape)
    initial = public.initial_weights
    anchor = np.zeros(public.weights_shape) if initial is None else frame.enter(initial)
    spread = PRIOR if initial is None else TRUST
    w = frame.project(anchor, projection)
    for _ in range(n_steps):
        norm = math.inf if curator.noiseless else clipping.bound
        sums, used = frame.gradient(loss, w, norm)  # private
        gradient, noise = clipping.release(
            curator, sums, used, n_records=moments.n_records, n_steps=n_steps
        )  # released
        pace.follow(w[:d], gradient[:d], noise)
        # What all steps together tell has this variance, per margin; against it stands the spread.
        pull = n_weights * noise**2 / (n_steps * spread)
        toward = gradient + pull * (w - anchor)
        step = toward / (1 / pace.rate + pull)
        step[d:] = toward[d:] / (curvature + pull)
        w = frame.project(w - step, projection)
    return frame.leave(w)


def working_view(data: Dataset) -> Dataset:
    """Declared units where records have a declared norm, else the unit box."""
    return data if data.row_norm is None else data.declared_units()


def check_descent(n_steps: int, step_size: float, clip: float | None) -> None:
    """Raise ValueError for settings with which no step can be made."""
    check_positive_integer("n_steps", n_steps)
    check_size("step_size", step_size)
    check_size("clip", clip, optional=True)


class Frame:
    """Coordinates of the descent: records as `view` shows them, features moved by ``center``.

    Parameters
    ----------
    data, view : Dataset
        The same records in unit coordinates and as the descent sees them.
    center : ndarray of shape (n_features,)
        Released; zero without an intercept, which is what absorbs the shift.
    """

    def __init__(self, data: Dataset, view: Dataset, center: np.ndarray) -> None:
        self.data, self.view, self.center = data, view, center
        self.origin = center if data.intercept else None
        self._lengths = view.derive(Lengths(self.origin))  # private

    def gradient(self, loss: Loss, w: np.ndarray, norm: float) -> tuple[np.ndarray, np.ndarray]:
        """Sum of the centered records' gradients, each clipped to a norm (private).

        Also the sum of squares of the part of the norm that each record uses.
        """
        function = ClippedGradient(loss, w, self.origin, norm)
        return self.view.total(function, self._lengths)

    def enter(self, weights: np.ndarray) -> np.ndarray:
        """Weights of the unit box in these coordinates."""
        return self._shifted(self._mapped(weights, back=True), 1)

    def leave(self, w: np.ndarray) -> np.ndarray:
        """Weights of these coordinates in the unit box."""
        return self._mapped(self._shifted(w, -1), back=False)

    def project(self, w: np.ndarray, projection: Projection) -> np.ndarray:
        """Apply a projection that is meant for features in the unit box; the center stays.

        Weights of features at their center: dropping one does not move the intercept.
        """
        if self.view is self.data:
            return projection(w)
        scale = np.ones(self.data.n_columns)
        scale[: self.data.n_features] = self.data.unit_map.half_width
        return (projection((w.T * scale).T).T / scale).T

    def _shifted(self, w: np.ndarray, sign: int) -> np.ndarray:
        w = w.copy()
        if self.data.intercept:
            w[-1] += sign * (self.center @ w[:-1])
        return w

    def _mapped(self, w: np.ndarray, *, back: bool) -> np.ndarray:
        if self.view is self.data:
            return w
        d, unit_map = self.data.n_features, self.data.unit_map
        constant = w[d] if self.data.intercept else np.zeros(w.shape[1:])
        carry = unit_map.to_original if back else unit_map.from_original
        features, constant = carry(w[:d], constant)
        return np.concatenate([features, constant[None]]) if self.data.intercept else features
