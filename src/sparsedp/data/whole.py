"""Values that were computed from records in memory, which are one block."""

from collections.abc import Callable, Sequence

from sparsedp.data.records import Derived, Sums


class Whole:
    """A value derived from records that are in memory, as one block; see `Derived`."""

    def __init__(self, value: object) -> None:
        self.value = value

    def derive(self, function: Callable[..., object], *others: Derived) -> "Whole":
        """A value computed from this one."""
        return Whole(function(self.value, *values_of(others)))

    def total(self, function: Callable[..., Sums], *others: Derived) -> Sums:
        """The function's value: one block is the sum."""
        return function(self.value, *values_of(others))


def values_of(derived: Sequence[Derived]) -> list[object]:
    """What was derived from the same records, to compute with it."""
    values = [value.value for value in derived if isinstance(value, Whole)]
    if len(values) < len(derived):
        raise TypeError("values of blocks do not go together with records in memory")
    return values
