"""The public numbers that a plan is made from."""

import math
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Literal

from sparsedp.privacy import Neighbors
from sparsedp.privacy.account.gaussian import gaussian_mu

Kind = Literal["binary", "regression", "multiclass"]


def kind_of(classes: Sized | None) -> Kind:
    """Of a target with these classes, or of a number."""
    if classes is None:
        return "regression"
    return "binary" if len(classes) == 2 else "multiclass"


RATE, SPREAD = 0.2, 0.3
"""Share of the second class, and deviation of a number over the half width of its limits, where
nobody says them."""


class NotMeasured(ValueError):
    """Nothing was measured that a prediction could rest on: settings other than the defaults."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known before there are records.

    Parameters
    ----------
    kind : {"binary", "regression", "multiclass"}
    n_records : float
        That the model will be fitted to; persons, where persons are protected.
    n_features, n_nonzero : int
        Columns, and how many of them a model keeps at most.
    epsilon, delta, neighbors
        Of the fit.
    rate : float
        Share of the second of two classes, or of the largest of several.
    spread : float
        Deviation of a number over the half width of its limits.
    n_classes : int
    """

    kind: Kind
    n_records: float
    n_features: int
    n_nonzero: int
    epsilon: float
    delta: float
    neighbors: Neighbors = "add_remove"
    rate: float = RATE
    spread: float = SPREAD
    n_classes: int = 2

    def __post_init__(self) -> None:
        if not 1 <= self.n_records <= 1e12:
            raise ValueError("n_records must be a number of records from 1 to 1e12")
        if self.n_features < 1:
            raise ValueError("n_features must be at least 1")
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ValueError(f"epsilon must be a positive number, got {self.epsilon!r}")
        if not 0 < self.rate < 1:
            raise ValueError(
                "rate must lie between 0 and 1: the share of the second class (of several classes, "
                "of the largest)"
            )
        if self.kind == "multiclass" and self.rate < 1 / self.n_classes - 1e-9:
            raise ValueError(
                f"the largest of {self.n_classes} classes has a rate of at least 1/{self.n_classes}"
            )
        if not 0 < self.spread <= 1:
            raise ValueError(
                "spread must lie between 0 and 1: the deviation of the target over half the width "
                "of its limits"
            )

    @property
    def metric(self) -> str:
        """What quality is measured by."""
        return {"binary": "AUC", "regression": "R2", "multiclass": "accuracy"}[self.kind]

    @property
    def null(self) -> float:
        """Quality of a model that knows nothing of the features."""
        return {"binary": 0.5, "regression": 0.0, "multiclass": self.rate}[self.kind]

    @property
    def mu(self) -> float:
        """Signal over noise of one record, if one Gaussian release had the whole budget."""
        mu = gaussian_mu(self.epsilon, self.delta)
        return mu if self.neighbors == "add_remove" else mu / 2

    @property
    def signal(self) -> float:
        """What all records together say, over the noise."""
        weight = {
            "binary": self.rate * (1 - self.rate),
            "regression": 1.0,
            "multiclass": 1 - self.rate,
        }
        return self.mu * self.n_records * weight[self.kind]

    def at(self, *, epsilon: float | None = None, n_records: float | None = None) -> "Facts":
        """The same for another budget, or another number of records."""
        changed = replace(self, epsilon=epsilon or self.epsilon)
        return replace(changed, n_records=n_records or self.n_records)
