"""Reading records for the verbs: for a fit by what was declared, for a model by what it needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparsedp.cli.declared.declared import Declared
from sparsedp.cli.declared.given import Given
from sparsedp.cli.declared.holder import look, refuse_misspelled, tell
from sparsedp.cli.declared.source import Source
from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds
from sparsedp.data.files.open_raw import RawReader
from sparsedp.data.files.readers import Table, read_table
from sparsedp.data.gate import Invalid
from sparsedp.data.raw import RawColumn, RawTable
from sparsedp.data.schema import Schema
from sparsedp.release.model import PublishedModel


@dataclass(frozen=True, repr=False)
class FitRecords:
    """Records to fit a model to, and what is promised about them.

    Parameters
    ----------
    X, y
        As estimators take them.
    promised : dict
        ``schema`` or ``bounds``.
    schema : Schema or None
        Of a table; a matrix of numbers has none.
    names : sequence of str or None
        Of the features.
    n_features : int
    target_name : str or None
    """

    X: RawTable
    y: RawColumn
    promised: dict[str, Schema | Bounds]
    schema: Schema | None
    names: Sequence[str] | None
    n_features: int
    target_name: str | None

    @property
    def row_norm(self) -> float | None:
        """Declared for whole rows."""
        promised = self.promised.get("bounds", self.schema and self.schema.bounds)
        return promised.row_norm if isinstance(promised, Bounds) else None


def records_for_fit(given: Given, declared: Declared) -> FitRecords:
    """Read the records; whoever holds them sees how they fit the schema, before any charge."""
    source = Source.given(given)
    if source.matrix is not None:
        table, bounds = matrix_for_fit(source, declared, given["n_features"], given["invalid"])
        if table.y is None:
            raise ValueError("the data have no target: give --target")
        return FitRecords(
            X=table.X,
            y=table.y,
            promised={"bounds": bounds},
            schema=None,
            names=table.feature_names,
            n_features=table.X.shape[1],
            target_name=table.target_name,
        )
    opened, schema = open_for_fit(source, declared)
    in_blocks = given["in_blocks"]
    records: RawTable = RecordBlocks.from_table(opened, schema) if in_blocks else opened.read()
    found = look(schema, opened.blocks() if in_blocks else [records])
    if not given["quiet"]:
        tell(found)
    if not given["allow_unmatched"]:
        refuse_misspelled(found)
    return FitRecords(
        X=records,
        y=None,
        promised={"bounds": schema.bounds} if in_blocks else {"schema": schema},
        schema=schema,
        names=schema.feature_names,
        n_features=schema.n_columns,
        target_name=declared.target,
    )


def open_for_fit(source: Source, declared: Declared) -> tuple[RawReader, Schema]:
    """Open a table; the header alone tells whether all is declared."""
    # Where there is no header, the schema says which columns there are.
    named = [*columns_of(declared.schema), *declared.schema.drop]
    opened = source.table(None if source.has_header else named)
    schema = declared.completed(opened.names)
    return opened.of(columns_of(schema)), schema


def columns_of(schema: Schema) -> list[str]:
    """All raw columns that a fit reads."""
    roles = (schema.target, schema.person, schema.weight)
    more = [role.column for role in roles if role is not None]
    return [*schema.columns, *(name for name in more if name not in schema.columns)]


def matrix_for_fit(
    source: Source, declared: Declared, n_features: int | None, invalid: Invalid
) -> tuple[Table, Bounds]:
    """Read a matrix of numbers to fit a model to."""
    if source.matrix == "libsvm":
        if n_features is None:
            raise ValueError(
                "a LIBSVM file does not say how many features there are: give --n-features (the "
                "largest index that occurs is a fact about the records)"
            )
        bounds = declared.matrix_bounds(None)
        table = read_table(source.path, format="libsvm", n_features=n_features, invalid=invalid)
        return table, bounds
    table = read_table(source.path, format="npz", target=declared.target)
    return table, declared.matrix_bounds(table.feature_names)


def matrix_for_model(source: Source, model: PublishedModel, target: str | None = None) -> Table:
    """Read a matrix of numbers to predict."""
    if source.matrix == "libsvm":
        return read_table(
            source.path, format="libsvm", n_features=model.n_features, invalid=model.invalid
        )
    return read_table(source.path, format="npz", target=target, invalid=model.invalid)


def blocks_for_model(
    source: Source, model: PublishedModel
) -> Iterator[tuple[RawTable, Sequence[str] | None]]:
    """Records to predict, some at a time, with the names of a matrix; only what the model uses."""
    if source.matrix is not None:
        table = matrix_for_model(source, model)
        yield table.X, table.feature_names
        return
    for block in open_for_model(source, model).blocks():
        yield block, None


def open_for_model(
    source: Source, model: PublishedModel, target: str | None = None, also: Sequence[str] = ()
) -> RawReader:
    """Open a table of which a model needs some columns, and its reader others."""
    needed = list(dict.fromkeys([*_needed(model, target), *also]))
    opened = source.table(None if source.has_header else needed)
    if not model.named:
        return opened  # as many columns as the model was fitted to, in their order
    missing = sorted({*needed} - {*opened.names})
    if missing:
        raise ValueError(f"{source}: the model needs the columns {', '.join(map(repr, missing))}")
    return opened.of(needed)


def _needed(model: PublishedModel, target: str | None) -> list[str]:
    """Raw columns that a model needs, and the target."""
    if model.schema is not None:
        needed = list(model.schema.needs([feature.index for feature in model.features]))
        offset = model.schema.offset
        needed += [] if offset is None else [offset.column]
    else:  # of a model that was fitted before there were schemas
        texts = model.categories.items()
        encoded = {f"{name}={value}" for name, values in texts for value in values}
        needed = [name for name in model.feature_names if name not in encoded]
        needed += list(model.categories)
    return [*needed, *([] if target is None or target in needed else [target])]


def records_to_score(
    source: Source, model: PublishedModel, target: str | None, *, private: bool
) -> tuple[RawTable, RawColumn, Sequence[str] | None]:
    """Records with the truth about them, and the names of a matrix.

    Private scores also need to know whose each row is and what it weighs, if the schema says so.
    """
    if source.matrix is not None:
        table = matrix_for_model(source, model, target)
        if table.y is None:
            raise ValueError(f"{source} has no target to compare with: give --target")
        return table.X, table.y, table.feature_names
    target = target or model.target.get("name")
    if target is None:
        raise ValueError("which column holds the truth? Give --target")
    schema = model.schema
    roles = () if schema is None or not private else (schema.person, schema.weight)
    also = [role.column for role in roles if role is not None]
    records = open_for_model(source, model, target, also).read()
    if schema is not None and schema.target is not None and schema.target.column == target:
        return records, schema.target_cells(records), None
    return records, list(records[target]), None
