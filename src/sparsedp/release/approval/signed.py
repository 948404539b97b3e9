"""What a signature says about a model, for whoever must approve it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sparsedp.release.approval.sign import check_signature

SHOWN_KEY = 16
"""Letters of a key's SHA-256 that a reader compares."""


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
