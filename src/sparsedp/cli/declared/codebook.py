"""A public code book, CSV or JSON, as the tables of a schema file.

One entry per column: its name, and what the schema's own tables say (kind, lower, upper,
categories, missing, ...). Words that code books use for the same are understood. What an entry does
not say about its source is the name of the file, without its folders: a schema is published.
"""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from sparsedp.data.files.open_raw import open_raw
from sparsedp.data.files.opened import read_json
from sparsedp.data.raw import Unchecked
from sparsedp.data.schema.kinds.checks import LONGEST_SOURCE
from sparsedp.data.schema.tables import GUESSES, feature

NAME = ("name", "column", "variable", "field")
KEYS = {
    "type": "kind",
    "min": "lower",
    "minimum": "lower",
    "max": "upper",
    "maximum": "upper",
    "values": "categories",
    "codes": "categories",
    "levels": "categories",
}
KINDS = {
    "numeric": "number",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "integer": "whole",
    "int": "whole",
    "count": "whole",
    "categorical": "category",
    "factor": "category",
    "nominal": "category",
    "ordinal": "category",
    "boolean": "yes_no",
    "bool": "yes_no",
    "datetime": "date",
    "string": "text",
    "free text": "text",
}
DROPPED = ("drop", "id", "identifier")
LISTS = ("categories", "parts", "bins", "knots", "yes", "no")
IGNORED = ("label", "description", "comment", "unit", "units", "question", "note", "notes")
"""For people, not for the schema."""


def read_codebook(path: Path) -> dict[str, dict[str, Unchecked]]:
    """Tables by name of column; every one of them is a table that a schema takes.

    Parameters
    ----------
    path : Path
        A CSV file with a column ``name``, or JSON: a list of objects with a ``name``, or an object
        of objects by name.
    """
    entries = _from_json(path) if path.suffix.lower() == ".json" else _from_csv(path)
    found: dict[str, dict[str, Unchecked]] = {}
    for entry in entries:
        names = [str(entry[key]).strip() for key in NAME if entry.get(key) not in (None, "")]
        if not names:
            raise ValueError(f"{path}: every entry of a code book needs the name of a column")
        if names[0] in found:
            raise ValueError(f"{path}: {names[0]!r} stands twice in the code book")
        table = _table({key: said for key, said in entry.items() if key not in NAME})
        if "source" not in entry and "drop" not in table and path.name.isprintable():
            table["source"] = f"code book {path.name}"[:LONGEST_SOURCE]
        try:
            feature(names[0], table)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        found[names[0]] = table
    if not found:
        raise ValueError(f"{path}: the code book has no entries")
    return found


def _from_csv(path: Path) -> list[dict[str, Unchecked]]:
    cells = open_raw(path, "tsv" if path.suffix.lower() in (".tsv", ".tab") else "csv").read()
    columns = {name.lower(): list(cells[name]) for name in cells.names}
    if not set(NAME) & set(columns):
        raise ValueError(f"{path}: a code book needs a column called name")
    return [
        {name: column[i].strip() for name, column in columns.items()} for i in range(cells.n_rows)
    ]


def _from_json(path: Path) -> list[dict[str, Unchecked]]:
    content = read_json(path, "a code book")
    if isinstance(content, Mapping):
        content = [{"name": name, **dict(_object(path, said))} for name, said in content.items()]
    if not isinstance(content, list):
        raise ValueError(f"{path}: a code book is a list of objects, or an object of objects")
    return [{key.lower(): said for key, said in _object(path, e).items()} for e in content]


def _object(path: Path, entry: Unchecked) -> Mapping[str, Unchecked]:
    if not isinstance(entry, Mapping):
        raise ValueError(f"{path}: every entry of a code book is an object with a name")
    return entry


def _table(entry: Mapping[str, Unchecked]) -> dict[str, Unchecked]:
    """An entry in the words of a schema; what is empty was not said."""
    table: dict[str, Unchecked] = {}
    for key, said in entry.items():
        if said is None or said == "" or key in IGNORED:
            continue
        name = KEYS.get(key, key)
        table[name] = _list(said) if name in LISTS else _value(said)
    kind = str(table.get("kind", "")).lower()
    if kind in DROPPED or table.get("drop") is True:
        return {"drop": True}
    if kind:
        table["kind"] = KINDS.get(kind, kind)
    elif not any(key in table for key in (*GUESSES, "lower", "upper")):
        table["kind"] = "number"
    if table.get("kind") == "yes_no" and "categories" in table:
        table["kind"] = "category"
    return table


def _list(said: Unchecked) -> list[Unchecked]:
    """A list; in text its values are between | or ; (or commas), and ``1=male`` declares 1."""
    if isinstance(said, Mapping):
        return list(said)
    if not isinstance(said, str):
        return list(said) if isinstance(said, list) else [said]
    mark = next((mark for mark in "|;," if mark in said), "|")
    parts = [part.strip() for part in said.split(mark)]
    codes = [re.split(r"\s*[=:]\s*", part, maxsplit=1)[0] for part in parts if part]
    return [_value(code) for code in codes]


def _value(said: Unchecked) -> Unchecked:
    """Text of a cell as a number, a date, true or false, where it is one."""
    if not isinstance(said, str):
        return said
    text = said.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for read in (int, float, date.fromisoformat):
        try:
            value = read(text)
        except ValueError:
            continue
        # 007 and 1e3 are codes: as a number they would be written otherwise.
        if not isinstance(value, int) or str(value) == text:
            return value
        return text
    return text
