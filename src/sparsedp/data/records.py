"""What solvers and losses ask of private records, wherever these are.

`Dataset` holds them in memory, `BlockedDataset` in blocks on disk or on a cluster. Whatever a
solver releases is a sum over records, so it need not see all of them at once: it says what is to be
computed from a block, and gets the total. Records in memory are one block. Such functions are
small frozen dataclasses with ``__call__``, so that they can be sent to where the records are.
"""

from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.gate.units import Codes, Unit, Weighting
from sparsedp.data.raw import Label, RawArray
from sparsedp.data.storage import Array, Target

Coordinates = Literal["unit", "declared"]

Watch = Callable[[], None]
"""Called after every block that is done. How many there are is nobody's business."""

Counts = NDArray[np.int64] | NDArray[np.float64]
"""Numbers of records, or sums of their weights."""

Sums = TypeVar("Sums")
"""An array, a number or a tuple of arrays: what one pass over the records yields."""


class Derived(Protocol):
    """One private value per block of records, each computed from its block alone.

    Notes
    -----
    *Privacy.* Values and totals are exact and private: only a curator may release them.
    """

    def derive(self, function: Callable[..., object], *others: "Derived") -> "Derived":
        """Values ``function(value, *other values)``, one per block, to be used more than once."""
        ...

    def total(self, function: Callable[..., Sums], *others: "Derived") -> Sums:
        """Sum of ``function(value, *other values)`` over the blocks."""
        ...


class Records(Protocol):
    """Private records behind the gate, seen as a matrix with one row per record.

    Its columns lie within [-1, 1]: the features and, with an intercept, a last column of ones. What
    has one entry per record is put together in memory; `total` and `derive` work block by block.

    Notes
    -----
    *Privacy.* What is not said to be public is private: nothing but what a curator releases may
    depend on it.
    """

    @property
    def n_records(self) -> int:
        """Number of rows. PRIVATE: use it to allocate, never to release; see `total_weight`."""
        ...

    @property
    def weights(self) -> Array | None:
        """How much each row counts in sums; None where each counts 1. Private."""
        ...

    @property
    def persons(self) -> Codes | None:
        """Codes of persons; None where every row stands for itself. Private."""
        ...

    @property
    def n_persons(self) -> int:
        """Number of persons, or of rows where each stands for itself. PRIVATE under add/remove."""
        ...

    @property
    def total_weight(self) -> float:
        """What all rows count together, to be released in the place of their number. Private."""
        ...

    @property
    def target(self) -> Target:
        """Targets of all records. Private."""
        ...

    @property
    def n_features(self) -> int:
        """Number of features d. Public, like all properties that follow."""
        ...

    @property
    def unit(self) -> Unit:
        """Whose data are protected as a whole."""
        ...

    @property
    def weighting(self) -> Weighting:
        """Whether the weights of a person add up to exactly 1, or to at most 1."""
        ...

    @property
    def n_columns(self) -> int:
        """Number of columns that solvers see: d, and one more with an intercept."""
        ...

    @property
    def intercept(self) -> bool:
        """Whether the last column is the constant 1."""
        ...

    @property
    def bounds(self) -> Bounds:
        """The promises in force."""
        ...

    @property
    def unit_map(self) -> UnitMap:
        """How to carry weights back to declared units."""
        ...

    @property
    def view(self) -> Coordinates:
        """Coordinates of what solvers see."""
        ...

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The declared labels in the order of their codes."""
        ...

    @property
    def target_bounds(self) -> tuple[float, float] | None:
        """What [-1, 1] stands for in a numeric target."""
        ...

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Column names."""
        ...

    @property
    def row_norm(self) -> float | None:
        """The declared L2 bound on a record's features, in declared units; None without one."""
        ...

    @property
    def norm_bound(self) -> float:
        """A valid L2 bound on a row as solvers see it, the constant column included."""
        ...

    @property
    def has_implicit_zeros(self) -> bool:
        """Whether entries may be left out (sparse storage): bounds must contain zero."""
        ...

    def total(self, function: Callable[..., Sums], *derived: Derived) -> Sums:
        """Sum of ``function(block, *derived values)`` over the blocks. Private; one pass."""
        ...

    def derive(self, function: Callable[..., object], *derived: Derived) -> Derived:
        """Values ``function(block, *derived values)``, one per block, to be used again. Private."""
        ...

    def matvec(self, w: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Multiply by weights: scores of all records. Private."""
        ...

    def rmatvec(self, r: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Multiply the transpose by one weighted residual (or row of them) per record. Private."""
        ...

    def columns(self, indices: ArrayLike) -> Array:
        """A dense copy of a few columns, exactly within the box. Private."""
        ...

    def row_norms(self, center: ArrayLike | None = None) -> Array:
        """L2 norm of every row as solvers see it. Private."""
        ...

    def dyadic_counts(self, n_levels: int) -> Counts:
        """Count records by where their features lie within the bounds. Private."""
        ...

    def per_person(self, draw: Callable[[int], RawArray]) -> RawArray:
        """One value for each row, the same for all rows of a person. Private."""
        ...

    def first_rows(self, most: int) -> "Records":
        """Each person's own first ``most`` rows, whose weights are made anew."""
        ...

    def declared_units(self) -> "Records":
        """The same records in declared units, for solvers of L2 geometry."""
        ...

    def features(self, indices: ArrayLike) -> "Records":
        """The same records with only these features, in this order, and the intercept."""
        ...

    def tightened(self, bounds: Bounds) -> "Records":
        """The same records clipped to tighter bounds, which then define the unit box."""
        ...

    def rows(self, mask: ArrayLike) -> "Records":
        """The records where the boolean `mask` holds, each at most once."""
        ...

    def watched(self, watch: Watch | None) -> None:
        """Call a function after every block that is read, or no longer."""
        ...

    def close(self) -> None:
        """Let go of the records; only what is public can be asked then."""
        ...


def feature_norm_bound(data: Records) -> float:
    """A valid L2 bound on a row as solvers see it, without the constant column. Public."""
    d, row_norm = data.n_features, data.row_norm
    if data.view == "declared":
        farthest = np.maximum(*np.abs(data.bounds.arrays(d)))
        largest = float(farthest.max())
        corner = largest * float(np.linalg.norm(farthest / largest))
        return corner if row_norm is None else min(corner, row_norm)
    longest = float(np.sqrt(d))
    if row_norm is None:
        return longest
    half_width = data.unit_map.half_width
    offset = float(np.linalg.norm(data.unit_map.center / half_width))
    return min(longest, row_norm / float(half_width.min()) + offset)
