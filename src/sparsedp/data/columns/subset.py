"""A few columns of a block of records, and sums over records in other coordinates of them.

Coordinates are those of ``columns @ matrix``: they are not written down for every record, as sums
and norms can be had without (proof: summation.md).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from sparsedp.data.columns import hats, index
from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Array, Storage
from sparsedp.data.sums import norms, products
from sparsedp.data.sums.weighed import weighed

MOST_CANCELED = 2.0**10
"""The terms of a record's coordinates may be longer than these by this factor; see `lengths`."""

MOST_TURNED = 16
"""A matrix whose coordinates were turned is off by this times its size, in roundings, at most."""

ENTRIES_AT_ONCE = 2**19
"""Of dense copies: few enough to stay in a cache."""

ENTRIES_IN_PART = 2**19
"""Of records that are looked at twice in a row: few enough to stay in a cache, many enough that a
part takes far longer than to begin with it."""

SHORTEST = 2.0**-500
"""Far more than what squares that vanish can take from a length, and far less than any that counts.
"""


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
        basis: Array,
        before: "ColumnSubset",
    ) -> "ColumnSubset":
        """Take features from a block, after what was taken before: some as hats, some as they are.

        Parameters
        ----------
        block : Dataset
            In unit coordinates.
        features : ndarray of int
        knots : ndarray of shape (len(features), q)
            In unit coordinates; those of a feature that is stored as it is are not numbers.
        basis : ndarray
            Of all that is stored then, the earlier features included.
        before : ColumnSubset
            Made by this function too, or without features.
        """
        width = before.storage.shape[1]
        sizes = np.where(np.isnan(knots[:, 0]), 1, knots.shape[1])
        starts = (width + np.cumsum(sizes) - sizes).astype(np.int32)
        places, parts = hats.hats(block.columns(features), knots, starts)
        old = before.storage
        if width and not isinstance(old, np.ndarray):
            shape = len(parts), old.nnz // max(len(parts), 1)  # there may be no records
            places = np.hstack([old.indices.reshape(shape), places])
            parts = np.hstack([old.data.reshape(shape), parts])
        storage = hats.by_rows(places, parts, width + int(sizes.sum()))
        return cls(
            storage,
            int(block.intercept),
            np.concatenate([before.features, features]),
            np.zeros(storage.shape[1]),
            np.ones(storage.shape[1]),
            block.most_together,
            None,
            block.weights,
            block.offset,
            basis,
        )

    @classmethod
    def with_products(
        cls,
        block: Dataset,
        first: NDArray[np.intp],
        second: NDArray[np.intp],
        before: "ColumnSubset",
    ) -> "ColumnSubset":
        """After what was taken before, products of two features each, of any in a block.

        Parameters
        ----------
        block : Dataset
            In unit coordinates.
        first, second : ndarray of int
            Features.
        before : ColumnSubset
            Of the same block.
        """
        features = np.union1d(first, second)
        units, count, basis = block.columns(features), len(first), before.basis
        more = np.empty((len(units), count))
        places = zip(
            np.searchsorted(features, first), np.searchsorted(features, second), strict=True
        )
        for pair, (one, other) in enumerate(places):  # of many records a copy is not made lightly
            np.multiply(units[:, one], units[:, other], out=more[:, pair])
        return replace(
            before,
            storage=index.beside(before.storage, more),
            features=np.concatenate([before.features, np.full(count, block.n_features)]),
            shift=np.concatenate([before.shift, np.zeros(count)]),
            scale=np.concatenate([before.scale, np.ones(count)]),
            known=None,
            basis=None if basis is None else np.asarray(block_diag(basis, np.eye(count))),
        )

    @property
    def width(self) -> int:
        """Number of columns without the constant one."""
        return self.storage.shape[1] if self.basis is None else self.basis.shape[1]

    def _inside(self, matrix: Array) -> Array:
        """A matrix of all columns but the constant one, as one of what is stored."""
        inside = matrix[self.constant :]
        return (inside if self.basis is None else self.basis @ inside) / self.scale[:, None]

    def margins(self, weights: Array) -> Array:
        """Multiply by weights (constant + k, K) and add the offset, if there is one.

        A record's margins depend on it alone.
        """
        inside = self._inside(weights)
        start = weights[: self.constant].sum(axis=0) - self.shift @ inside
        margins = products.times(self.storage, inside, start)
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
            first[0] = 1.0
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
        """The same where columns are sums of what is stored: neither shifted nor scaled."""
        new = weighed(products.times(self.storage, basis[:, first:]), self.weights)
        total = products.sums(new)
        pair = products.weighted_sums(
            self.storage, new, spread=2.0, most_together=self.most_together
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
        slack = (sum(matrix.shape) + 32 + MOST_TURNED * matrix.size) * products.UNIT
        lengths: Array = np.sqrt(squares, out=squares)
        lengths += slack * sizes
        lengths += math.sqrt(matrix.size + 32) * SHORTEST
        sizes /= MOST_CANCELED
        np.maximum(lengths, sizes, out=lengths)
        return lengths

    def sums(self, residuals: Array, matrix: Array) -> Array:
        """Multiply the transpose of ``columns @ matrix`` by residuals (n, K).

        A residual is small enough that, times what `lengths` says of its record, it keeps a bound.
        It is multiplied by the weight of its record here, and nowhere before.
        """
        return self.turned(self.stored_sums(residuals), matrix)

    def stored_sums(self, residuals: Array) -> products.Pair:
        """What `turned` needs of these records: the same sums before they are in coordinates.

        Of the constant column, if there is one, and then of what is stored, shifted.
        """
        residuals = weighed(residuals, self.weights)
        total = products.sums(residuals)
        pair = products.weighted_sums(
            self.storage,
            residuals,
            self.shift,
            total=total,
            spread=MOST_CANCELED,
            most_together=self.most_together,
        )
        return pair if not self.constant else _below(total.high[None], total.low[None], pair)

    def turned(self, pair: products.Pair, matrix: Array) -> Array:
        """Sums of ``columns @ matrix`` from `stored_sums`, of all parts together."""
        first, inside = self.constant, matrix[self.constant :]
        if self.basis is None:
            inside = inside / self.scale[:, None]
        else:
            stored = products.Pair(pair.high[first:], pair.low[first:])
            columns = products.mapped(self.basis, stored)
            pair = _below(pair.high[:first], pair.low[:first], columns)
        return products.mapped(np.concatenate([matrix[:first], inside]), pair).rounded()

    def parts(self) -> Iterator[tuple["ColumnSubset", slice]]:
        """Some records at a time: few enough that what was read once is still in a cache.

        Whole groups of records, so that sums are those of all of them but for what pairs are off by
        (summation.md, 5). Of sparse records there is one part: they are smaller, and it takes long
        to cut them.
        """
        n, d = self.storage.shape
        step = max(1, ENTRIES_IN_PART // max(1, d) // 8) * 8
        if step >= n or not isinstance(self.storage, np.ndarray):
            yield self, slice(0, n)
            return
        most = max(n, self.most_together or 0)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            weights = None if self.weights is None else self.weights[part]
            offset = None if self.offset is None else self.offset[part]
            some = self.storage[part]
            yield (
                replace(self, storage=some, most_together=most, weights=weights, offset=offset),
                part,
            )


def _below(high: Array, low: Array, pair: products.Pair) -> products.Pair:
    """More sums above those of a pair."""
    return products.Pair(np.concatenate([high, pair.high]), np.concatenate([low, pair.low]))
