"""How Pursuit spends its budget: decided by public facts, and refined by released counts."""

import math
from dataclasses import dataclass, fields

import numpy as np

from sparsedp.privacy import Neighbors, PublicFacts, Sensitivity


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of a budget; together 1 before they are scaled."""

    counts: float
    bounds: float
    selection: float
    gram: float
    middle: float
    """Steps between selections."""
    fit: float
    """Steps after them."""

    def times(self, factor: float) -> "Shares":
        """All of them multiplied."""
        return Shares(**{f.name: factor * getattr(self, f.name) for f in fields(self)})


BOX = Shares(counts=0.01, bounds=0.08, selection=0.35, gram=0.10, middle=0.10, fit=0.36)
"""Where features have bounds of their own."""

ROWS = Shares(counts=0.01, bounds=0.0, selection=0.54, gram=0.05, middle=0.06, fit=0.34)
"""Where rows have a norm: one noisy gradient shows all features, and there are many."""

N_ROW_ROUNDS, FIRST_ROW_ROUND = 2, 0.2
"""Rounds of selection where noise is added to the whole gradient, and the part of the features that
the first one chooses: the second sees both gradients."""

FEWEST_ROUNDS = 2

PRIOR = 2.0
"""What a public model's word is worth: its features are e^2 times as likely to be chosen."""


@dataclass(frozen=True)
class Plan:
    """What is decided before any data are seen.

    Parameters
    ----------
    size : int
        Features of the model.
    model : ndarray of shape (n_columns, n_outputs) or None
        A public model in unit coordinates.
    by_rows : bool
        Whether records are bounded by their norm instead of feature by feature: noise then goes
        on the whole gradient, and there are no selections by the exponential mechanism.
    intercept, row_norm, neighbors
        As in `PublicFacts`.
    """

    size: int
    model: np.ndarray | None
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
        model = public.initial_weights
        if model is not None:
            model = model.reshape(public.n_columns, -1)
        # Noise of the largest of d Gaussians in every round, for rows of this norm, against that of
        # the largest of d Gumbel variables in every selection, for features of ordinary width.
        log_d = math.log(max(d, 2))
        gumbel = public.half_width * math.sqrt(size) * log_d
        by_rows = public.row_norm is not None and (
            public.row_norm * math.sqrt(2 * N_ROW_ROUNDS * log_d) < gumbel
        )
        return cls(size, model, by_rows, public.intercept, public.row_norm, public.neighbors)

    @property
    def prior(self) -> np.ndarray | float:
        """Head start of each feature in a selection, in units of its noise, by a public model.

        The heaviest features of the model, as many as are chosen, get all of it, the others less.
        """
        if self.model is None:
            return 0.0
        d = len(self.model) - self.intercept
        heights = np.linalg.norm(self.model[:d], axis=1)
        enough = np.sort(heights)[-self.size]
        if enough == 0:  # a sparse model: all its features are heavy
            return PRIOR * (heights > 0)
        return PRIOR * np.minimum(1, heights / enough)

    @property
    def row_length(self) -> float:
        """The declared row norm, where the plan goes by rows."""
        assert self.row_norm is not None
        return self.row_norm

    @property
    def shares(self) -> Shares:
        """Of the Gaussian request.

        It does not pay for selections by the exponential mechanism; `selection` is then what
        their budget is worth on its scale.
        """
        return ROWS if self.by_rows else BOX.times(1 / (1 - BOX.selection))

    def rounds(self, n_records: float, curvature: float, noise: float) -> list[int]:
        """Numbers of features to choose in each round, the larger ones last.

        More rounds choose better, but each needs a step of its own, which noise must not drown:
        their number follows from released counts and from the noise of a sum that had the whole
        budget.
        """
        if self.by_rows:
            first = max(round(FIRST_ROW_ROUND * self.size), 1)
            return [first, self.size - first] if first < self.size else [first]
        wanted = round(min(0.5 * n_records * curvature / (noise * self.size), 1e9))
        n_rounds = min(max(wanted, FEWEST_ROUNDS), self.size)
        smaller, n_larger = divmod(self.size, n_rounds)
        return [smaller] * (n_rounds - n_larger) + [smaller + 1] * n_larger

    def gram_blocks(self, rounds: list[int], share: float) -> list[tuple[Sensitivity, float]]:
        """Sensitivity and share of each block of new Gram entries, one per round.

        The shares give all entries the same noise. Proof of the sensitivities: pursuit.md.
        """
        if self.by_rows:
            sensitivities = [row_gram(self.row_length, self.intercept)] * len(rounds)
        else:
            before = np.cumsum([int(self.intercept), *rounds])
            sensitivities = [
                box_gram(int(old), new) for old, new in zip(before, rounds, strict=False)
            ]
        squares = [sensitivity.under(self.neighbors) ** 2 for sensitivity in sensitivities]
        return [
            (sensitivity, share * square / sum(squares))
            for sensitivity, square in zip(sensitivities, squares, strict=True)
        ]


def box_gram(old: int, new: int) -> Sensitivity:
    """Of sums of products of new columns with each other and with old ones, all in [-1, 1]."""
    n_entries = new * old + new * (new + 1) // 2
    return Sensitivity(
        add_remove=math.sqrt(n_entries), replace_one=math.sqrt(new * (new + 4 * old))
    )


def row_gram(norm: float, intercept: bool) -> Sensitivity:
    """Of sums of x_a x_q for a <= q, and of x_q with an intercept, for rows of this norm."""
    square = norm**2
    if not intercept:
        return Sensitivity(add_remove=square, replace_one=math.sqrt(2) * square)
    replaced = (2 * square + 1) / math.sqrt(2) if square >= 0.5 else 2 * norm
    return Sensitivity(add_remove=norm * math.sqrt(1 + square), replace_one=replaced)
