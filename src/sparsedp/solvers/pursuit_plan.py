"""How Pursuit spends its budget: decided by public facts, and refined by released counts."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.privacy import Neighbors, PublicFacts, Sensitivity
from sparsedp.solvers.pursuit_moments import PROBE

COUNTS, BOUNDS, SELECTION, GRAM, MIDDLE, FIT = 0.01, 0.08, 0.45, 0.10, 0.10, 0.26
"""Shares of the budget; they add up to 1."""

N_ROW_ROUNDS = 2
"""Rounds of selection where noise is added to the whole gradient."""


@dataclass(frozen=True)
class Plan:
    """What is decided before any data are seen.

    Parameters
    ----------
    size : int
        Features of the model.
    start : ndarray of int
        Features that a public model gives, heaviest first; the others are chosen privately.
    model : ndarray of shape (n_columns, n_outputs)
        The public model in unit coordinates; empty if there is none.
    by_rows : bool
        Whether records are bounded by their norm instead of feature by feature: noise then goes
        on the whole gradient, and there are no selections by the exponential mechanism.
    intercept, row_norm, neighbors
        As in `PublicFacts`.
    """

    size: int
    start: np.ndarray
    model: np.ndarray
    by_rows: bool
    intercept: bool
    row_norm: float | None
    neighbors: Neighbors

    @classmethod
    def of(cls, public: PublicFacts, size: int) -> "Plan":
        """Plan with the facts that everybody may know."""
        d = public.n_features
        if size > d:
            raise ValueError(f"n_nonzero={size} is more than the {d} features of the data")
        start, model = np.zeros(0, dtype=np.intp), np.zeros((0, 0))
        if public.initial_weights is not None:
            model = public.initial_weights.reshape(public.n_columns, -1)
            heights = np.linalg.norm(model[:d], axis=1)
            start = np.argsort(-heights, kind="stable")[:size]
            start = start[heights[start] > 0]
        # Noise of the largest of d Gaussians in every round, for rows of this norm, against that of
        # the largest of d Gumbel variables in every selection, for features of ordinary size.
        log_d = math.log(max(d, 2))
        by_rows = public.row_norm is not None and (
            public.row_norm * math.sqrt(2 * N_ROW_ROUNDS * log_d) < math.sqrt(size) * log_d
        )
        return cls(
            size, start, model, by_rows, public.intercept, public.row_norm, public.neighbors
        )

    @property
    def n_chosen(self) -> int:
        """Features to choose privately."""
        return self.size - len(self.start)

    def share(self, part: float) -> float:
        """Turn a part of the whole budget into a share of the Gaussian request.

        Without histograms or selections to pay for, the others get more.
        """
        paid = 1.0
        if self.by_rows:
            paid -= BOUNDS
        if not self.by_rows or self.n_chosen == 0:
            paid -= SELECTION
        return part * (1 - PROBE) / paid

    def rounds(self, n_records: float, curvature: float, noise: float) -> list[int]:
        """Numbers of features to choose in each round, the larger ones last.

        More rounds choose better, but each needs a step of its own, which noise must not drown:
        their number follows from the released count and from the noise of a sum.
        """
        if self.n_chosen == 0:
            return []
        if self.by_rows:
            n_rounds = min(N_ROW_ROUNDS, self.n_chosen)
        else:
            wanted = round(min(0.5 * n_records * curvature / (noise * self.size), 1e9))
            n_rounds = min(max(wanted, 2), self.n_chosen)
        smaller, n_larger = divmod(self.n_chosen, n_rounds)
        return [smaller] * (n_rounds - n_larger) + [smaller + 1] * n_larger

    def gram_blocks(self, rounds: list[int], share: float) -> list[tuple[Sensitivity, float]]:
        """Sensitivity and share of each block of new Gram entries, the public model's first.

        The shares give all entries the same noise. Proof of the sensitivities: pursuit.md.
        """
        sizes = [len(self.start)] * (len(self.start) > 0) + rounds
        if self.by_rows:
            assert self.row_norm is not None
            reaches = [_row_gram(self.row_norm, self.intercept)] * len(sizes)
        else:
            before = np.cumsum([int(self.intercept), *sizes])
            reaches = [_box_gram(int(old), new) for old, new in zip(before, sizes, strict=False)]
        squares = [reach.under(self.neighbors) ** 2 for reach in reaches]
        return [
            (reach, share * square / sum(squares))
            for reach, square in zip(reaches, squares, strict=True)
        ]


def _box_gram(old: int, new: int) -> Sensitivity:
    """Of sums of products of new columns with each other and with old ones, all in [-1, 1]."""
    n_entries = new * old + new * (new + 1) // 2
    return Sensitivity(
        add_remove=math.sqrt(n_entries), replace_one=math.sqrt(new * (new + 4 * old))
    )


def _row_gram(norm: float, intercept: bool) -> Sensitivity:
    """Of the sums of x_a x_q for a <= q, and of x_q with an intercept, for rows of this norm."""
    square = norm**2
    if not intercept:
        return Sensitivity(add_remove=square, replace_one=math.sqrt(2) * square)
    replaced = (2 * square + 1) / math.sqrt(2) if square >= 0.5 else 2 * norm
    return Sensitivity(add_remove=norm * math.sqrt(1 + square), replace_one=replaced)
