"""The schema: one public declaration that turns raw tables into bounded columns."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.bounds_toml import some_names
from sparsedp.data.files.limits import limits
from sparsedp.data.gate.cells import Invalid
from sparsedp.data.raw import Cells, Label, RawTable, Unchecked
from sparsedp.data.schema import stored, toml
from sparsedp.data.schema.encode import Part, Product, encoded
from sparsedp.data.schema.frame import Frame
from sparsedp.data.schema.kinds.checks import near
from sparsedp.data.schema.kinds.cyclic import Cyclic
from sparsedp.data.schema.kinds.kind import Column, Kind
from sparsedp.data.schema.kinds.number import Number
from sparsedp.data.schema.kinds.text import Text
from sparsedp.data.schema.kinds.writing import PLAIN, Writing
from sparsedp.data.schema.matches import Match, match
from sparsedp.data.schema.roles import Offset, Person, Target, Weight, numbers_of
from sparsedp.data.schema.stored import Shared
from sparsedp.data.schema.tables import quoted
from sparsedp.data.storage import Array


@dataclass(frozen=True, kw_only=True, repr=False)
class Schema:
    """What the columns of raw tables hold, and the bounded columns that they become.

    Parameters
    ----------
    features : mapping of str to a kind or to a mapping
        What each raw column holds: a `Number`, `Category`, `YesNo`, `Date`, `Cyclic` or `Text`, or
        the keys of its table in a schema file; ``{"drop": True}`` leaves a column out.
    target : Target, mapping or str, optional
        The column to predict.
    person : Person, mapping or str, optional
        The column that says whose a record is: the guarantee then protects people, not rows.
    unit : {"row"}, optional
        Says that each record is somebody else's; the other answer is `person`.
    weight, offset : Weight and Offset, or mappings, optional
    numbers : Writing, optional
        How numbers are written, where a feature does not say otherwise.
    shared : Shared, optional
        Limits of features without limits of their own, and the row norm; ``[bounds]`` in a file.
    interactions : sequence of pairs of str
        Features whose columns are multiplied, each on a scale from 0 to 1.

    Notes
    -----
    *Privacy.* Every step is a function of one record and of what is declared here: no record
    changes what becomes of another (schema.md). All of it is published with the model, and none of
    it may be read off the records.

    Examples
    --------
    >>> from sparsedp import Schema
    >>> schema = Schema.from_toml('''
    ... [features.age]
    ... lower = 0
    ... upper = 120
    ... missing = "indicator"
    ... [features.sex]
    ... categories = ["F", "M"]
    ... ''')
    >>> schema.feature_names
    ('age', 'age missing', 'sex=M')
    >>> schema.encode({"age": ["41", ""], "sex": ["M", " F"]})
    array([[41.,  0.,  1.],
           [60.,  1.,  0.]])
    """

    features: Mapping[str, Unchecked]
    target: Target | None = None
    person: Person | None = None
    unit: str | None = None
    weight: Weight | None = None
    offset: Offset | None = None
    numbers: Writing = field(default_factory=Writing)
    shared: Shared = field(default_factory=Shared)
    interactions: tuple[tuple[str, str], ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        features, dropped = stored.checked_features(self.features)
        self._set(features=features, drop=tuple(dict.fromkeys((*self.drop, *dropped))))
        for name, cls in stored.ROLES.items():
            said = getattr(self, name)
            said = {"column": said} if isinstance(said, str) else said
            if isinstance(said, Mapping):
                said = stored.built(cls, said, name)
            if said is not None and not isinstance(said, cls):
                raise ValueError(f"{name} must be a {cls.__name__}, a mapping or a name")
            self._set(**{name: said})
        if isinstance(self.numbers, Mapping):
            self._set(numbers=stored.built(Writing, self.numbers, "numbers"))
        self.numbers.or_else(PLAIN)
        if isinstance(self.shared, Mapping):
            self._set(shared=stored.built(Shared, self.shared, "bounds"))
        self._set(interactions=stored.checked_pairs(self.interactions, list(features)))
        self._check_roles()
        if features:
            _ = self.bounds  # whatever is wrong with a declaration is wrong now

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_roles(self) -> None:
        if self.unit not in (None, "row"):
            raise ValueError('unit must be "row"; a person is declared by [person] column = ...')
        if self.unit == "row" and self.person is not None:
            raise ValueError('the unit is either "row" or the person, not both')
        taken = [*self.features, *self.drop]
        for name, role in self._roles.items():
            if role is not None and role.column in taken:
                raise ValueError(
                    f"the column {role.column!r} is the {name} and something else: declare it once"
                )
            taken += [] if role is None else [role.column]

    @property
    def _roles(self) -> dict[str, Person | Target | Weight | Offset | None]:
        return {name: getattr(self, name) for name in stored.ROLES}

    def __repr__(self) -> str:
        return f"Schema({len(self.features)} columns, {self.n_columns} features)"

    @classmethod
    def from_toml(cls, source: str | Path) -> "Schema":
        """Read a schema file: its path, or TOML text."""
        tables, where = toml.read(source)
        try:
            return cls.from_dict(tables)
        except ValueError as error:
            problem = str(error)
        raise ValueError(f"{where}{problem}")

    @classmethod
    def from_dict(cls, tables: Mapping[str, Unchecked]) -> "Schema":
        """Read what `to_dict` wrote, or the tables of a schema file."""
        return cls(**stored.declared(tables))

    def _tables(self) -> Mapping[str, Unchecked]:
        return stored.tables_of(
            unit=self.unit,
            roles=self._roles,
            numbers=self.numbers,
            shared=self.shared,
            features=self.features,
            drop=self.drop,
            interactions=self.interactions,
        )

    def to_dict(self) -> dict[str, Unchecked]:
        """The tables of a schema file, in what JSON can hold."""
        return dict(stored.jsonable(self._tables()))

    def to_toml(self) -> str:
        """A schema file."""
        return toml.written(self._tables())

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the raw columns that predictions need."""
        offset = [] if self.offset is None else [self.offset.column]
        return (*self.features, *offset)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The features with all defaults filled in, and where their columns stand."""
        found: list[Part] = []
        first = 0
        for name, kind in self.features.items():
            try:
                full = self._full(kind)
            except ValueError as error:
                raise ValueError(f"[features.{quoted(name)}] {error}") from None
            part = Part(name, full, first, self.shared.row_norm is not None)
            found.append(part)
            first += part.width
        return tuple(found)

    def _full(self, kind: Kind) -> Kind:
        if isinstance(kind, Number):
            full = kind.with_defaults(self.shared.lower, self.shared.upper, self.numbers)
            plain = not (kind.transform or kind.bins or kind.knots)
            return replace(full, binary=kind.binary or (plain and self.shared.binary))
        if isinstance(kind, Cyclic):
            return replace(kind, writing=(kind.writing or Writing()).or_else(self.numbers))
        return kind

    @cached_property
    def n_columns(self) -> int:
        """Number of bounded columns."""
        widths = {part.name: part.width for part in self.parts}
        products = sum(widths[a] * widths[b] for a, b in self.interactions)
        return sum(widths.values()) + products

    @cached_property
    def _bounded(self) -> tuple[Column, ...]:
        limits().check("columns", self.n_columns, "the schema")
        own = {part.name: part.columns for part in self.parts}
        made = [
            Column(f"{left.name}:{right.name}", binary=left.binary and right.binary)
            for a, b in self.interactions
            for left in own[a]
            for right in own[b]
        ]
        found = (*(column for columns in own.values() for column in columns), *made)
        names = [column.name for column in found]
        if len(set(names)) != len(names):
            twice = [name for name, count in Counter(names).items() if count > 1]
            raise ValueError(f"two features would be called {some_names(twice)}: rename a column")
        return found

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the bounded columns."""
        return tuple(column.name for column in self._bounded)

    @cached_property
    def bounds(self) -> Bounds:
        """What is promised about the bounded columns."""
        if not self.features:
            raise ValueError(
                "the schema declares no features: give each column a table [features.NAME]"
            )
        columns = self._bounded
        return Bounds(
            lower=[column.lower for column in columns],
            upper=[column.upper for column in columns],
            row_norm=self._row_norm,
            features=[column.name for column in columns],
            binary=[column.name for column in columns if column.binary],
        )

    @property
    def _row_norm(self) -> float | None:
        """As declared; of texts alone, what follows from theirs."""
        kinds = [part.kind for part in self.parts]
        texts = [kind.row_norm for kind in kinds if isinstance(kind, Text) and not kind.missing]
        if self.shared.row_norm is not None or self.interactions or len(texts) < len(kinds):
            return self.shared.row_norm
        return math.hypot(*texts)

    @property
    def shared_bounds(self) -> Bounds:
        """What is promised about columns that are not declared by name."""
        shared = self.shared
        if shared.lower is None or shared.upper is None:
            raise ValueError("[bounds] needs lower and upper for columns that are not declared")
        return Bounds(shared.lower, shared.upper, row_norm=shared.row_norm)

    def completed(self, names: Sequence[str]) -> "Schema":
        """The schema of a table with these columns: those not declared are numbers.

        They have the limits of ``[bounds]``; without such limits a column that is not declared
        raises, and so does a declared one that the table does not have.
        """
        for name in self.features:
            if name not in names:
                raise ValueError(f"The table has no column {name!r}{near(name, names)}.")
        roles = [role.column for role in self._roles.values() if role is not None]
        rest = [name for name in names if name not in {*self.features, *self.drop, *roles}]
        if not rest:
            return self
        if self.shared.lower is None or self.shared.upper is None:
            raise ValueError(
                f"The schema says nothing about {some_names(rest)}: give limits, categories or "
                "another kind under [features.NAME], limits for all under [bounds], or drop = true."
            )
        features = {
            name: self.features.get(name, Number())
            for name in names
            if name in self.features or name in rest
        }
        return replace(self, features=features)

    @property
    def is_open(self) -> bool:
        """Whether columns that are not declared are numbers within the limits for all."""
        return self.shared.lower is not None and self.shared.upper is not None

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """The interactions, and where their columns stand."""
        where = {part.name: slice(part.first, part.first + part.width) for part in self.parts}
        first = sum(part.width for part in self.parts)
        lower = np.array([column.lower for column in self._bounded])
        width = np.array([column.upper for column in self._bounded]) - lower
        found = []
        for a, b in self.interactions:
            left, right = where[a], where[b]
            found.append(Product(left, right, first, lower, width))
            first += (left.stop - left.start) * (right.stop - right.start)
        return tuple(found)

    def encode(
        self, frame: RawTable, invalid: Invalid = "raise", wanted: Sequence[int] | None = None
    ) -> Array:
        """The bounded columns of a raw table, each record by itself.

        Parameters
        ----------
        frame : data frame, Arrow table, dict of columns or what a reader of files gives
        invalid : {"raise", "replace"}
            Whether a cell that does not fit raises, or becomes as missing as declared, or the
            middle of the limits (zero with a row norm, and in 0/1 columns).
        wanted : sequence of int, optional
            Positions of the columns to compute; only the raw columns that they need are looked at.

        Returns
        -------
        ndarray of shape (n, n_columns)
            Finite and within `bounds`.
        """
        _ = self.bounds
        parts, products = self.parts, self.products
        if wanted is not None:
            products = tuple(product for product in products if product.is_among(wanted))
            slots = {*wanted, *(j for product in products for j in product.needs)}
            parts = tuple(part for part in parts if part.is_among(slots))
        return encoded(Frame.of(frame), parts, products, self.n_columns, invalid, wanted)

    def needs(self, wanted: Sequence[int]) -> tuple[str, ...]:
        """Names of the raw columns that some of the bounded columns are made of."""
        slots = {*wanted}
        for product in self.products:
            slots |= set(product.needs) if product.is_among(wanted) else set()
        return tuple(part.name for part in self.parts if part.is_among(slots))

    def target_cells(self, frame: RawTable) -> Cells:
        """The target's cells, for the gate."""
        if self.target is None:
            raise ValueError('the schema declares no target: [target] column = "..."')
        return self.target.cells(self._role(frame, self.target.column), self.numbers)

    def groups(self, frame: RawTable) -> Cells | None:
        """Whose each record is, for the gate; None where the unit is a row."""
        return None if self.person is None else self._role(frame, self.person.column)

    def weights(self, frame: RawTable) -> Array | None:
        """What each record weighs, for the gate; None where all weigh the same."""
        if self.weight is None:
            return None
        cells = self._role(frame, self.weight.column)
        return numbers_of(cells, self.weight.writing, self.numbers)

    def offsets(self, frame: RawTable) -> Array | None:
        """What is added to each margin, for the gate."""
        if self.offset is None:
            return None
        cells = self._role(frame, self.offset.column)
        return numbers_of(cells, self.offset.writing, self.numbers)

    @staticmethod
    def _role(table: RawTable, name: str) -> Cells:
        frame = Frame.of(table)
        return frame.block(name, 0, frame.n_rows, dates=False)

    def matches(self, frame: RawTable) -> dict[str, Match]:
        """How each column fits its declaration.

        Privacy
        -------
        Exact counts of records: for whoever holds them alone, never to be stored or passed on.
        """
        table = Frame.of(frame)
        return {part.name: match(table, part) for part in self.parts}

    def unmatched(self, frame: RawTable) -> dict[str, int]:
        """Cells per column that do not fit; private, as `matches`."""
        counts = {name: found.unmatched for name, found in self.matches(frame).items()}
        return {name: count for name, count in counts.items() if count}

    def never(self, frame: RawTable) -> dict[str, list[Label]]:
        """Declared categories that never occur; private, as `matches`."""
        found = {name: list(found.never) for name, found in self.matches(frame).items()}
        return {name: values for name, values in found.items() if values}
