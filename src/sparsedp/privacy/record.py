"""The privacy record: what was asked, what was released, what is guaranteed, what is not."""

import math
from dataclasses import asdict, dataclass

from sparsedp.privacy.neighbors import Neighbors
from sparsedp.privacy.plain import Parsed
from sparsedp.privacy.public import Unit
from sparsedp.privacy.verdict import Verdict, verdict_of


@dataclass(frozen=True, kw_only=True)
class PrivacyRecord:
    """Everything a privacy officer needs to know about one fit; itself safe to publish.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee that the fit was asked for (and, if ``calibration`` is "sound", proven).
    neighbors : str
        The tables that the guarantee compares.
    unit : {"row", "person"}
        What these differ in: one row, or all rows of one person.
    calibration : {"sound", "published", "none"}
        How the noise was set: such that the guarantee is proven (by solvers with
        ``calibration`` "sound" and "proven" alike), by a paper's formula, or not at all (epsilon
        infinite).
    proven_epsilon : float
        What our accountant proves for the noise that was used, at this delta.
    events : tuple of dict
        The releases, as the accountant counts them, with the name of their purpose.
    bounds, target : dict
        The public promises about features and target that the records were clipped to.
    solver, loss : dict
        Name and settings.
    model : dict
        What was asked of the model: features to keep of how many, intercept, public start.
    seeded : bool
        True if the noise came from a seed: then whoever knows the seed can remove the noise.
    notes : tuple of str
        What the reader must know: assumptions, and why a claim is not proven.
    versions : dict
        Of the software.
    ledger : dict or None
        Where the fit was charged: ``id`` of the ledger, ``line`` of the charge and the hash of the
        ledger's lines up to it (``head``), which no other history of the ledger has.
    """

    epsilon: float
    delta: float
    neighbors: Neighbors
    calibration: str
    proven_epsilon: float
    events: tuple[Parsed, ...]
    bounds: Parsed
    target: Parsed
    solver: Parsed
    loss: Parsed
    model: Parsed
    seeded: bool
    notes: tuple[str, ...]
    versions: dict[str, str]
    unit: Unit = "row"
    ledger: Parsed | None = None

    def verdict(self) -> Verdict:
        """How far the records are protected, counted anew from the events."""
        return verdict_of(asdict(self))

    @property
    def private(self) -> bool:
        """Whether every part of the model is protected as stated, in more than name."""
        return self.verdict().private

    def statement(self) -> str:
        """What is guaranteed, in a sentence or two."""
        return self.verdict().statement

    def to_dict(self) -> Parsed:
        """JSON-ready form; an infinite number is written as the string "inf"."""
        verdict = self.verdict()
        record = asdict(self) | {"private": verdict.private, "statement": verdict.statement}
        return {name: _plain(value) for name, value in record.items()}


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value
