"""What a block held when it was checked, so that it is noticed when it holds something else later.

A fit reads its blocks again and again. What was computed from a block is used together with what
is computed from it later, so records that come, go, move or change in between would break both the
sums and the promise that a record is in them once. Such a fit stops.
"""

import hashlib
import secrets
from dataclasses import dataclass, field

import numpy as np

from sparsedp.data.dataset import Dataset

CHANGED = "its records are not those that were checked: they must stay as they are during a fit"


@dataclass(frozen=True)
class Seal:
    """Number of records and digest of a block. Private: it goes no further than the records do.

    Digests are salted with a key of the fit, so that they say nothing where they might be logged.
    """

    n_records: int
    digest: bytes = field(repr=False)


@dataclass(frozen=True)
class Sealing:
    """Makes the seal of a block; two blocks with the same one hold the same records in order."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)

    def __call__(self, block: Dataset) -> Seal:
        """Of what has come through the gate, to the last bit."""
        digest = hashlib.sha256(self.key)
        storage = block.storage
        if isinstance(storage, np.ndarray):
            parts = [storage]
        else:
            parts = [storage.indptr, storage.indices, storage.data]
        units = [part for part in (block.weights, block.persons) if part is not None]
        for part in (*parts, block.target, *units):
            digest.update(f"{part.dtype.str}{part.shape}".encode())
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
        return Seal(block.n_records, digest.digest())
