"""Keep the features that order records as the target does (proof: kendall.md)."""

from dataclasses import dataclass, field, replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.pairs import Ranks, dense_ranks, rank_agreement
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, Schedule, Select, Sensitivity
from sparsedp.solvers.pursuit.pursuit import Pursuit
from sparsedp.solvers.solver import (
    Solution,
    Solver,
    check_needs,
    check_positive_integer,
    check_share,
    refuse_initial_model,
)
from sparsedp.solvers.wrappers.kept import facts_of_kept, fitted_on_kept, inner_schedule

REQUEST = "kendall"

BY_TARGET = Sensitivity(add_remove=2.5, replace_one=4.0)
LESS_OTHERS = Sensitivity(add_remove=5.0, replace_one=8.0)
"""Range of the change of scores: of agreement with the target, and less that with others."""


@dataclass(frozen=True)
class KendallSelection:
    """Keep ``n_keep`` features by Kendall's rank correlation with the target, then fit on these.

    The selection of Dick et al. (2023): ranks are all that it looks at, so bounds of features may
    be as wide as one likes: the selection pays nothing for that. The fit on the chosen features
    still needs their bounds; `Pursuit`, the default, tightens them by itself. A bad idea when
    features matter only jointly, or not monotonically; slow where many have many values.

    Parameters
    ----------
    solver : Solver
        Fitted to the kept features.
    n_keep : int or None
        Features to keep; None keeps as many as the model may use.
    share : float
        Part of the budget that the selection uses.
    redundancy : bool
        Score features by their agreement with the target less the mean of that with the features
        chosen before, as the paper does; False leaves that out, and halves the noise.

    Notes
    -----
    *Privacy.* One selection of bounded range per feature. A record is in as many pairs as there are
    records; divided by that number, the agreements move by at most 3/2.
    """

    solver: Solver = field(default_factory=Pursuit)
    n_keep: int | None = None
    share: float = 0.3
    redundancy: bool = True

    def __post_init__(self) -> None:
        if self.n_keep is not None:
            check_positive_integer("n_keep", self.n_keep)
        check_share("share", self.share)
        if not isinstance(self.redundancy, bool):
            raise ValueError(f"redundancy must be True or False, got {self.redundancy!r}")

    @property
    def needs(self) -> tuple[type, ...]:
        """What the solver inside needs."""
        return self.solver.needs

    @property
    def caveats(self) -> tuple[str, ...]:
        """Those of the inner solver."""
        return self.solver.caveats

    def schedule(self, public: PublicFacts) -> Schedule:
        """A selection per feature, then the inner solver's requests at what remains."""
        refuse_initial_model(public, "KendallSelection")
        check_needs(self, public)
        facts = facts_of_kept(public, self.n_keep)
        inner = inner_schedule(self.solver, facts, "KendallSelection")
        if facts.n_features == public.n_features:
            return inner  # there is nothing to choose
        chosen = self.share / (1 - self.share) * inner.total_share
        return Schedule((Select(facts.n_features, chosen, name=REQUEST), *inner.requests))

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Choose, then fit on what was chosen."""
        count = facts_of_kept(curator.public, self.n_keep).n_features
        if count == data.n_features:
            return fitted_on_kept(self.solver, data, loss, curator, np.arange(count))
        kept = self._chosen(data, loss, curator, count)  # released
        solution = fitted_on_kept(self.solver, data, loss, curator, np.sort(kept))
        order = ", ".join(str(j) for j in kept)
        note = f"Kendall's rank correlation chose the columns {order}, in this order."
        return replace(solution, notes=(note, *solution.notes))

    def _chosen(self, data: Dataset, loss: Loss, curator: Curator, count: int) -> np.ndarray:
        """Release which features are kept, the first to be chosen first."""
        weights, total = data.weights, data.total_weight  # private
        columns = [dense_ranks(data.columns([j])) for j in range(data.n_features)]  # private
        goals = _goals(data.target, loss.n_classes)  # private
        by_target = np.max([_agreements(columns, y, weights, total) for y in goals], axis=0)
        if not self.redundancy:
            return curator.select_many(by_target, BY_TARGET, count, name=REQUEST)  # released
        chosen: list[int] = []
        with_chosen = np.zeros(data.n_features)  # private
        for t in range(count):
            scores = by_target - with_chosen / max(t, 1)  # private
            sensitivity, excluded = (LESS_OTHERS, np.array(chosen)) if t else (BY_TARGET, None)
            j = curator.select(scores, sensitivity, excluded=excluded, name=REQUEST)  # released
            chosen.append(j)
            if t + 1 < count:
                with_chosen += _agreements(columns, columns[j], weights, total)
        return np.array(chosen, dtype=np.intp)


def _goals(target: np.ndarray, n_classes: int | None) -> list[Ranks]:
    """The target's ranks, or for each of several classes whether it is the label (private)."""
    if n_classes is None or n_classes == 2:
        return [dense_ranks(target)]
    return [dense_ranks(target == k) for k in range(n_classes)]


def _agreements(
    columns: list[Ranks], other: Ranks, weights: np.ndarray | None, total: float
) -> np.ndarray:
    """Size of each column's agreement with the other, over one more than the records (private)."""
    found = [abs(rank_agreement(column, other, weights)) for column in columns]
    return np.array(found) / (total + 1)
