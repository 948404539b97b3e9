"""Private records in blocks, behind the gate: what solvers see in place of a `Dataset`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.data.blocks import questions
from sparsedp.data.blocks.values import BlockValues
from sparsedp.data.bounds import Bounds, UnitMap
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate.units import Codes, Unit, Units, Weighting, handed_out, n_somebody
from sparsedp.data.raw import Label, RawArray
from sparsedp.data.records import Coordinates, Counts, Derived, Records, Sums, Watch
from sparsedp.data.storage import Array, Target


class BlockedDataset:
    """Records in blocks: files larger than memory, or blocks on a cluster.

    See `Records`. `total` and `derive` work block by block. What has one entry per record
    (`matvec`, `columns`, `target` and so on) is put together on this machine: solvers that ask for
    it need memory in proportion to the number of records.

    Parameters
    ----------
    blocks : LocalBlocks or ClusterBlocks
        Of `Dataset`. Private.
    public : Dataset
        One without records, which knows all that is public.
    counts : sequence of int
        Records per block. Private.
    """

    def __init__(self, blocks: BlockValues, public: Dataset, counts: Sequence[int]) -> None:
        self._blocks, self._public, self._counts = blocks, public, tuple(counts)

    def __repr__(self) -> str:
        return f"BlockedDataset({self._public!r})"

    def total(self, function: Callable[..., Sums], *derived: Derived) -> Sums:
        """Sum of ``function(block, *derived values)`` over the blocks. Private; one pass."""
        return self._blocks.total(function, *derived)

    def derive(self, function: Callable[..., object], *derived: Derived) -> Derived:
        """Values ``function(block, *derived values)``, one per block, to be used again. Private."""
        return self._blocks.derive(function, *derived)

    def watched(self, watch: Watch | None) -> None:
        """Call a function after every block that is read, or no longer."""
        self._blocks.watched(watch)

    def close(self) -> None:
        """Let go of the records, here and on the workers; only what is public can be asked then."""
        self._blocks.close()

    @property
    def n_records(self) -> int:
        """Number of rows. PRIVATE: use it to allocate, never to release; see `total_weight`."""
        return sum(self._counts)

    @property
    def weights(self) -> Array | None:
        """How much each row counts in sums; None where each counts 1. Private."""
        if self._public.weights is None:
            return None
        return np.concatenate(self._blocks.each(questions.weights))

    @property
    def persons(self) -> Codes | None:
        """Codes of persons; None where every row stands for itself. Private."""
        if self._public.persons is None:
            return None
        return np.concatenate(self._blocks.each(questions.persons))

    @property
    def n_persons(self) -> int:
        """Number of persons, or of rows where each stands for itself. PRIVATE under add/remove."""
        persons = self.persons
        return self.n_records if persons is None else n_somebody(persons)

    @property
    def total_weight(self) -> float:
        """What all rows count together. Private."""
        if self._public.weights is None:
            return float(self.n_records)
        return self.total(questions.total_weight)

    @property
    def target(self) -> Target:
        """Targets of all records. Private."""
        return np.concatenate(self._blocks.each(questions.target))

    @property
    def n_features(self) -> int:
        """Number of features d. Public, like all properties that follow."""
        return self._public.n_features

    @property
    def unit(self) -> Unit:
        """Whose data are protected as a whole."""
        return self._public.unit

    @property
    def weighting(self) -> Weighting:
        """Whether the weights of a person add up to exactly 1, or to at most 1."""
        return self._public.weighting

    @property
    def offset(self) -> None:
        """There is none: records in blocks with offsets are refused."""

    @property
    def offset_bounds(self) -> tuple[float, float] | None:
        """The declared limits of offsets."""
        return self._public.offset_bounds

    @property
    def offset_center(self) -> float:
        """What was taken off every offset."""
        return self._public.offset_center

    @property
    def offset_limit(self) -> float:
        """Largest absolute value of an offset."""
        return self._public.offset_limit

    @property
    def n_columns(self) -> int:
        """Number of columns that solvers see."""
        return self._public.n_columns

    @property
    def intercept(self) -> bool:
        """Whether the last column is the constant 1."""
        return self._public.intercept

    @property
    def bounds(self) -> Bounds:
        """The promises in force."""
        return self._public.bounds

    @property
    def unit_map(self) -> UnitMap:
        """How to carry weights back to declared units."""
        return self._public.unit_map

    @property
    def view(self) -> Coordinates:
        """Coordinates of what solvers see."""
        return self._public.view

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The declared labels."""
        return self._public.classes

    @property
    def target_bounds(self) -> tuple[float, float] | None:
        """What [-1, 1] stands for in a numeric target."""
        return self._public.target_bounds

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Column names."""
        return self._public.feature_names

    @property
    def row_norm(self) -> float | None:
        """The declared L2 bound on a record's features."""
        return self._public.row_norm

    @property
    def norm_bound(self) -> float:
        """A valid L2 bound on a row as solvers see it."""
        return self._public.norm_bound

    @property
    def has_implicit_zeros(self) -> bool:
        """Whether entries may be left out."""
        return self._public.has_implicit_zeros

    def matvec(self, w: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Multiply by weights: scores of all records. Private."""
        weights = np.asarray(w, dtype=np.float64)
        return np.concatenate(self._blocks.each(questions.MatVec(weights, center)))

    def margins(self, w: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Scores of these weights; records in blocks have no offset. Private."""
        return self.matvec(w, center)

    def rmatvec(self, r: ArrayLike, center: ArrayLike | None = None) -> Array:
        """Multiply the transpose by one weighted residual (or row of them) per record. Private."""
        return self.total(questions.RMatVec(center), self._split(np.asarray(r, dtype=np.float64)))

    def columns(self, indices: ArrayLike) -> Array:
        """A dense copy of a few columns. Private."""
        return np.concatenate(self._blocks.each(questions.Columns(np.asarray(indices))))

    def row_norms(self, center: ArrayLike | None = None) -> Array:
        """L2 norm of every row as solvers see it. Private."""
        return np.concatenate(self._blocks.each(questions.RowNorms(center)))

    def dyadic_counts(self, n_levels: int) -> Counts:
        """Count records by where their features lie within the bounds. Private."""
        return self.total(questions.DyadicCounts(n_levels))

    def per_person(self, draw: Callable[[int], RawArray]) -> RawArray:
        """One value for each row, the same for all rows of a person. Private."""
        persons = self.persons
        return draw(self.n_records) if persons is None else handed_out(persons, draw)

    def first_rows(self, most: int) -> "BlockedDataset":
        """Each person's own first ``most`` rows, in whichever blocks; weights are made anew."""
        if self._public.persons is None:
            return self
        mask, weights = Units(self.persons, self.weights, self.weighting).first_rows(most)
        masks = self._cut(mask)
        counts = [int(part.sum()) for part in masks]
        parts = np.split(weights, np.cumsum(counts)[:-1])
        blocks = self._blocks.derive(
            questions.reweighed, self._blocks.given(masks), self._blocks.given(parts), kept=False
        )
        return BlockedDataset(blocks, self._public, counts)

    def declared_units(self) -> "BlockedDataset":
        """The same records in declared units."""
        return self._viewed(questions.declared_units)

    def features(self, indices: ArrayLike) -> "BlockedDataset":
        """The same records with only these features, in this order, and the intercept."""
        return self._viewed(questions.Features(np.asarray(indices, dtype=np.intp).reshape(-1)))

    def tightened(self, bounds: Bounds) -> "BlockedDataset":
        """The same records clipped to tighter bounds, which then define the unit box."""
        return self._viewed(questions.Tightened(bounds))

    def rows(self, mask: ArrayLike) -> "BlockedDataset":
        """The records where the boolean `mask` holds, each at most once."""
        mask = np.asarray(mask)
        if mask.dtype != np.bool_ or mask.shape != (self.n_records,):
            raise ValueError("mask must be boolean with one entry per record.")
        masks = self._cut(mask)
        blocks = self._blocks.derive(questions.rows, self._blocks.given(masks), kept=False)
        return BlockedDataset(blocks, self._public, [int(part.sum()) for part in masks])

    def _viewed(self, view: Callable[[Dataset], Dataset]) -> "BlockedDataset":
        blocks = self._blocks.derive(view, kept=False)
        return BlockedDataset(blocks, view(self._public), self._counts)

    def _cut(self, array: RawArray) -> list[RawArray]:
        return np.split(array, np.cumsum(self._counts)[:-1])

    def _split(self, array: RawArray) -> Derived:
        if array.ndim not in (1, 2) or array.shape[0] != self.n_records:
            raise ValueError("residuals need one row per record.")
        return self._blocks.given(self._cut(array))


if TYPE_CHECKING:
    # The type checker compares both with all that solvers may ask for.
    _MEET_THE_PROTOCOL: tuple[type[Records], ...] = (Dataset, BlockedDataset)
