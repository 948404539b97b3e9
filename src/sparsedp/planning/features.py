"""How many features a model will have, and how many of them for a reason."""

from dataclasses import dataclass

import numpy as np

from sparsedp.fit.plan import FEWEST_FEATURES
from sparsedp.planning.band import Ceiling
from sparsedp.planning.facts import Facts
from sparsedp.planning.law import Curves


@dataclass(frozen=True)
class FeatureCount:
    """Features of the model.

    Parameters
    ----------
    columns : int
        That there are to choose from.
    at_most : int
        That the settings allow.
    used : (int, int, int)
        That the model will use: 5, 50 and 95 % of fits.
    real : int or None
        Of the middle number, those that evidence put there; the others are there as noise would
        have it. None where that is not known: of few columns all are kept, and of several classes
        nearly all.
    """

    columns: int
    at_most: int
    used: tuple[int, int, int]
    real: int | None

    def words(self) -> str:
        """A sentence."""
        low, middle, high = self.used
        if low == high == self.columns:
            return f"{self.columns} columns, few enough for a model to keep all of them"
        told = (
            f"{self.columns} columns, of which a model keeps at most {self.at_most}; it will use "
            f"about {middle} ({low} to {high})"
        )
        if self.real is None:
            return told
        return f"{told}, about {self.real} of them by evidence, the others as noise would have it"


def features_of(law: Curves, facts: Facts, ceiling: Ceiling) -> FeatureCount:
    """By the law's shares at the middle of the ceiling."""
    d = facts.n_features
    if d <= FEWEST_FEATURES:
        return FeatureCount(d, d, (d, d, d), None)
    eta = law.eta(facts, np.array([ceiling.middle]))
    shares = law.along(law.used, eta)[0]
    low, middle, high = (max(1, round(facts.n_nonzero * share)) for share in shares.tolist())
    real = None
    if law.real.size:
        real = round(float(law.along(law.real[:, None], eta)[0, 0]) * middle)
    return FeatureCount(d, facts.n_nonzero, (low, middle, high), real)
