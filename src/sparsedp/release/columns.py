"""The columns of a table that a model uses, found by name or by position, as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sparsedp.data.bounds_toml import some_names
from sparsedp.data.gate import (
    Invalid,
    as_float64,
    check_finite,
    column_names,
    numbers,
    shape_of,
    unwrapped,
)
from sparsedp.data.raw import Label, RawColumn
from sparsedp.data.schema import Schema
from sparsedp.data.schema.frame import names_of
from sparsedp.data.storage import Storage
from sparsedp.release.feature import Feature

TableLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
"""An array, rows of numbers, a sparse array, or a data frame (which says how to be an array)."""


class Frame(Protocol):
    """A data frame of any library, as far as it is used here."""

    @property
    def shape(self) -> tuple[int, int]:
        """Records and columns."""

    def __getitem__(self, name: Label, /) -> Iterable[SupportsFloat | str]:
        """A column."""


@dataclass(frozen=True)
class UsedColumns:
    """What a model needs of a table.

    Parameters
    ----------
    n_features : int
        Of the table that the model was fitted to.
    features : sequence of Feature
        Those that the model uses.
    categories : mapping of str to sequence of str
        Text columns that features such as "color=red" were made from, with their declared values.
    invalid : {"raise", "replace"}
    schema : Schema or None
        How raw tables become features.
    """

    n_features: int
    features: Sequence[Feature]
    categories: Mapping[str, Sequence[str]]
    invalid: Invalid
    schema: Schema | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the features; x0, x1, ... if the table had none."""
        return tuple(feature.label for feature in self.features)

    @property
    def named(self) -> bool:
        """Whether features are found by name; otherwise by position."""
        return all(feature.name is not None for feature in self.features)

    def of(self, X: TableLike, names: Sequence[Label] | None) -> Storage:
        """The used columns as numbers, in the model's order."""
        if self.schema is not None and names is None and self._is_raw(self.schema, X):
            return self.schema.encode(X, self.invalid, [feature.index for feature in self.features])
        table = unwrapped(X)
        columns = column_names(table)  # None unless it is a data frame
        if columns is None:
            support = self._positions(shape_of(table)[1], names)
            numeric = numbers(table, self.invalid, copy=False)
            numeric = numeric if isinstance(numeric, np.ndarray) else numeric.tocsr()
            values = numeric[:, support]
        else:
            frame: Frame = table
            if names is None and self.named:
                frame, columns = self._encoded(frame, columns)
            support = self._positions(len(columns), columns if names is None else names)
            # Column by column in memory, as NumPy picks columns from an array.
            values = np.empty((frame.shape[0], len(support)), order="F")
            for k, j in enumerate(support):
                values[:, k] = as_float64(frame[columns[j]], f"column {columns[j]!r}", self.invalid)
        if self.invalid == "raise":
            check_finite(values, self.names)
        return values

    def offset(self, X: TableLike, names: Sequence[Label] | None, given: RawColumn) -> RawColumn:
        """What is added to margins: as it was given, or the column that the schema names."""
        schema = self.schema
        if schema is None or schema.offset is None or names is not None:
            return given
        if not self._is_raw(schema, X):
            return given
        if given is not None:
            raise ValueError("the schema says which column holds the offset: give none besides")
        return schema.offsets(X)

    def _is_raw(self, schema: Schema, X: TableLike) -> bool:
        """Whether a table has the raw columns that the features are made of, by names alone."""
        columns = names_of(X)
        if columns is None:
            return False  # an array of all features
        needed = schema.needs([feature.index for feature in self.features])
        missing = [name for name in needed if name not in columns]
        if missing and not set(self.names) <= set(columns):
            raise ValueError(f"the model needs the columns {some_names(missing)}")
        return not missing

    def _encoded(self, X: Frame, columns: list[Label]) -> tuple[Frame, list[Label]]:
        """A frame as it was read, with the 0/1 columns that the model makes of its text columns."""
        made = {
            f"{column}={value}": (column, value)
            for column, values in self.categories.items()
            if column in columns
            for value in values
        }
        wanted = [name for name in self.names if name in made and name not in columns]
        if not wanted:
            return X, columns
        cells = {column: list(X[column]) for column in {made[name][0] for name in wanted}}
        read: dict[Label, Iterable[SupportsFloat | str]] = {
            name: X[name] for name in self.names if name in columns
        }
        for name in wanted:
            column, value = made[name]
            read[name] = np.array([_says(cell, value) for cell in cells[column]], dtype=np.float64)
        return _Frame(X.shape[0], read), list(read)

    def _positions(self, n_columns: int, names: Sequence[Label] | None) -> list[int]:
        """Where the data have the features that the model uses."""
        if self.named and names is not None:
            position = {name: j for j, name in enumerate(names)}
            missing = [name for name in self.names if name not in position]
            if missing:
                shown = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
                raise ValueError(f"the model needs the columns {shown}, which the data do not have")
            return [position[name] for name in self.names]
        if n_columns != self.n_features:
            raise ValueError(
                f"the model was fitted to {self.n_features} features, the data have {n_columns}: "
                "give the same columns in the same order"
            )
        return [feature.index for feature in self.features]


@dataclass(frozen=True)
class _Frame:
    """Columns by name, as far as a model needs them."""

    n_records: int
    columns: dict[Label, Iterable[SupportsFloat | str]]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_records, len(self.columns)

    def __getitem__(self, name: Label) -> Iterable[SupportsFloat | str]:
        return self.columns[name]


def _says(cell: SupportsFloat | str, value: str) -> bool:
    """Whether a cell holds a declared category: numbers by value, text without spaces around."""
    text = str(cell).strip()
    if isinstance(cell, str) or text == value:
        return text == value
    try:
        return float(cell) == float(value)
    except (TypeError, ValueError):
        return False
