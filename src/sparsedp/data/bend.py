"""What a piecewise linear effect leaves of its chord, and the effect as a whole."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.storage import Array

FEWEST_KNOTS = 3
"""With two there are only the ends, where a bend is zero."""


@dataclass(frozen=True, eq=False)
class Bend:
    """A piecewise linear function of one feature that is zero at both ends of its range.

    A coefficient is the slope of the chord between the ends, a bend what the effect adds to it: a
    model without its bends is still linear, and uses the same features.

    Parameters
    ----------
    feature : int
    knots : ndarray of shape (q,)
        Strictly ascending, finite, at least three. The outer ones are the limits that the feature
        is clipped to.
    heights : ndarray of shape (q, n_outputs)
        At the knots; finite, the first and the last row zero.

    Notes
    -----
    *Privacy.* Released, or made of releases alone.
    """

    feature: int
    knots: Array
    heights: Array

    def __post_init__(self) -> None:
        knots = np.array(self.knots, dtype=np.float64)
        heights = np.array(self.heights, dtype=np.float64)
        fit = knots.ndim == 1 and heights.ndim == 2 and len(knots) == len(heights) >= FEWEST_KNOTS
        if not fit or heights.shape[1] < 1:
            raise ValueError("a bend has three knots or more, and for each of them its heights")
        # Written so that NaN is refused.
        if not (np.isfinite(knots).all() and (knots[1:] > knots[:-1]).all()):
            raise ValueError("the knots of a bend are finite and ascend")
        if not np.isfinite(heights).all() or heights[0].any() or heights[-1].any():
            raise ValueError("the heights of a bend are finite, and zero at both ends")
        for name, array in (("knots", knots), ("heights", heights)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def at(self, values: ArrayLike) -> Array:
        """Heights at some values of the feature, of shape (n, n_outputs); zero beyond the ends.

        Each step is rounded by itself and looks at one value only, so that what comes out for a
        record depends on the record alone, to the last bit (sums/summation.md).
        """
        knots, heights = self.knots, self.heights
        values = np.clip(np.asarray(values, dtype=np.float64), knots[0], knots[-1])
        left = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
        part = (values - knots[left]) / (knots[left + 1] - knots[left])
        return heights[left] * (1 - part)[:, None] + heights[left + 1] * part[:, None]

    def scaled(self, factor: float) -> "Bend":
        """The same bend for margins in other units."""
        return replace(self, heights=factor * self.heights)

    def moved(
        self, center: float, half_width: float, ends: tuple[float, float] | None = None
    ) -> "Bend | None":
        """The same bend with knots in other units: ``center + half_width * knot``.

        Parameters
        ----------
        center, half_width : float
        ends : (float, float), optional
            What the outer knots are in those units, without rounding.

        Returns
        -------
        Bend or None
            Without inner knots that rounding has moved together; None if none is left.
        """
        knots, kept = _moved(self.knots, center, half_width, ends)
        if not kept[1:-1].any():
            return None
        return replace(self, knots=knots[kept], heights=self.heights[kept])


def _moved(
    knots: Array, center: float, half_width: float, ends: tuple[float, float] | None
) -> tuple[Array, NDArray[np.bool_]]:
    """Knots in other units, and which of them rounding has left apart from those before."""
    moved = center + half_width * knots
    if ends is not None:
        moved[[0, -1]] = ends
    inner = (moved > moved[0]) & (moved < moved[-1])
    # Rounding keeps the order, so equal knots are neighbors: the first of them stays.
    kept = inner & np.concatenate([[True], moved[1:] > moved[:-1]])
    kept[[0, -1]] = True
    return moved, kept


@dataclass(frozen=True, eq=False)
class BendTable:
    """Bends of several models on the same knots, made when they are asked for.

    Parameters
    ----------
    features : tuple of int
    knots : tuple of ndarray of shape (q,)
        For every feature, as in `Bend`; the numbers of knots may differ.
    heights : tuple of ndarray of shape (n_models, q, n_outputs)
        For every feature. A model in which all of them are zero has no bend there.

    Notes
    -----
    *Privacy.* Released, or made of releases alone.
    """

    features: tuple[int, ...]
    knots: tuple[Array, ...]
    heights: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.heights[0])

    def __getitem__(self, model: int) -> tuple[Bend, ...]:
        parts = zip(self.features, self.knots, self.heights, strict=True)
        return tuple(
            Bend(j, knots, all_of[model]) for j, knots, all_of in parts if all_of[model].any()
        )

    def __iter__(self) -> Iterator[tuple[Bend, ...]]:
        return (self[model] for model in range(len(self)))

    def scaled(self, factor: float) -> "BendTable":
        """The same bends for margins in other units."""
        return replace(self, heights=tuple(factor * all_of for all_of in self.heights))

    def moved(self, center: Array, half_width: Array, ends: tuple[Array, Array]) -> "BendTable":
        """The same bends with knots in other units, which are given for every feature."""
        knots: list[Array] = []
        heights: list[Array] = []
        for j, before, all_of in zip(self.features, self.knots, self.heights, strict=True):
            limits = float(ends[0][j]), float(ends[1][j])
            moved, kept = _moved(before, float(center[j]), float(half_width[j]), limits)
            knots.append(moved[kept])
            heights.append(all_of[:, kept])
        return replace(self, knots=tuple(knots), heights=tuple(heights))


PathBends = tuple[tuple[Bend, ...], ...] | BendTable
"""The bends of each of several models."""


@dataclass(frozen=True, eq=False)
class Shape:
    """The effect of one feature, chord and bend together.

    Parameters
    ----------
    knots : ndarray of shape (q,)
        Values of the feature, ascending, from the lower to the upper limit that predictions clip
        to. A straight effect has these two only.
    values : ndarray of shape (q, n_outputs)
        What the feature adds to the margins (log-odds, the logarithm of a count, or the target
        itself) at each knot, compared with its lower limit: the first row is zero. Between two
        knots the effect is a straight line, beyond the outer ones it is constant.

    Notes
    -----
    *Privacy.* Part of the release, like coefficients.
    """

    knots: Array
    values: Array

    @property
    def straight(self) -> bool:
        """Whether the effect is a line between the limits."""
        return len(self.knots) < FEWEST_KNOTS


def shape_of(coef: Array, lower: float, upper: float, bend: Bend | None) -> Shape:
    """The shape of a feature with these coefficients (n_outputs,) and, if any, this bend."""
    knots = np.array([lower, upper]) if bend is None else bend.knots
    values = (knots - lower)[:, None] * coef
    return Shape(knots, values if bend is None else values + bend.heights)


def bent(bends: Sequence[Bend], n_features: int) -> NDArray[np.bool_]:
    """Which features have a bend: a mask of shape (n_features,)."""
    mask = np.zeros(n_features, dtype=np.bool_)
    mask[[bend.feature for bend in bends]] = True
    return mask
