"""A block of records by columns: their sizes, and a storage that yields single ones fast."""

from dataclasses import replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.storage import Array, entry_columns, entry_rows
from sparsedp.data.sums.weighed import weighed

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
    """Sums of absolute entries, by weight, and of squared ones, of each column that solvers see.

    Private. Squares do not go by weight, as margins do not. Rounding may make them too small, by
    less than one part in a million.
    """
    n, d = block.n_records, block.n_features
    shift = np.zeros(d) if block.shift is None else block.shift
    scale = np.ones(d) if block.scale is None else block.scale
    sums, squares = np.empty(d), np.empty(d)
    if isinstance(block.storage, np.ndarray):
        for start in range(0, d, CHUNK):
            part = slice(start, start + CHUNK)
            sizes = np.abs(block.storage[:, part] - shift[part])
            sums[part] = weighed(sizes, block.weights).sum(axis=0)
            squares[part] = np.square(sizes).sum(axis=0)
    else:
        columns = entry_columns(block.storage)
        sizes = np.abs(block.storage.data - shift[columns])
        shares = None if block.weights is None else block.weights[entry_rows(block.storage)]
        implicit = block.total_weight - np.bincount(columns, shares, minlength=d)
        sums = np.bincount(columns, weighed(sizes, shares), minlength=d) + implicit * np.abs(shift)
        n_implicit = n - np.bincount(columns, minlength=d)
        squares = np.bincount(columns, sizes**2, minlength=d) + n_implicit * shift**2
    sums, squares = sums / scale, squares / scale**2
    if block.intercept:
        sums, squares = np.append(sums, block.total_weight), np.append(squares, n)
    return sums, squares
