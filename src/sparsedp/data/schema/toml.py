"""Schemas as TOML text."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import parse_toml, read_toml
from sparsedp.data.raw import Unchecked
from sparsedp.data.schema.tables import Table, quoted


def read(source: str | Path) -> tuple[Table, str]:
    """The tables of TOML text or of a file, and the file's name for messages."""
    # Text without a table or a value states nothing: it is the name of a file.
    if isinstance(source, Path) or not {"[", "=", "\n"} & set(source):
        return read_toml(Path(source)), f"{source}: "
    limits().check("text", len(source), "the schema")
    return parse_toml(source, "the schema is not TOML"), ""


def written(tables: Mapping[str, Unchecked]) -> str:
    """The text of a file."""
    plain = [f"{key} = {value(v)}" for key, v in tables.items() if not isinstance(v, Mapping)]
    pieces = ["\n".join(plain)] if plain else []
    for name, content in tables.items():
        if name == "features":
            pieces += [_table(f"features.{quoted(key)}", rows) for key, rows in content.items()]
        elif isinstance(content, Mapping):
            pieces.append(_table(name, content))
    return "\n\n".join(pieces) + "\n"


def _table(name: str, content: Mapping[str, Unchecked]) -> str:
    return "\n".join([f"[{name}]", *(f"{quoted(key)} = {value(v)}" for key, v in content.items())])


def value(found: Unchecked) -> str:
    """A value of TOML."""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, int | float):
        return repr(found)
    if isinstance(found, date):
        return found.isoformat()
    if isinstance(found, (list, tuple)):
        return f"[{', '.join(map(value, found))}]"
    return json.dumps(str(found), ensure_ascii=False).replace("\x7f", "\\u007f")
