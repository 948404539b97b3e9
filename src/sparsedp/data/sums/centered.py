"""Products with records as solvers see them: stored values, shifted and scaled on the way."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsedp.data.storage import Array, Storage
from sparsedp.data.sums import norms, products

NORM_SLACK = 1e-12
"""Norms of rows are this much too long, so that rounding cannot make them too short."""


@dataclass(frozen=True, eq=False, repr=False)
class CenteredMatrix:
    """The matrix ``(storage - shift) / scale``, and with an intercept a last column of ones.

    It is never written down, so that sparse records stay sparse.

    Parameters
    ----------
    storage : ndarray, csr_array or csc_array of shape (n, d)
        Private.
    shift, scale : ndarray of shape (d,), or None
        None means 0 and 1. Public, like all that follows.
    intercept : bool
    row_norm : float or None
        The declared L2 bound on a record's features.
    most_together : int or None
        If these records are one block of several, how many there are in all at most.
    """

    storage: Storage
    shift: Array | None
    scale: Array | None
    intercept: bool
    row_norm: float | None
    most_together: int | None

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of records and of columns."""
        n, d = self.storage.shape
        return n, d + self.intercept

    def times(self, w: ArrayLike, center: ArrayLike | None) -> Array:
        """Multiply by weights, after `center` is subtracted from the features of every record."""
        weights = np.asarray(w, dtype=np.float64)
        d, n_columns = self.storage.shape[1], self.shape[1]
        if weights.ndim not in (1, 2) or weights.shape[0] != n_columns:
            raise ValueError(f"weights need {n_columns} rows, one per column.")
        shift, scale = self._shift(center), self.scale
        features = weights[:d] if scale is None else (weights[:d].T / scale).T
        start = weights[d] if self.intercept else np.zeros(weights.shape[1:])
        if shift is not None:
            start = start - shift @ features
        return products.times(self.storage, features, start)

    def transposed_times(self, r: ArrayLike, center: ArrayLike | None) -> Array:
        """Multiply the transpose by residuals: sums over records."""
        residual = np.asarray(r, dtype=np.float64)
        if residual.ndim not in (1, 2) or residual.shape[0] != self.shape[0]:
            raise ValueError("residuals need one row per record.")
        d, scale = self.storage.shape[1], self.scale
        sums = np.empty((self.shape[1], *residual.shape[1:]))
        total = products.sums(residual)
        pair = products.weighted_sums(
            self.storage,
            residual,
            self._shift(center),
            total=total,
            spread=self._spread,
            most_together=self.most_together,
        )
        sums[:d] = pair.rounded()
        if scale is not None:
            sums[:d] /= scale.reshape(-1, *[1] * (residual.ndim - 1))
        if self.intercept:
            sums[d] = total.rounded()
        return sums

    def row_norms(self, center: ArrayLike | None) -> Array:
        """L2 norm of every row, or a bit more: never less."""
        scale = self.scale
        factor = np.ones(self.storage.shape[1]) if scale is None else 1 / scale
        squares = norms.row_squares(self.storage, factor, self._shift(center))
        return np.sqrt(squares + self.intercept) * (1 + NORM_SLACK)

    def columns(self, features: NDArray[np.intp], lower: ArrayLike, upper: ArrayLike) -> Array:
        """A dense copy of the columns of some features, clipped to their limits."""
        if isinstance(self.storage, np.ndarray) and _in_a_row(features):
            values = self.storage[:, features[0] : features[-1] + 1].copy()
        else:
            found = self.storage[:, features]
            values = found if isinstance(found, np.ndarray) else found.toarray()
        if self.shift is not None:
            values -= self.shift[features]
        if self.scale is not None:
            values /= self.scale[features]
        return np.clip(values, lower, upper, out=values)

    @cached_property
    def _spread(self) -> float | None:
        """Bound on the norm of a record's terms in sums over what it contributes (summation.md)."""
        if isinstance(self.storage, np.ndarray):
            return None
        n_entries = self.storage.shape[1]
        if self.storage.format == "csr":
            n_entries = np.diff(self.storage.indptr).max(initial=1)
        return 2 * max(float(np.sqrt(n_entries)), self.row_norm or 0.0)

    def _shift(self, center: ArrayLike | None) -> Array | None:
        """What to subtract from `storage`, so that solvers see features minus `center`."""
        if center is None:
            return self.shift
        moved = np.asarray(center, dtype=np.float64)
        moved = moved if self.scale is None else moved * self.scale
        return moved if self.shift is None else self.shift + moved


def _in_a_row(features: NDArray[np.intp]) -> bool:
    """Whether they follow one another: a slice of them is read faster."""
    return len(features) > 0 and bool((np.diff(features) == 1).all())
