"""What a `BlockedDataset` asks of every block in turn; sent to where the records are."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.gate.units import Codes
from sparsedp.data.records import Counts
from sparsedp.data.storage import Array, Target


def target(block: Dataset) -> Target:
    """Targets of the block."""
    return block.target


def weights(block: Dataset) -> Array:
    """Weights of the block's rows."""
    return np.ones(block.n_records) if block.weights is None else block.weights


def persons(block: Dataset) -> Codes:
    """Codes of the block's persons."""
    assert block.persons is not None, "all blocks have persons, or none has"
    return block.persons


def total_weight(block: Dataset) -> float:
    """What the block's rows count together."""
    return block.total_weight


def reweighed(block: Dataset, mask: NDArray[np.bool_], weights: Array) -> Dataset:
    """Some rows of the block, with other weights."""
    return replace(block.rows(mask), weights=weights)


def declared_units(block: Dataset) -> Dataset:
    """The block in declared units."""
    return block.declared_units()


def rows(block: Dataset, mask: NDArray[np.bool_]) -> Dataset:
    """Some records of the block."""
    return block.rows(mask)


@dataclass(frozen=True, eq=False)
class MatVec:
    """Scores of the block's records."""

    weights: Array
    center: ArrayLike | None

    def __call__(self, block: Dataset) -> Array:
        """One score, or row of scores, per record."""
        return block.matvec(self.weights, self.center)


@dataclass(frozen=True, eq=False)
class RMatVec:
    """Products of the transpose with the residuals of the block's records."""

    center: ArrayLike | None

    def __call__(self, block: Dataset, residual: Array) -> Array:
        """A sum over the records."""
        return block.rmatvec(residual, self.center)


@dataclass(frozen=True, eq=False)
class RowNorms:
    """Norms of the block's rows."""

    center: ArrayLike | None

    def __call__(self, block: Dataset) -> Array:
        """One norm per record."""
        return block.row_norms(self.center)


@dataclass(frozen=True, eq=False)
class Columns:
    """A few columns of the block."""

    indices: NDArray[np.intp]

    def __call__(self, block: Dataset) -> Array:
        """A dense copy."""
        return block.columns(self.indices)


@dataclass(frozen=True, eq=False)
class Features:
    """The block with some of its features."""

    indices: NDArray[np.intp]

    def __call__(self, block: Dataset) -> Dataset:
        """In this order."""
        return block.features(self.indices)


@dataclass(frozen=True)
class Tightened:
    """The block in tighter bounds."""

    bounds: Bounds

    def __call__(self, block: Dataset) -> Dataset:
        """Clipped to them."""
        return block.tightened(self.bounds)


@dataclass(frozen=True)
class DyadicCounts:
    """Numbers of the block's records by where their features lie."""

    n_levels: int

    def __call__(self, block: Dataset) -> Counts:
        """Counts by feature, side and level."""
        return block.dyadic_counts(self.n_levels)
