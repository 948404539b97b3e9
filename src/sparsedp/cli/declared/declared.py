"""What the command line and a schema file promise together."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sparsedp.cli.declared.given import Said
from sparsedp.data.bounds import Bounds
from sparsedp.data.files.opened import read_toml
from sparsedp.data.raw import Label, Unchecked
from sparsedp.data.schema import Number, Schema
from sparsedp.data.schema.toml import written

Tables = dict[str, Unchecked]

WHO = (
    "{where}: say who is protected: people, by the column that says whose a row is ([person] "
    'column = "..." in place of that line, or --person COLUMN), or single rows (unit = "row", or '
    "--unit row)"
)
WHAT = (
    "declare what the target can be{what}: its labels by --classes A,B,... or the limits of a "
    "number by --target-bounds LOW,HIGH (in a schema file under [target]); labels read off the "
    "records would be published as they are"
)
COUNT = "a count has limits from 0 to the largest that matters: --target-bounds 0,MAX"


@dataclass(frozen=True)
class Declared:
    """A schema, and where it was read.

    Parameters
    ----------
    schema : Schema
        Its target has a column only if one was named; see `names_target`.
    where : str
        For messages.
    task : {"classification", "regression", "count"}
    names_target : bool
    """

    schema: Schema
    where: str
    task: str
    names_target: bool

    @classmethod
    def read(cls, text: str, said: Said) -> "Declared":
        """Read what --schema takes: the path of a file, "0,1" or "1.0" for |x| <= 1."""
        tables, where = _tables(text)
        tables = _overridden(tables, said, where)
        target = tables["target"]
        names_target = "column" in target
        target.setdefault("column", "\0")  # no column of a file has this name
        try:
            schema = Schema.from_dict(tables)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        return cls(schema, where, _task(target, said["task"]), names_target)

    @property
    def target(self) -> str | None:
        """The column to predict, if it was named."""
        target = self.schema.target
        return target.column if self.names_target and target is not None else None

    @property
    def n_outputs(self) -> int:
        """Columns of coefficients."""
        target = self.schema.target
        return len(target.classes or ()) if target is not None else 1

    def to_toml(self, schema: Schema | None) -> str:
        """The schema file that says the same, of a table or of a matrix."""
        tables = (schema or self.schema).to_dict()
        if not self.names_target:
            del tables["target"]["column"]
        return written(tables)

    def completed(self, names: Sequence[str]) -> Schema:
        """The schema of a table with these columns."""
        if self.target is None:
            raise ValueError(
                "which column is to be predicted? Give --target, or [target] column = ..."
            )
        roles = ("target", "person", "weight", "offset")
        found = [role.column for name in roles if (role := getattr(self.schema, name)) is not None]
        for name in [*found, *self.schema.drop]:
            if name not in names:
                known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
                raise ValueError(f"{self.where}: no column {name!r}. The columns are {known}.")
        try:
            return self.schema.completed(names)
        except ValueError as error:
            raise ValueError(f"{self.where}: {error}") from None

    def matrix_bounds(self, names: Sequence[str] | None) -> Bounds:
        """Limits for a matrix of numbers, whose columns may have names."""
        kinds = self.schema.features
        if not kinds:
            return self.schema.shared_bounds
        if names is None:
            raise ValueError(f"{self.where} names features, but the data have no names")
        plain = Schema(features=dict.fromkeys(names, Number(lower=0, upper=1)))
        schema = self.schema.completed(names)
        if schema.feature_names != plain.feature_names:
            raise ValueError(
                f"{self.where}: the data are a matrix of numbers, which take limits alone"
            )
        return schema.bounds


def _tables(text: str) -> tuple[Tables, str]:
    numbers = _numbers(text)
    if numbers is not None:
        bounds = Bounds.coerce(numbers[0] if len(numbers) == 1 else numbers)
        return {"bounds": {"lower": bounds.lower, "upper": bounds.upper}}, "--bounds"
    path = Path(text)
    if not path.exists():
        raise ValueError(
            f'--schema {text}: no such file; give a schema file (see "sparsedp init"), "0,1" for '
            'lower and upper limits of all features, or "1.0" for |x| <= 1'
        )
    tables = dict(read_toml(path))
    tables.pop("fit", None)  # settings of an earlier fit, in its run.toml
    return tables, str(path)


def _overridden(tables: Tables, said: Said, where: str) -> Tables:
    """What was said on the command line goes first."""
    tables = copy.deepcopy(tables)
    for name in ("target", "features"):
        if not isinstance(tables.setdefault(name, {}), dict):
            raise ValueError(f"{where}: [{name}] must be a table of keys and values")
    target = tables["target"]
    if said["target"] is not None:
        target["column"] = said["target"]
    if said["classes"] is not None:
        _only(target, classes=[read_label(text) for text in said["classes"].split(",")])
    if said["target_bounds"] is not None:
        pair = _numbers(said["target_bounds"])
        if pair is None or len(pair) != 2:
            raise ValueError('--target-bounds needs two numbers such as "0,100"')
        _only(target, lower=pair[0], upper=pair[1])
    if said["task"] == "count" and "max_count" not in target and "lower" in target:
        if target["lower"] != 0:
            raise ValueError(COUNT)
        _only(target, max_count=target.get("upper"))
    if said["person"] is not None:
        tables["person"] = {"column": said["person"]}
        tables.pop("unit", None)
    if said["unit"] is not None:
        tables["unit"] = said["unit"]
        tables.pop("person", None)
    if tables.get("unit", "row") != "row" and "person" not in tables:
        raise ValueError(WHO.format(where=where))
    # What is left out needs no promise: limits of it are no mistake.
    tables["features"] |= {name: {"drop": True} for name in said["drop"]}
    for name in (said["target"], said["person"]):
        tables["features"].pop(name, None)
    return tables


def _only(target: Tables, **values: Unchecked) -> None:
    """One way to declare a target in the place of another."""
    for key in ("classes", "lower", "upper", "max_count"):
        target.pop(key, None)
    target |= values


def _task(target: Tables, asked: str | None) -> str:
    """What is to be fitted; labels and limits of the target are never read off the records."""
    if "max_count" in target:
        found = "count"
    else:
        found = "regression" if "lower" in target or "upper" in target else "classification"
    task = asked or found
    if task != found or (task == "classification" and "classes" not in target):
        what = "" if asked is None else f" for {task}"
        raise ValueError(COUNT if task == "count" else WHAT.format(what=what))
    return task


def read_label(label: str) -> Label:
    """A label in words of the command line: a number where it looks like one, else text."""
    for kind in (int, float):
        try:
            number = kind(label)
            if number == float(label):
                return number
        except (ValueError, OverflowError):
            continue
    return label.strip()


def _numbers(text: str) -> tuple[float, ...] | None:
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        return None
    return numbers if len(numbers) <= 2 else None
