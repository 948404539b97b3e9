"""Bounds as TOML: what ``[bounds]`` and ``[features.NAME]`` say."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

from sparsedp.data.bounds_check import Binary
from sparsedp.data.raw import Unchecked

Entries = float | list[float]
Table = dict[str, Unchecked]


def written(
    lower: Entries,
    upper: Entries,
    row_norm: float | None,
    features: Sequence[str] | None,
    binary: Binary | None,
) -> str:
    """The text of a file, with a table per feature when features have names."""
    lines = ["[bounds]"]
    if features is None:
        lines += [f"lower = {lower!r}", f"upper = {upper!r}"]
    if row_norm is not None:
        lines.append(f"row_norm = {row_norm!r}")
    if binary is True:
        lines.append("binary = true")
    elif binary is not None and features is None:
        lines.append(f"binary = {[*binary]!r}")
    if features is not None and isinstance(lower, list) and isinstance(upper, list):
        marked = set() if binary is None or binary is True else set(binary)
        for j, (name, low, high) in enumerate(zip(features, lower, upper, strict=True)):
            # JSON escapes are TOML escapes, but for DEL, which only TOML forbids.
            quoted = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
            lines += ["", f"[features.{quoted}]", f"lower = {low!r}", f"upper = {high!r}"]
            lines += ["binary = true"] if j in marked else []
    return "\n".join(lines) + "\n"


def read(
    source: str | Path,
) -> tuple[Unchecked, Unchecked, Unchecked, tuple[str, ...] | None, Unchecked]:
    """Lower, upper, row norm, names and binary features from TOML text, or a file's path."""
    # Text without a table or a value states nothing: it is the name of a file.
    named = isinstance(source, Path) or (bool(source) and not {"[", "="} & set(source))
    text = Path(source).read_text(encoding="utf-8") if named else str(source)
    tables = tomllib.loads(text)
    if "bounds" not in tables and "features" not in tables:
        raise ValueError("No [bounds] table: write [bounds] with lower = ... and upper = ...")
    shared, features = tables.get("bounds", {}), tables.get("features", {})
    _check_keys("bounds", shared, {"lower", "upper", "row_norm", "binary"})
    for name, table in features.items():
        _check_keys(f"features.{name}", table, {"lower", "upper", "binary"})
    lower, upper = (_column(key, shared, features) for key in ("lower", "upper"))
    names = tuple(features) if features else None
    return lower, upper, shared.get("row_norm"), names, _binary(shared, features)


def _check_keys(table: str, found: Unchecked, known: set[str]) -> None:
    unknown = sorted(set(found) - known) if isinstance(found, dict) else [str(found)]
    if unknown:
        raise ValueError(f"[{table}] knows {some_names(sorted(known))}, not {some_names(unknown)}.")


def _column(key: str, shared: Table, features: dict[str, Table]) -> Unchecked:
    """One value per named feature, or the shared value where features have no names."""
    if not features:
        if key not in shared:
            raise ValueError(f"[bounds] needs {key} = ...")
        return shared[key]
    if isinstance(shared.get(key), list):
        raise ValueError(f"[bounds] {key} is a list and [features] has names: use one of both.")
    missing = [name for name, table in features.items() if key not in table and key not in shared]
    if missing:
        raise ValueError(f"No {key} for {some_names(missing)}: add it there or under [bounds].")
    return [table.get(key, shared.get(key)) for table in features.values()]


def _binary(shared: Table, features: dict[str, Table]) -> Unchecked:
    """Names of the features that say so, or what is said for all: true, or a list of positions."""
    for_all = shared.get("binary", False)
    if not features:
        return None if for_all is False else for_all
    said = {name: table.get("binary", for_all) for name, table in features.items()}
    wrong = [name for name, value in said.items() if not isinstance(value, bool)]
    if wrong:
        raise ValueError(f"binary must be true or false for {some_names(wrong)}.")
    return [name for name, value in said.items() if value]


def some_names(names: Sequence[str]) -> str:
    """The first of many names, for messages."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more
