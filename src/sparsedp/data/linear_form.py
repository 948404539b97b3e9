"""What a clipped linear model is as a plain one: where both agree, and the closest line elsewhere.

Proof: linear_form.md.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.storage import Array

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
        From ``decision_function``, for any record within the declared bounds; no line has a
        smaller one. Zero where no bounds were tightened.
    """

    coef: Array
    intercept: Array | float
    largest_difference: float


def narrowed(coef: Array, clip: Limits, declared: Limits) -> NDArray[np.intp]:
    """Used features that are clipped to less than their declared bounds.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, d)
    clip, declared : (ndarray, ndarray) of shape (d,) each
    """
    narrower = (clip[0] > declared[0]) | (clip[1] < declared[1])
    return np.flatnonzero(coef.any(axis=0) & narrower)


def linear_form(coef: Array, intercept: Array, clip: Limits, declared: Limits) -> LinearForm:
    """The line with the least largest difference over the declared box.

    Parameters
    ----------
    coef : ndarray of shape (n_outputs, d)
    intercept : ndarray of shape (n_outputs,)
    clip : (ndarray, ndarray) of shape (d,) each
        What predictions clip features to.
    declared : (ndarray, ndarray) of shape (d,) each
    """
    support = narrowed(coef, clip, declared)
    if support.size == 0:
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
    return LinearForm(
        line,
        intercept + coef[:, support] @ ((at_kink + at_end) / 2),
        float((np.abs(coef[:, support]) @ (np.abs(at_kink - at_end) / 2)).max()),
    )
