"""What one record may change: the two neighbor relations, and sensitivities under both."""

from dataclasses import dataclass
from typing import Literal, get_args

Neighbors = Literal["add_remove", "replace_one"]
NEIGHBORS: tuple[Neighbors, ...] = get_args(Neighbors)


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """How far one record can move a query, for tables that differ by one added or replaced record.

    A query that sums one bounded term per record moves by at most that term when a record is
    added or removed, and by at most twice as much when one is replaced. Some queries do better
    than twice, so both numbers are always written down.
    """

    add_remove: float
    replace_one: float

    def __post_init__(self) -> None:
        if not 0 <= self.add_remove < float("inf") or not 0 <= self.replace_one < float("inf"):
            raise ValueError(f"a sensitivity is a finite number that is not negative, got {self}")

    @classmethod
    def of_sum(cls, term: "float | Sensitivity") -> "Sensitivity":
        """Of a sum over records whose terms have at most this norm (or as it was declared)."""
        if isinstance(term, Sensitivity):
            return term
        return cls(add_remove=term, replace_one=2 * term)

    @classmethod
    def of_scores(cls, term: "float | Sensitivity") -> "Sensitivity":
        """Range of sums over records whose terms lie in [-term, term] (or as it was declared).

        A selection pays for the *range* of the change over its candidates (largest rise plus
        largest fall), since adding the same amount to every score changes nothing.
        """
        if isinstance(term, Sensitivity):
            return term
        return cls(add_remove=2 * term, replace_one=4 * term)

    def with_smaller_weights(self) -> "Sensitivity":
        """Where a record may also count less than 1, or nothing (data/gate/persons.md).

        It may then be replaced by nothing, which is as much as if it were removed.
        """
        return Sensitivity(
            add_remove=self.add_remove, replace_one=max(self.replace_one, self.add_remove)
        )

    def under(self, neighbors: Neighbors) -> float:
        """The number that holds for this neighbor relation."""
        return self.add_remove if neighbors == "add_remove" else self.replace_one
