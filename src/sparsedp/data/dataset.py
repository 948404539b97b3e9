"""Private records in memory, behind the gate, as solvers see them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.gate.admit import Features
from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.offset import checked_limits, read_offset
from sparsedp.data.gate.target import EncodedTarget
from sparsedp.data.gate.tighten import clip_declared, clip_unit
from sparsedp.data.gate.units import (
    ClassWeight,
    Codes,
    Unit,
    Units,
    Weighting,
    handed_out,
    n_somebody,
    row_shares,
)
from sparsedp.data.raw import Label, RawArray, RawColumn, RawTable
from sparsedp.data.records import Coordinates, Counts, Derived, Sums, Watch, feature_norm_bound
from sparsedp.data.storage import Array, Storage, Target, freeze
from sparsedp.data.sums import weighed
from sparsedp.data.sums.centered import CenteredMatrix
from sparsedp.data.sums.histogram import dyadic_counts
from sparsedp.data.whole import Whole, values_of

Made = TypeVar("Made")


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
        The promises in force; for sparse data they contain zero. Public, like what follows up to
        the weights.
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
    weighting : {"unit", "sub_unit"}
        Whether the weights of a person add up to exactly 1, or to at most 1.
    weights : ndarray of shape (n,) or None
        How much each row counts in sums: whole multiples of 2**-30; None where each counts 1.
        Private.
    persons : ndarray of shape (n,) or None
        Codes of persons, of which only equality means anything; None where every row is somebody's
        only one. Private.
    offset : ndarray of shape (n,) or None
        Known part of each row's margin; with an intercept the middle of its limits is taken off.
        Private.
    offset_bounds : (float, float) or None
        The declared limits of offsets. Public.

    Notes
    -----
    *Privacy.* Nothing but what a curator releases may depend on `storage`, `target`, `weights`,
    `persons`, `offset` or `n_records`. See gate.md for what holds for every record, and persons.md
    for what holds for every person.
    """

    storage: Storage
    target: Target
    bounds: Bounds
    unit_map: UnitMap
    intercept: bool
    stored: Coordinates
    view: Coordinates
    classes: tuple[Label, ...] | None = None
    target_bounds: tuple[float, float] | None = None
    feature_names: tuple[str, ...] | None = None
    most_together: int | None = None
    weighting: Weighting = "unit"
    weights: Array | None = None
    persons: Codes | None = None
    offset: Array | None = None
    offset_bounds: tuple[float, float] | None = None

    @classmethod
    @np.errstate(all="ignore")  # no record may raise or warn, whatever the caller wants of NumPy
    def clip(
        cls,
        X: RawTable,
        y: RawColumn,
        bounds: Bounds | float | tuple[ArrayLike, ArrayLike],
        *,
        classes: RawColumn = (0, 1),
        target_bounds: tuple[float, float] | None = None,
        intercept: bool = True,
        invalid: Invalid = "raise",
        groups: RawColumn = None,
        sample_weight: RawColumn = None,
        class_weight: ClassWeight | None = None,
        offset: RawColumn = None,
        offset_bounds: tuple[float, float] | None = None,
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
        groups : sequence of shape (n,), optional
            The id of the person that each row belongs to: whole numbers or text. All rows of a
            person together count once. A row without an id raises, or counts nothing.
        sample_weight : sequence of shape (n,), optional
            Which part of its ordinary weight each row has, in [0, 1].
        class_weight : mapping of label to float, or sequence, optional
            Public weights of the classes; they are divided by the largest.
        offset : sequence of shape (n,), optional
            Known part of each row's margin, such as the logarithm of its exposure.
        offset_bounds : pair of float, optional
            Public limits of the offset, which is clipped to them; required with one.

        Notes
        -----
        *Privacy.* With ``invalid="raise"`` the error is for whoever holds the data and says
        nothing about values; it is no part of a release. With "replace" no error depends on them.
        """
        if invalid not in ("raise", "replace"):
            raise ValueError('invalid must be "raise" or "replace".')
        declared = Bounds.coerce(bounds)
        features = Features.read(X, invalid, declared.row_norm)
        target = EncodedTarget.read(y, classes, target_bounds, invalid)
        if target.values.shape[0] != features.storage.shape[0]:
            raise ValueError("X and y have different numbers of records: give one target per row.")
        in_force, unit_map, stored = features.clip_in_place(
            declared, intercept=intercept, invalid=invalid
        )
        shares = row_shares(sample_weight, class_weight, target.values, target.classes, invalid)
        units = Units.read(len(target.values), groups, shares, invalid)
        limits = None if offset is None else checked_limits(offset_bounds)
        known = None if limits is None else read_offset(offset, limits, invalid)
        if known is not None and len(known) != len(target.values):
            raise ValueError("X and offset have different numbers of rows: give one per row.")
        if known is not None and limits is not None and intercept:
            known -= sum(limits) / 2
        freeze(features.storage, target.values, units.weights, units.persons, known)
        return cls(
            storage=features.storage,
            target=target.values,
            bounds=in_force,
            unit_map=unit_map,
            intercept=intercept,
            stored=stored,
            view="unit",
            classes=target.classes,
            target_bounds=target.target_bounds,
            feature_names=None if features.names is None else tuple(features.names),
            weighting=units.weighting,
            weights=units.weights,
            persons=units.persons,
            offset=known,
            offset_bounds=limits,
        )

    def total(self, function: Callable[..., Sums], *derived: Derived) -> Sums:
        """Sum of ``function(block, *derived values)`` over blocks of records: here one. Private.

        Solvers that ask for sums in this way also run on records that are not in memory.
        """
        return function(self, *values_of(derived))

    def derive(self, function: Callable[..., object], *derived: Derived) -> Whole:
        """Keep ``function(block, *derived values)`` for each block, to use it again. Private."""
        return Whole(function(self, *values_of(derived)))

    def watched(self, watch: Watch | None) -> None:
        """There are no passes to watch."""

    def once(self, make: "Callable[[Dataset], Made]") -> Made:
        """``make`` of these records, computed at the first call and kept until `close`. Private."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("Made", self._made[make])

    @cached_property
    def _made(self) -> dict[object, object]:
        return {}

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_made"}

    def close(self) -> None:
        """Let go of what was computed; records in memory go with the last reference."""
        self._made.clear()

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
        """Number of rows. PRIVATE: use it to allocate, never to release; see `total_weight`."""
        return self.storage.shape[0]

    @property
    def unit(self) -> Unit:
        """Whose data are protected as a whole: a row's, or all rows' of a person. Public."""
        return "row" if self.persons is None else "person"

    @property
    def n_persons(self) -> int:
        """Number of persons, or of rows where each stands for itself. PRIVATE under add/remove."""
        return self.n_records if self.persons is None else n_somebody(self.persons)

    @property
    def total_weight(self) -> float:
        """What all rows count together, to be released in the place of their number. Private."""
        return weighed.total(self.weights, self.n_records)

    def per_person(self, draw: "Callable[[int], RawArray]") -> RawArray:
        """One value for each row, the same for all rows of a person. Private.

        Parameters
        ----------
        draw : callable
            Gives so many independent values: a coin for each person, tossed by itself.
        """
        return draw(self.n_records) if self.persons is None else handed_out(self.persons, draw)

    def first_rows(self, most: int) -> "Dataset":
        """Return each person's own first ``most`` rows, whose weights are made anew.

        With rows as the unit all of them stay.
        """
        if self.persons is None:
            return self
        mask, weights = Units(self.persons, self.weights, self.weighting).first_rows(most)
        kept = self.rows(mask)
        freeze(kept.storage, weights)
        return replace(kept, weights=weights)

    @property
    def offset_center(self) -> float:
        """What was taken off every offset: the middle of the limits, for the intercept. Public."""
        if self.offset_bounds is None or not self.intercept:
            return 0.0
        return sum(self.offset_bounds) / 2

    @property
    def offset_limit(self) -> float:
        """Largest absolute value of `offset`; zero where there is none. Public."""
        if self.offset_bounds is None:
            return 0.0
        return max(abs(limit - self.offset_center) for limit in self.offset_bounds)

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
    def shift(self) -> Array | None:
        """What solvers see is (storage - shift) / scale; None means 0. Public."""
        if self.stored == self.view or (self.view == "unit" and not self.intercept):
            return None
        if self.view == "unit":
            return self.unit_map.center
        center, half_width = self._box()
        return -center / half_width

    @property
    def scale(self) -> Array | None:
        """What solvers see is (storage - shift) / scale; None means 1. Public."""
        if self.stored == self.view:
            return None
        return self.unit_map.half_width if self.view == "unit" else 1 / self._box()[1]

    def _box(self) -> tuple[Array, Array]:
        box = self.bounds.unit_map(self.n_features, centered=self.intercept)
        return box.center, box.half_width

    @cached_property
    def _matrix(self) -> CenteredMatrix:
        return CenteredMatrix(
            self.storage, self.shift, self.scale, self.intercept, self.row_norm, self.most_together
        )

    def matvec(self, w: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Multiply by weights (n_columns,) or (n_columns, K): scores (n,) or (n, K). Private.

        A record's score depends on nothing but the record: not even its rounding does. `center`,
        public or released, is a point (n_features,) to subtract from the features of every record.
        """
        return self._matrix.times(w, center)

    def margins(self, w: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Scores of these weights, as `matvec` has them, and the offset where there is one."""
        scores = self.matvec(w, center)
        return scores if self.offset is None else scores + self.offset

    def rmatvec(self, r: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Multiply the transpose by weighted residuals (n,) or (n, K): sums over records.

        Private: a sum over records, each adding at most its residual to every entry. Rounding adds
        less than sensitivities allow for (summation.md). `center` is as in `matvec`. Residuals are
        multiplied by the weights of their rows, here and nowhere before.
        """
        residual = weighed.weighed(np.asarray(r, dtype=np.float64), self.weights)
        return self._matrix.transposed_times(residual, center)

    def columns(self, indices: ArrayLike) -> Array:
        """Return a dense copy (n, len(indices)) of a few columns, exactly within the box. Private.

        Index `n_features` is the constant column where there is an intercept.
        """
        indices = np.asarray(indices, dtype=np.intp).reshape(-1)
        if ((indices < 0) | (indices >= self.n_columns)).any():
            raise ValueError(f"column indices must lie between 0 and {self.n_columns - 1}.")
        is_feature = indices < self.n_features
        features = indices[is_feature]
        if self.view == "unit":
            values = self._matrix.columns(features, -1.0, 1.0)
        else:
            lower, upper = self.bounds.arrays(self.n_features)
            values = self._matrix.columns(features, lower[features], upper[features])
        if is_feature.all():
            return values
        block = np.ones((self.n_records, indices.size))
        block[:, is_feature] = values
        return block

    def row_norms(self, center: ArrayLike | None = None) -> Array:
        """L2 norm of every row as solvers see it, the constant column included. Private.

        For clipping: a bound must hold for the rows that `matvec` and `rmatvec` multiply with, so
        implicit centering and `center` are part of it, and rounding may only make a norm larger.
        """
        return self._matrix.row_norms(center)

    def dyadic_counts(self, n_levels: int) -> Counts:
        """Count records by where their features lie within the bounds. Private.

        Returns
        -------
        ndarray of shape (n_features, 3, n_levels)
            With t the position of a value between its bounds, from 0 to 1: entry [j, 0, b] counts
            the records with ``2**-(b+1) < t <= 2**-b``, entry [j, 1, b] the same for 1 - t, entry
            [j, 2, b] for the distance of 2t from 1. A record is counted at most once in each of the
            3d rows.
        """
        lower, upper = self.bounds.arrays(self.n_features)
        if self.stored == "unit":
            center, half_width = self._box()
            lower, upper = (lower - center) / half_width, (upper - center) / half_width
        return dyadic_counts(self.storage, lower, upper, n_levels, self.weights)

    def declared_units(self) -> "Dataset":
        """Return a view of the same storage in declared units, for solvers of L2 geometry.

        Features are x itself, neither centered nor scaled, so that `row_norm` bounds their norm.
        """
        return replace(self, view="declared", unit_map=UnitMap.identity(self.n_features))

    def features(self, indices: ArrayLike) -> "Dataset":
        """Return the same records with only these features, in this order, and the intercept."""
        kept = np.asarray(indices, dtype=np.intp).reshape(-1)
        storage, names = self.storage[:, kept], self.feature_names
        freeze(storage, self.target)
        return replace(
            self,
            storage=storage,
            bounds=self.bounds.of_features(kept, self.n_features),
            unit_map=UnitMap(self.unit_map.center[kept], self.unit_map.half_width[kept]),
            feature_names=None if names is None else tuple(names[j] for j in kept),
        )

    def tightened(self, bounds: Bounds) -> "Dataset":
        """Return the same records clipped to tighter bounds, which then define the unit box.

        `bounds` must be released or public, lie within those in force, and contain zero where
        entries may be implicit (sparse data) or a row norm is declared.
        """
        d, storage = self.n_features, self.storage
        new = bounds.unit_map(d, centered=self.intercept)
        in_force, wanted = self.bounds.arrays(d), bounds.arrays(d)
        if bounds.row_norm == self.row_norm and np.array_equal(in_force, wanted):
            return replace(self, bounds=bounds, unit_map=new)
        if self.stored == "unit" and isinstance(storage, np.ndarray):
            storage = clip_unit(storage, bounds, self.unit_map, new, centered=self.intercept)
        else:
            storage = clip_declared(storage, bounds)
        freeze(storage, self.target)
        return replace(self, storage=storage, bounds=bounds, unit_map=new)

    def rows(self, mask: ArrayLike) -> "Dataset":
        """Return the records where the boolean `mask` holds, each at most once.

        *Privacy.* Blocks are disjoint, and compose in parallel, only if a record's block depends
        on nothing but that record and randomness, and all rows of a person are in one
        (`per_person`).
        """
        mask = np.asarray(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.n_records,):
            raise ValueError("mask must be boolean with one entry per record.")
        storage, target = self.storage[mask], self.target[mask]
        weights = None if self.weights is None else self.weights[mask]
        persons = None if self.persons is None else self.persons[mask]
        offset = None if self.offset is None else self.offset[mask]
        freeze(storage, target, weights, persons, offset)
        return replace(
            self, storage=storage, target=target, weights=weights, persons=persons, offset=offset
        )
