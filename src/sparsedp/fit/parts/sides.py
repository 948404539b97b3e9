"""Two ledgers, one for each side of coins that persist."""

from dataclasses import replace

from sparsedp.data.dataset import Dataset
from sparsedp.fit.charge import charge, check_payable, model_by
from sparsedp.fit.parts.beside import FIT
from sparsedp.fit.parts.holdout import Holdout
from sparsedp.privacy import Ledger, PrivacyRecord
from sparsedp.privacy.events import listed_in, parts_of
from sparsedp.privacy.ledger.sides import on_side
from sparsedp.privacy.plain import Parsed


def charge_sides(
    ledger: Ledger | None, holdout: Holdout, record: PrivacyRecord, data: Dataset
) -> tuple[PrivacyRecord, PrivacyRecord]:
    """Charge the model to the ledger of those who are fitted to, the scores to that of the others.

    Parameters
    ----------
    ledger : Ledger or None
        Of those who are fitted to.
    holdout : Holdout
        With a key and the ledger of those who are held out.
    record : PrivacyRecord
        Of both.
    data : Dataset
        Private; for fingerprints.

    Returns
    -------
    (PrivacyRecord, PrivacyRecord)
        The record with the receipt of the model, and with that of the scores.

    Notes
    -----
    *Privacy.* Both before any noise, and neither unless both ledgers can pay. Each line names its
    side and its key, and a ledger with such a line takes no other (`privacy/ledger/sides.py`):
    whoever is on one side is then paid for by one ledger alone.
    """
    key = holdout.coins()
    assert key is not None
    (other,) = (name for name in parts_of(record.events) if name != FIT)
    alone = replace(record, delta=0.0, events=_listed(record, other))
    what = model_by(record)
    scored = on_side(f"scores of a {what}", other, key.name)
    alone = replace(alone, proven_epsilon=record.epsilon)
    fitted, modelled = replace(record, events=_listed(record, FIT)), on_side(what, FIT, key.name)
    _check_two(ledger, holdout.ledger)
    check_payable(holdout.ledger, alone, what=scored)
    check_payable(ledger, fitted, what=modelled)
    paid = charge(holdout.ledger, alone, data, what=scored)
    charged = charge(ledger, fitted, data, what=modelled)
    return replace(record, ledger=charged.ledger), replace(record, ledger=paid.ledger)


def _check_two(one: Ledger | None, other: Ledger | None) -> None:
    if one is not None and other is not None and one.terms["id"] == other.terms["id"]:
        raise ValueError(
            "the ledger of those who are held out is that of the fit: each side of a key has a "
            "ledger of its own; nothing was charged"
        )


def _listed(record: PrivacyRecord, part: str) -> tuple[Parsed, ...]:
    return tuple(dict(event) for event in listed_in(record.events, part))
