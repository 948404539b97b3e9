"""Declarations from the tables of a file and back: names of keys, kinds, and places of errors."""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import date
from typing import TypeVar

from sparsedp.data.raw import Unchecked
from sparsedp.data.schema.kinds.category import Category, YesNo
from sparsedp.data.schema.kinds.checks import near, refuse_unknown
from sparsedp.data.schema.kinds.cyclic import Cyclic
from sparsedp.data.schema.kinds.date import Date
from sparsedp.data.schema.kinds.kind import Kind
from sparsedp.data.schema.kinds.number import Number
from sparsedp.data.schema.kinds.text import Text
from sparsedp.data.schema.kinds.writing import FIELDS, Writing

Table = Mapping[str, Unchecked]
Declared = TypeVar("Declared")

KINDS: dict[str, Callable[..., Kind]] = {
    "number": Number,
    "whole": Number,
    "category": Category,
    "yes_no": YesNo,
    "date": Date,
    "cyclic": Cyclic,
    "text": Text,
}
GUESSES = {
    "categories": "category",
    "yes": "yes_no",
    "no": "yes_no",
    "parts": "date",
    "format": "date",
    "period": "cyclic",
    "words": "text",
}
"""Keys that only one kind has."""


def built(cls: Callable[..., Declared], table: Unchecked, where: str) -> Declared:
    """A declaration from a table, whose keys are its fields; errors say where the table is."""
    try:
        return _built(cls, table)
    except ValueError as error:
        problem = str(error)
    raise ValueError(f"[{where}] {problem}")


def _built(cls: Callable[..., Declared], table: Unchecked) -> Declared:
    if not isinstance(table, Mapping):
        raise ValueError("must be a table of keys and values")
    known = [field.name for field in fields(cls)]  # pyrefly: ignore[bad-argument-type]
    shown = [key for key in known if key != "writing"]
    shown += [*FIELDS] if "writing" in known else []
    refuse_unknown(table, shown)
    table = {key: value for key, value in table.items() if value is not None}
    said = {key: value for key, value in table.items() if key in known}
    written = {key: value for key, value in table.items() if key not in known}
    if written:
        said["writing"] = Writing(**written)
    needed = [
        field.name
        for field in fields(cls)  # pyrefly: ignore[bad-argument-type]
        if field.default is MISSING and field.default_factory is MISSING and field.name not in said
    ]
    if needed:
        raise ValueError(f"needs {', '.join(f'{name} = ...' for name in needed)}")
    try:
        return cls(**said)
    except (TypeError, OverflowError):
        pass
    raise ValueError("has a value of a type that none of its keys takes")


def feature(name: str, table: Unchecked) -> Kind | None:
    """How a raw column is declared; None if it is to be left out."""
    where = f"features.{quoted(name)}"
    if not isinstance(table, Mapping):
        raise ValueError(f"[{where}] must be a table of keys and values")
    drop = table.get("drop", False)
    if not isinstance(drop, bool):
        raise ValueError(f"[{where}] drop must be true or false")
    if drop:
        return None
    rest = {key: value for key, value in table.items() if key != "drop"}
    kind = rest.pop("kind", None) or _guess(rest)
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        raise ValueError(f"[{where}] kind must be one of {known}{near(str(kind), KINDS)}")
    return built(KINDS[kind], {**rest, "kind": kind}, where)


def _guess(table: Table) -> str:
    for key, kind in GUESSES.items():
        if key in table:
            return kind
    return "date" if isinstance(table.get("lower"), date) else "number"


def table_of(declared: object) -> dict[str, Unchecked]:
    """The table of a declaration: what is not as by default, with the kind first."""
    found: dict[str, Unchecked] = {}
    for field in fields(declared):  # pyrefly: ignore[bad-argument-type]
        value = getattr(declared, field.name)
        if field.name == "kind":
            found = {"kind": value, **found}
        elif isinstance(value, Writing):
            found |= table_of(value)
        elif value != field.default or type(value) is not type(field.default):
            found[field.name] = list(value) if isinstance(value, tuple) else value
    return found


def quoted(name: str) -> str:
    """A name as a key of TOML. JSON's escapes are TOML's, but for DEL, which only TOML forbids."""
    if name and all(c.isascii() and (c.isalnum() or c in "_-") for c in name):
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
