"""Fit a solver on features that were released before."""

from dataclasses import replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, PublishedSchedule, Schedule
from sparsedp.solvers.solver import Solution, Solver


def facts_of_kept(public: PublicFacts, n_keep: int | None) -> PublicFacts:
    """Public facts of a fit on so many features; None for as many as the model may use."""
    wanted = public.n_nonzero if n_keep is None else n_keep
    if wanted > public.n_features:
        raise ValueError(f"n_keep={wanted} is more than the {public.n_features} features")
    return replace(public, n_features=wanted, n_nonzero=min(public.n_nonzero, wanted))


def inner_schedule(solver: Solver, facts: PublicFacts, wrapper: str) -> Schedule:
    """What the solver asks for on the kept features; raises unless it can share a budget."""
    inner = solver.schedule(facts)
    if isinstance(inner, PublishedSchedule):
        raise ValueError(f"{wrapper} needs a solver with calibration='sound'")
    if not inner.total_share > 0:
        raise ValueError(
            f"{wrapper} cannot share a budget with this {type(solver).__name__}: its noise "
            "is pure and takes all of epsilon; choose another noise, such as "
            "ADMM(noise='gaussian'), or another solver"
        )
    return inner


def fitted_on_kept(
    solver: Solver, data: Dataset, loss: Loss, curator: Curator, kept: np.ndarray
) -> Solution:
    """The solver's solution on these features, released and in rising order, among all of them."""
    public = curator.public
    narrowed = curator.narrowed(facts_of_kept(public, len(kept)))
    solution = solver.solve(data.features(kept), loss, narrowed)
    weights = np.zeros(public.weights_shape)
    weights[kept] = solution.weights[: len(kept)]
    weights[public.n_features :] = solution.weights[len(kept) :]
    path = solution.path
    return Solution(
        weights=weights,
        bounds=_widened(solution.bounds, data, kept),
        path=None if path is None else replace(path, order=kept[path.order]),
        notes=solution.notes,
    )


def _widened(bounds: Bounds | None, data: Dataset, kept: np.ndarray) -> Bounds | None:
    """Bounds that the inner solver released for its features, the declared ones for the others."""
    if bounds is None:
        return None
    lower, upper = (np.array(limits) for limits in data.bounds.arrays(data.n_features))
    lower[kept], upper[kept] = bounds.arrays(len(kept))
    return data.bounds.with_limits(lower, upper)
