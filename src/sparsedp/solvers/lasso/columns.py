"""A few columns of the data, and what the minimum of a penalized loss needs of them.

Columns are held as factor_j s_j - offset_j with s_j as stored: sparse columns stay sparse although
a centered column is dense.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sparsedp._kernels import COMPILED
from sparsedp._kernels.lasso import coordinate_reference
from sparsedp.data.dataset import Dataset

if COMPILED:
    from sparsedp._kernels.lasso import coordinate as kernels
else:
    kernels = coordinate_reference

Stored = np.ndarray | sparse.csc_array
Some = np.ndarray | slice

DENSE = 0.3
"""Part of the entries beyond which columns are multiplied as an array."""


def stored_sparse(data: Dataset) -> bool:
    """Whether the records are one sparse matrix; blocks of records give dense columns."""
    return isinstance(data, Dataset) and data.has_implicit_zeros


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of the data for chosen entries of the weights. Private.

    Parameters
    ----------
    stored : ndarray or csc_array of shape (n, u)
        The columns s_j.
    factor, offset : ndarray of shape (u,)
    place : ndarray of shape (m,)
        For every chosen entry of the weights its column here.
    output : ndarray of shape (m,)
        For every chosen entry the output (class) that it is a weight of.
    n_outputs : int
    """

    stored: Stored
    factor: np.ndarray
    offset: np.ndarray
    place: np.ndarray
    output: np.ndarray
    n_outputs: int

    @classmethod
    def of(cls, data: Dataset, entries: np.ndarray, n_outputs: int) -> "Columns":
        """Take the columns of these entries of the flattened weights, in increasing order."""
        chosen, place = np.unique(entries // n_outputs, return_inverse=True)
        output = entries % n_outputs
        if not stored_sparse(data):
            one, zero = np.ones(len(chosen)), np.zeros(len(chosen))
            return cls(data.columns(chosen), one, zero, place, output, n_outputs)
        features = chosen[chosen < data.n_features]
        found = sparse.csc_array(data.storage[:, features])
        shift, scale = data.shift, data.scale
        factor = np.ones(len(chosen)) if scale is None else 1 / np.append(scale, 1.0)[chosen]
        offset = np.zeros(len(chosen)) if shift is None else np.append(shift, 0.0)[chosen] * factor
        if len(features) < len(chosen):
            # The constant column has no entries and the offset minus one.
            indptr = np.append(found.indptr, found.indptr[-1])
            found = sparse.csc_array(
                (found.data, found.indices, indptr), shape=(data.n_records, len(chosen))
            )
            offset[-1] = -1.0
        if found.nnz > DENSE * data.n_records * len(chosen):
            found = found.toarray()  # a few columns, which take no more room and less time so
        return cls(found, factor, offset, place, output, n_outputs)

    def margins(self, weights: np.ndarray) -> np.ndarray:
        """Scores of all records for weights of the chosen entries alone."""
        table = np.zeros((len(self.factor), self.n_outputs))
        table[self.place, self.output] = weights
        scores = self.stored @ (table * self.factor[:, None]) - self.offset @ table
        return scores[:, 0] if self.n_outputs == 1 else scores

    def gradient(self, residual: np.ndarray) -> np.ndarray:
        """Sum over records for the chosen entries, as `Dataset.rmatvec`."""
        residual = residual.reshape(len(residual), -1)
        sums = self.stored.T @ residual * self.factor[:, None]
        sums -= np.multiply.outer(self.offset, residual.sum(axis=0))
        return sums[self.place, self.output]

    def gram(self, curvature: Callable[[int, int], np.ndarray]) -> np.ndarray:
        """Hessian in the chosen entries.

        Parameters
        ----------
        curvature : callable
            Curvature of each record's loss in its margins of two outputs, shape (n,).
        """
        if self.n_outputs == 1 and not isinstance(self.stored, np.ndarray):
            weights = curvature(0, 0)
            inner = kernels.weighted_gram(*self._rows, weights, len(self.factor))
            return self._centered(inner, slice(None), slice(None), weights)
        size = len(self.place)
        full = np.empty((size, size))
        parts = [self._part(self.place[chosen]) for chosen in self.by_output]
        for c, rows in enumerate(self.by_output):
            for e, columns in enumerate(self.by_output[: c + 1]):
                weights = curvature(c, e)
                inner = parts[c].T @ _times(weights, parts[e])
                block = inner if isinstance(inner, np.ndarray) else inner.toarray()
                block = self._centered(block, self.place[rows], self.place[columns], weights)
                full[np.ix_(rows, columns)] = block
                full[np.ix_(columns, rows)] = block.T
        return full

    def compressed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the stored columns in CSC form as the kernels read them."""
        columns = sparse.csc_array(self.stored)
        return (
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int32),
            columns.data.astype(np.float64),
        )

    @cached_property
    def by_output(self) -> list[np.ndarray]:
        """The chosen entries of each output."""
        return [np.flatnonzero(self.output == c) for c in range(self.n_outputs)]

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows = sparse.csr_array(self.stored)
        rows.sort_indices()
        return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data

    def _part(self, columns: np.ndarray) -> Stored:
        if isinstance(self.stored, np.ndarray):
            return self.stored[:, columns]
        return sparse.csc_array(self.stored[:, columns])

    def _centered(
        self, inner: np.ndarray, rows: Some, columns: Some, weights: np.ndarray
    ) -> np.ndarray:
        """Put factors and offsets to weighted inner products of stored columns."""
        sums = self.factor * (self.stored.T @ weights)
        inner *= np.multiply.outer(self.factor[rows], self.factor[columns])
        inner -= np.multiply.outer(sums[rows], self.offset[columns])
        inner -= np.multiply.outer(self.offset[rows], sums[columns])
        inner += weights.sum() * np.multiply.outer(self.offset[rows], self.offset[columns])
        return inner


def _times(weights: np.ndarray, columns: Stored) -> Stored:
    if isinstance(columns, np.ndarray):
        return weights[:, None] * columns
    weighted = columns.copy()
    weighted.data *= weights[columns.indices]
    return weighted
