"""How Pursuit spends its budget: decided by public facts, and refined by released counts."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from sparsedp.privacy import Neighbors, PublicFacts
from sparsedp.solvers.pursuit.columns.ball import BallGram
from sparsedp.solvers.pursuit.columns.gram import (
    BlockGram,
    GramBudget,
    all_blocks,
    block_gram,
    row_gram,
    straight_blocks,
)
from sparsedp.solvers.pursuit.columns.shapes import Room, Shapes
from sparsedp.solvers.pursuit.moments import Moments


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Parts of a budget; together 1 before they are scaled."""

    counts: float
    bounds: float
    histograms: float
    """Of features that may bend."""
    selection: float
    gram: float
    middle: float
    """Steps between selections."""
    fit: float
    """Steps after them."""
    calibration: float
    """Looks at the predictions."""

    def more(self, share: float) -> "Shares":
        """With a share that is left over, which goes to the Gram matrix and the steps."""
        factor = 1 + share / (self.gram + self.middle + self.fit)
        return replace(
            self, gram=factor * self.gram, middle=factor * self.middle, fit=factor * self.fit
        )

    def honest(self, signal: float) -> "Shares":
        """With more for calibration where noise is loud, at the cost of Gram matrix and steps."""
        wanted = (CALIBRATION_SIGNAL / max(signal, 1e-100)) ** 2 - self.calibration
        most = MOST_FOR_CALIBRATION * (self.gram + self.middle + self.fit)
        more = min(max(wanted, 0.0), most)
        return replace(self.more(-more), calibration=self.calibration + more)

    def times(self, factor: float) -> "Shares":
        """All of them multiplied."""
        return Shares(**{f.name: factor * getattr(self, f.name) for f in fields(self)})


BOX = Shares(
    counts=0.03,
    bounds=0.08,
    histograms=0.02,
    selection=0.35,
    gram=0.15,
    middle=0.10,
    fit=0.21,
    calibration=0.06,
)
"""Where features have bounds of their own."""

TOGETHER = Shares(
    counts=0.05,
    bounds=0.12,
    histograms=0.03,
    selection=0.0,
    gram=0.22,
    middle=0.15,
    fit=0.34,
    calibration=0.09,
)
"""Where all features are fitted at once."""

ROWS = Shares(
    counts=0.02,
    bounds=0.0,
    histograms=0.0,
    selection=0.53,
    gram=0.05,
    middle=0.06,
    fit=0.31,
    calibration=0.03,
)
"""Where rows have a norm: one noisy gradient shows all features, and there are many."""

N_ROW_ROUNDS, FIRST_ROW_ROUND = 2, 0.2
"""Rounds of selection where noise is added to the whole gradient, and the part of the features that
the first one chooses: the second sees both gradients."""

FEWEST_ROUNDS = 2

MOST_TOGETHER = 320
"""Up to so many features may all be fitted at once, and left out afterwards; of more, some are
chosen first."""

COLUMNS_PER_SIGNAL = 1.0
"""Columns of a model that bends, over the signal: records times curvature over the noise of a sum
that had the whole budget."""

CALIBRATION_SIGNAL = 3.0
"""Calibration sees margins to a third, which takes the square of this over the signal ..."""

MOST_FOR_CALIBRATION = 0.5
"""... and no more than this part of what Gram matrix and steps have."""

PRIOR = 2.0
"""What a public model's word is worth: its features are e^2 times as likely to be chosen."""


@dataclass(frozen=True)
class Plan:
    """What is decided before any data are seen.

    Parameters
    ----------
    size : int
        Features of the model, at most.
    model : ndarray of shape (n_columns, n_outputs) or None
        A public model in unit coordinates.
    takes_all : bool
        Whether all features are used: there is nothing to choose.
    bends : bool
        Whether features may bend.
    interacts : bool
        Whether what a feature adds may depend on another one.
    by_rows : bool
        Whether records are bounded by their norm instead of feature by feature: noise then goes
        on the whole gradient, and there are no selections by the exponential mechanism.
    intercept, row_norm, neighbors
        As in `PublicFacts`.
    """

    size: int
    model: np.ndarray | None
    takes_all: bool
    bends: bool
    interacts: bool
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
        able = public.intercept and public.row_norm is None and model is None
        if public.shapes == "additive" and not able:
            raise ValueError(
                "shapes='additive' needs an intercept, features with bounds of their own and no "
                "public model, which is linear: set fit_intercept=True and declare neither "
                "row_norm nor initial_model, or take shapes='linear'"
            )
        takes_all = size == d <= MOST_TOGETHER and not by_rows and model is None
        return cls(
            size,
            model,
            takes_all,
            able and public.shapes != "linear",
            able and takes_all and public.interactions,
            by_rows,
            public.intercept,
            public.row_norm,
            public.neighbors,
        )

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
        if self.takes_all:
            return TOGETHER
        return ROWS if self.by_rows else BOX.times(1 / (1 - BOX.selection))

    def rounds(self, n_records: float, curvature: float, noise: float) -> list[int]:
        """Numbers of features to choose in each round, the larger ones last.

        More rounds choose better, but each needs a step of its own, which noise must not drown:
        their number follows from released counts and from the noise of a sum that had the whole
        budget.
        """
        if self.takes_all:
            return [self.size]
        if self.by_rows:
            first = max(round(FIRST_ROW_ROUND * self.size), 1)
            return [first, self.size - first] if first < self.size else [first]
        wanted = round(min(0.5 * n_records * curvature / max(noise * self.size, 1e-300), 1e9))
        n_rounds = min(max(wanted, FEWEST_ROUNDS), self.size)
        smaller, n_larger = divmod(self.size, n_rounds)
        return [smaller] * (n_rounds - n_larger) + [smaller + 1] * n_larger

    def room(self, n_records: float, curvature: float, noise: float, early: bool) -> Room:
        """How many columns a model that bends may have."""
        signal = n_records * curvature / max(noise, 1e-300)
        return Room(self.size, COLUMNS_PER_SIGNAL * signal, early)

    def gram_budget(
        self, moments: Moments, share: float, rounds: list[int], shapes: Shapes, n_records: float
    ) -> GramBudget:
        """What the Gram matrix costs, whatever is chosen."""
        first = float(self.intercept)
        if self.by_rows:
            whole = row_gram(self.row_length, self.intercept)
            return BlockGram(moments, share, whole, self.neighbors, len(rounds))
        if self.takes_all and self.intercept:
            return BallGram(moments, share, n_records, self.neighbors)
        if self.takes_all:
            limits = [shapes.limits(j) for j in range(self.size)]
            total = block_gram(first, np.concatenate(limits))
        elif not shapes.n_waves:
            total = straight_blocks(first, rounds)
        else:
            total = all_blocks(first, shapes.largest(self.size))
        return BlockGram(moments, share, total, self.neighbors)
