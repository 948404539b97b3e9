"""From unit coordinates, where solvers work, to the units that users declared."""

from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.bend import Bend, BendTable, PathBends
from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.bounds_toml import some_names
from sparsedp.data.dataset import Dataset
from sparsedp.data.interaction import Interaction, in_order, scaled
from sparsedp.data.linear_form import narrowed
from sparsedp.fit.problem import Problem
from sparsedp.inference import Inference
from sparsedp.solvers import Solution, SolutionPath
from sparsedp.solvers.uncertainty import Uncertainty


@dataclass(frozen=True)
class Coefficients:
    """A model in declared units: the last step from a solution to what users see."""

    coef: np.ndarray
    """Of shape (n_outputs, n_features)."""
    intercept: np.ndarray
    """Of shape (n_outputs,)."""
    clip_bounds: tuple[np.ndarray, np.ndarray]
    """Features are clipped to these before they are multiplied."""
    order: np.ndarray
    """Used features, in the order in which they enter the path."""
    path_coefs: np.ndarray
    """Of shape (k, n_outputs, k): coefficients of the first 1, 2, ... features of the order."""
    path_intercepts: np.ndarray
    """Of shape (k, n_outputs)."""
    bends: tuple[Bend, ...] = ()
    """Of features whose effect is not a line; their outer knots are the clip bounds."""
    path_bends: PathBends = ()
    """One tuple per model of the path; an empty one if none has any."""
    inference: Inference | None = None
    """How well the coefficients are known, where the solver says so."""
    interactions: tuple[Interaction, ...] = ()
    """Of pairs of features, by these; units are those of the clip bounds."""
    path_interactions: tuple[tuple[Interaction, ...], ...] = ()
    """One tuple per model of the path; an empty one if none has any."""

    def clipped(self, data: Dataset) -> tuple[str, ...]:
        """A note that names the features whose declared bounds were tightened, if there are any."""
        declared = data.bounds.arrays(data.n_features)
        found = narrowed(self.coef, self.clip_bounds, declared, self.bends, self.interactions)
        if found.size == 0:
            return ()
        names = data.bounds.features or data.feature_names
        shown = some_names([f"x{j}" if names is None else names[j] for j in found])
        return (
            f"Bounds of {shown} were tightened privately: values beyond the limits shown with the "
            "model count as the limits, and coefficients hold within them. Columns that hold only "
            "two values keep their bounds if Bounds(binary=...) says so.",
        )

    def scaled(self, factor: float, offset: float) -> "Coefficients":
        """The same model for a target in other units: factor times prediction plus offset."""
        return replace(
            self,
            coef=factor * self.coef,
            intercept=factor * self.intercept + offset,
            path_coefs=factor * self.path_coefs,
            path_intercepts=factor * self.path_intercepts + offset,
            bends=tuple(bend.scaled(factor) for bend in self.bends),
            path_bends=self.path_bends.scaled(factor)
            if isinstance(self.path_bends, BendTable)
            else tuple(tuple(bend.scaled(factor) for bend in some) for some in self.path_bends),
            interactions=scaled(self.interactions, factor),
            path_interactions=tuple(scaled(some, factor) for some in self.path_interactions),
        )

    @classmethod
    def of(cls, solution: Solution, problem: Problem, confidence: float = 0.95) -> "Coefficients":
        """Carry unit weights back by the public (or released) bounds.

        Parameters
        ----------
        solution : Solution
        problem : Problem
        confidence : float
            Of intervals, where there are any.
        """
        data, interval = problem.data, problem.target.interval
        d = data.n_features
        bounds = _of_values(solution.bounds, data)
        weights = solution.weights.reshape(data.n_columns, -1)
        intercept = weights[d] if data.intercept else np.zeros(weights.shape[1])
        unit_map = bounds.unit_map(d, centered=data.intercept)
        coef, intercept = unit_map.to_original(weights[:d], intercept)
        path = solution.path or SolutionPath.by_weight(
            solution.weights, d, solution.bends, solution.interactions
        )
        half_width, center = unit_map.half_width[path.order], unit_map.center[path.order]
        path_coefs = path.weights / half_width[:, None]
        path_intercepts = path.intercepts - np.einsum("kfo,f->ko", path_coefs, center)
        # What the fit saw in margins and predictions shall not: class weights, middles of offsets.
        intercept, path_intercepts = intercept - problem.shift, path_intercepts - problem.shift
        found = cls(
            np.ascontiguousarray(coef.T),
            np.atleast_1d(intercept),
            bounds.arrays(d),
            path.order,
            path_coefs.transpose(0, 2, 1),
            path_intercepts,
            _declared(solution.bends, unit_map, bounds.arrays(d)),
            path.bends.moved(unit_map.center, unit_map.half_width, bounds.arrays(d))
            if isinstance(path.bends, BendTable)
            else tuple(_declared(bends, unit_map, bounds.arrays(d)) for bends in path.bends),
            # Bounds that were put back have the same unit coordinates where records are.
            interactions=in_order(solution.interactions),
            path_interactions=tuple(map(in_order, path.interactions)),
        )
        factor = 1.0
        if interval is not None:
            low, high = interval
            factor = (high - low) / 2
            found = found.scaled(factor, (high + low) / 2)
        if solution.uncertainty is None:
            return found
        return replace(
            found,
            inference=_inferred(solution.uncertainty, found, unit_map, factor, confidence),
        )


def _inferred(
    known: Uncertainty, found: Coefficients, unit_map: UnitMap, factor: float, confidence: float
) -> Inference:
    """How well the coefficients of one output are known, in declared units."""
    features, k = known.features, len(known.features)
    slopes = factor / unit_map.half_width[features]
    back = np.diag(np.append(slopes, factor))
    back[k, :k] = -slopes * unit_map.center[features]
    return Inference.of(
        known,
        np.append(found.coef[0, features], found.intercept[0]),
        back,
        n_features=found.coef.shape[1],
        confidence=confidence,
    )


def _declared(
    bends: tuple[Bend, ...], unit_map: UnitMap, clip: tuple[np.ndarray, np.ndarray]
) -> tuple[Bend, ...]:
    """Bends with knots in declared units, from one end of the clip bounds to the other."""
    moved = (
        bend.moved(
            float(unit_map.center[bend.feature]),
            float(unit_map.half_width[bend.feature]),
            (float(clip[0][bend.feature]), float(clip[1][bend.feature])),
        )
        for bend in bends
    )
    return tuple(bend for bend in moved if bend is not None)


def _of_values(released: Bounds | None, data: Dataset) -> Bounds:
    """Bounds to clip to: the released ones, but declared ones for features of two values.

    A binary feature keeps its declared bounds wherever its two values have the same unit
    coordinates in both boxes: predictions for them are then the same (linear_form.md).
    """
    declared, d = data.bounds, data.n_features
    if released is None:
        return declared
    kept = declared.binary_features(d)
    (low, high), (lowest, highest) = narrow, wide = released.arrays(d), declared.arrays(d)
    if not data.intercept:  # with one, ends are at -1 and 1 in both
        narrow_unit, wide_unit = (
            bounds.unit_map(d, centered=False).half_width for bounds in (released, declared)
        )
        kept = kept & (low / narrow_unit == lowest / wide_unit)
        kept = kept & (high / narrow_unit == highest / wide_unit)
    if not kept.any():
        return released
    return declared.with_limits(*(np.where(kept, w, n) for w, n in zip(wide, narrow, strict=True)))
