"""Fits of one data set, again and again: records pass the gate once."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sparsedp import SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.dataset import Dataset
from sparsedp.estimators.records import Given
from sparsedp.fit import Problem, Settings, private_fit
from sparsedp.losses import Loss


@dataclass(frozen=True, eq=False)
class Gated:
    """Records behind the gate, and an estimator with what was declared about them."""

    problem: Problem
    estimator: Any

    @property
    def data(self) -> Dataset:
        """The records behind the gate."""
        return self.problem.data

    def minimizing(self, loss: Loss) -> "Gated":
        """The same records with another loss."""
        return replace(self, problem=replace(self.problem, loss=loss))

    @property
    def n_records(self) -> int:
        """Known here: these experiments protect nobody."""
        return self.data.n_records


def gated(
    X: Any,
    y: Any,
    bounds: Any,
    *,
    fit_intercept: bool = True,
    target_bounds: tuple[float, float] | None = None,
) -> Gated:
    """Let records through the gate: classes are those of y, or numbers within target_bounds."""
    # Budget and solver come with each fit; these only satisfy the checks.
    common = {"epsilon": 1.0, "delta": 0.5, "bounds": bounds, "fit_intercept": fit_intercept}
    if target_bounds is None:
        estimator: Any = SparseLogisticRegression(**common)
    else:
        estimator = SparseLinearRegression(target_bounds=target_bounds, **common)
    return Gated(estimator._problem(Given(X, y), Settings.of(estimator)), estimator)


def fitted(
    records: Gated,
    solver: Any,
    *,
    epsilon: float,
    delta: float,
    seed: np.random.SeedSequence,
    n_nonzero: int | None = None,
    neighbors: str = "add_remove",
    initial_model: Any = None,
) -> Any:
    """A fitted estimator: the same as by ``fit``, without passing the gate again.

    ``privacy_.proven_epsilon`` tells what a published calibration really proves.
    """
    estimator = clone(records.estimator).set_params(
        epsilon=epsilon,
        delta=delta,
        solver=solver,
        n_nonzero=n_nonzero,
        neighbors=neighbors,
        initial_model=initial_model,
        random_state=noise_seed(seed),
    )
    estimator.n_features_in_ = records.data.n_features
    return estimator._publish(*private_fit(Settings.of(estimator), records.problem))


def noise_seed(seed: np.random.SeedSequence) -> int:
    """A ``random_state``: 128 bits of the trial's own seed."""
    return int.from_bytes(seed.generate_state(4, np.uint32).tobytes())
