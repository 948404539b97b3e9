"""What a ledger and a signature say about a model, for whoever must approve it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sparsedp.privacy.ledger import Ledger, Receipt
from sparsedp.release.model import PublishedModel
from sparsedp.release.sign import check_signature

SHOWN_KEY = 16
"""Letters of a key's SHA-256 that a reader compares."""


@dataclass(frozen=True, kw_only=True)
class Charged:
    """The line of a ledger that paid for a model, and what is left.

    Parameters
    ----------
    who, data : str or None
        As declared; None where nobody said it.
    time : str
        When it was charged, by the clock of the machine.
    line : int
    budget, left : tuple of float
        Epsilon and delta: all that may ever be spent, and what is left of it when this is written.
    """

    who: str | None
    data: str | None
    time: str
    line: int
    budget: tuple[float, float]
    left: tuple[float, float]

    @classmethod
    def of(cls, model: PublishedModel, ledger: Ledger) -> "Charged":
        """Look a model's charge up; raises if this ledger did not pay for it."""
        stated = model.privacy.get("ledger")
        if stated is None:
            raise ValueError("the model names no charge to a ledger")
        ledger.verify([Receipt(stated["id"], stated["line"], stated["head"])])
        charge = next((each for each in ledger.history() if each.line == stated["line"]), None)
        if charge is None:
            raise ValueError("the line of the ledger that the model names is no charge")
        left = ledger.remaining()
        return cls(
            who=charge.who,
            data=charge.data,
            time=charge.time,
            line=charge.line,
            budget=(ledger.epsilon, ledger.delta),
            left=(left.epsilon, left.delta),
        )


@dataclass(frozen=True, kw_only=True)
class Signed:
    """Who signed a model file, as far as the file beside it tells.

    Parameters
    ----------
    name, time : str
        As the signer says.
    key : str
        First letters of the key's SHA-256. Whose key it is only its owner can tell.
    problem : str or None
        Why the signature is worth nothing, if it is not.
    """

    name: str
    time: str
    key: str
    problem: str | None

    @classmethod
    def beside(cls, model: Path) -> "Signed | None":
        """The signature beside a model (a folder or a file); None if there is none."""
        found, problems = check_signature(model)
        if found is None:
            return None
        key = hashlib.sha256(bytes.fromhex(found.public_key)).hexdigest()
        problem = problems[0] if problems else None
        return cls(name=found.signer, time=found.signed_at, key=key[:SHOWN_KEY], problem=problem)
