"""Sufficient statistics of least squares: sums over records, and what one of them can move.

Whatever is computed from a block is private until a curator releases the sum over all blocks.
Proof of the sensitivities: ada_ssp.md.
"""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.records import feature_norm_bound
from sparsedp.data.sums.products import GramSum
from sparsedp.data.sums.weighed import weighed
from sparsedp.losses import Coded
from sparsedp.privacy import PublicFacts, Sensitivity
from sparsedp.solvers.clipping import shrink

MOST_COLUMNS = 2000
"""A Gram matrix has the square of it: beyond, noise drowns it long before memory ends."""

SOME_RECORDS = 2048
"""Rows that are written out at a time."""


def check_columns(public: PublicFacts, solver: str) -> None:
    """Raise ValueError where the Gram matrix would be too large."""
    if public.n_features > MOST_COLUMNS:
        raise ValueError(
            f"{solver} releases products of all pairs of features, of which there may be "
            f"{MOST_COLUMNS}: take a solver that selects, such as 'pursuit' or Screened"
        )


@dataclass(frozen=True, eq=False)
class GramOf:
    """Products of all columns, by the weights of records (private)."""

    def __call__(self, block: Dataset) -> np.ndarray:
        """Sums over the block's records."""
        n, width = block.n_records, block.n_columns
        found = GramSum(width, max(n, block.most_together or 0))
        for start in range(0, n, SOME_RECORDS):
            chosen = np.zeros(n, dtype=bool)
            chosen[start : start + SOME_RECORDS] = True
            some = block.rows(chosen)
            values = some.columns(np.arange(width))
            found.add(values, weighed(values, some.weights))
        return found.rounded()


@dataclass(frozen=True, eq=False)
class ResidualProducts:
    """Products of the columns with what weights leave of the codes, clipped (private)."""

    loss: Coded
    weights: np.ndarray
    clip: float

    def __call__(self, block: Dataset) -> np.ndarray:
        """Sums over the block's records."""
        left = self.loss.codes(block.target) - block.matvec(self.weights)
        left = np.ascontiguousarray(left, dtype=np.float64)
        return block.rmatvec(shrink(left, np.ones(len(left)), self.clip)[0])


def gram_sensitivity(view: Dataset) -> Sensitivity:
    """Of the products of columns, each pair once, in L2 norm."""
    columns = float(view.n_columns)
    if view.view == "unit":
        return Sensitivity(add_remove=math.sqrt(columns * (columns + 1) / 2), replace_one=columns)
    square = feature_norm_bound(view) ** 2
    if not view.intercept:
        return Sensitivity(add_remove=square, replace_one=math.sqrt(2) * square)
    replaced = (2 * square + 1) / math.sqrt(2) if square >= 0.5 else 2 * math.sqrt(square)
    return Sensitivity(add_remove=math.sqrt(square * (1 + square) + 1), replace_one=replaced)


def mirrored(upper: np.ndarray, width: int) -> np.ndarray:
    """The symmetric matrix whose upper triangle, row by row, was released."""
    found = np.zeros((width, width))
    found[np.triu_indices(width)] = upper
    return found + np.triu(found, 1).T
