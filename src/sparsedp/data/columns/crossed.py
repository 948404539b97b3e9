"""Products of two features each, which are multiplied wherever they are needed.

A column is ``(u - center) * (v - center) - level`` of two features in unit coordinates, with
centers and levels that are public or released. Written down, a few features would make many times
as many columns. A record's columns are functions of the record alone, to the last bit, and margins,
sums and norms see the same ones.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparsedp._kernels import COMPILED
from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Array
from sparsedp.data.sums import norms
from sparsedp.data.sums.products import Pair, plain_run

if COMPILED:
    from sparsedp._kernels.crossed import crossed as kernel
else:
    from sparsedp._kernels.crossed import crossed_reference as kernel


@dataclass(frozen=True, eq=False)
class Crossing:
    """Which products, and what is taken off. Public or released.

    Parameters
    ----------
    features : ndarray of int, shape (m,)
        In ascending order.
    centers : ndarray of shape (m,)
    places : ndarray of int, shape (p, 2)
        Of both features of each product, among these.
    levels : ndarray of shape (p,)
    """

    features: NDArray[np.intp]
    centers: Array
    places: NDArray[np.intp]
    levels: Array

    @classmethod
    def of(
        cls,
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        first_centers: Array,
        second_centers: Array,
        levels: Array,
    ) -> "Crossing":
        """Of two features for each product, whose center is the same in all of them."""
        features, found = np.unique(np.concatenate([first, second]), return_index=True)
        centers = np.concatenate([first_centers, second_centers])[found]
        places = np.searchsorted(features, np.column_stack([first, second]))
        return cls(features, centers, np.ascontiguousarray(places), np.ascontiguousarray(levels))


@dataclass(frozen=True, eq=False)
class Crossed:
    """Products of two features each of a block of records. Private.

    Parameters
    ----------
    parts : ndarray of shape (m, n)
        The features about their centers, one after another in memory.
    crossing : Crossing
    """

    parts: Array
    crossing: Crossing

    @classmethod
    def of(cls, block: Dataset, crossing: Crossing) -> "Crossed":
        """Of a block in unit coordinates."""
        units = block.columns(crossing.features)
        return cls(np.ascontiguousarray((units - crossing.centers).T), crossing)

    def __len__(self) -> int:
        return len(self.crossing.levels)

    def rows(self, part: slice) -> "Crossed":
        """Of some records."""
        return replace(self, parts=self.parts[:, part])

    def add_to(self, margins: Array, weights: Array) -> None:
        """Add the columns times weights (p, K) to margins (n, K); a matter of each record."""
        at, weights = self.crossing, np.ascontiguousarray(weights)
        kernel.times(self.parts, at.places, at.levels, weights, margins)

    def sums(self, residuals: Array, spread: float, most_together: int | None) -> Pair:
        """Multiply the transpose of the columns by residuals; see `products.weighted_sums`."""
        found = np.zeros((2, residuals.shape[1], len(self)))
        at, rows = self.crossing, np.ascontiguousarray(residuals.T)
        run = plain_run(max(len(residuals), most_together or 0, 1), spread)
        kernel.transposed(self.parts, at.places, at.levels, rows, run, *found)
        return Pair(found[0].T, found[1].T)

    def lengths(self, matrix: Array) -> Array:
        """L2 norms of the rows of ``columns @ matrix``, or a bit more: never less.

        As `ColumnSubset.lengths` has it, for a matrix that is zero above its diagonal.
        """
        firsts = np.where(matrix.any(axis=0), (matrix != 0).argmax(axis=0), len(matrix))
        squares, sizes = np.empty((2, self.parts.shape[1]))
        at, terms = self.crossing, np.sqrt(np.square(matrix).sum(axis=1))
        matrix = np.ascontiguousarray(matrix)
        kernel.mapped_squares(
            self.parts, at.places, at.levels, matrix, firsts, terms, squares, sizes
        )
        return norms.never_less(squares, sizes, matrix.shape)
