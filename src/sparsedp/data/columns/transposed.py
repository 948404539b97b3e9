"""A block of records by columns: their sizes, and a storage that yields single ones fast."""

from dataclasses import replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Array, entry_columns

CHUNK = 64
"""Dense columns that are looked at together."""


def by_columns(block: Dataset) -> Dataset:
    """The same records; sparse ones stored by columns."""
    if isinstance(block.storage, np.ndarray):
        return block
    storage = block.storage.tocsc(copy=True)
    storage.sort_indices()
    storage.data.flags.writeable = False
    return replace(block, storage=storage)


def column_norms(block: Dataset) -> tuple[Array, Array]:
    """Sum of absolute entries and of squared entries of each column that solvers see. Private.

    Rounding may make them too small, by less than one part in a million.
    """
    n, d = block.n_records, block.n_features
    shift = np.zeros(d) if block.shift is None else block.shift
    scale = np.ones(d) if block.scale is None else block.scale
    sums, squares = np.empty(d), np.empty(d)
    if isinstance(block.storage, np.ndarray):
        for start in range(0, d, CHUNK):
            part = slice(start, start + CHUNK)
            sizes = np.abs(block.storage[:, part] - shift[part])
            sums[part], squares[part] = sizes.sum(axis=0), np.square(sizes).sum(axis=0)
    else:
        columns = entry_columns(block.storage)
        sizes = np.abs(block.storage.data - shift[columns])
        n_implicit = n - np.bincount(columns, minlength=d)
        sums = np.bincount(columns, sizes, minlength=d) + n_implicit * np.abs(shift)
        squares = np.bincount(columns, sizes**2, minlength=d) + n_implicit * shift**2
    sums, squares = sums / scale, squares / scale**2
    if block.intercept:
        sums, squares = np.append(sums, n), np.append(squares, n)
    return sums, squares
