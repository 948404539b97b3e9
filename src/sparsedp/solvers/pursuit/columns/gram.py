"""The Gram matrix of the chosen columns: what one record moves it by, and what its blocks cost.

Proof: pursuit.md (columns in [-1, 1] and rows with a norm), shapes.md (columns with limits).
"""

import math
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from sparsedp.data.records import Derived
from sparsedp.privacy import Neighbors, Sensitivity
from sparsedp.solvers.pursuit.moments import Moments
from sparsedp.solvers.pursuit.records import GramColumns


def block_gram(old: float, new: np.ndarray) -> Sensitivity:
    """Of sums of products of new columns with each other and with old ones.

    Parameters
    ----------
    old : float
        Sum of the squared limits of the old columns, the constant included.
    new : ndarray
        Limits of the new ones.
    """
    squares, fourths = float(np.sum(new**2)), float(np.sum(new**4))
    return Sensitivity(
        add_remove=math.sqrt(squares * old + (squares**2 + fourths) / 2),
        replace_one=math.sqrt(squares**2 + 4 * squares * old),
    )


def all_blocks(first: float, squares: float) -> Sensitivity:
    """Of all blocks together, in whatever blocks the columns come.

    Parameters
    ----------
    first : float
        1 with a constant column, else 0.
    squares : float
        Sum of the squared limits of all other columns, or more; limits are at most 1.
    """
    return Sensitivity(
        add_remove=math.sqrt((squares**2 + squares) / 2 + first * squares),
        replace_one=math.sqrt(2 * squares**2 + 4 * first * squares),
    )


def straight_blocks(first: float, rounds: list[int]) -> Sensitivity:
    """Of all blocks together where each round adds so many columns in [-1, 1]."""
    before = np.cumsum([first, *rounds])
    blocks = [block_gram(float(b), np.ones(new)) for b, new in zip(before, rounds, strict=False)]
    return Sensitivity(
        add_remove=math.sqrt(sum(block.add_remove**2 for block in blocks)),
        replace_one=math.sqrt(sum(block.replace_one**2 for block in blocks)),
    )


def row_gram(norm: float, intercept: bool) -> Sensitivity:
    """Of sums of x_a x_q for a <= q, and of x_q with an intercept, for rows of this norm."""
    square = norm**2
    if not intercept:
        return Sensitivity(add_remove=square, replace_one=math.sqrt(2) * square)
    replaced = (2 * square + 1) / math.sqrt(2) if square >= 0.5 else 2 * norm
    return Sensitivity(add_remove=norm * math.sqrt(1 + square), replace_one=replaced)


@dataclass(frozen=True, eq=False)
class Alike:
    """Records about a center, as far from it in all directions. Released.

    Parameters
    ----------
    center : ndarray
        Of the columns but for the constant one.
    each : float
        Mean square along a direction that steps go by.
    likely : float
        What it is likely to be, over that.
    lengths : ndarray or None
        Of steps along every column, over what they would be; None for 1.
    constant : float
        What the constant column counts in the coordinates.
    """

    center: np.ndarray
    each: float
    likely: float
    lengths: np.ndarray | None = None
    constant: float = 1.0

    def only(self, some: np.ndarray) -> "Alike":
        """Of some columns alone."""
        lengths = None if self.lengths is None else self.lengths[some]
        return replace(self, center=self.center[some], lengths=lengths)

    def coordinates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Whitening, what undoes it, and likely mean squares of the whitened coordinates.

        The first one is constant, the others are columns less their center.
        """
        d, root = len(self.center), math.sqrt(self.each)
        roots = np.full(d, root) if self.lengths is None else root / self.lengths
        diagonal = np.append(1 / self.constant, roots)
        whitening, back = np.diag(1 / diagonal), np.diag(diagonal)
        whitening[0, 1:] = -self.center / roots
        back[0, 1:] = self.center / self.constant
        return whitening, back, np.append(self.constant**2, np.full(d, self.likely))


class GramBudget(Protocol):
    """Pays for the Gram matrix of the chosen columns, block by block."""

    @property
    def noise(self) -> float:
        """Standard deviation of the noise in an entry. Public or released."""
        ...

    @property
    def left(self) -> float:
        """The share that the chosen columns did not need."""
        ...

    @property
    def alike(self) -> "Alike | None":
        """What stands in for the Gram matrix, where records spread in all directions alike."""
        ...

    def block(self, columns: Derived, n_old: int, old: float, new: np.ndarray) -> np.ndarray:
        """Release products of new columns with all: (columns, new ones), entries below the
        diagonal being zero.

        Parameters
        ----------
        columns : Derived
            Of `ColumnSubset`, the new ones last. Private.
        n_old : int
            Columns that are not new, the constant included.
        old : float
            Sum of the squares of their limits.
        new : ndarray
            Limits of the new ones.
        """
        ...


@dataclass
class BlockGram:
    """A share for all blocks, of which each gets what gives all entries the same noise.

    Parameters
    ----------
    moments : Moments
    share : float
        Of the Gaussian budget.
    total : Sensitivity
        Of all blocks together: the square root of the sum of their squares, or more. For rows with
        a norm, of every block.
    neighbors : str
    n_blocks : int or None
        For rows with a norm: every block costs the same.
    """

    moments: Moments
    share: float
    total: Sensitivity
    neighbors: Neighbors
    n_blocks: int | None = None
    spent: float = field(default=0.0, init=False)
    alike: "Alike | None" = field(default=None, init=False)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise in every entry. Public or released."""
        return self.moments.deviation(self.total, self.share / (self.n_blocks or 1))

    @property
    def left(self) -> float:
        """The share that the chosen columns did not need."""
        return max(self.share - self.spent, 0.0)

    def block(self, columns: Derived, n_old: int, old: float, new: np.ndarray) -> np.ndarray:
        """Release a block; see `GramBudget`."""
        if self.n_blocks is not None:
            sensitivity, share = self.total, self.share / self.n_blocks
        else:
            sensitivity = block_gram(old, new)
            part = sensitivity.under(self.neighbors) / self.total.under(self.neighbors)
            share = self.share * part**2
        self.spent += share
        products = columns.total(GramColumns(n_old))  # private
        upper = np.arange(n_old + len(new))[:, None] <= np.arange(n_old, n_old + len(new))
        found = np.zeros(products.shape)
        found[upper] = self.moments.release(products[upper], sensitivity, share)  # released
        return found
