"""What a walk in rounds asks of each block of records; sent to where the records are."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.columns.transposed import column_norms
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss


@dataclass(frozen=True, eq=False)
class FirstLook:
    """Sizes of the columns, the number of records, and gradients at weights zero (private)."""

    loss: Loss
    bound: float

    def __call__(self, block: Dataset) -> tuple[np.ndarray, ...]:
        """Over the records of a block."""
        n_outputs = self.loss.n_outputs
        margins = np.zeros((block.n_records, n_outputs) if n_outputs > 1 else block.n_records)
        residual = self.loss.clipped(self.loss.residual(margins, block.target), self.bound)
        return (*column_norms(block), np.array(float(block.n_records)), block.rmatvec(residual))


@dataclass(frozen=True, eq=False)
class SomeColumns:
    """The block with only these features, and the intercept."""

    features: np.ndarray

    def __call__(self, block: Dataset) -> Dataset:
        """Of a block."""
        return block.features(self.features)


@dataclass(frozen=True, eq=False)
class Place:
    """A point of the walk, by its columns that have weight, in their order."""

    features: np.ndarray
    weights: np.ndarray
    """Of these features and, where there is one, of the intercept."""

    def margins(self, block: Dataset) -> np.ndarray:
        """Of the records. A function of record and point alone, however often it is computed."""
        return block.features(self.features).matvec(self.weights)


@dataclass(frozen=True, eq=False)
class Look:
    """Gradients at some points of the walk (private): of a few columns, or of all that matter."""

    loss: Loss
    bound: float
    places: tuple[Place, ...]
    columns: np.ndarray
    """Features whose gradients are wanted at all places."""
    n_full: int
    """At the first so many places gradients of the followed columns are wanted too."""

    def __call__(self, block: Dataset, followed: Dataset) -> tuple[np.ndarray, ...]:
        """Over the records of a block."""
        picked = block.features(self.columns)
        found: list[np.ndarray] = []
        for number, place in enumerate(self.places):
            margins = place.margins(block)
            squares = np.square(margins).sum()
            residual = self.loss.clipped(self.loss.residual(margins, block.target), self.bound)
            found.append(picked.rmatvec(residual))
            if number < self.n_full:
                found += [followed.rmatvec(residual), squares]
        return tuple(found)
