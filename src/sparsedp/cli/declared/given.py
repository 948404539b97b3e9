"""What the command line of a fit says."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from sparsedp.data.files.location import Location
    from sparsedp.data.gate import Invalid
    from sparsedp.privacy import Neighbors, Shapes


class Said(TypedDict):
    """What the command line says about the records, which goes before the file."""

    target: str | None
    classes: str | None
    target_bounds: str | None
    task: str | None
    drop: tuple[str, ...]
    person: str | None
    unit: str | None


class Given(TypedDict):
    """The options of ``sparsedp fit``, but for those that say where the model goes.

    What is None was not given. ``data``, ``schema``, ``epsilon`` and ``delta`` are there unless an
    interrupted fit is finished, which needs none of these.
    """

    data: "Location"
    schema: str
    epsilon: float
    delta: float
    target: str | None
    neighbors: "Neighbors"
    task: str | None
    loss: str
    classes: str | None
    target_bounds: str | None
    n_nonzero: int | None
    shapes: "Shapes"
    monotone: tuple[str, ...]
    solver: str
    settings: tuple[str, ...]
    calibration: str
    intercept: bool
    drop: tuple[str, ...]
    person: str | None
    unit: str | None
    n_features: int | None
    in_blocks: bool
    file_format: str | None
    delimiter: str | None
    encoding: str
    sheet: str | None
    quiet: bool
    allow_unmatched: bool
    invalid: "Invalid"
    holdout: float | None
    intervals: bool
    holdout_key: Path | None
    evaluation_ledger: Path | None
    ledger: Path | None
    ledger_epsilon: float | None
    ledger_delta: float | None
    who: str | None
    seed: int | None
    records: float | None
    ceiling: tuple[float, float] | None
    rate: float | None
    spread: float | None
    yes: bool


def said(given: Given) -> Said:
    """The part of it that is about the records."""
    return {
        "target": given["target"],
        "classes": given["classes"],
        "target_bounds": given["target_bounds"],
        "task": given["task"],
        "drop": given["drop"],
        "person": given["person"],
        "unit": given["unit"],
    }
