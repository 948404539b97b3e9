"""Public promises about private records: feature bounds, and the map to the unit box."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data import bounds_toml
from sparsedp.data.bounds_check import (
    Binary,
    Entries,
    check_limits,
    checked_binary,
    checked_entries,
    checked_names,
    checked_row_norm,
)
from sparsedp.data.bounds_toml import some_names
from sparsedp.data.raw import Label
from sparsedp.data.storage import Array

HOW_TO_DECLARE = (
    "Write bounds=Bounds(lower=0, upper=1) with limits known without looking at the data "
    "(scalars or one per feature), bounds=1.0 for |x| <= 1, or bounds=(0, 1); for raw data frames "
    "declare a schema=Schema(...) in its place (after a SchemaTransformer: bounds=its bounds_)."
)


@dataclass(frozen=True)
class Bounds:
    """Limits that every record is promised to keep; what lies beyond is clipped.

    Parameters
    ----------
    lower, upper : float or sequence of float
        Limits of a feature's values: a scalar for all features or one entry per feature. At most
        1e50 in absolute value, at least 1e-50 apart, and at least 2**-40 of the larger one apart:
        beyond that arithmetic would not carry the promise, and another unit is asked for.
    row_norm : float, optional
        Bound on the L2 norm of a record's features, in the same units. Longer records are
        shrunk toward zero, so zero must lie within the bounds of every feature. From 1e-50 to
        1e12.
    features : sequence of str, optional
        Names of the features, for data with named columns: bounds then go by name.
    binary : True or sequence of str or int, optional
        Features that hold only their lower and their upper bound (0/1 columns, indicators of
        categories): names, positions, or True for all. Their coefficients are then those of a
        plain linear model.

    Notes
    -----
    *Privacy.* Bounds set the noise and are part of every release. They must come from knowledge
    of the domain (an age is at most 120), never from the data at hand. The guarantee rests on
    `lower`, `upper` and `row_norm` alone: a value between the bounds of a binary feature is used
    as it is.

    Examples
    --------
    >>> Bounds(lower=0, upper=1)
    Bounds(lower=0.0, upper=1.0)
    >>> Bounds(lower=[0, 0], upper=[120, 1], features=["age", "smoker"]).upper
    (120.0, 1.0)
    """

    lower: Entries
    upper: Entries
    row_norm: float | None = None
    features: tuple[str, ...] | None = None
    binary: Binary | None = None

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        row_norm: float | None = None,
        features: Iterable[Label] | None = None,
        binary: Literal[True] | Iterable[Label] | None = None,
    ) -> None:
        lower, upper = checked_entries(lower, "lower"), checked_entries(upper, "upper")
        names = None if features is None else checked_names(features)
        lengths = {len(entries) for entries in (lower, upper, names) if isinstance(entries, tuple)}
        if len(lengths) > 1:
            raise ValueError(
                "lower, upper and features differ in length "
                f"({', '.join(map(str, sorted(lengths)))}): give scalars or one entry per feature."
            )
        # Equal promises must compare equal, so one form only: all scalars or all per feature.
        for length in lengths:
            lower = lower if isinstance(lower, tuple) else (lower,) * length
            upper = upper if isinstance(upper, tuple) else (upper,) * length
        check_limits(np.atleast_1d(lower), np.atleast_1d(upper), names)
        if row_norm is not None:
            row_norm = checked_row_norm(row_norm, lower, upper)
        binary = checked_binary(binary, names, next(iter(lengths), None))
        for name, value in {
            "lower": lower,
            "upper": upper,
            "row_norm": row_norm,
            "features": names,
            "binary": binary,
        }.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = [f"lower={_short(self.lower)}", f"upper={_short(self.upper)}"]
        if self.row_norm is not None:
            parts.append(f"row_norm={self.row_norm!r}")
        if self.features is not None:
            parts.append(f"features={_short(self.features)}")
        if self.binary is not None:
            parts.append(f"binary={_short(self.binary)}")
        return f"Bounds({', '.join(parts)})"

    @classmethod
    def symmetric(cls, limit: ArrayLike, row_norm: float | None = None) -> "Bounds":
        """Promise |x| <= limit (a positive scalar, or one per feature)."""
        limit = checked_entries(limit, "limit")
        if not (np.asarray(limit) > 0).all():
            raise ValueError("A symmetric bound must be positive: |x| <= limit.")
        return cls(np.negative(limit), limit, row_norm=row_norm)

    @classmethod
    def coerce(cls, value: object) -> "Bounds":
        """Read what users write for bounds: a Bounds, a number b (|x| <= b) or a pair (lo, hi)."""
        if isinstance(value, Bounds):
            return value
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(
            value, bool
        ):
            return cls.symmetric(value)
        if isinstance(value, (tuple, list)) and len(value) == 2:
            return cls(*value)
        missing = "bounds are missing." if value is None else f"Cannot read bounds={value!r:.80}."
        raise ValueError(f"{missing} {HOW_TO_DECLARE}")

    def aligned(self, n_features: int, feature_names: Iterable[Label] | None = None) -> "Bounds":
        """Return the bounds of `n_features` features, in the order of `feature_names`.

        Scalars stand for every feature and stay scalars, so that a million features cost nothing.
        Bounds with names follow the names of the data; otherwise the position decides.
        """
        if self.features is not None and feature_names is not None:
            return self._by_name(checked_names(feature_names))
        if isinstance(self.lower, tuple) and len(self.lower) != n_features:
            raise ValueError(
                f"Bounds are declared for {len(self.lower)} features, the data have {n_features}: "
                "declare one lower and upper per feature, or scalars for all."
            )
        checked_binary(self.binary, None, n_features)
        return self

    def _by_name(self, names: tuple[str, ...]) -> "Bounds":
        assert self.features is not None
        if names == self.features:
            return self
        position = {name: j for j, name in enumerate(self.features)}
        undeclared = [name for name in names if name not in position]
        absent = sorted(set(self.features) - set(names))
        if undeclared:
            raise ValueError(f"Declare bounds for {some_names(undeclared)}, or drop these columns.")
        if absent:
            raise ValueError(f"Bounds name {some_names(absent)}, which the data do not have.")
        order = [position[name] for name in names]
        return self.of_features(np.array(order, dtype=np.intp), len(order))

    def arrays(self, n_features: int) -> tuple[Array, Array]:
        """Return lower and upper as read-only arrays, one entry per feature (scalars: no copy)."""
        lower, upper = self.aligned(n_features).lower, self.upper
        return (
            np.broadcast_to(np.asarray(lower, dtype=np.float64), (n_features,)),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), (n_features,)),
        )

    def with_limits(self, lower: ArrayLike, upper: ArrayLike) -> "Bounds":
        """Return the same promises with other limits; binary features are still said to be so."""
        return Bounds(lower, upper, self.row_norm, self.features, self.binary)

    def containing_zero(self) -> "Bounds":
        """Extend every interval to contain zero: entries that a sparse matrix omits are zeros.

        A binary feature that held two other values is then none any more.
        """
        lower, upper = np.minimum(self.lower, 0), np.maximum(self.upper, 0)
        binary = self.binary
        if binary is not None:
            same = np.equal(lower, self.lower) & np.equal(upper, self.upper)
            if same.ndim == 0:
                binary = binary if same else None
            else:
                binary = np.flatnonzero(same & self.binary_features(len(same))).tolist()
        return replace(self, lower=lower, upper=upper, binary=binary)

    def binary_features(self, n_features: int) -> NDArray[np.bool_]:
        """Which features hold only their two bounds, by declaration."""
        if self.binary is None or self.binary is True:
            return np.broadcast_to(self.binary is True, (n_features,))
        chosen = np.zeros(n_features, dtype=np.bool_)
        self.aligned(n_features)
        chosen[list(self.binary)] = True
        return chosen

    def of_features(self, indices: NDArray[np.intp], n_features: int) -> "Bounds":
        """Return the bounds of some of the features, in this order."""
        lower, upper = self.arrays(n_features)
        names = None if self.features is None else [self.features[j] for j in indices]
        return Bounds(
            lower[indices],
            upper[indices],
            row_norm=self.row_norm,
            features=names,
            binary=np.flatnonzero(self.binary_features(n_features)[indices]).tolist(),
        )

    def unit_map(self, n_features: int, *, centered: bool) -> "UnitMap":
        """Return the map of the box to [-1, 1].

        Centered about mid-range, which halves the size of a one-sided feature and needs an
        intercept to absorb the shift; else about zero.
        """
        lower, upper = (np.asarray(entries) for entries in (self.lower, self.upper))
        self.aligned(n_features)
        if centered:
            half_width = (upper - lower) / 2
            center = lower + half_width
        else:
            half_width = np.maximum(np.abs(lower), np.abs(upper))
            center = np.zeros(())
        return UnitMap(
            np.broadcast_to(center, (n_features,)), np.broadcast_to(half_width, (n_features,))
        )

    def to_toml(self) -> str:
        """Write the promises as TOML, with a table per feature when features have names."""
        lower, upper = np.asarray(self.lower).tolist(), np.asarray(self.upper).tolist()
        return bounds_toml.written(lower, upper, self.row_norm, self.features, self.binary)

    @classmethod
    def from_toml(cls, source: str | Path) -> "Bounds":
        """Read what `to_toml` writes: TOML text, or the path of a file that holds it.

        A feature's table may leave out what ``[bounds]`` says for all; other tables are ignored.
        """
        return cls(*bounds_toml.read(source))


@dataclass(frozen=True, eq=False)
class UnitMap:
    """The public map x -> (x - center) / half_width from the box of bounds to [-1, 1].

    Parameters
    ----------
    center, half_width : ndarray of shape (d,)
        Per feature, in declared units.
    """

    center: Array
    half_width: Array

    @classmethod
    def identity(cls, n_features: int) -> "UnitMap":
        """The map that leaves declared units as they are."""
        zero, one = np.broadcast_to(0.0, (n_features,)), np.broadcast_to(1.0, (n_features,))
        return cls(center=zero, half_width=one)

    def to_original(self, weights: ArrayLike, intercept: ArrayLike) -> tuple[Array, Array]:
        """Turn weights (d,) or (d, K) and intercept on unit features into declared units."""
        coef = (np.asarray(weights, dtype=np.float64).T / self.half_width).T
        return coef, np.asarray(intercept, dtype=np.float64) - self.center @ coef

    def from_original(self, coef: ArrayLike, intercept: ArrayLike) -> tuple[Array, Array]:
        """Turn coefficients (d,) or (d, K) and intercept in declared units into unit features'."""
        coef = np.asarray(coef, dtype=np.float64)
        weights = (coef.T * self.half_width).T
        return weights, np.asarray(intercept, dtype=np.float64) + self.center @ coef


def _short(entries: object) -> str:
    if isinstance(entries, tuple) and len(entries) > 6:
        return f"({entries[0]!r}, {entries[1]!r}, ..., {entries[-1]!r}: {len(entries)} entries)"
    return repr(entries)
