"""Choose a set of features as a whole, by what least squares leaves (proof: best_subset.md)."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.losses import Coded, Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import Perturb, PublicFacts, Schedule, Select, Sensitivity
from sparsedp.privacy.kind import Request
from sparsedp.solvers.dense.statistics import (
    GramOf,
    ResidualProducts,
    check_columns,
    gram_sensitivity,
    mirrored,
)
from sparsedp.solvers.pursuit.pursuit import Pursuit
from sparsedp.solvers.solver import (
    Solution,
    Solver,
    check_needs,
    check_positive_integer,
    check_share,
    check_size,
    refuse_initial_model,
)
from sparsedp.solvers.wrappers.kept import facts_of_kept, fitted_on_kept, inner_schedule
from sparsedp.solvers.wrappers.supports import (
    Statistics,
    every_support,
    proposed_supports,
    squares_explained,
)

CHOICE, PROPOSAL = "support", "proposal"

MOST_SUPPORTS = 1_000_000
"""Candidates: each takes a small eigenvalue problem."""


@dataclass(frozen=True)
class BestSubset:
    """Choose ``n_keep`` features together, by the squares that they leave, then fit on these.

    After Prastakos et al. (2025): the exponential mechanism over sets of features. Where there are
    at most ``n_supports`` sets it chooses among all of them. Where there are more, a heuristic
    search proposes so many from noisy sums of all features; theirs searches the records, which
    needs an exact solver. Features that matter only jointly are found. A bad idea when features
    are many: the noise is then that of products of all pairs.

    Parameters
    ----------
    solver : Solver
        Fitted to the chosen features.
    n_keep : int or None
        Features to choose; None takes as many as the model may use.
    n_supports : int
        Sets of features to choose among.
    share : float
        Part of the budget for the choice; where sets are proposed, half of it is for that.
    reach : float
        Largest prediction that the weights of a candidate may make of any record, in units of half
        the target's range; the noise grows with the square of one more.

    Notes
    -----
    *Privacy.* One selection over sets of features, whose scores a record moves by at most
    (1 + reach)^2; before it, where sets are proposed, two Gaussian releases.
    """

    solver: Solver = field(default_factory=Pursuit)
    n_keep: int | None = None
    n_supports: int = 5000
    share: float = 0.3
    reach: float = 1.0

    def __post_init__(self) -> None:
        if self.n_keep is not None:
            check_positive_integer("n_keep", self.n_keep)
        check_positive_integer("n_supports", self.n_supports)
        if self.n_supports > MOST_SUPPORTS:
            raise ValueError(f"n_supports must be at most {MOST_SUPPORTS}, got {self.n_supports}")
        check_share("share", self.share)
        check_size("reach", self.reach, least=1e-6, most=1e6)

    @property
    def needs(self) -> tuple[type, ...]:
        """Codes to regress on, and what the solver inside needs."""
        return (Coded, *self.solver.needs)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Those of the inner solver."""
        return self.solver.caveats

    def schedule(self, public: PublicFacts) -> Schedule:
        """The choice, before it what proposals need, then the inner solver's requests."""
        refuse_initial_model(public, "BestSubset")
        check_needs(self, public)
        check_columns(public, "BestSubset")
        inner = inner_schedule(self.solver, facts_of_kept(public, self.n_keep), "BestSubset")
        if self._n_supports(public) == 1:
            return inner  # there is nothing to choose
        share = self.share / (1 - self.share) * inner.total_share
        requests: tuple[Request, ...] = (Select(1, share, name=CHOICE),)
        if self._proposes(public):
            requests = (Perturb(share / 2, name=PROPOSAL), Select(1, share / 2, name=CHOICE))
        return Schedule((*requests, *inner.requests))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Propose, choose, fit."""
        assert isinstance(loss, Coded)
        public = curator.public
        size = facts_of_kept(public, self.n_keep).n_features
        if self._n_supports(public) == 1:
            return fitted_on_kept(self.solver, data, loss, curator, np.arange(size))
        # Row norms are of no use here: the unit box bounds predictions.
        gram = data.total(GramOf())  # private
        at_zero = ResidualProducts(loss, np.zeros(public.weights_shape), 1.0)
        products = data.total(at_zero).reshape(len(gram), -1)  # private
        exact = Statistics(gram, products, public.n_features)  # private
        if self._proposes(public):
            supports = self._proposed(data, exact, curator, size)  # released
        else:
            supports = every_support(public.n_features, size)
        radius = self.reach / math.sqrt(size + public.intercept)
        scores = squares_explained(exact, supports, radius)  # private
        most = (1 + self.reach) ** 2
        sensitivity = Sensitivity(add_remove=most, replace_one=2 * most)
        kept = supports[curator.select(scores, sensitivity, name=CHOICE)]  # released
        solution = fitted_on_kept(self.solver, data, loss, curator, kept)
        note = (
            f"The features were chosen together, as one of {len(supports)} sets that "
            f"{'noisy sums proposed' if self._proposes(public) else 'are all there are'}."
        )
        return replace(solution, notes=(note, *solution.notes))

    def _proposes(self, public: PublicFacts) -> bool:
        return self._n_supports(public) > self.n_supports

    def _n_supports(self, public: PublicFacts) -> int:
        return math.comb(public.n_features, facts_of_kept(public, self.n_keep).n_features)

    def _proposed(
        self, data: Dataset, exact: Statistics, curator: Curator, size: int
    ) -> np.ndarray:
        """Supports that a search finds in noisy sums. Released."""
        p = len(exact.gram)
        sensitivity = gram_sensitivity(data)
        how = {"share": 0.5, "name": PROPOSAL}
        upper = exact.gram[np.triu_indices(p)]  # private
        noisy = mirrored(curator.perturb(upper, sensitivity, **how), p)  # released
        products = curator.perturb(exact.products, data.norm_bound, **how)  # released
        noise = curator.noise_level(sensitivity, **how)
        released = Statistics(noisy, products, exact.n_features)
        ridge = max(noise * math.sqrt(p), 1.0)
        return proposed_supports(released, ridge, size, self.n_supports)
