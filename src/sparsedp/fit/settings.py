"""The public settings of a fit, checked before any record is looked at."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sparsedp.data.bounds import Bounds
from sparsedp.data.gate import Invalid
from sparsedp.data.schema import Schema
from sparsedp.fit.monotone import Monotone, checked_monotone
from sparsedp.fit.parts.holdout import Holdout
from sparsedp.fit.start import LinearModel
from sparsedp.fit.zcdp import check_rho, epsilon_of
from sparsedp.inference.table import is_confidence
from sparsedp.mechanisms import KeyStream
from sparsedp.privacy import NEIGHBORS, SHAPES, Ledger, Neighbors, Shapes
from sparsedp.solvers import BY_NAME, IntervalPursuit, Pursuit, Solver
from sparsedp.solvers.pursuit.inference.plan import Asked

BoundsLike = Bounds | float | tuple[ArrayLike, ArrayLike]
"""Limits of the features, as users write them."""

Intervals = Literal["same", "split"] | bool
"""Whether coefficients come with intervals, and from which records."""

Seed = int | np.integer | np.random.Generator | np.random.RandomState
"""What makes noise reproducible, and the fit not private."""


class Parameters(Protocol):
    """What users have set on an estimator: of these types if they read the documentation."""

    epsilon: float | None
    delta: float | None
    rho: float | None
    bounds: BoundsLike | None
    schema: Schema | None
    n_nonzero: int | None
    shapes: Shapes
    monotone: Monotone | None
    solver: str | Solver
    neighbors: Neighbors
    fit_intercept: bool
    initial_model: LinearModel | None
    invalid: Invalid
    holdout: float | Holdout | None
    ledger: Ledger | None
    random_state: Seed | None
    verbose: bool


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
    initial_model: LinearModel | None
    ledger: Ledger | None
    random_state: Seed | None
    verbose: bool
    invalid: Invalid = "raise"
    shapes: Shapes = "auto"
    monotone: Monotone = field(default_factory=dict)
    holdout: Holdout | None = None
    confidence: float = 0.95
    rho: float | None = None

    @classmethod
    def of(cls, estimator: Parameters) -> "Settings":
        """Check an estimator's parameters; every error says what to write instead."""
        solver = _solver(estimator.solver)
        epsilon, delta = _budget(estimator, solver)
        if estimator.neighbors not in NEIGHBORS:
            raise ValueError(f"neighbors must be one of {NEIGHBORS}, got {estimator.neighbors!r}")
        k = estimator.n_nonzero
        if k is not None and (not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1):
            raise ValueError(f"n_nonzero must be a whole number of at least 1, got {k!r}")
        if estimator.shapes not in SHAPES:
            raise ValueError(f"shapes must be one of {SHAPES}, got {estimator.shapes!r}")
        if estimator.invalid not in ("raise", "replace"):
            raise ValueError(f'invalid must be "raise" or "replace", got {estimator.invalid!r}')
        if estimator.ledger is not None and not isinstance(estimator.ledger, Ledger):
            raise ValueError(f"ledger must be a sparsedp.Ledger, got {estimator.ledger!r}")
        # Counts have none.
        intervals = getattr(estimator, "intervals", False)
        confidence = getattr(estimator, "confidence", 0.95)
        if not is_confidence(confidence):
            raise ValueError(
                f"confidence must be between 0.5 and 1, such as 0.95, got {confidence!r}"
            )
        return cls(
            epsilon=epsilon,
            delta=delta,
            rho=None if estimator.rho is None else float(estimator.rho),
            bounds=_bounds(estimator.bounds, estimator.schema),
            solver=_with_intervals(solver, intervals),
            neighbors=estimator.neighbors,
            fit_intercept=bool(estimator.fit_intercept),
            n_nonzero=None if k is None else int(k),
            initial_model=estimator.initial_model,
            ledger=estimator.ledger,
            random_state=estimator.random_state,
            verbose=bool(estimator.verbose),
            invalid=estimator.invalid,
            shapes=estimator.shapes,
            monotone=checked_monotone(estimator.monotone),
            holdout=Holdout.of(estimator.holdout),
            confidence=float(confidence),
        )

    def stream(self) -> KeyStream:
        """Fresh randomness: secret unless there is a seed."""
        return key_stream(self.random_state)


def key_stream(state: Seed | None) -> KeyStream:
    """Fresh randomness: secret unless there is a seed."""
    if state is None:
        return KeyStream.secure()
    if isinstance(state, int | np.integer):
        return KeyStream.from_seed(int(state))
    if isinstance(state, np.random.Generator | np.random.RandomState):
        return KeyStream.from_seed(state.bytes(32))
    raise ValueError(f"random_state must be None, a number or a NumPy generator: {state!r}")


def _budget(estimator: Parameters, solver: Solver) -> tuple[float, float]:
    """Epsilon and delta, as they are set or as rho gives them."""
    epsilon, delta, rho = estimator.epsilon, estimator.delta, estimator.rho
    if epsilon is None and rho is None:
        raise ValueError(
            "epsilon is required: the privacy budget of this fit, e.g. epsilon=1.0 "
            "(smaller protects more); epsilon=float('inf') fits without privacy"
        )
    if epsilon is not None and (
        not isinstance(epsilon, int | float | np.number) or not epsilon > 0
    ):
        raise ValueError(f"epsilon must be a positive number, got {epsilon!r}")
    if delta is None:
        raise ValueError(
            "delta is required: the probability that the guarantee may fail, e.g. delta=1e-6; "
            "take it far below one over the number of records"
        )
    if not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, got {delta!r}")
    if rho is None:
        assert epsilon is not None
        return float(epsilon), float(delta)
    if epsilon is not None:
        raise ValueError("give epsilon or rho, not both: rho and delta say what epsilon is")
    if estimator.holdout is not None:
        raise ValueError("rho= is for a fit alone: with a holdout state epsilon and delta")
    return epsilon_of(check_rho(rho), float(delta), claimed=bool(solver.caveats)), float(delta)


def _bounds(bounds: BoundsLike | None, schema: Schema | None) -> Bounds:
    if schema is None:
        return Bounds.coerce(bounds)
    if not isinstance(schema, Schema):
        raise ValueError(
            'schema must be a sparsedp.Schema, e.g. schema=Schema.from_toml("patients.toml"), got '
            f"{type(schema).__name__}"
        )
    if bounds is not None:
        raise ValueError("give bounds or a schema, not both: the schema has the limits")
    return schema.shared_bounds if schema.is_open else schema.bounds


def _solver(solver: str | Solver) -> Solver:
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


def _with_intervals(solver: Solver, intervals: object) -> Solver:
    """The solver that says how well it knows its weights, where that is asked for."""
    if intervals is False:
        return solver
    asked: dict[object, Asked] = {True: "auto", "same": "same", "split": "split"}
    if not isinstance(intervals, bool | str) or intervals not in asked:
        raise ValueError(f'intervals must be False, True, "same" or "split", got {intervals!r:.60}')
    if not isinstance(solver, Pursuit):
        raise ValueError(
            f"intervals are for the solver 'pursuit', not for {type(solver).__name__}: leave "
            "intervals or solver out"
        )
    return IntervalPursuit(n_nonzero=solver.n_nonzero, records=asked[intervals])
