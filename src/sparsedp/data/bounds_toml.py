"""Bounds as TOML: what ``[bounds]`` and ``[features.NAME]`` say."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

from sparsedp.data.raw import Unchecked

Entries = float | list[float]
Table = dict[str, Unchecked]


def written(
    lower: Entries, upper: Entries, row_norm: float | None, features: Sequence[str] | None
) -> str:
    """The text of a file, with a table per feature when features have names."""
    lines = ["[bounds]"]
    if features is None:
        lines += [f"lower = {lower!r}", f"upper = {upper!r}"]
    if row_norm is not None:
        lines.append(f"row_norm = {row_norm!r}")
    if features is not None and isinstance(lower, list) and isinstance(upper, list):
        for name, low, high in zip(features, lower, upper, strict=True):
            # JSON escapes are TOML escapes, but for DEL, which only TOML forbids.
            quoted = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
            lines += ["", f"[features.{quoted}]", f"lower = {low!r}", f"upper = {high!r}"]
    return "\n".join(lines) + "\n"


def read(source: str | Path) -> tuple[Unchecked, Unchecked, Unchecked, tuple[str, ...] | None]:
    """Lower, upper, row norm and names from TOML text, or from the path of a file."""
    # Text without a table or a value states nothing: it is the name of a file.
    named = isinstance(source, Path) or (bool(source) and not {"[", "="} & set(source))
    text = Path(source).read_text(encoding="utf-8") if named else str(source)
    tables = tomllib.loads(text)
    if "bounds" not in tables and "features" not in tables:
        raise ValueError("No [bounds] table: write [bounds] with lower = ... and upper = ...")
    shared, features = tables.get("bounds", {}), tables.get("features", {})
    _check_keys("bounds", shared, {"lower", "upper", "row_norm"})
    for name, table in features.items():
        _check_keys(f"features.{name}", table, {"lower", "upper"})
    lower, upper = (_column(key, shared, features) for key in ("lower", "upper"))
    return lower, upper, shared.get("row_norm"), tuple(features) if features else None


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


def some_names(names: Sequence[str]) -> str:
    """The first of many names, for messages."""
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more
