"""Persons whose rows are in several blocks: each counts once, and no row is moved for that.

When a block is read, ids become digests under a key of the fit. Every block says how many rows each
of its persons has; what comes back is how many there are in all blocks, and in those before. From
that the block makes the weights that records in memory would have (data/gate/persons.md).
"""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.dataset import Dataset
from sparsedp.data.gate import Invalid
from sparsedp.data.gate.persons import NOBODY, person_keys
from sparsedp.data.gate.units import Codes, Whole, as_weights, kept, ranks, shared
from sparsedp.data.raw import RawColumn
from sparsedp.data.storage import freeze

Digests = NDArray[np.bytes_]

SIZE = 16
"""Bytes of a digest: shorter ones of two persons might be equal, and change each other's weight."""

NO_DIGEST = b""


def digests(groups: RawColumn, key: bytes, invalid: Invalid) -> Digests:
    """One for each row, equal where ids are; empty where there is none. Private."""
    codes, ids = person_keys(groups, invalid)
    table = np.zeros(len(ids) + 1, dtype=f"S{SIZE}")  # the last one is nobody's
    for code, each in enumerate(ids):
        table[code] = hashlib.blake2b(_written(each), key=key, digest_size=SIZE).digest()
    return table[codes]


def _written(each: Hashable) -> bytes:
    """An id as bytes, with its kind: 1 is not b"1" any more than "a" is."""
    if isinstance(each, bytes):
        return b"b" + each
    return f"{type(each).__name__}:{each!r}".encode(errors="surrogatepass")


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """How many rows each person of a block has in it. Private."""

    persons: Digests
    first: Codes
    """Number of the first of them, within the block."""
    counts: Whole


def rows_of(block: Dataset) -> Rows:
    """Of a block with digests for persons; in their order."""
    return Rows(*np.unique(np.asarray(block.persons), return_index=True, return_counts=True))


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """What a block is told about its persons, in the order of their digests. Private."""

    codes: Codes
    totals: Whole
    """Rows in all blocks."""
    before: Whole
    """Rows in the blocks before."""


def places_of(blocks: Sequence[Rows]) -> list[Places]:
    """Add up the rows of every person over the blocks."""
    counts = np.concatenate([block.counts for block in blocks])
    names, codes = np.unique(
        np.concatenate([block.persons for block in blocks]), return_inverse=True
    )
    # Codes in the order in which persons come first, whatever the key: coins go by it, and those of
    # a seed are the same each time.
    n_before = np.cumsum([0, *(block.counts.sum() for block in blocks)])
    rows = [block.first + n for block, n in zip(blocks, n_before[:-1], strict=True)]
    first = np.full(len(names), n_before[-1])
    np.minimum.at(first, codes.reshape(-1), np.concatenate(rows))
    names, codes = names[np.argsort(first)], np.argsort(np.argsort(first))[codes.reshape(-1)]
    # Entries of a person one after the other, in the order of the blocks.
    order = np.argsort(codes, kind="stable")
    running = np.cumsum(counts[order]) - counts[order]
    _, starts, lengths = np.unique(codes[order], return_index=True, return_counts=True)
    before = np.empty(len(counts), dtype=np.int64)
    before[order] = running - np.repeat(running[starts], lengths)
    totals = np.zeros(len(names), dtype=np.int64)
    np.add.at(totals, codes, counts)
    told = np.where(names[codes] == NO_DIGEST, NOBODY, codes)
    cuts = np.cumsum([len(block.counts) for block in blocks])[:-1]
    parts = (np.split(each, cuts) for each in (told, totals[codes], before))
    return [Places(*each) for each in zip(*parts, strict=True)]


def placed(block: Dataset, places: Places) -> Dataset:
    """The block with codes of persons and weights; what it had as weights are shares of these."""
    _, inside = np.unique(np.asarray(block.persons), return_inverse=True)
    inside = inside.reshape(-1)
    persons = places.codes[inside]
    whole = shared(places.totals[inside], ranks(inside) + places.before[inside], persons != NOBODY)
    weights = as_weights(whole if block.weights is None else kept(whole, block.weights))
    freeze(block.storage, weights, persons)
    return replace(block, persons=persons, weights=weights)
