"""The bounds file: public promises about features and target, as the command line reads them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, cast

from sparsedp.data.bounds import Bounds
from sparsedp.data.files.limits import limits as file_limits
from sparsedp.data.files.opened import read_toml
from sparsedp.release.document import Label

Limits: TypeAlias = dict[str, float]
Toml: TypeAlias = dict[str, object]
"""A table of a TOML file; what its values are is checked where they are used."""


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What is promised about a file of records.

    Parameters
    ----------
    where : str
        The file or the words that it was read from, for messages.
    shared : dict
        ``lower``, ``upper`` and ``row_norm`` for all features.
    limits : dict of str to dict
        ``lower`` and ``upper`` of single columns.
    categories : dict of str to tuple
        Values of text columns.
    drop : tuple of str
        Columns to leave out.
    target : str or None
        The column to predict.
    classes : tuple or None
        Its labels.
    target_bounds : (float, float) or None
        Its limits, if it is a number.

    Notes
    -----
    *Privacy.* Everything in here is published with the model and must not be read off the records.
    """

    where: str
    shared: Limits = field(default_factory=dict)
    limits: dict[str, Limits] = field(default_factory=dict)
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    target: str | None = None
    classes: tuple[Label, ...] | None = None
    target_bounds: tuple[float, float] | None = None

    @classmethod
    def read(cls, text: str) -> "Declaration":
        """Read what --bounds takes: the path of a bounds file, "0,1" or "1.0" for |x| <= 1."""
        numbers = _numbers(text)
        if numbers is None:
            if not Path(text).exists():
                raise ValueError(
                    f'--bounds {text}: no such file; give a bounds file (see "sparsedp init"), '
                    '"0,1" for lower and upper limits, or "1.0" for |x| <= 1'
                )
            return cls.from_toml(Path(text))
        bounds = Bounds.coerce(numbers[0] if len(numbers) == 1 else numbers)
        # Numbers became numbers: only lists become tuples.
        lower, upper = cast("float", bounds.lower), cast("float", bounds.upper)
        return cls(where="--bounds", shared={"lower": lower, "upper": upper})

    @classmethod
    def from_toml(cls, path: Path) -> "Declaration":
        """Read a bounds file; tables other than [bounds], [features] and [target] are ignored."""
        tables = read_toml(path)
        shared, target = tables.get("bounds", {}), tables.get("target", {})
        columns = tables.get("features", {})
        _check(path, "bounds", shared, {"lower", "upper", "row_norm"})
        _check(path, "target", target, {"column", "classes", "lower", "upper"})
        _check_target(path, target)
        if not isinstance(columns, dict):
            raise ValueError(f"{path}: [features] needs a table for each feature")
        limits, categories, drop = {}, {}, []
        for name, table in columns.items():
            where = f"features.{json.dumps(name, ensure_ascii=False)}"
            _check(path, where, table, {"lower", "upper", "categories", "drop"})
            if table.get("drop"):
                drop.append(name)
            elif "categories" in table:
                if not isinstance(table["categories"], list) or len(table) > 1:
                    raise ValueError(f"{path}: [{where}] needs a list of categories and no limits")
                categories[name] = tuple(map(str, table["categories"]))
                file_limits().check("categories", sum(map(len, categories.values())), str(path))
            else:
                limits[name] = table
        if "classes" in target and ("lower" in target or "upper" in target):
            raise ValueError(f"{path}: [target] has either classes or lower and upper, not both")
        if ("lower" in target) != ("upper" in target):
            raise ValueError(f"{path}: [target] needs both lower and upper")
        return cls(
            where=str(path),
            shared=shared,
            limits=limits,
            categories=categories,
            drop=tuple(drop),
            target=target.get("column"),
            classes=tuple(map(read_label, target["classes"])) if "classes" in target else None,
            target_bounds=(target["lower"], target["upper"]) if "lower" in target else None,
        )

    def overridden(
        self,
        *,
        target: str | None,
        classes: str | None,
        target_bounds: str | None,
        drop: Sequence[str],
    ) -> "Declaration":
        """What was said on the command line goes first."""
        changed = self
        if target is not None:
            changed = replace(changed, target=target)
        if classes is not None:
            labels = tuple(read_label(text) for text in classes.split(","))
            file_limits().check("classes", len(labels), "--classes")
            changed = replace(changed, classes=labels, target_bounds=None)
        if target_bounds is not None:
            pair = _numbers(target_bounds)
            if pair is None or len(pair) != 2:
                raise ValueError(f'--target-bounds needs two numbers such as "0,100", got {pair}')
            changed = replace(changed, target_bounds=pair, classes=None)
        dropped = tuple(dict.fromkeys([*changed.drop, *drop]))
        # What is left out needs no promise: limits of it are no mistake.
        return replace(
            changed,
            drop=dropped,
            limits={name: row for name, row in changed.limits.items() if name not in dropped},
            categories={k: v for k, v in changed.categories.items() if k not in dropped},
        )

    def task(self, asked: str | None) -> str:
        """What is to be fitted; labels and limits of the target are never read off the records."""
        task = asked or ("classification" if self.target_bounds is None else "regression")
        if (self.classes if task == "classification" else self.target_bounds) is None:
            what = "" if asked is None else f" for {task}"
            raise ValueError(
                f"declare what the target can be{what}: its labels by --classes A,B,... or the "
                "limits of a number by --target-bounds LOW,HIGH (in a bounds file under [target]); "
                "labels read off the records would be published as they are"
            )
        return task

    def largest_count(self) -> float:
        """The limit of a target that is a count."""
        low, high = self.target_bounds or (math.nan, math.nan)
        if low != 0 or not high >= 1:
            raise ValueError(
                "a count has limits from 0 to the largest that matters: --target-bounds 0,MAX"
            )
        return high

    def bounds(self, feature_names: Sequence[str] | None) -> Bounds:
        """The bounds of features in this order, categories as columns of zeros and ones."""
        lower, upper, norm = (self.shared.get(key) for key in ("lower", "upper", "row_norm"))
        single = bool(self.limits or self.categories)
        if feature_names is None and single:
            raise ValueError(f"{self.where} names features, but the data have no names")
        if lower is not None and upper is not None and not single:
            return Bounds(lower, upper, row_norm=norm)
        if feature_names is None:
            raise ValueError(f"{self.where}: fill in lower and upper under [bounds]")
        unknown = sorted(set(self.limits) - set(feature_names))
        if unknown:
            raise ValueError(f"{self.where} has limits for {_some(unknown)}: no such feature")
        indicator = {"lower": 0.0, "upper": 1.0}
        categories = {
            f"{column}={value}": indicator
            for column, values in self.categories.items()
            for value in values
        }
        declared = categories | self.limits
        table = [{**self.shared, **declared.get(name, {})} for name in feature_names]
        missing = [
            name
            for name, row in zip(feature_names, table, strict=True)
            if "lower" not in row or "upper" not in row
        ]
        if missing:
            raise ValueError(
                f"{self.where} has no lower and upper for {_some(missing)}: fill them in for each "
                "or under [bounds], or declare categories, or leave columns out by drop = true"
            )
        return Bounds(
            [row["lower"] for row in table],
            [row["upper"] for row in table],
            row_norm=norm,
            features=tuple(feature_names),
            binary=[
                name for name in feature_names if name in categories and name not in self.limits
            ],
        )

    def to_toml(self) -> str:
        """The same promises as a bounds file."""
        target: Toml = {} if self.target is None else {"column": self.target}
        if self.classes is not None:
            target["classes"] = self.classes
        if self.target_bounds is not None:
            target["lower"], target["upper"] = self.target_bounds
        columns: dict[str, Mapping[str, object]] = {
            **self.limits,
            **{name: {"categories": values} for name, values in self.categories.items()},
            **{name: {"drop": True} for name in self.drop},
        }
        tables = {"target": target, "bounds": self.shared}
        tables |= {f"features.{toml(name)}": row for name, row in columns.items()}
        return "\n".join(toml_table(name, row) for name, row in tables.items() if row)


def toml_table(name: str, content: Mapping[str, object]) -> str:
    """A table of TOML; what is None is left out."""
    lines = [f"{key} = {toml(value)}" for key, value in content.items() if value is not None]
    return "\n".join([f"[{name}]", *lines]) + "\n"


def toml(value: object) -> str:
    """A value of TOML. JSON's escapes are TOML's, but for DEL, which only TOML forbids."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def read_label(label: Label) -> Label:
    """A label as readers of files give it: a number where it looks like one, else text."""
    if isinstance(label, bool):
        raise ValueError(f'write the class {str(label).lower()} as the file has it, e.g. "yes"')
    for kind in (int, float):
        try:
            number = kind(label)
            if number == float(label):
                return number
        except (ValueError, OverflowError):
            continue
    return str(label).strip()


def _numbers(text: str) -> tuple[float, ...] | None:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        return None
    return numbers if len(numbers) <= 2 else None


def _check(path: Path, name: str, table: object, known: set[str]) -> None:
    unknown = sorted(set(table) - known) if isinstance(table, dict) else [str(table)]
    if unknown:
        raise ValueError(
            f"{path}: [{name}] knows {', '.join(sorted(known))}, not {', '.join(unknown)}"
        )


def _check_target(path: Path, target: Toml) -> None:
    """Types of what [target] says."""
    if not isinstance(target.get("column", ""), str):
        raise ValueError(f"{path}: [target] needs the name of a column as text")
    classes = target.get("classes", [])
    if not isinstance(classes, list) or not all(isinstance(c, str | int | float) for c in classes):
        raise ValueError(f"{path}: [target] needs a list of classes, each a text or a number")
    file_limits().check("classes", len(classes), str(path))
    for key in ("lower", "upper"):
        if isinstance(target.get(key, 0), bool) or not isinstance(target.get(key, 0), int | float):
            raise ValueError(f"{path}: [target] needs a number as {key}")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more
