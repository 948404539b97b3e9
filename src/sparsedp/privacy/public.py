"""What everybody may know about a fit before it starts."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sparsedp.losses.loss import Loss
from sparsedp.privacy.neighbors import Neighbors

Unit = Literal["row", "person"]
"""What the guarantee protects as a whole: single rows, or all rows of a person."""
UNITS: tuple[Unit, ...] = get_args(Unit)

Weighting = Literal["unit", "sub_unit"]
"""Whether the weights of a unit add up to exactly 1, or to at most 1."""

WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

Shapes = Literal["linear", "additive", "auto"]
"""Of effects: lines, piecewise linear, or what public numbers and released counts speak for."""

SHAPES: tuple[Shapes, ...] = get_args(Shapes)

LARGEST_WEIGHT = 1e12
"""Of a public model; beyond, doubles are too far apart to tell what records add to it."""


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """The facts that a solver may plan with: none of them depends on a private record.

    Parameters
    ----------
    n_features : int
        Features of the data, without the intercept.
    n_nonzero : int
        Features the published model may use.
    n_outputs : int
        Columns of the weight matrix: 1, or the number of classes when there are more than two.
    intercept : bool
        Whether the data carry a constant column after the features.
    neighbors : {"add_remove", "replace_one"}
        What the guarantee compares.
    n_records : int or None
        Number of units (rows or persons). Known only under replace-one; under add/remove it is
        itself private.
    row_norm : float or None
        Declared L2 bound of a record's features.
    half_width : float
        Half the width of the bounds of a feature, in declared units: the median over features.
    loss : Loss or None
        What will be minimized; None if that is left open.
    initial_weights : ndarray or None
        Weights of a public model to start from, in unit coordinates; of ordinary size.
    unit : {"row", "person"}
        What neighbors differ in: one row, or all rows of one person.
    weighting : {"unit", "sub_unit"}
        Whether what a unit counts adds up to exactly 1, or to at most 1.
    rows_per_unit : int or None
        Rows that a unit has at most: 1 for rows; None where no limit was declared.
    shapes : {"linear", "additive", "auto"}
        Whether effects may bend: solvers that cannot make bends see "linear".
    interactions : bool
        Whether what a feature adds may depend on another feature.
    epsilon, delta : float or None
        What the fit may cost, for solvers that plan their steps by it; None if that is left open.
    """

    n_features: int
    n_nonzero: int
    n_outputs: int = 1
    intercept: bool = True
    neighbors: Neighbors = "add_remove"
    n_records: int | None = None
    row_norm: float | None = None
    half_width: float = 1.0
    loss: Loss | None = None
    initial_weights: np.ndarray | None = None
    unit: Unit = "row"
    weighting: Weighting = "unit"
    rows_per_unit: int | None = 1
    shapes: Shapes = "linear"
    interactions: bool = False
    epsilon: float | None = None
    delta: float | None = None

    def __post_init__(self) -> None:
        # Written so that NaN is refused: what cannot be started from is known before the charge.
        start = self.initial_weights
        if start is not None and not (np.abs(start) <= LARGEST_WEIGHT).all():
            raise ValueError(
                "the public model to start from has weights that are not numbers, or above "
                f"{LARGEST_WEIGHT:g} for features mapped to [-1, 1]: regularize it"
            )

    @property
    def total_weight(self) -> float | None:
        """What all records count together, where that is public; None where it has to be asked.

        Under replace-one the number of units is public, and each counts 1 unless weights may be
        smaller: a unit of weight 1 may then be replaced by one of weight 0.
        """
        return None if self.n_records is None or self.asks_weight else float(self.n_records)

    @property
    def asks_weight(self) -> bool:
        """Whether a solver that needs the total weight has to ask for it."""
        return self.neighbors == "add_remove" or self.weighting == "sub_unit"

    @property
    def n_columns(self) -> int:
        """Features and the constant column."""
        return self.n_features + self.intercept

    @property
    def weights_shape(self) -> tuple[int, ...]:
        """Shape of a model's weights: one column per output, a plain vector if there is one."""
        return (self.n_columns,) if self.n_outputs == 1 else (self.n_columns, self.n_outputs)
