"""What a ledger says about a model, for whoever must approve it."""

from dataclasses import dataclass

from sparsedp.privacy.ledger import Ledger, Receipt
from sparsedp.release.model import PublishedModel


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
