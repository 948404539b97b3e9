"""Public promises about private records: feature bounds, and the map to the unit box."""

import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Entries = float | tuple[float, ...]

NARROWEST, WIDEST = 1e-50, 1e50
"""Widths of intervals lie between these, bounds within the latter: fourth powers of widths and of
their inverses, and sums of these over all records, are then ordinary doubles (summation.md)."""

LONGEST_ROW = 1e12
"""Row norms lie between the narrowest width and this: beside longer rows the constant column is
lost, and the gate would let in only a few thousand records (summation.md)."""

FINEST = 2.0**-40
"""Least width of an interval, over its largest absolute bound: below, values are not told apart."""

HOW_TO_DECLARE = (
    "Write bounds=Bounds(lower=0, upper=1) with limits known without looking at the data "
    "(scalars or one per feature), bounds=1.0 for |x| <= 1, or bounds=(0, 1)."
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
        shrunk towards zero, so zero must lie within the bounds of every feature. From 1e-50 to
        1e12.
    features : sequence of str, optional
        Names of the features, for data with named columns: bounds then go by name.

    Notes
    -----
    *Privacy.* Bounds set the noise and are part of every release. They must come from knowledge
    of the domain (an age is at most 120), never from the data at hand.

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

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        row_norm: float | None = None,
        features: Any = None,
    ) -> None:
        lower, upper = _entries(lower, "lower"), _entries(upper, "upper")
        names = None if features is None else _names(features)
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
        _check_limits(np.atleast_1d(lower), np.atleast_1d(upper), names)
        if row_norm is not None:
            row_norm = _row_norm(row_norm, lower, upper)
        for name, value in zip(
            ("lower", "upper", "row_norm", "features"), (lower, upper, row_norm, names), strict=True
        ):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        parts = [f"lower={_short(self.lower)}", f"upper={_short(self.upper)}"]
        if self.row_norm is not None:
            parts.append(f"row_norm={self.row_norm!r}")
        if self.features is not None:
            parts.append(f"features={_short(self.features)}")
        return f"Bounds({', '.join(parts)})"

    @classmethod
    def symmetric(cls, limit: ArrayLike, row_norm: float | None = None) -> "Bounds":
        """Promise |x| <= limit (a positive scalar, or one per feature)."""
        limit = _entries(limit, "limit")
        if not (np.asarray(limit) > 0).all():
            raise ValueError("A symmetric bound must be positive: |x| <= limit.")
        return cls(np.negative(limit), limit, row_norm=row_norm)

    @classmethod
    def coerce(cls, value: Any) -> "Bounds":
        """Read what users write for bounds: a Bounds, a number b (|x| <= b) or a pair (lo, hi)."""
        if isinstance(value, Bounds):
            return value
        if isinstance(value, int | float | np.integer | np.floating) and not isinstance(
            value, bool
        ):
            return cls.symmetric(value)
        if isinstance(value, tuple | list) and len(value) == 2:
            return cls(*value)
        missing = "bounds are missing." if value is None else f"Cannot read bounds={value!r:.80}."
        raise ValueError(f"{missing} {HOW_TO_DECLARE}")

    def aligned(self, n_features: int, feature_names: Any = None) -> "Bounds":
        """Return the bounds of `n_features` features, in the order of `feature_names`.

        Scalars stand for every feature and stay scalars, so that a million features cost nothing.
        Bounds with names follow the names of the data; otherwise the position decides.
        """
        if self.features is not None and feature_names is not None:
            return self._by_name(_names(feature_names))
        if isinstance(self.lower, tuple) and len(self.lower) != n_features:
            raise ValueError(
                f"Bounds are declared for {len(self.lower)} features, the data have {n_features}: "
                "declare one lower and upper per feature, or scalars for all."
            )
        return self

    def _by_name(self, names: tuple[str, ...]) -> "Bounds":
        assert self.features is not None
        if names == self.features:
            return self
        position = {name: j for j, name in enumerate(self.features)}
        undeclared = [name for name in names if name not in position]
        absent = sorted(set(self.features) - set(names))
        if undeclared:
            raise ValueError(f"Declare bounds for {_some(undeclared)}, or drop these columns.")
        if absent:
            raise ValueError(f"Bounds name {_some(absent)}, which the data do not have.")
        order = [position[name] for name in names]
        lower, upper = self.arrays(len(order))
        return replace(self, lower=lower[order], upper=upper[order], features=names)

    def arrays(self, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return lower and upper as read-only arrays, one entry per feature (scalars: no copy)."""
        lower, upper = self.aligned(n_features).lower, self.upper
        return (
            np.broadcast_to(np.asarray(lower, dtype=np.float64), (n_features,)),
            np.broadcast_to(np.asarray(upper, dtype=np.float64), (n_features,)),
        )

    def containing_zero(self) -> "Bounds":
        """Extend every interval to contain zero: entries that a sparse matrix omits are zeros."""
        return replace(self, lower=np.minimum(self.lower, 0), upper=np.maximum(self.upper, 0))

    def unit_map(self, n_features: int, *, centered: bool) -> "UnitMap":
        """Return the map of the box to [-1, 1].

        Centered about mid-range, which halves the reach of a one-sided feature and needs an
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
        lines = ["[bounds]"]
        if self.features is None:
            lines += [f"lower = {_toml(self.lower)}", f"upper = {_toml(self.upper)}"]
        if self.row_norm is not None:
            lines.append(f"row_norm = {self.row_norm!r}")
        if self.features is not None:
            lower, upper = self.arrays(len(self.features))
            for name, low, high in zip(self.features, lower.tolist(), upper.tolist(), strict=True):
                # JSON escapes are TOML escapes, but for DEL, which only TOML forbids.
                quoted = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
                lines += ["", f"[features.{quoted}]", f"lower = {low!r}", f"upper = {high!r}"]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, source: str | Path) -> "Bounds":
        """Read what `to_toml` writes: TOML text, or the path of a file that holds it.

        A feature's table may leave out what ``[bounds]`` says for all; other tables are ignored.
        """
        # Text without a table or a value states nothing: it is the name of a file.
        named = isinstance(source, Path) or (bool(source) and not {"[", "="} & set(source))
        text = Path(source).read_text(encoding="utf-8") if named else str(source)
        tables = tomllib.loads(text)
        if "bounds" not in tables and "features" not in tables:
            raise ValueError("No [bounds] table: write [bounds] with lower = ... and upper = ...")
        shared, features = tables.get("bounds", {}), tables.get("features", {})
        _check_keys("bounds", shared, {"lower", "upper", "row_norm"})
        for name, table in features.items():
            _check_keys(f"features.{name}", table, {"lower", "upper"})
        lower, upper = (_column(key, shared, features) for key in ("lower", "upper"))
        return cls(lower, upper, shared.get("row_norm"), tuple(features) if features else None)


@dataclass(frozen=True, eq=False)
class UnitMap:
    """The public map x -> (x - center) / half_width from the box of bounds to [-1, 1].

    Parameters
    ----------
    center, half_width : ndarray of shape (d,)
        Per feature, in declared units.
    """

    center: NDArray[np.float64]
    half_width: NDArray[np.float64]

    def to_original(self, weights: ArrayLike, intercept: ArrayLike) -> tuple[NDArray, Any]:
        """Turn weights (d,) or (d, K) and intercept on unit features into declared units."""
        coef = (np.asarray(weights, dtype=np.float64).T / self.half_width).T
        return coef, np.asarray(intercept, dtype=np.float64) - self.center @ coef

    def from_original(self, coef: ArrayLike, intercept: ArrayLike) -> tuple[NDArray, Any]:
        """Turn coefficients (d,) or (d, K) and intercept in declared units into unit features'."""
        coef = np.asarray(coef, dtype=np.float64)
        weights = (coef.T * self.half_width).T
        return weights, np.asarray(intercept, dtype=np.float64) + self.center @ coef


def _entries(value: Any, name: str) -> Entries:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number or one number per feature.") from None
    if array.ndim > 1 or array.size == 0:
        raise ValueError(f"{name} must be a number or one number per feature.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite: declare a limit beyond which values are clipped.")
    return array.item() if array.ndim == 0 else tuple(array.tolist())


def _names(features: Any) -> tuple[str, ...]:
    if isinstance(features, str):
        raise ValueError("features must be a sequence of names, one per feature.")
    names = tuple(map(str, features))
    if len(set(names)) != len(names):
        raise ValueError("Feature names must differ from each other.")
    return names


def _check_limits(lower: NDArray, upper: NDArray, names: tuple[str, ...] | None) -> None:
    def where(j: int) -> str:
        return "" if lower.size == 1 else f" (feature {names[j]!r})" if names else f" (feature {j})"

    wrong = np.flatnonzero(lower >= upper)
    if wrong.size:
        j = int(wrong[0])
        raise ValueError(
            f"lower must be below upper{where(j)}: got lower={lower[j]}, upper={upper[j]}. "
            "A constant feature carries nothing: drop it, or give it a wider interval."
        )
    largest = np.maximum(np.abs(lower), np.abs(upper))
    # Written so that NaN is refused; beyond these limits squares would vanish or overflow.
    wrong = np.flatnonzero(~(largest <= WIDEST))
    if wrong.size:
        raise ValueError(
            f"bounds beyond {WIDEST:g} are more than arithmetic carries{where(int(wrong[0]))}: "
            "change the unit."
        )
    wrong = np.flatnonzero(~(upper - lower >= np.maximum(NARROWEST, FINEST * largest)))
    if wrong.size:
        raise ValueError(
            f"upper - lower is beyond double precision{where(int(wrong[0]))}: it must be at least "
            f"{NARROWEST:g} and 2**-40 of the larger bound. Change the unit or the origin."
        )


def _row_norm(value: Any, lower: Entries, upper: Entries) -> float:
    row_norm = _entries(value, "row_norm")
    if not isinstance(row_norm, float) or row_norm <= 0:
        raise ValueError("row_norm must be a positive number, or None for no such promise.")
    if not NARROWEST <= row_norm <= LONGEST_ROW:
        raise ValueError(
            f"row_norm must lie between {NARROWEST:g} and {LONGEST_ROW:g}, which is what "
            "arithmetic carries: change the unit."
        )
    if np.max(lower) > 0 or np.min(upper) < 0:
        raise ValueError(
            "row_norm shrinks records towards zero, so every feature needs lower <= 0 <= upper: "
            "extend the bounds to contain 0 or leave row_norm out."
        )
    return row_norm


def _check_keys(table: str, found: Any, known: set[str]) -> None:
    unknown = sorted(set(found) - known) if isinstance(found, dict) else [str(found)]
    if unknown:
        raise ValueError(f"[{table}] knows {_some(sorted(known))}, not {_some(unknown)}.")


def _column(key: str, shared: dict[str, Any], features: dict[str, Any]) -> Any:
    """One value per named feature, or the shared value where features have no names."""
    if not features:
        if key not in shared:
            raise ValueError(f"[bounds] needs {key} = ...")
        return shared[key]
    if isinstance(shared.get(key), list):
        raise ValueError(f"[bounds] {key} is a list and [features] has names: use one of both.")
    missing = [name for name, table in features.items() if key not in table and key not in shared]
    if missing:
        raise ValueError(f"No {key} for {_some(missing)}: add it there or under [bounds].")
    return [table.get(key, shared.get(key)) for table in features.values()]


def _toml(entries: Entries) -> str:
    return repr(list(entries)) if isinstance(entries, tuple) else repr(entries)


def _short(entries: Any) -> str:
    if isinstance(entries, tuple) and len(entries) > 6:
        return f"({entries[0]!r}, {entries[1]!r}, ..., {entries[-1]!r}: {len(entries)} entries)"
    return repr(entries)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more
