"""Truth, persons and weights of raw records, where the model has a schema that says which columns.

What a model was fitted to by its schema is scored by the same: a person is then the unit of the
scores too, without being asked for again.
"""

from dataclasses import dataclass
from typing import Any

from sparsedp.data.gate.containers import cells_of
from sparsedp.data.gate.table import sizes
from sparsedp.data.raw import RawColumn, RawTable
from sparsedp.data.schema import Schema
from sparsedp.evaluation.target import Model, is_ours

ALSO_GIVEN = "the model's schema says which column holds {what}, and {what} was given too: leave it"


@dataclass(frozen=True, eq=False, repr=False)
class Roles:
    """What is known of records beside what the model predicts for them. Private."""

    y: RawColumn
    groups: RawColumn = None
    sample_weight: RawColumn = None

    @classmethod
    def of(
        cls, model: Model, X: RawTable, y: RawColumn, groups: RawColumn, weight: RawColumn
    ) -> "Roles":
        """As they were given, or as the model's schema finds them in X."""
        schema = schema_of(model)
        if schema is not None:
            y = _truth(schema, X, y)
            if schema.person is not None:
                groups = _only(groups, schema.groups(X), "groups")
            if schema.weight is not None:
                weight = _only(weight, schema.weights(X), "sample_weight")
        if y is None:
            raise ValueError("y is missing: the truth, one label or number per record")
        return cls(y, groups, weight)

    @property
    def empty(self) -> bool:
        """Whether there are no records."""
        return sizes(self.y)[:1] == (0,)


def schema_of(model: Model) -> Schema | None:
    """The schema of one of our models, fitted or published."""
    if not is_ours(model):
        return None
    found: Any = getattr(model, "schema_", None)
    found = getattr(model, "schema", None) if found is None else found
    return found if isinstance(found, Schema) else None


def _truth(schema: Schema, X: RawTable, y: RawColumn) -> RawColumn:
    if schema.target is None:
        return y
    return schema.target_cells(X) if y is None else schema.target.cells(cells_of(y), schema.numbers)


def _only(given: RawColumn, found: RawColumn, what: str) -> RawColumn:
    if given is not None:
        raise ValueError(ALSO_GIVEN.format(what=what))
    return found
