"""Schemas as tables of a file and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from sparsedp.data.files.limits import limits
from sparsedp.data.raw import Unchecked
from sparsedp.data.schema.kinds.category import Category, YesNo
from sparsedp.data.schema.kinds.checks import checked_flag, checked_number, refuse_unknown
from sparsedp.data.schema.kinds.cyclic import Cyclic
from sparsedp.data.schema.kinds.date import Date
from sparsedp.data.schema.kinds.kind import Kind
from sparsedp.data.schema.kinds.number import Number
from sparsedp.data.schema.kinds.text import Text
from sparsedp.data.schema.kinds.writing import Writing
from sparsedp.data.schema.roles import Offset, Person, Target, Weight
from sparsedp.data.schema.tables import Table, built, feature, table_of


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What holds for every feature without limits of its own; the table ``[bounds]``.

    Parameters
    ----------
    lower, upper : float, optional
    row_norm : float, optional
        Bound on the L2 norm of a record's bounded columns.
    binary : bool
        Whether numbers hold only their limits.
    """

    lower: float | None = None
    upper: float | None = None
    row_norm: float | None = None
    binary: bool = False

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "row_norm"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_number(getattr(self, name), name))
        checked_flag(self.binary, "binary")
        if self.row_norm is not None and not self.row_norm > 0:
            raise ValueError("row_norm must be positive")


OBJECTS = (Number, Category, YesNo, Date, Cyclic, Text)
ROLES = {"person": Person, "target": Target, "weight": Weight, "offset": Offset}
TABLES = ("unit", *ROLES, "numbers", "bounds", "features", "interactions")


def declared(tables: Unchecked) -> dict[str, Unchecked]:
    """What the tables of a file say, as arguments of a Schema; raises where they say nothing."""
    if not isinstance(tables, Mapping):
        raise ValueError("a schema must be a table of tables")
    try:
        refuse_unknown(tables, TABLES)
    except ValueError as error:
        raise ValueError(f"the schema {error}") from None
    features = tables.get("features", {})
    if not isinstance(features, Mapping):
        raise ValueError("[features] needs a table for each column")
    limits().check("columns", len(features), "[features]")
    interactions = tables.get("interactions", {})
    found: dict[str, Unchecked] = {"features": features, "unit": tables.get("unit")}
    for name, cls in ROLES.items():
        if name in tables:
            found[name] = built(cls, tables[name], name)
    found["numbers"] = built(Writing, tables.get("numbers", {}), "numbers")
    found["shared"] = built(Shared, tables.get("bounds", {}), "bounds")
    found["interactions"] = built(_Interactions, interactions, "interactions").pairs
    return found


@dataclass(frozen=True, kw_only=True)
class _Interactions:
    pairs: Sequence[Sequence[str]] = ()


def checked_features(features: Unchecked) -> tuple[dict[str, Kind], tuple[str, ...]]:
    """Kinds of columns by name, and columns to leave out."""
    if not isinstance(features, Mapping):
        raise ValueError("features must map names of columns to what they hold")
    kinds: dict[str, Kind] = {}
    dropped: list[str] = []
    n_categories = 0
    for name, said in features.items():
        if not isinstance(name, str):
            raise ValueError("names of columns must be texts")
        kind = said if isinstance(said, OBJECTS) else feature(name, said)
        if kind is None:
            dropped.append(name)
            continue
        kinds[name] = kind
        n_categories += len(kind.categories) if isinstance(kind, Category) else 0
    limits().check("categories", n_categories, "[features]")
    return kinds, tuple(dropped)


def checked_pairs(pairs: Unchecked, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of features to multiply."""
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise ValueError("[interactions] pairs must be a list of pairs of columns")
    found: dict[frozenset[str], tuple[str, str]] = {}
    known = set(names)
    for pair in pairs:
        two = tuple(pair) if isinstance(pair, (list, tuple)) else ()
        if len(two) != 2 or not all(isinstance(name, str) and name in known for name in two):
            raise ValueError("[interactions] pairs must each name two declared features")
        if two[0] == two[1] or frozenset(two) in found:
            raise ValueError("[interactions] a pair must be of two features, and stand once")
        found[frozenset(two)] = (two[0], two[1])
    return tuple(found.values())


def jsonable(found: Unchecked) -> Unchecked:
    """Tables without dates, which JSON does not have."""
    if isinstance(found, Mapping):
        return {key: jsonable(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [jsonable(value) for value in found]
    return found.isoformat() if isinstance(found, date) else found


def tables_of(
    *,
    unit: str | None,
    roles: Mapping[str, object],
    numbers: Writing,
    shared: Shared,
    features: Mapping[str, Kind],
    drop: Sequence[str],
    interactions: Sequence[Sequence[str]],
) -> Table:
    """The tables of a file."""
    tables: dict[str, Unchecked] = {} if unit is None else {"unit": unit}
    tables |= {name: table_of(role) for name, role in roles.items() if role is not None}
    tables |= {"numbers": table_of(numbers), "bounds": table_of(shared)}
    tables["features"] = {name: table_of(kind) for name, kind in features.items()}
    tables["features"] |= {name: {"drop": True} for name in drop}
    if interactions:
        tables["interactions"] = {"pairs": [list(pair) for pair in interactions]}
    return {name: table for name, table in tables.items() if table}
