"""The public settings of a fit, checked before any record is looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from sparsedp.data.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds
from sparsedp.estimators.progress import Progress
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import NEIGHBORS, Ledger, Neighbors
from sparsedp.solvers import BY_NAME, Solver


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The public settings of a fit, checked before any record is looked at."""

    epsilon: float
    delta: float
    bounds: Bounds
    solver: Solver
    neighbors: Neighbors
    fit_intercept: bool
    n_nonzero: int | None
    initial_model: Any
    ledger: Ledger | None
    random_state: Any
    verbose: bool

    @classmethod
    def of(cls, estimator: Any) -> "Settings":
        """Check an estimator's parameters; every error says what to write instead."""
        epsilon, delta = estimator.epsilon, estimator.delta
        if epsilon is None:
            raise ValueError(
                "epsilon is required: the privacy budget of this fit, e.g. epsilon=1.0 "
                "(smaller protects more); epsilon=float('inf') fits without privacy"
            )
        if not isinstance(epsilon, int | float | np.number) or not epsilon > 0:
            raise ValueError(f"epsilon must be a positive number, got {epsilon!r}")
        if delta is None:
            raise ValueError(
                "delta is required: the probability that the guarantee may fail, e.g. delta=1e-6; "
                "take it far below one over the number of records"
            )
        if not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
            raise ValueError(f"delta must be between 0 and 1, got {delta!r}")
        if estimator.neighbors not in NEIGHBORS:
            raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {estimator.neighbors!r}")
        k = estimator.n_nonzero
        if k is not None and (not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1):
            raise ValueError(f"n_nonzero must be a whole number of at least 1, got {k!r}")
        if estimator.ledger is not None and not isinstance(estimator.ledger, Ledger):
            raise ValueError(f"ledger must be a sparsedp.Ledger, got {estimator.ledger!r}")
        return cls(
            epsilon=float(epsilon),
            delta=float(delta),
            bounds=Bounds.coerce(estimator.bounds),
            solver=_solver(estimator.solver),
            neighbors=estimator.neighbors,
            fit_intercept=bool(estimator.fit_intercept),
            n_nonzero=None if k is None else int(k),
            initial_model=estimator.initial_model,
            ledger=estimator.ledger,
            random_state=estimator.random_state,
            verbose=bool(estimator.verbose),
        )

    def stream(self) -> KeyStream:
        """Fresh randomness: secret unless there is a seed."""
        state = self.random_state
        if state is None:
            return KeyStream.secure()
        if isinstance(state, int | np.integer):
            return KeyStream.from_seed(int(state))
        if isinstance(state, np.random.Generator | np.random.RandomState):
            return KeyStream.from_seed(state.bytes(32))
        raise ValueError(f"random_state must be None, a number or a NumPy generator: {state!r}")


def validated(estimator: Any, X: Any, y: Any, *, numeric: bool) -> tuple[Any, np.ndarray]:
    """scikit-learn's checks of shapes, types and names; malformed values are left to the gate
    where the estimator says that they are to be replaced.
    """
    checks = {"accept_sparse": ["csr", "csc"], "dtype": np.float64}
    if estimator.invalid != "replace":
        X, y = validate_data(estimator, X, y, **checks, y_numeric=numeric)
        return X, column_or_1d(y, warn=True)
    X = validate_data(estimator, X, **checks, ensure_all_finite=False)
    y = column_or_1d(np.asarray(y), warn=True)
    check_consistent_length(X, y)
    return X, y


def validated_blocks(estimator: Any, records: RecordBlocks) -> Callable[..., Any]:
    """Take over number and names of the features; returns what lets the blocks through the gate.

    Every block is read once to be checked, before anything is charged. What comes out answers all
    that solvers ask of a `Dataset`.
    """
    estimator.n_features_in_ = records.n_features
    if records.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(records.feature_names, dtype=object)
    elif "feature_names_in_" in vars(estimator):
        del estimator.feature_names_in_  # of an earlier fit
    return partial(records.clip, watch=Progress(None, bool(estimator.verbose)).reading)


def _solver(solver: Any) -> Solver:
    if isinstance(solver, str):
        if solver not in BY_NAME:
            raise ValueError(f"solver must be one of {sorted(BY_NAME)}, got {solver!r}")
        return BY_NAME[solver]()
    if isinstance(solver, type) or not callable(getattr(solver, "schedule", None)):
        raise ValueError(
            f"solver must be a name ({', '.join(sorted(BY_NAME))}) or a solver object such as "
            f"FrankWolfe(radius=10), got {solver!r}"
        )
    return solver
