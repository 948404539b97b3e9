"""Between a release and its ledger: the charge before any noise, the note once it exists."""

import hashlib
from dataclasses import replace

import numpy as np

from sparsedp.data.dataset import Dataset
from sparsedp.fit.warned import warn_caller
from sparsedp.privacy import Ledger, PrivacyRecord
from sparsedp.privacy.ledger import LedgerError, Receipt
from sparsedp.privacy.ledger.state import WEIGHTS


def charge(
    ledger: Ledger | None, record: PrivacyRecord, data: Dataset, *, what: str
) -> PrivacyRecord:
    """Write what the record says into the ledger, never less than was claimed or proven.

    Parameters
    ----------
    ledger : Ledger or None
    record : PrivacyRecord
        Seeded fits are charged like private ones: a seed that gets lost must not be a way around.
    data : Dataset
        Private. The ledger keeps a keyed fingerprint of it, which nothing published depends on.
    what : str
        What is released, for the ledger's line.

    Returns
    -------
    PrivacyRecord
        The record with its receipt.
    """
    if ledger is None:
        return record
    receipt = ledger.charge(
        max(record.epsilon, record.proven_epsilon),
        record.delta,
        neighbors=record.neighbors,
        unit="person" if record.unit == "person" else "record",
        what=what,
        events=list(record.events),
        seeded=record.seeded,
        digest=digest(data),
    )
    return replace(record, ledger=receipt.to_dict())


def check_payable(ledger: Ledger | None, record: PrivacyRecord, *, what: str) -> None:
    """Raise what `charge` would: where another ledger pays too, it must not pay for nothing."""
    if ledger is not None:
        ledger.check(
            max(record.epsilon, record.proven_epsilon),
            record.delta,
            neighbors=record.neighbors,
            unit="person" if record.unit == "person" else "record",
            what=what,
            events=list(record.events),
        )


def model_by(record: PrivacyRecord) -> str:
    """What a fit releases, for the ledger's line."""
    return f"{record.loss['name']} model by {record.solver['name']}"


def finish(ledger: Ledger | None, record: PrivacyRecord, released: np.ndarray) -> None:
    """Note in the ledger what the charge has become; a failure costs only the note."""
    if ledger is None or record.ledger is None or ledger.finish_later:
        return
    charged = Receipt(record.ledger["id"], record.ledger["line"], record.ledger["head"])
    try:
        # Not of a model file: there is none yet, and `verify` compares files with files only.
        ledger.finish(charged, WEIGHTS + hashlib.sha256(released.tobytes()).hexdigest())
    except LedgerError as error:
        warn_caller(
            f"the release exists and its charge stands; only the note of that failed: {error}",
            UserWarning,
        )


def digest(data: object) -> bytes | None:
    """A hash of the private records behind the gate; None for blocks, which are not read again."""
    if not isinstance(data, Dataset):
        return None
    storage = data.storage
    parts = [part for part in (data.target, data.weights, data.persons) if part is not None]
    if isinstance(storage, np.ndarray):
        parts.append(storage)
    else:
        parts += [storage.data, storage.indices, storage.indptr]
    total = hashlib.sha256()
    for part in parts:
        array = np.ascontiguousarray(part)
        total.update(f"{array.dtype.str}{array.shape}".encode())
        total.update(array.data if array.size else b"")
    return total.digest()
