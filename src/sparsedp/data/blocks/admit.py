"""The gate for blocks: each is let through when it is read, by the same public promises."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.data.blocks.persons import digests
from sparsedp.data.blocks.sources import Source
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate import Invalid
from sparsedp.data.gate.units import Codes, Weighting, sample_shares
from sparsedp.data.raw import RawColumn, RawTable
from sparsedp.data.storage import is_sparse, no_entries
from sparsedp.data.sums.products import most_records


class LostBlock(RuntimeError):
    """Records could not be read again in the middle of a fit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockGate:
    """What every block passes when it is read: `Dataset.clip` with the same public promises."""

    n_features: int
    is_sparse: bool
    bounds: Bounds | float | tuple[ArrayLike, ArrayLike]
    classes: RawColumn
    target_bounds: tuple[float, float] | None
    intercept: bool
    invalid: Invalid
    feature_names: tuple[str, ...] | None
    key: bytes | None = field(default=None, repr=False)
    """Of the digests of persons' ids; None where rows stand for themselves."""
    weighting: Weighting = "unit"

    def admit(
        self,
        X: RawTable,
        y: RawColumn,
        groups: RawColumn = None,
        sample_weight: RawColumn = None,
    ) -> Dataset:
        """Let one block through the gate.

        Where there are persons their codes are digests, and weights are shares of those to come
        (persons.py).
        """
        if len(getattr(X, "shape", ())) != 2:
            raise ValueError("a block of X must have one row per record, one column per feature")
        if X.shape[1] != self.n_features:
            raise ValueError(f"a block has {X.shape[1]} features, the first has {self.n_features}")
        if is_sparse(X) != self.is_sparse:
            # Bounds of sparse data are stretched to contain zero, so kinds cannot be mixed.
            raise ValueError("some blocks are sparse and some are dense: store all in one way")
        data = Dataset.clip(
            X,
            y,
            self.bounds,
            classes=self.classes,
            target_bounds=self.target_bounds,
            intercept=self.intercept,
            invalid=self.invalid,
            sample_weight=sample_weight if self.key is None else None,
        )
        most = most_records(self.n_features, data.row_norm)
        data = replace(data, feature_names=self.feature_names, most_together=most)
        return data if self.key is None else self._named(data, self.key, groups, sample_weight)

    def _named(
        self, data: Dataset, key: bytes, groups: RawColumn, sample_weight: RawColumn
    ) -> Dataset:
        persons = digests(groups, key, self.invalid)
        shares = None if sample_weight is None else sample_shares(sample_weight, self.invalid)
        if {data.n_records} != {len(each) for each in (persons, shares) if each is not None}:
            raise ValueError("a block needs one id, and one weight if there are any, for each row")
        # Digests take the place of codes until the block is told about the others.
        named = cast("Codes", persons)
        return replace(data, persons=named, weights=shares, weighting=self.weighting)

    def empty_block(self) -> Dataset:
        """A block without records, which knows all that is public."""
        shape = (0, self.n_features)
        X = no_entries(shape) if self.is_sparse else np.zeros(shape)
        weights = None if self.weighting == "unit" else np.zeros(0)
        return self.admit(X, np.zeros(0), np.zeros(0), weights)

    def read(self, source: Source) -> Dataset:
        """Read a block and let it through the gate."""
        return admitted(lambda: self.admit(*source.read(self.invalid)), source.label)


def admitted(read: Callable[[], Dataset], label: str) -> Dataset:
    """A block, or `LostBlock` with a reason that quotes no cell and holds no frame with records."""
    try:
        return read()
    except Exception as error:
        reason = _reason(error)
    raise LostBlock(f"{label}: {reason}")


def _reason(error: Exception) -> str:
    """Our own sentences, and those of the operating system; a library's may quote what it read."""
    ours = type(error).__module__.split(".")[0] == "sparsedp"
    if ours or type(error) in (ValueError, ImportError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"it could not be read ({type(error).__name__})"
