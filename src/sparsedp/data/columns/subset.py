"""A few columns of a block of records, and sums over records in other coordinates of them.

Coordinates are those of ``columns @ matrix``: they are not written down for every record, as sums
and norms can be had without (proof: summation.md).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsedp.data.columns import hats, index
from sparsedp.data.columns.crossed import Crossed
from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Array, Sparse, Storage
from sparsedp.data.sums import norms, products
from sparsedp.data.sums.products import Pair
from sparsedp.data.sums.weighed import weighed

ENTRIES_AT_ONCE = 2**19
"""Of dense copies: few enough to stay in a cache."""

ENTRIES_IN_PART = 2**19
"""Of records that are looked at twice in a row: few enough to stay in a cache, many enough that a
part takes far longer than to begin with it."""


@dataclass(frozen=True, eq=False)
class ColumnSubset:
    """Columns of some features as solvers see them, after a constant one or none. Private.

    Parameters
    ----------
    storage : ndarray, csr_array or csc_array of shape (n, k)
        Private.
    constant : int
        Number of constant columns, 0 or 1. Public, like all that follows.
    features : ndarray of shape (k,)
    shift, scale : ndarray of shape (k,)
        A column is ``(storage - shift) / scale``.
    most_together : int or None
        As in `Dataset`.
    known : ColumnIndex or None
        Where entries stand in the block, for columns to come. Private.
    weights : ndarray of shape (n,) or None
        How much each record counts in sums, as in `Dataset`. Private.
    offset : ndarray of shape (n,) or None
        Known part of each record's margin, as in `Dataset`. Private.
    basis : ndarray of shape (k, columns) or None
        The columns as sums of what is stored, shifted and scaled; None where they are the same.
        Public or released.
    crossed : Crossed or None
        Products of features, which come last and are not stored. Private.
    """

    storage: Storage
    constant: int
    features: NDArray[np.intp]
    shift: Array
    scale: Array
    most_together: int | None = None
    known: index.ColumnIndex | None = None
    weights: Array | None = None
    offset: Array | None = None
    basis: Array | None = None
    crossed: Crossed | None = None

    @classmethod
    def of(
        cls, block: Dataset, features: NDArray[np.intp], before: "ColumnSubset | None" = None
    ) -> "ColumnSubset":
        """Take columns from a block, after those that were taken before."""
        shift, scale = block.shift, block.scale
        known = None
        if before is None:
            storage = index.taken(block.storage, features)
        else:
            # Who takes few columns at a time will come again. Not for one block of many, which
            # would all keep this much more in memory.
            few = block.most_together is None and len(features) <= index.FEW
            if few and not isinstance(block.storage, np.ndarray) and block.storage.format == "csr":
                known = before.known or index.ColumnIndex.of(block.storage)
            storage = index.extended(
                before.storage, block.storage, before.features, features, known
            )
            features = np.concatenate([before.features, features])
        return cls(
            storage,
            int(block.intercept),
            features,
            np.zeros(len(features)) if shift is None else shift[features],
            np.ones(len(features)) if scale is None else scale[features],
            block.most_together,
            known,
            block.weights,
            block.offset,
        )

    @classmethod
    def with_hats(
        cls,
        block: Dataset,
        features: NDArray[np.intp],
        knots: Array,
        ends: Array,
        basis: Array,
        before: "ColumnSubset",
    ) -> "ColumnSubset":
        """Take features from a block, after what was taken before: some as hats, some as they are.

        What is at a feature's end is not stored: of an indicator that few records have, few entries
        are.

        Parameters
        ----------
        block : Dataset
            In unit coordinates.
        features : ndarray of int
        knots : ndarray of shape (len(features), q)
            In unit coordinates; those of a feature that is stored as it is are not numbers.
        ends : ndarray of shape (len(features),)
            -1 or 1, where most records are thought to be.
        basis : ndarray
            Of all that is stored then, the earlier features included.
        before : ColumnSubset
            Made by this function too, or without features.
        """
        width = before.storage.shape[1]
        straight = np.isnan(knots[:, 0])
        sizes = np.where(straight, 1, knots.shape[1])
        starts = (np.cumsum(sizes) - sizes).astype(np.int32)
        parts = hats.hats(block.columns(features), knots, starts, ends)
        storage = hats.by_rows(*parts, int(sizes.sum()))
        shift = np.zeros(storage.shape[1])
        shift[starts[straight]] = -ends[straight]
        if width:
            storage = cast(Sparse, sparse.hstack([before.storage, storage], format="csr"))
        return cls(
            storage,
            int(block.intercept),
            np.concatenate([before.features, features]),
            np.concatenate([before.shift, shift]),
            np.ones(storage.shape[1]),
            block.most_together,
            None,
            block.weights,
            block.offset,
            basis,
        )

    @property
    def width(self) -> int:
        """Number of columns without the constant one and products."""
        return self.storage.shape[1] if self.basis is None else self.basis.shape[1]

    def _inside(self, matrix: Array) -> Array:
        """A matrix of all columns but the constant one, as one of what is stored."""
        inside = matrix[self.constant :]
        return (inside if self.basis is None else self.basis @ inside) / self.scale[:, None]

    def margins(self, weights: Array) -> Array:
        """Multiply by weights (all columns, K) and add the offset, if there is one.

        A record's margins depend on it alone.
        """
        before = self.constant + self.width
        inside = self._inside(weights[:before])
        start = weights[: self.constant].sum(axis=0) - self.shift @ inside
        margins = products.times(self.storage, inside, start)
        if self.crossed is not None:
            self.crossed.add_to(margins, weights[before:])
        return margins if self.offset is None else margins + self.offset[:, None]

    def dense(self) -> Iterator[tuple[Array, Array | None]]:
        """Copies of all columns, after a constant one, and weights; some records at a time.

        Each record is written down by itself. All copies are made in the same memory, one after the
        other.
        """
        storage = self.storage if isinstance(self.storage, np.ndarray) else self.storage.tocsr()
        step = max(1, ENTRIES_AT_ONCE // (1 + self.width))
        for values, part in self._written(storage, step):
            yield values, None if self.weights is None else self.weights[part]

    def _written(self, storage: Storage, step: int) -> Iterator[tuple[Array, slice]]:
        if self.basis is not None and not isinstance(storage, np.ndarray):
            first = np.zeros(1 + self.width)
            first[0], first[1:] = 1.0, -self.shift @ self.basis
            basis = np.pad(self.basis, ((0, 0), (1, 0)))
            yield from products.times_in_parts(storage, basis, first, step)
            return
        n = storage.shape[0]
        room = np.empty((min(step, n), 1 + self.width))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            values = room[: part.stop - start]
            values[:, 0] = 1.0
            index.write(storage[part], 0, self.shift, self.scale, values[:, 1:])
            yield values, part

    def gram(self, n_old: int) -> Array:
        """Products of the columns from ``n_old`` on with all columns, summed over records."""
        first = max(n_old - self.constant, 0)
        if self.basis is not None:
            return self._mapped_gram(self.basis, first)
        new = index.dense(self.storage, first, self.shift[first:], self.scale[first:])
        new = weighed(new, self.weights)
        total = products.sums(new)
        inside = products.weighted_sums(self.storage, new, self.shift, total=total).rounded()
        inside /= self.scale[:, None]
        return np.concatenate([np.tile(total.rounded(), (self.constant, 1)), inside])

    def _mapped_gram(self, basis: Array, first: int) -> Array:
        """The same where columns are sums of what is stored: shifted, but not scaled."""
        made = basis[:, first:]
        new = weighed(products.times(self.storage, made, -self.shift @ made), self.weights)
        total, most = products.sums(new), self.most_together
        # What is stored of a record, and the shift, are at most three times as long as its columns.
        pair = products.weighted_sums(
            self.storage, new, self.shift, total=total, spread=8.0, most_together=most
        )
        inside = products.mapped(basis, pair).rounded()
        return np.concatenate([np.tile(total.rounded(), (self.constant, 1)), inside])

    def lengths(self, matrix: Array) -> Array:
        """L2 norms of the rows of ``columns @ matrix``, or a bit more: never less.

        A record whose coordinates are what is left when much longer terms cancel counts as a
        longer one, so that these terms are bounded too.
        """
        inside = self._inside(matrix)
        start = matrix[: self.constant].sum(axis=0) - self.shift @ inside
        squares, sizes = norms.mapped_squares(self.storage, inside, start)
        terms = np.sqrt(np.square(inside).sum(axis=1))
        sizes += np.abs(self.shift) @ terms
        sizes += np.sqrt(np.square(matrix[: self.constant]).sum())
        return norms.never_less(squares, sizes, matrix.shape)

    def sums(self, residuals: Array, matrix: Array) -> Array:
        """Multiply the transpose of ``columns @ matrix`` by residuals (n, K).

        A residual is small enough that, times what `lengths` says of its record, it keeps a bound.
        It is multiplied by the weight of its record here, and nowhere before.
        """
        return self.turned(self.stored_sums(residuals), matrix)

    def stored_sums(self, residuals: Array) -> Pair:
        """What `turned` needs of these records: the same sums before they are in coordinates.

        Of the constant column, if there is one, then of what is stored, shifted, and of products.
        """
        residuals = weighed(residuals, self.weights)
        total, spread, most = products.sums(residuals), norms.MOST_CANCELED, self.most_together
        pair = products.weighted_sums(
            self.storage, residuals, self.shift, total=total, spread=spread, most_together=most
        )
        if self.crossed is not None:
            pair = pair.above(self.crossed.sums(residuals, spread, most))
        return Pair(total.high[None], total.low[None]).above(pair) if self.constant else pair

    def turned(self, pair: Pair, matrix: Array) -> Array:
        """Sums of ``columns @ matrix`` from `stored_sums`, of all parts together."""
        first, stored = self.constant, self.constant + self.storage.shape[1]
        matrix, inside = matrix.copy(), slice(first, first + self.width)
        if self.basis is None:
            matrix[inside] /= self.scale[:, None]
        else:
            columns = products.mapped(self.basis, pair.only(slice(first, stored)))
            rest = columns.above(pair.only(slice(stored, None)))
            pair = pair.only(slice(first)).above(rest)
        return products.mapped(matrix, pair).rounded()

    def parts(self) -> Iterator[tuple["ColumnSubset", slice]]:
        """Some records at a time: few enough that what was read once is still in a cache.

        Whole groups of records, so that sums are those of all of them but for what pairs are off by
        (summation.md, 5). Of sparse records there is one part: they are smaller, and it takes long
        to cut them.
        """
        n, d = self.storage.shape
        step = max(1, ENTRIES_IN_PART // max(1, d) // 64) * 64
        if step >= n or not isinstance(self.storage, np.ndarray):
            yield self, slice(0, n)
            return
        most = max(n, self.most_together or 0)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            weights = None if self.weights is None else self.weights[part]
            offset = None if self.offset is None else self.offset[part]
            crossed = None if self.crossed is None else self.crossed.rows(part)
            some = replace(self, storage=self.storage[part], weights=weights, offset=offset)
            yield replace(some, most_together=most, crossed=crossed), part
