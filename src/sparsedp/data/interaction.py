"""What a model adds for two features together, beside the effect of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.storage import Array


@dataclass(frozen=True, eq=False)
class Interaction:
    """A term ``weights * u * v``, u and v two features in unit coordinates (`unit_values`).

    Zero stands for the middle of a feature's limits: coefficients then say what a feature does
    where the others are in the middle, a model without its interactions is still a model, and no
    large effects cancel.

    Parameters
    ----------
    first, second : int
        The features, the first one before the second.
    weights : ndarray of shape (n_outputs,)
        In margins: what the term adds where both features are at their upper limits, or both at
        their lower ones; it takes as much away where one is at its upper and the other at its lower
        limit. Finite, not all zero.

    Notes
    -----
    *Privacy.* Released, or made of releases alone.
    """

    first: int
    second: int
    weights: Array

    def __post_init__(self) -> None:
        weights = np.array(self.weights, dtype=np.float64)
        if not 0 <= self.first < self.second:
            raise ValueError("an interaction is of two features, in their order")
        # Written so that NaN is refused.
        if weights.ndim != 1 or not np.isfinite(weights).all() or not weights.any():
            raise ValueError("the weights of an interaction are finite, one of them not zero")
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @property
    def features(self) -> tuple[int, int]:
        """Both features."""
        return self.first, self.second

    def at(self, first_units: ArrayLike, second_units: ArrayLike) -> Array:
        """What is added to margins, of shape (n, n_outputs), where features have these units.

        Each step is rounded by itself and looks at one record only, so that what comes out for a
        record depends on the record alone, to the last bit (sums/summation.md).
        """
        first, second = (np.asarray(u, dtype=np.float64) for u in (first_units, second_units))
        return (first * second)[:, None] * self.weights

    def scaled(self, factor: float) -> "Interaction | None":
        """The same term for margins in other units; None where nothing is left of it there."""
        weights = factor * self.weights
        return replace(self, weights=weights) if weights.any() else None


def unit_values(values: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array:
    """Clipped values in unit coordinates: from -1 at the lower limit to 1 at the upper one.

    This is ``(value - middle) / half_width`` of the limits, but written so that rounding keeps it
    within [-1, 1] and exact at both ends, wherever the limits are. Limits that are equal stand for
    their middle. NaN stays NaN.

    Parameters
    ----------
    values : array_like
        Within the limits.
    lower, upper : array_like
        Finite, as is their difference; they broadcast with the values.
    """
    values, lower, upper = (np.asarray(x, dtype=np.float64) for x in (values, lower, upper))
    width = upper - lower
    apart = width > 0
    # A difference that is no larger is rounded to none that is larger: the quotient is at most 1.
    part = np.where(apart, (values - lower) / np.where(apart, width, 1.0), 0.5)
    return 2 * part - 1


def interacting(interactions: Sequence[Interaction], n_features: int) -> NDArray[np.bool_]:
    """Which features are in an interaction: a mask of shape (n_features,)."""
    mask = np.zeros(n_features, dtype=np.bool_)
    for interaction in interactions:
        mask[list(interaction.features)] = True
    return mask


def scaled(interactions: Sequence[Interaction], factor: float) -> tuple[Interaction, ...]:
    """The same terms for margins in other units."""
    found = (interaction.scaled(factor) for interaction in interactions)
    return tuple(interaction for interaction in found if interaction is not None)


def in_order(interactions: Sequence[Interaction]) -> tuple[Interaction, ...]:
    """By their features, as they are stored: sums then round alike wherever they are taken."""
    return tuple(sorted(interactions, key=lambda interaction: interaction.features))
