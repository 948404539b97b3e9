"""What the command line of a fit says."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from sparsedp.data.gate import Invalid
    from sparsedp.privacy import Neighbors


class Given(TypedDict):
    """The options of ``sparsedp fit``, but for those that say where the model goes.

    What is None was not given. ``data``, ``bounds``, ``epsilon`` and ``delta`` are there unless an
    interrupted fit is finished, which needs none of these.
    """

    data: Path
    bounds: str
    epsilon: float
    delta: float
    target: str | None
    neighbors: "Neighbors"
    task: str | None
    loss: str
    classes: str | None
    target_bounds: str | None
    n_nonzero: int | None
    solver: str
    settings: tuple[str, ...]
    calibration: str
    intercept: bool
    drop: tuple[str, ...]
    n_features: int | None
    in_blocks: bool
    file_format: str | None
    invalid: "Invalid"
    ledger: Path | None
    ledger_epsilon: float | None
    ledger_delta: float | None
    who: str | None
    seed: int | None
