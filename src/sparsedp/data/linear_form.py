"""What a model that is not linear is as one: where both agree, and the closest line elsewhere.

Proof: linear_form.md.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.bend import Bend, bent
from sparsedp.data.interaction import Interaction
from sparsedp.data.storage import Array
from sparsedp.data.used import used

Limits = tuple[Array, Array]
"""Lower and upper limits, one of each per feature."""


class LinearForm(NamedTuple):
    """The plain linear model ``X @ coef + intercept`` that is closest to a clipped one.

    Parameters
    ----------
    coef : ndarray
        Shaped as ``coef_``.
    intercept : float or ndarray
        Shaped as ``intercept_``.
    largest_difference : float
        From ``decision_function``, for any record within the declared bounds. Zero where no bounds
        were tightened, no effect bends and no features interact. No line has a smaller one, but
        with interactions this is an upper bound: each counts with all that it can add, though not
        all may do so for one record.
    """

    coef: Array
    intercept: Array | float
    largest_difference: float


def narrowed(
    coef: Array,
    clip: Limits,
    declared: Limits,
    bends: Sequence[Bend] = (),
    interactions: Sequence[Interaction] = (),
) -> NDArray[np.intp]:
    """Used features that are clipped to less than their declared bounds.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, d)
    clip, declared : (ndarray, ndarray) of shape (d,) each
    """
    narrower = (clip[0] > declared[0]) | (clip[1] < declared[1])
    return np.flatnonzero(used(coef, bends, interactions) & narrower)


def linear_form(
    coef: Array,
    intercept: Array,
    clip: Limits,
    declared: Limits,
    bends: Sequence[Bend] = (),
    interactions: Sequence[Interaction] = (),
) -> LinearForm:
    """The line with the least largest difference over the declared box.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, d)
    intercept : ndarray of shape (n_outputs,)
    clip : (ndarray, ndarray) of shape (d,) each
        What predictions clip features to.
    declared : (ndarray, ndarray) of shape (d,) each
    bends : sequence of Bend
        Of features whose effect is not a line.
    interactions : sequence of Interaction
        The line that is closest to one of them is zero, so the line is that of a model without;
        where there are several, one with another constant may be closer.
    """
    bending = bent(bends, coef.shape[1])
    support = narrowed(np.where(bending, 0.0, coef), clip, declared)
    if support.size == 0 and not bends and not interactions:
        return LinearForm(coef, intercept, 0.0)
    (lower, upper), (lowest, highest) = (
        tuple(limit[support] for limit in limits) for limits in (clip, declared)
    )
    kept, below, above = upper - lower, lower - lowest, highest - upper
    cut = np.maximum(below, above)
    slope = kept / (kept + cut)
    # Of clip(x) - slope * x, whose extremes are the longer flat part's two ends.
    at_kink = np.where(above >= below, (1 - slope) * upper, (1 - slope) * lower)
    at_end = np.where(above >= below, upper - slope * highest, lower - slope * lowest)
    line = np.array(coef)
    line[:, support] *= slope
    constant = intercept + coef[:, support] @ ((at_kink + at_end) / 2)
    difference = np.abs(coef[:, support]) @ (np.abs(at_kink - at_end) / 2)
    for bend in bends:
        ends = float(declared[0][bend.feature]), float(declared[1][bend.feature])
        for output, slope in enumerate(coef[:, bend.feature]):
            values = np.concatenate([[ends[0]], bend.knots, [ends[1]]])
            with np.errstate(all="ignore"):  # files from strangers may hold any numbers
                effect = slope * np.clip(values, bend.knots[0], bend.knots[-1])
                effect[1:-1] += bend.heights[:, output]
            line[output, bend.feature], middle, half_range = _closest(values, effect)
            constant[output] += middle
            difference[output] += half_range
    with np.errstate(over="ignore"):
        for interaction in interactions:
            difference += np.abs(interaction.weights)
    return LinearForm(line, constant, float(difference.max()))


def _closest(values: Array, effect: Array) -> tuple[float, float, float]:
    """Slope, constant and distance of the line closest to a piecewise linear effect."""
    values, first = np.unique(values, return_index=True)  # the ends may be knots themselves
    points = list(zip(values.tolist(), effect[first].tolist(), strict=True))
    below = [(x, -y) for x, y in points]
    slopes = np.array([*_upper_slopes(points), *(-slope for slope in _upper_slopes(below))])
    with np.errstate(all="ignore"):
        left = effect[first] - slopes[:, None] * values
        low, high = left.min(axis=1), left.max(axis=1)
        distance = np.where(np.isfinite(high - low), high - low, np.inf) / 2
    best = int(np.argmin(distance))
    if not np.isfinite(distance[best]):
        return 0.0, 0.0, np.inf
    return float(slopes[best]), float((high[best] + low[best]) / 2), float(distance[best])


def _upper_slopes(points: list[tuple[float, float]]) -> list[float]:
    """Slopes of the upper convex hull of points from left to right: one is the best line's."""
    corners, slopes = points[:1], list[float]()
    for x, y in points[1:]:
        slope = (y - corners[-1][1]) / (x - corners[-1][0])
        while slopes and slopes[-1] <= slope:
            corners.pop()
            slopes.pop()
            slope = (y - corners[-1][1]) / (x - corners[-1][0])
        corners.append((x, y))
        slopes.append(slope)
    return slopes
