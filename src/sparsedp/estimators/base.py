"""The fit that both estimators share: from validated input to released weights and their record."""

import math
import sys
import time
import warnings
from dataclasses import asdict, dataclass, is_dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

import sparsedp
from sparsedp._kernels import COMPILED
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import KeyStream, NoiselessCurator, NoisyCurator
from sparsedp.privacy import (
    NEIGHBORS,
    Budget,
    Ledger,
    Neighbors,
    PrivacyRecord,
    PublicFacts,
    UnprovenGuarantee,
)
from sparsedp.solvers import BY_NAME, Solution, Solver

ASSUMPTIONS = (
    "Feature bounds, the label set or target bounds, the number and names of features, and all "
    "settings are public: they must not have been chosen by looking at these records.",
    "One person is one record. Someone with several records is protected less.",
    "Noise is drawn exactly (no floating-point shortcuts) on a fixed grid; sums of records in "
    "floating point are covered by a factor 1 + 1e-6 on every sensitivity. The running time and "
    "memory of the computation are not protected.",
)


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


def private_fit(
    settings: Settings, data: Dataset, loss: Loss, target: dict[str, Any]
) -> tuple[Solution, PrivacyRecord]:
    """Plan, charge, solve and write the record. Nothing is charged if planning fails.

    Parameters
    ----------
    settings : Settings
    data : Dataset
        Private.
    loss : Loss
    target : dict
        What was declared about the target, for the record.
    """
    d = data.n_features
    default = min(d, max(1, round(1.5 * math.sqrt(d))))
    if settings.n_nonzero is not None and settings.n_nonzero > d:
        raise ValueError(
            f"n_nonzero={settings.n_nonzero} is more than the {d} features of the data"
        )
    public = PublicFacts(
        n_features=d,
        n_nonzero=settings.n_nonzero or default,
        n_outputs=loss.n_outputs,
        intercept=data.intercept,
        neighbors=settings.neighbors,
        n_records=data.n_records if settings.neighbors == "replace_one" else None,
        row_norm=data.bounds.row_norm,
        initial_weights=initial_weights(settings.initial_model, data, loss.n_outputs),
    )
    schedule = settings.solver.schedule(public)
    solver = _describe(settings.solver)
    if math.isinf(settings.epsilon):
        if settings.ledger is not None:
            raise ValueError("a fit with infinite epsilon cannot draw from a ledger")
        progress = _Progress(None, settings.verbose)
        curator = NoiselessCurator(public, progress)
        solution = settings.solver.solve(data, loss, curator)
        events, calibration, proven, seeded = (), "none", math.inf, False
    else:
        budget = Budget(
            schedule,
            epsilon=settings.epsilon,
            delta=settings.delta,
            neighbors=settings.neighbors,
        )
        events = tuple(
            {"name": name, **event.to_dict()}
            for name, event in zip(budget.names, budget.events, strict=True)
        )
        calibration = budget.calibration
        proven = settings.epsilon if calibration == "sound" else budget.proven_epsilon()
        if calibration == "published":
            warnings.warn(
                f"published calibration: the paper claims epsilon={settings.epsilon:g}; what we "
                f"can prove is epsilon={proven:.4g} at delta={settings.delta:g} under "
                f"{settings.neighbors}. Use calibration='sound' for a proven guarantee",
                UnprovenGuarantee,
                stacklevel=3,
            )
        stream = _stream(settings.random_state)
        seeded = stream.seeded
        if settings.ledger is not None:
            settings.ledger.charge(
                max(settings.epsilon, proven),
                settings.delta,
                neighbors=settings.neighbors,
                what=f"{type(loss).__name__} model by {solver['name']}",
                events=list(events),
            )
        progress = _Progress(budget.n_releases, settings.verbose)
        curator = NoisyCurator(budget, public, stream, progress)
        solution = settings.solver.solve(data, loss, curator)
        curator.close()
    record = PrivacyRecord(
        epsilon=settings.epsilon,
        delta=settings.delta,
        neighbors=settings.neighbors,
        calibration=calibration,
        proven_epsilon=proven,
        events=events,
        bounds=_describe_bounds(data.bounds),
        target=target,
        solver=solver,
        loss=_describe(loss),
        model={
            "n_features": d,
            "n_nonzero": public.n_nonzero,
            "fit_intercept": settings.fit_intercept,
            "from_public_model": public.initial_weights is not None,
        },
        seeded=seeded,
        notes=(*settings.solver.caveats, *ASSUMPTIONS),
        versions=_versions(),
    )
    return solution, record


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


@dataclass(frozen=True)
class Coefficients:
    """A model in declared units: the last step from a solution to what users see."""

    coef: np.ndarray
    """Of shape (n_outputs, n_features)."""
    intercept: np.ndarray
    """Of shape (n_outputs,)."""
    clip_bounds: tuple[np.ndarray, np.ndarray]
    """Features are clipped to these before they are multiplied."""

    @classmethod
    def of(cls, solution: Solution, data: Dataset) -> "Coefficients":
        """Carry unit weights back by the public (or released) bounds."""
        d = data.n_features
        bounds = data.bounds if solution.bounds is None else solution.bounds
        weights = solution.weights.reshape(data.n_columns, -1)
        intercept = weights[d] if data.intercept else np.zeros(weights.shape[1])
        unit_map = bounds.unit_map(d, centered=data.intercept)
        coef, intercept = unit_map.to_original(weights[:d], intercept)
        return cls(np.ascontiguousarray(coef.T), np.atleast_1d(intercept), bounds.arrays(d))


def initial_weights(model: Any, data: Dataset, n_outputs: int) -> np.ndarray | None:
    """Weights of a fitted public model in unit coordinates; checks that it fits the data.

    For regression the model predicts in the target's units and is mapped to [-1, 1] likewise.
    """
    if model is None:
        return None
    try:
        coef = np.atleast_2d(np.asarray(model.coef_, dtype=float))
        intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=float), (len(coef),))
    except AttributeError:
        raise ValueError(
            f"initial_model must be a fitted linear model with coef_ and intercept_, got {model!r}"
        ) from None
    if coef.shape != (n_outputs, data.n_features):
        raise ValueError(
            f"initial_model has coefficients of shape {coef.shape}, this fit needs "
            f"{(n_outputs, data.n_features)}: the public data must have the same features and "
            "classes, in the same order"
        )
    if not data.intercept and np.any(intercept != 0):
        raise ValueError("initial_model has an intercept, but fit_intercept=False")
    if data.target_bounds is not None:
        low, high = data.target_bounds
        coef, intercept = (2 / (high - low) * part for part in (coef, intercept - (high + low) / 2))
    weights, constant = data.unit_map.from_original(coef.T, intercept)
    stacked = np.vstack([weights, constant]) if data.intercept else weights
    return stacked[:, 0] if n_outputs == 1 else stacked


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


def _stream(random_state: Any) -> KeyStream:
    if random_state is None:
        return KeyStream.secure()
    if isinstance(random_state, int | np.integer):
        return KeyStream.from_seed(int(random_state))
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return KeyStream.from_seed(random_state.bytes(32))
    raise ValueError(f"random_state must be None, a number or a NumPy generator: {random_state!r}")


def _describe(thing: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"name": type(thing).__name__}
    for name, value in vars(thing).items():
        described[name] = _describe(value) if is_dataclass(value) else value
    return described


def _describe_bounds(bounds: Bounds) -> dict[str, Any]:
    return {name: value for name, value in asdict(bounds).items() if value is not None}


def _versions() -> dict[str, str]:
    return {
        "sparsedp": sparsedp.__version__,
        "kernels": "compiled" if COMPILED else "reference",
        "python": sys.version.split()[0],
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "cryptography")},
    }


class _Progress:
    """A line on stderr that counts releases, at most ten times a second."""

    def __init__(self, total: int | None, shown: bool) -> None:
        self.total, self.shown, self.last = total, shown, 0.0

    def __call__(self, done: int) -> None:
        now = time.monotonic()
        if not self.shown or (now - self.last < 0.1 and done != self.total):
            return
        self.last = now
        if self.total is None:
            text = f"{done} steps"
        else:
            filled = round(30 * done / self.total)
            text = f"[{'#' * filled}{'.' * (30 - filled)}] {done}/{self.total} releases"
        sys.stderr.write(f"\r{text}" + ("\n" if done == self.total else ""))
        sys.stderr.flush()
