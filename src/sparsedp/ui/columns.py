"""The form of columns: from a schema file to fields, and from fields to a code book.

The code book is what ``sparsedp init --codebook`` takes, so the schema is the command's work. What
the form has no field for (transforms, parts of a date) is handed on as the schema says it.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

KINDS = {
    "": "not declared yet",
    "number": "number",
    "whole": "whole number",
    "category": "category",
    "yes_no": "yes or no",
    "date": "date",
    "cyclic": "cyclic (hour, month, angle)",
    "text": "free text",
    "drop": "leave it out",
}
GUESSES = {"categories": "category", "yes": "yes_no", "period": "cyclic", "words": "text"}
FIELDS = ("lower", "upper", "categories", "format", "period", "words", "missing", "value", "other")
TAKES = {
    "": (),
    "number": ("lower", "upper", "missing", "value"),
    "whole": ("lower", "upper", "missing", "value"),
    "category": ("categories", "other", "missing", "value"),
    "yes_no": ("missing", "value"),
    "date": ("lower", "upper", "format", "missing", "value"),
    "cyclic": ("period", "missing", "value"),
    "text": ("words",),
    "drop": (),
}
"""Fields of a kind."""


def classes_of(field: str) -> str:
    """Names by which the page hides a field from kinds that have none."""
    return " ".join(f"for-{kind}" for kind, fields in TAKES.items() if field in fields)


TARGETS = {"classes": "classes", "number": "a number", "count": "a count"}
Table = dict[str, object]


@dataclass(frozen=True)
class Column:
    """One column as the form shows it.

    Parameters
    ----------
    key : str
        Begins the names of its fields.
    name : str
    kind : str
        One of KINDS.
    fields : dict of str to str
        By name of FIELDS.
    """

    key: str
    name: str
    kind: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Target:
    """What is predicted, as the form shows it."""

    kind: str
    classes: str
    lower: str
    upper: str


def tables(schema: Path) -> Table:
    """What a schema file says; nothing, while it cannot be read."""
    try:
        return tomllib.loads(schema.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def columns_of(found: Table, names: Iterable[str], roles: Iterable[str]) -> list[Column]:
    """The columns of a header, but for those that are target or person."""
    features, left_out = _table(found.get("features")), set(roles)
    return [
        _column(f"c{i}", name, _table(features.get(name)))
        for i, name in enumerate(names)
        if name not in left_out
    ]


def target_of(found: Table, *, is_count: bool) -> Target:
    """What a schema says about the target."""
    table = _table(found.get("target"))
    kind = "number" if "lower" in table or "upper" in table else "classes"
    if is_count or "max_count" in table:
        kind = "count"
    return Target(
        kind=kind,
        classes=joined(table.get("classes")),
        lower=_text(table.get("lower")),
        upper=_text(table.get("max_count", table.get("upper"))),
    )


def posted_columns(shown: Iterable[Column], form: Mapping[str, str]) -> list[Column]:
    """The columns as they were filled in."""
    return [
        Column(
            column.key,
            column.name,
            form.get(f"{column.key}-kind", ""),
            {field: form.get(f"{column.key}-{field}", "").strip() for field in FIELDS},
        )
        for column in shown
    ]


def posted_target(form: Mapping[str, str]) -> Target:
    """The target as it was filled in."""
    names = ("kind", "classes", "lower", "upper")
    kind, *rest = (form.get(f"target-{name}", "").strip() for name in names)
    return Target(kind if kind in TARGETS else "classes", *rest)


def book(columns: Iterable[Column], target: Target, named: str, before: Table) -> str:
    """The code book: a list of entries, in JSON."""
    features = _table(before.get("features"))
    entries: list[Table] = []
    for column in columns:
        if column.kind:
            entries.append(
                {"name": column.name, **_entry(column, _table(features.get(column.name)))}
            )
    said: Table = {}
    if target.kind == "classes" and target.classes:
        said = {"kind": "category", "categories": listed(target.classes)}
    elif target.kind != "classes" and (target.lower or target.upper):
        lower = "0" if target.kind == "count" else target.lower
        said = {"kind": "number", "lower": lower, "upper": target.upper}
    if named and said:
        entries.append({"name": named, **said})
    return json.dumps(entries, indent=1, ensure_ascii=False)


def listed(text: str) -> list[str]:
    """Values between bars, or else semicolons or commas."""
    mark = next((mark for mark in "|;," if mark in text), "|")
    return [part.strip() for part in text.split(mark) if part.strip()]


def joined(values: object) -> str:
    """Values as the form shows them."""
    return " | ".join(map(str, values)) if isinstance(values, list) else ""


def _entry(column: Column, before: Table) -> Table:
    """What a code book says about one column."""
    if column.kind == "drop":
        return {"kind": "drop"}
    takes, said = TAKES.get(column.kind, ()), column.fields
    found: Table = {"kind": column.kind}
    # What was typed here no code book said; an empty source is none, not the name of the file.
    untouched = _column(column.key, column.name, before) == column
    found["source"] = before.get("source", "") if untouched else ""
    if _kind(before) == column.kind:
        own = {*FIELDS, "kind", "drop", "source"}
        found |= {key: _plain(value) for key, value in before.items() if key not in own}
    for field in ("lower", "upper", "format", "period", "words"):
        if field in takes and said[field]:
            found[field] = said[field]
    if "categories" in takes and said["categories"]:
        found["categories"] = listed(said["categories"])
    if "other" in takes and said["other"]:
        found["other"] = True
    if "missing" in takes and said["missing"]:
        found["missing"] = "indicator" if said["missing"] == "indicator" else said["value"]
    return found


def _column(key: str, name: str, table: Table) -> Column:
    fields = {field: _text(table.get(field)) for field in FIELDS}
    fields["categories"] = joined(table.get("categories"))
    fields["other"] = "on" if table.get("other") is True else ""
    missing = table.get("missing")
    fields["missing"] = "" if missing is None else missing if missing == "indicator" else "value"
    fields["value"] = "" if missing in (None, "indicator") else _text(missing)
    return Column(key, name, _kind(table), fields)


def _kind(table: Table) -> str:
    """As the schema says it, or as its keys do."""
    if not table:
        return ""
    if table.get("drop") is True:
        return "drop"
    said = table.get("kind")
    if isinstance(said, str):
        return said
    guess = next((kind for key, kind in GUESSES.items() if key in table), "number")
    return "date" if isinstance(table.get("lower"), date) or "format" in table else guess


def _table(found: object) -> Table:
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, list | dict | bool) else str(value)


def _plain(value: object) -> object:
    """As JSON has it: a date is text there."""
    return value.isoformat() if isinstance(value, date) else value
