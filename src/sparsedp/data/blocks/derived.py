"""Functions of blocks of records, and how what they give is added up.

Whatever a solver releases is a sum over records, so a solver need not see all records at once: it
says what is to be computed from a block of them, and gets the total. Records in memory are one
block. The functions are small frozen dataclasses with ``__call__``, so that they can be sent to
where the records are.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

Sums = Any  # an array (or a number), or a tuple of arrays: what one pass over the records yields


class Derived(Protocol):
    """One private value per block of records, each computed from its block alone.

    Notes
    -----
    *Privacy.* Values and totals are exact and private: only a curator may release them.
    """

    def derive(self, function: Callable[..., Any], *others: "Derived") -> "Derived":
        """Values ``function(value, *other values)``, one per block, to be used more than once."""
        ...

    def total(self, function: Callable[..., Sums], *others: "Derived") -> Sums:
        """Sum of ``function(value, *other values)`` over the blocks."""
        ...


class Whole:
    """A value derived from records that are in memory, as one block."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def derive(self, function: Callable[..., Any], *others: Any) -> "Whole":
        """A value computed from this one."""
        return Whole(function(self.value, *(other.value for other in others)))

    def total(self, function: Callable[..., Sums], *others: Any) -> Sums:
        """The function's value: one block is the sum."""
        return function(self.value, *(other.value for other in others))


class RunningSum:
    """Add arrays, or tuples of arrays, one after the other; compensated (Neumaier, 1974).

    The rounding error of the result is that of one addition, however many blocks there are, plus
    those within the blocks; and the same blocks in the same order give the same bits wherever they
    were computed.
    """

    def __init__(self) -> None:
        self._sums: list[Any] | None = None
        self._errors: list[Any] = []
        self._tuple = False

    def add(self, part: Sums) -> None:
        """Take in what one block gives."""
        self._tuple = isinstance(part, tuple)
        terms = [np.asarray(term) for term in (part if self._tuple else (part,))]
        if self._sums is None:
            self._sums, self._errors = terms, [0 for _ in terms]
            return
        for i, term in enumerate(terms):
            before = self._sums[i]
            after = self._sums[i] = before + term
            if after.dtype.kind == "f":
                # What rounding took away, exactly (Knuth's two-sum needs no comparison).
                gained = after - before
                self._errors[i] = self._errors[i] + ((before - (after - gained)) + (term - gained))

    def result(self) -> Sums:
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
        running.add(part)
    return running.result()
