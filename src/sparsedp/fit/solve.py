"""Run a solver on records: the one place where curators with noise are made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.fit.monotone import made_monotone
from sparsedp.fit.plan import Plan
from sparsedp.mechanisms import Curator, KeyStream, NoiselessCurator, NoisyCurator
from sparsedp.privacy import Budget, Charges, PublicFacts
from sparsedp.solvers import Solution

OnRelease = Callable[[int], None]


@contextmanager
def door(
    budget: Budget | Charges,
    public: PublicFacts,
    stream: KeyStream,
    on_release: OnRelease | None = None,
) -> Iterator[Curator]:
    """The curator of one fit; leaving it raises unless exactly what was scheduled was released.

    Parameters
    ----------
    budget : Budget or Charges
        Fresh. Whoever hands it over has charged for it.
    public : PublicFacts
    stream : KeyStream
        Where noise comes from.
    on_release : callable, optional
        Called with the number of releases so far.
    """
    curator = NoisyCurator(budget, public, stream, on_release)
    # Whatever the caller wants of NumPy: an underflow in one record must not end the fit.
    with np.errstate(all="ignore"):
        yield curator
    curator.close()


def private_solution(
    plan: Plan,
    budget: Budget | Charges,
    data: Dataset,
    stream: KeyStream,
    on_release: OnRelease | None = None,
) -> Solution:
    """What the solver releases about the records through the door."""
    with door(budget, plan.public, stream, on_release) as curator:
        solution = plan.solver.solve(data, plan.loss, curator)
    return made_monotone(solution, plan.monotone)


def margins_of(data: Dataset, solution: Solution) -> np.ndarray:
    """What a released solution says of records, offsets included (private).

    A record's margins depend on nothing but the record.
    """
    if solution.bounds is not None:
        data = data.tightened(solution.bounds)
    margins = data.margins(solution.weights)
    for bend in solution.bends:
        margins = margins + bend.at(data.columns([bend.feature])[:, 0]).reshape(margins.shape)
    for interaction in solution.interactions:
        units = data.columns(interaction.features)
        margins = margins + interaction.at(units[:, 0], units[:, 1]).reshape(margins.shape)
    return margins


def exact_solution(plan: Plan, data: Dataset, on_release: OnRelease | None = None) -> Solution:
    """What the solver finds without noise: not private."""
    with np.errstate(all="ignore"):
        curator = NoiselessCurator(plan.public, on_release)
        return made_monotone(plan.solver.solve(data, plan.loss, curator), plan.monotone)
