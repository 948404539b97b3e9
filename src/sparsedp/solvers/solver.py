"""What every solver is, and what it gives back."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss
from sparsedp.mechanisms import Curator
from sparsedp.privacy import PublicFacts, PublishedSchedule, Schedule

CALIBRATIONS = ("sound", "published")


@dataclass(frozen=True)
class Solution:
    """What a solver publishes.

    Parameters
    ----------
    weights : ndarray of shape (n_columns,) or (n_columns, n_outputs)
        In unit coordinates, the intercept last.
    bounds : Bounds or None
        Tighter bounds that the solver released and clipped to; they then define the unit
        coordinates, and predictions clip to them. None keeps the declared ones.
    """

    weights: np.ndarray
    bounds: Bounds | None = None


class Solver(Protocol):
    """A frozen dataclass of settings with two methods.

    ``schedule`` is called before any data are read; it raises ValueError for impossible settings.
    ``solve`` must ask the curator for exactly what the schedule says, and its result may depend on
    the data only through the curator's answers.
    """

    @property
    def caveats(self) -> tuple[str, ...]:
        """Why the guarantee is not proven, in sentences for the record; empty if it is."""
        ...

    def schedule(self, public: PublicFacts) -> Schedule | PublishedSchedule:
        """What will be asked for."""
        ...

    def solve(self, data: Dataset, loss: Loss, curator: Curator) -> Solution:
        """Fit the model."""
        ...


def check_calibration(calibration: str) -> None:
    """Raise ValueError unless it is a known calibration."""
    if calibration not in CALIBRATIONS:
        raise ValueError(f"calibration must be one of {CALIBRATIONS}, got {calibration!r}")


def refuse_initial_model(public: PublicFacts, solver: str) -> None:
    """Raise ValueError if a public model to start from was given to a solver that cannot."""
    if public.initial_weights is not None:
        raise ValueError(f"{solver} cannot start from a public model; leave initial_model=None")


def check_positive_integer(name: str, value: object) -> None:
    """Raise ValueError unless the value is a whole number above zero."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
