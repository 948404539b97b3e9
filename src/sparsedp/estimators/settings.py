"""The public settings of a fit, checked before any record is looked at."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds
from sparsedp.data.gate import (
    Invalid,
    check_finite,
    check_type,
    column_names,
    missing_values,
    numbers,
    shape_of,
    unwrapped,
)
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
    invalid: Invalid = "raise"

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
        if estimator.invalid not in ("raise", "replace"):
            raise ValueError(f'invalid must be "raise" or "replace", got {estimator.invalid!r}')
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
            invalid=estimator.invalid,
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


def checked(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """scikit-learn's contract by shape, type and names alone; values are for the gate to judge.

    Returns X and y as they came, but for a y of one column, which is taken out of it.
    """
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    X, y = unwrapped(X), unwrapped(y)
    n, d = shape_of(X)
    if isinstance(X, np.ndarray):
        check_type(X.dtype, "X")
    if d == 0:
        # In scikit-learn's words, which want a shape; the number of records is left out of it.
        raise ValueError("Found 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    if n == 0 and estimator.invalid == "raise":
        raise ValueError(
            "Found array with 0 sample(s): there are no records. This error is for whoever holds "
            'the data; with invalid="replace" a table without records is fitted like any other.'
        )
    validate_data(estimator, X, skip_check_array=True)
    return X, _one_column(y)


def features_of(estimator: Any, X: Any) -> Any:
    """What a fitted estimator predicts from: numbers, once their shape and names are checked."""
    check_is_fitted(estimator)
    X = unwrapped(X)
    n, d = shape_of(X)
    if n == 0 or d == 0:
        raise ValueError(f"Found array with 0 {'sample' if d else 'feature'}(s).")
    validate_data(estimator, X, reset=False, skip_check_array=True)
    values = numbers(X, estimator.invalid, copy=False)
    if estimator.invalid == "raise":
        check_finite(values, getattr(estimator, "feature_names_in_", None))
    return values


def missing_of(estimator: Any) -> np.ndarray:
    """What a fitted estimator takes for missing features: the same as in its fit."""
    lower, upper = estimator.clip_bounds_
    return missing_values(lower, upper, estimator.privacy_.bounds.get("row_norm"))


def _one_column(y: Any) -> Any:
    shape = getattr(y, "shape", None)
    if shape is None or len(shape) != 2 or shape[1] != 1:
        return y
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples, ), for example using ravel().",
        DataConversionWarning,
        stacklevel=4,
    )
    names = column_names(y)
    return y[names[0]] if names is not None else y.reshape(-1)


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
