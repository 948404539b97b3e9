"""The methods that Khanna et al. (2024) compare, and Pursuit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsedp.privacy import PublicFacts, Schedule
from sparsedp.solvers import (
    ADMM,
    IGHT,
    FrankWolfe,
    ObjectivePerturbation,
    Pursuit,
    Sparsifier,
    TwoStage,
)
from sparsedp.solvers.solver import Solution

NAMES = {
    "private_lasso": "Private LASSO",
    "sparsifier": "Sparsifier",
    "matched": "Private LASSO",
    "stopped": "Private LASSO, stopped",
    "two_stage": "two-stage",
    "admm": "ADMM, L1",
    "admm_half": "ADMM, L1/2",
    "ight": "IGHT",
    "pursuit": "Pursuit",
}
IMPROVED = {
    "private_lasso": "Frank-Wolfe, averaged and clipped",
    "sparsifier": "Sparsifier, averaged and clipped",
    "matched": "Frank-Wolfe, averaged and clipped",
    "two_stage": "two-stage, own shares",
    "admm": "ADMM, noisy gradients, L1",
    "admm_half": "ADMM, noisy gradients, L1/2",
    "ight": "IGHT, adapted steps",
    "pursuit": "Pursuit",
}
"""The methods as the library has them by default: more than their noise is different."""


def named(method: str, calibration: str) -> str:
    """As it is called everywhere: with its noise, or by the name of the improved variant."""
    return IMPROVED[method] if calibration == "sound" else f"{NAMES[method]}, {calibration}"


@dataclass(frozen=True, eq=False)
class Remembered:
    """A solver for :class:`Sparsifier` to count, fitted once and not in every trial."""

    weights: np.ndarray

    needs = ()

    @property
    def caveats(self) -> tuple[str, ...]:
        """None: it is only counted."""
        return ()

    def schedule(self, public: PublicFacts) -> Schedule:
        """Nothing is asked."""
        return Schedule(())

    def solve(self, data: Any, loss: Any, curator: Any) -> Solution:
        """The same weights whatever the data."""
        return Solution(weights=self.weights)


def private_lasso(calibration: str, radius: float, n_steps: int) -> FrankWolfe:
    """Algorithm 1, with its noise or with what is proven, or the averaged and clipped variant."""
    return FrankWolfe(radius=radius, n_steps=n_steps, calibration=calibration)


def sparsifier(
    calibration: str, radius: float, n_steps: int, counted: np.ndarray, count_fraction: float
) -> Sparsifier:
    """Algorithm 2; ``counted`` are the weights of the model without privacy."""
    return Sparsifier(
        private_lasso(calibration, radius, n_steps),
        n_nonzero="count",
        count_fraction=count_fraction,
        count_solver=Remembered(counted),
        calibration=calibration,
    )


def two_stage(calibration: str, n_nonzero: int, n_blocks: int, radius: float) -> TwoStage:
    """Kifer et al. (2012)."""
    return TwoStage(
        n_nonzero,
        n_blocks=n_blocks,
        voter=FrankWolfe(radius=radius, n_steps=100),
        solver=ObjectivePerturbation(calibration=calibration),
        calibration=calibration,
    )


def admm(calibration: str, penalty: str, settings: dict[str, Any]) -> ADMM:
    """Wang and Zhang (2020); the improved variant takes noisy gradient steps."""
    if calibration == "sound":
        return ADMM(penalty=penalty)
    return ADMM(
        penalty=penalty,
        noise="pure",
        n_steps=settings["admm_steps"],
        threshold=settings["admm_threshold"],
        calibration=calibration,
    )


def ight(calibration: str, n_nonzero: int, settings: dict[str, Any]) -> IGHT:
    """Wang and Gu (2019); the improved variant takes its own number and size of steps."""
    if calibration == "sound":
        return IGHT(n_nonzero=n_nonzero)
    return IGHT(
        n_nonzero=n_nonzero,
        n_steps=settings["ight_steps"],
        step_size=settings["ight_step_size"],
        calibration=calibration,
    )


def pursuit() -> Pursuit:
    """With its defaults."""
    return Pursuit()
