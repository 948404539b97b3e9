"""Raw tables on their way into an estimator that has a schema."""

from typing import TypeVar

import numpy as np

from sparsedp.data.blocks.blocks import in_blocks
from sparsedp.data.gate.containers import cells_of
from sparsedp.data.schema import Schema
from sparsedp.data.schema.frame import Frame
from sparsedp.estimators.border import Estimator, Features, Groups, Targets, Weights

Said = TypeVar("Said")

ALSO_GIVEN = (
    "the schema says which column holds the {what}, and fit was given {what} too: leave one out"
)


def schema_for(schema: Schema, X: Features) -> tuple[Schema, Frame]:
    """The schema of this table, by the names of its columns alone, and the table."""
    if in_blocks(X, None) is not None:
        raise ValueError(
            "records in blocks are encoded where they are read: give their bounds, not a schema"
        )
    frame = Frame.of(X)
    return (schema.completed(frame.names) if schema.is_open else schema), frame


def note_columns(estimator: Estimator, schema: Schema) -> None:
    """Raw columns and the schema on a fitted estimator; the names of its coefficients."""
    estimator.schema_ = schema
    estimator.n_features_in_ = len(schema.columns)
    estimator.feature_names_in_ = np.array(schema.columns, dtype=object)
    estimator.coef_names_ = np.array(schema.feature_names, dtype=object)


def forget_schema(estimator: Estimator) -> None:
    """Of an earlier fit."""
    if "schema_" in vars(estimator):
        del estimator.schema_, estimator.coef_names_, estimator.feature_names_in_


def raw_values(estimator: Estimator, X: Features) -> np.ndarray:
    """The bounded columns of a raw table, for predictions."""
    return estimator.schema_.encode(X, estimator.invalid)


def truth_of(estimator: Estimator, X: Features, y: Targets) -> Targets:
    """Targets to compare predictions with: as they came, or as the schema reads them."""
    schema: Schema | None = vars(estimator).get("schema_")
    if schema is None or (y is not None and schema.target is None):
        return y
    return target_cells(schema, X, y)


def target_cells(schema: Schema, X: Features, y: Targets) -> Targets:
    """The target's cells: of its column in the table, unless they were given."""
    if y is None:
        return schema.target_cells(X)
    return y if schema.target is None else schema.target.cells(cells_of(y), schema.numbers)


def groups_of(schema: Schema, frame: Frame, given: Groups | None) -> Groups | None:
    """Whose each record is."""
    if schema.person is not None and given is not None:
        raise ValueError(ALSO_GIVEN.format(what="groups"))
    return given if schema.person is None else schema.groups(frame)


def weights_of(schema: Schema, frame: Frame, given: Weights | None) -> Weights | None:
    """What each record weighs."""
    if schema.weight is not None and given is not None:
        raise ValueError(ALSO_GIVEN.format(what="sample_weight"))
    return given if schema.weight is None else schema.weights(frame)


def offset_of(schema: Schema, frame: Features, given: Weights | None) -> Weights | None:
    """The known part of each record's margin."""
    if schema.offset is not None and given is not None:
        raise ValueError(ALSO_GIVEN.format(what="offset"))
    return given if schema.offset is None else schema.offsets(frame)


def limits_of(schema: Schema, given: tuple[float, float] | None) -> tuple[float, float] | None:
    """Public limits of the offset."""
    declared = None if schema.offset is None else (schema.offset.lower, schema.offset.upper)
    return said_once(given, declared, "offset_bounds")


def names_of(estimator: Estimator) -> np.ndarray | None:
    """Names of the columns of ``coef_``; None if they have none."""
    found = vars(estimator)
    return found.get("coef_names_", found.get("feature_names_in_"))


def said_once(own: Said | None, declared: Said | None, name: str) -> Said | None:
    """What the estimator or its schema says about the target; not two different things."""
    if own is None or declared is None:
        return declared if own is None else own
    if not np.array_equal(np.asarray(own, dtype=object), np.asarray(declared, dtype=object)):
        raise ValueError(f"{name} and the target of the schema differ: leave {name} out")
    return own
