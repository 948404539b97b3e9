"""Sums over blocks of records: what the blocks give, added up in their order."""

from collections.abc import Iterable
from typing import cast

import numpy as np

from sparsedp.data.raw import RawArray
from sparsedp.data.records import Sums

Part = float | RawArray
"""A number or an array that one block gives."""


class RunningSum:
    """Add arrays, or tuples of arrays, one after the other; compensated (Neumaier, 1974).

    The rounding error of the result is that of one addition, however many blocks there are, plus
    those within the blocks; and the same blocks in the same order give the same bits wherever they
    were computed.
    """

    def __init__(self) -> None:
        self._sums: list[RawArray] | None = None
        self._errors: list[Part] = []
        self._tuple = False

    def add(self, part: Part | tuple[Part, ...]) -> None:
        """Take in what one block gives."""
        self._tuple = isinstance(part, tuple)
        terms = [np.asarray(term) for term in (part if isinstance(part, tuple) else (part,))]
        if self._sums is None:
            self._sums, self._errors = terms, list[Part](0 for _ in terms)
            return
        for i, term in enumerate(terms):
            before = self._sums[i]
            after = self._sums[i] = before + term
            if after.dtype.kind == "f":
                # What rounding took away, exactly (Knuth's two-sum needs no comparison).
                gained = after - before
                self._errors[i] = self._errors[i] + ((before - (after - gained)) + (term - gained))

    def result(self) -> Part | tuple[Part, ...]:
        """The sum of all parts; a float where the parts were numbers."""
        assert self._sums is not None, "there is at least one block"
        pairs = zip(self._sums, self._errors, strict=True)
        sums = [np.asarray(total + error) for total, error in pairs]
        sums = [total[()] if total.ndim == 0 else total for total in sums]
        return tuple(sums) if self._tuple else sums[0]


def added(parts: Iterable[Sums]) -> Sums:
    """The sum of what blocks give, in their order."""
    running = RunningSum()
    for part in parts:
        running.add(cast(Part, part))
    return cast(Sums, running.result())
