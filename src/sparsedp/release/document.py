"""What a model file holds, as types. That a file really holds it is checked in read.py."""

from typing import Literal, NotRequired, TypeAlias, TypedDict, get_args

from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.public import Shapes, Unit, Weighting

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Anything that JSON can say, as strangers send it."""

Object: TypeAlias = dict[str, Json]

Label: TypeAlias = str | int | float
"""A class as its file writes it."""

Number: TypeAlias = int | float | str
"""A number that may be infinite: JSON has no word for that, so "inf" is written."""


Direction: TypeAlias = Literal["increasing", "decreasing"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


class Limits(TypedDict):
    """The promise about the features."""

    lower: float | list[float]
    upper: float | list[float]
    row_norm: NotRequired[float]
    features: NotRequired[list[str]]
    binary: NotRequired[bool | list[int]]


class Target(TypedDict, total=False):
    """What was declared about the target."""

    name: str
    classes: list[Label]
    classes_from_data: bool
    class_weight: list[float]
    lower: float
    upper: float


class Asked(TypedDict):
    """What was asked of the model."""

    n_features: int
    n_nonzero: int
    fit_intercept: bool
    invalid: NotRequired[str]
    from_public_model: NotRequired[bool]
    offset_bounds: NotRequired[list[float]]
    weighting: NotRequired[Weighting]
    shapes: NotRequired[Shapes]
    interactions: NotRequired[bool]
    monotone: NotRequired[dict[Direction, list[int]]]


class Charge(TypedDict):
    """Where the fit was charged: a ledger, a line of it, and the hash of all lines up to it."""

    id: str
    line: int
    head: str


class Planned(TypedDict):
    """Quality that was planned before the fit, from public numbers."""

    metric: str
    expected: float
    at_least: float
    null: float
    ceiling: list[float]


class Record(TypedDict):
    """What ``PrivacyRecord.to_dict`` writes."""

    epsilon: Number
    delta: float
    neighbors: Neighbors
    calibration: str
    proven_epsilon: Number
    events: list[Object]
    bounds: Limits
    target: Target
    solver: Object
    loss: Object
    model: Asked
    seeded: bool
    notes: list[str]
    versions: dict[str, str]
    private: bool
    statement: str
    unit: NotRequired[Unit]
    ledger: NotRequired[Charge | None]
