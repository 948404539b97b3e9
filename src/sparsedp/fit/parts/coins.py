"""Disjoint parts of the records by secret coins, one for every person (events/parallel.md)."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.dataset import Dataset
from sparsedp.fit.parts.holdout import Holdout
from sparsedp.mechanisms import KeyStream


def held_out(
    data: Dataset, holdout: Holdout, held: NDArray[np.bool_] | None, stream: KeyStream
) -> tuple[Dataset, Dataset]:
    """Those who are fitted to and those who are held out, by new coins or by ``held``.

    Parameters
    ----------
    data : Dataset
        Private.
    holdout : Holdout
    held : ndarray of bool, optional
        Where coins persist, whether each row's person is held out.
    stream : KeyStream
    """
    if held is not None:
        return data.rows(~held), data.rows(held)
    kept, other = parts_by_coins(data, (1 - holdout.share, holdout.share), stream)
    return kept, other


def parts_by_coins(
    data: Dataset, shares: Sequence[float], stream: KeyStream
) -> tuple[Dataset, ...]:
    """Everybody in one part, with all rows, by a coin that has nothing to do with any record.

    Parameters
    ----------
    data : Dataset
        Private, behind the gate; in memory or in blocks, rows or persons, with their weights and
        offsets.
    shares : sequence of float
        Probabilities of the parts; public, together one.
    stream : KeyStream
        Where coins come from: secret unless there is a seed.

    Returns
    -------
    tuple of Dataset
        Views of the same promises, one per share. They are closed with ``data``.

    Notes
    -----
    *Privacy.* Nothing is released here. How many rows or persons are in a part may show nowhere,
    but for the number of persons under replace-one, which is then used like any public number.
    A row that is nobody's weighs nothing and is in the first part.
    """
    if len(shares) < 2 or not all(0 < share < 1 for share in shares):
        raise ValueError("shares must be two or more numbers strictly between 0 and 1")
    if abs(math.fsum(shares) - 1) > 1e-9:
        raise ValueError("shares must add up to one")
    # Exact to 2**-53; what matters is that everybody's coin is of the same law.
    ends = [np.uint64(int(math.fsum(shares[:k]) * 2.0**64)) for k in range(1, len(shares))]
    sides = data.per_person(lambda n: np.searchsorted(ends, stream.words(n), side="right"))
    return tuple(data.rows(sides == number) for number in range(len(shares)))
