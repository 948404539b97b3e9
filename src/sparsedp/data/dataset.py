"""Private records behind the gate, as solvers see them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data import gate
from sparsedp.data.blocks.derived import Sums, Whole
from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.labels import declared_classes
from sparsedp.data.sums import norms, products
from sparsedp.data.sums.histogram import dyadic_counts

Coordinates = Literal["unit", "declared"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Private records, clipped to public promises; made by `Dataset.clip`.

    A solver sees a matrix with one row per record and `n_columns` columns, each within [-1, 1]:
    the features mapped to the unit box and, with an intercept, a last column of ones. Sparse
    matrices stay sparse: centering and scaling happen inside `matvec` and `rmatvec`.

    Parameters
    ----------
    storage : ndarray, csr_array or csc_array
        The clipped features. Private. Column j of what solvers see is
        ``(storage[:, j] - shift[j]) / scale[j]``.
    target : ndarray of shape (n,)
        0.0/1.0 for two classes, codes 0..K-1 for more, else the target in [-1, 1]. Private.
    bounds : Bounds
        The promises in force; for sparse data they contain zero. Public, like all that follows.
    unit_map : UnitMap
        How to carry weights back to declared units.
    intercept : bool
        Whether the last column is the constant 1.
    stored, view : {"unit", "declared"}
        Coordinates of `storage` and of what solvers see.
    classes : tuple or None
        The declared labels in the order of their codes.
    target_bounds : tuple of float or None
        What [-1, 1] stands for in a numeric target.
    feature_names : tuple of str or None
        Column names of a data frame.
    most_together : int or None
        If these records are one block of several, how many there are in all at most: sums over
        blocks round as often as sums over all of them (summation.md).

    Notes
    -----
    *Privacy.* Nothing but what a curator releases may depend on `storage`, `target` or
    `n_records`. See gate.md for what holds for every record.
    """

    storage: gate.Storage
    target: NDArray
    bounds: Bounds
    unit_map: UnitMap
    intercept: bool
    stored: Coordinates
    view: Coordinates
    classes: tuple[Any, ...] | None = None
    target_bounds: tuple[float, float] | None = None
    feature_names: tuple[str, ...] | None = None
    most_together: int | None = None

    @classmethod
    @np.errstate(all="ignore")  # no record may raise or warn, whatever the caller wants of NumPy
    def clip(
        cls,
        X: Any,
        y: Any,
        bounds: Any,
        *,
        classes: Any = (0, 1),
        target_bounds: tuple[float, float] | None = None,
        intercept: bool = True,
        invalid: gate.Invalid = "raise",
    ) -> "Dataset":
        """Let records through the gate: copy, clip and map them by public promises.

        Parameters
        ----------
        X : array, SciPy sparse array or matrix, or data frame
            One row per record. Columns of a data frame go by name if the bounds have names.
        y : array of shape (n,)
            Labels or numeric targets.
        bounds : Bounds, float or pair
            Public promises about X; see `Bounds.coerce`.
        classes : sequence, default=(0, 1)
            The public label set; ignored with `target_bounds`.
        target_bounds : pair of float, optional
            Public limits of a numeric target, which is clipped to them.
        intercept : bool, default=True
            Append a constant column, and center the unit box at mid-range.
        invalid : {"raise", "replace"}
            NaN, infinity and undeclared labels raise, or silently become public values: mid-box
            (zero for sparse data and with a row norm), the bound, the first class, mid-target.

        Notes
        -----
        *Privacy.* With ``invalid="raise"`` the error is for whoever holds the data and says
        nothing about values; it is no part of a release. With "replace" no error depends on them.
        """
        if invalid not in ("raise", "replace"):
            raise ValueError('invalid must be "raise" or "replace".')
        bounds = Bounds.coerce(bounds)
        names = gate.column_names(X)
        if names is not None and not all(isinstance(name, str) for name in names):
            names = None  # positions, as scikit-learn has it
        storage = gate.numbers(X, invalid)
        n, d = storage.shape
        if d == 0:
            raise ValueError("X has no features.")
        most = products.most_records(d, bounds.row_norm)
        if n > most:
            raise ValueError(
                f"X has more than {most} records: beyond that it is not proven that rounding "
                "stays below what sensitivities allow for. Fit a sample"
                + ("." if bounds.row_norm is None else ", or take a unit with a smaller row_norm.")
            )
        if target_bounds is None:
            classes = declared_classes(classes)
            target = gate.encode_labels(y, classes, invalid)
        else:
            classes, target_bounds = None, _target_bounds(target_bounds)
            target = gate.encode_target(y, target_bounds, invalid)
        if target.shape[0] != n:
            raise ValueError("X and y have different numbers of records: give one target per row.")
        bounds = bounds.aligned(d, names)
        dense = isinstance(storage, np.ndarray)
        if not dense:
            bounds = bounds.containing_zero()
        gate.clip_features(storage, bounds, invalid, names)
        unit_map = bounds.unit_map(d, centered=intercept)
        stored: Coordinates = "declared"
        if dense and bounds.row_norm is None:
            # With a row norm the declared values stay, so that their norm keeps its bound exactly.
            # Zero is then in the box, and implicit centering cannot cancel.
            _to_unit(storage, bounds, unit_map, intercept)
            stored = "unit"
        _freeze(storage, target)
        return cls(
            storage=storage,
            target=target,
            bounds=bounds,
            unit_map=unit_map,
            intercept=intercept,
            stored=stored,
            view="unit",
            classes=classes,
            target_bounds=target_bounds,
            feature_names=None if names is None else tuple(names),
        )

    def total(self, function: Callable[..., Sums], *derived: Whole) -> Sums:
        """Sum of ``function(block, *derived values)`` over blocks of records: here one. Private.

        Solvers that ask for sums in this way also run on records that are not in memory.
        """
        return function(self, *(value.value for value in derived))

    def derive(self, function: Callable[..., Any], *derived: Whole) -> Whole:
        """Keep ``function(block, *derived values)`` for each block, to use it again. Private."""
        return Whole(function(self, *(value.value for value in derived)))

    def watched(self, watch: Any) -> None:
        """There are no passes to watch."""

    def close(self) -> None:
        """There is nothing to let go of: records in memory go with the last reference."""

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self.storage, np.ndarray) else "sparse"
        return (
            f"Dataset({kind}, n_features={self.n_features}, intercept={self.intercept}, "
            f"view={self.view!r}, records private)"
        )

    @property
    def n_features(self) -> int:
        """Number of features d. Public."""
        return self.storage.shape[1]

    @property
    def n_columns(self) -> int:
        """Number of columns that solvers see: d, and one more with an intercept. Public."""
        return self.n_features + self.intercept

    @property
    def n_records(self) -> int:
        """Number of records. PRIVATE under add/remove: use it to allocate, never to release."""
        return self.storage.shape[0]

    @property
    def row_norm(self) -> float | None:
        """The declared L2 bound on a record's features, in declared units; None without one."""
        return self.bounds.row_norm

    @property
    def has_implicit_zeros(self) -> bool:
        """Whether entries may be left out (sparse storage): bounds must contain zero. Public."""
        return not isinstance(self.storage, np.ndarray)

    @property
    def norm_bound(self) -> float:
        """A valid L2 bound on a row as solvers see it, the constant column included. Public."""
        return float(np.hypot(feature_norm_bound(self), float(self.intercept)))

    @property
    def shift(self) -> NDArray[np.float64] | None:
        """What solvers see is (storage - shift) / scale; None means 0. Public."""
        if self.stored == self.view or (self.view == "unit" and not self.intercept):
            return None
        if self.view == "unit":
            return self.unit_map.center
        center, half_width = self._box()
        return -center / half_width

    @property
    def scale(self) -> NDArray[np.float64] | None:
        """What solvers see is (storage - shift) / scale; None means 1. Public."""
        if self.stored == self.view:
            return None
        return self.unit_map.half_width if self.view == "unit" else 1 / self._box()[1]

    def _box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        box = self.bounds.unit_map(self.n_features, centered=self.intercept)
        return box.center, box.half_width

    def matvec(self, w: ArrayLike, center: ArrayLike | None = None) -> NDArray[np.float64]:
        """Multiply by weights (n_columns,) or (n_columns, K): scores (n,) or (n, K). Private.

        A record's score depends on nothing but the record: not even its rounding does. `center`,
        public or released, is a point (n_features,) to subtract from the features of every record.
        """
        weights = np.asarray(w, dtype=np.float64)
        if weights.ndim not in (1, 2) or weights.shape[0] != self.n_columns:
            raise ValueError(f"weights need {self.n_columns} rows, one per column.")
        d, shift, scale = self.n_features, self._shift(center), self.scale
        features = weights[:d] if scale is None else (weights[:d].T / scale).T
        start = weights[d] if self.intercept else np.zeros(weights.shape[1:])
        if shift is not None:
            start = start - shift @ features
        return products.times(self.storage, features, start)

    def rmatvec(self, r: ArrayLike, center: ArrayLike | None = None) -> NDArray[np.float64]:
        """Multiply the transpose by residuals (n,) or (n, K): (n_columns,) or (n_columns, K).

        Private: a sum over records, each adding at most its residual to every entry. Rounding adds
        less than sensitivities allow for (summation.md). `center` is as in `matvec`.
        """
        residual = np.asarray(r, dtype=np.float64)
        if residual.ndim not in (1, 2) or residual.shape[0] != self.n_records:
            raise ValueError("residuals need one row per record.")
        d, scale = self.n_features, self.scale
        sums = np.empty((self.n_columns, *residual.shape[1:]))
        total = products.sums(residual)
        pair = products.weighted_sums(
            self.storage,
            residual,
            self._shift(center),
            total=total,
            spread=self._spread,
            most_together=self.most_together,
        )
        sums[:d] = pair.rounded()
        if scale is not None:
            sums[:d] /= scale.reshape(-1, *[1] * (residual.ndim - 1))
        if self.intercept:
            sums[d] = total.rounded()
        return sums

    @cached_property
    def _spread(self) -> float | None:
        """Bound on the norm of a record's terms in sums over what it contributes (summation.md)."""
        if isinstance(self.storage, np.ndarray):
            return None
        n_entries = self.n_features
        if self.storage.format == "csr":
            n_entries = np.diff(self.storage.indptr).max(initial=1)
        return 2 * max(float(np.sqrt(n_entries)), self.row_norm or 0.0)

    def _shift(self, center: ArrayLike | None) -> NDArray[np.float64] | None:
        """What to subtract from `storage`, so that solvers see features minus `center`."""
        shift, scale = self.shift, self.scale
        if center is None:
            return shift
        moved = np.asarray(center, dtype=np.float64)
        moved = moved if scale is None else moved * scale
        return moved if shift is None else shift + moved

    def columns(self, indices: ArrayLike) -> NDArray[np.float64]:
        """Return a dense copy (n, len(indices)) of a few columns, exactly within the box. Private.

        Index `n_features` is the constant column where there is an intercept.
        """
        indices = np.asarray(indices, dtype=np.intp).reshape(-1)
        if ((indices < 0) | (indices >= self.n_columns)).any():
            raise ValueError(f"column indices must lie between 0 and {self.n_columns - 1}.")
        d, shift, scale = self.n_features, self.shift, self.scale
        picked = indices < d
        chosen = indices[picked]
        found = self.storage[:, chosen]
        values = found if isinstance(found, np.ndarray) else found.toarray()
        if shift is not None:
            values -= shift[chosen]
        if scale is not None:
            values /= scale[chosen]
        if self.view == "unit":
            lower, upper = -1.0, 1.0
        else:
            lower, upper = (limit[chosen] for limit in self.bounds.arrays(d))
        np.clip(values, lower, upper, out=values)
        if picked.all():
            return values
        block = np.ones((self.n_records, indices.size))
        block[:, picked] = values
        return block

    def row_norms(self, center: ArrayLike | None = None) -> NDArray[np.float64]:
        """L2 norm of every row as solvers see it, the constant column included. Private.

        For clipping: a bound must hold for the rows that `matvec` and `rmatvec` multiply with, so
        implicit centering and `center` are part of it, and rounding may only make a norm larger.
        """
        scale = self.scale
        factor = np.ones(self.n_features) if scale is None else 1 / scale
        squares = norms.row_squares(self.storage, factor, self._shift(center))
        return np.sqrt(squares + self.intercept) * (1 + gate.NORM_SLACK)

    def declared_units(self) -> "Dataset":
        """Return a view of the same storage in declared units, for solvers of L2 geometry.

        Features are x itself, neither centered nor scaled, so that `row_norm` bounds their norm.
        """
        d = self.n_features
        one, zero = np.broadcast_to(1.0, (d,)), np.broadcast_to(0.0, (d,))
        return replace(self, view="declared", unit_map=UnitMap(center=zero, half_width=one))

    def features(self, indices: ArrayLike) -> "Dataset":
        """Return the same records with only these features, in this order, and the intercept."""
        chosen = np.asarray(indices, dtype=np.intp).reshape(-1)
        storage = self.storage[:, chosen]
        _freeze(storage, self.target)
        lower, upper = self.bounds.arrays(self.n_features)
        names = self.bounds.features
        return replace(
            self,
            storage=storage,
            bounds=Bounds(
                lower[chosen],
                upper[chosen],
                row_norm=self.bounds.row_norm,
                features=None if names is None else [names[j] for j in chosen],
            ),
            unit_map=UnitMap(self.unit_map.center[chosen], self.unit_map.half_width[chosen]),
            feature_names=None
            if self.feature_names is None
            else tuple(self.feature_names[j] for j in chosen),
        )

    def tightened(self, bounds: Bounds) -> "Dataset":
        """Return the same records clipped to tighter bounds, which then define the unit box.

        `bounds` must be released or public, lie within those in force, and contain zero where
        entries may be implicit (sparse data) or a row norm is declared.
        """
        d = self.n_features
        old, new = self.unit_map, bounds.unit_map(d, centered=self.intercept)
        in_force, wanted = self.bounds.arrays(d), bounds.arrays(d)
        if bounds.row_norm == self.row_norm and np.array_equal(in_force, wanted):
            return replace(self, bounds=bounds, unit_map=new)
        if self.stored == "unit":
            storage = np.empty_like(self.storage)
            lower, upper = ((limit - old.center) / old.half_width for limit in bounds.arrays(d))
            blocks = gate.row_blocks(storage), gate.row_blocks(self.storage)
            for block, before in zip(*blocks, strict=True):
                np.minimum(np.maximum(before, lower, out=block), upper, out=block)
                if self.intercept:
                    gate.to_unit_box(block, lower, upper)
                else:
                    block *= old.half_width / new.half_width
                    np.clip(block, -1, 1, out=block)
        else:
            storage = gate.with_own_values(self.storage)
            gate.clip_features(storage, bounds, "replace")
        _freeze(storage, self.target)
        return replace(self, storage=storage, bounds=bounds, unit_map=new)

    def dyadic_counts(self, n_levels: int, *, together: bool = False) -> NDArray[np.int64]:
        """Count records by where their features lie within the bounds. Private.

        Returns
        -------
        ndarray of shape (n_features, 3, n_levels)
            With t the position of a value between its bounds, from 0 to 1: entry [j, 0, b] counts
            the records with ``2**-(b+1) < t <= 2**-b``, entry [j, 1, b] the same for 1 - t, entry
            [j, 2, b] for the distance of 2t from 1. A record is counted at most once in each of the
            3d rows. With ``together`` the sum over features, of shape (1, 3, n_levels).
        """
        lower, upper = self.bounds.arrays(self.n_features)
        if self.stored == "unit":
            center, half_width = self._box()
            lower, upper = (lower - center) / half_width, (upper - center) / half_width
        return dyadic_counts(self.storage, lower, upper, n_levels, together=together)

    def rows(self, mask: ArrayLike) -> "Dataset":
        """Return the records where the boolean `mask` holds, each at most once.

        *Privacy.* Blocks are disjoint, and compose in parallel, only if a record's block depends
        on nothing but that record and randomness.
        """
        mask = np.asarray(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.n_records,):
            raise ValueError("mask must be boolean with one entry per record.")
        storage, target = self.storage[mask], self.target[mask]
        _freeze(storage, target)
        return replace(self, storage=storage, target=target)


def feature_norm_bound(data: Dataset) -> float:
    """A valid L2 bound on a row as solvers see it, without the constant column. Public."""
    d, row_norm = data.n_features, data.row_norm
    if data.view == "declared":
        reach = np.maximum(*np.abs(data.bounds.arrays(d)))
        largest = float(reach.max())
        corner = largest * float(np.linalg.norm(reach / largest))
        return corner if row_norm is None else min(corner, row_norm)
    longest = float(np.sqrt(d))
    if row_norm is None:
        return longest
    half_width = data.unit_map.half_width
    offset = float(np.linalg.norm(data.unit_map.center / half_width))
    return min(longest, row_norm / float(half_width.min()) + offset)


def _target_bounds(target_bounds: Any) -> tuple[float, float]:
    try:
        lower, upper = map(float, target_bounds)
    except (TypeError, ValueError):
        raise ValueError("target_bounds must be a pair (lo, hi) known without the data.") from None
    Bounds(lower, upper)  # finite, ordered and wide enough
    return lower, upper


def _to_unit(storage: Any, bounds: Bounds, unit_map: UnitMap, intercept: bool) -> None:
    lower, upper = bounds.arrays(storage.shape[1])
    for block in gate.row_blocks(storage):
        if intercept:
            gate.to_unit_box(block, lower, upper)
        else:
            block /= unit_map.half_width


def _freeze(storage: Any, target: NDArray) -> None:
    """Forbid writing: after the gate nothing may move a record out of its box."""
    for array in (storage if isinstance(storage, np.ndarray) else storage.data, target):
        array.flags.writeable = False
