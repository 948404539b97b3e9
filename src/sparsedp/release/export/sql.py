"""A model as a query: one row in, one row of predictions out.

Columns must have types: numbers, texts and dates. A record that would raise elsewhere has NULL for
its predictions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sparsedp.release.export.expression import Cell, Label, Program
from sparsedp.release.export.language import Language

Word = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """Where an engine's language differs from that of others.

    Parameters
    ----------
    double, text : str
        Types.
    days : str
        Days since 1970-01-01 of a column, which is {}.
    nan : str or None
        Whether a number, which is {}, is NaN; None where there is no such number.
    quote : str
        Around names.
    escapes : bool
        Whether a backslash means something in texts.
    once : str
        Says that a part of the query is computed once. Engines would else write what a part is into
        every use of it, and the parts after that again: the query would grow beyond all bounds.
    """

    double: str = "DOUBLE PRECISION"
    text: str = "TEXT"
    days: str
    nan: str | None
    quote: str = '"'
    escapes: bool = False
    once: str = "MATERIALIZED "

    def name(self, name: str) -> str:
        """A column or table, quoted."""
        if not name or "\0" in name or (self.escapes and ("\\" in name or self.quote in name)):
            raise ValueError(f"{name!r} cannot be the name of a column in this dialect")
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def literal(self, word: Word) -> str:
        """A label or a text."""
        if isinstance(word, bool):
            return "TRUE" if word else "FALSE"
        if isinstance(word, int):
            return str(word)
        if isinstance(word, float):
            return _constant(word)
        if "\0" in word:
            raise ValueError("a text with a zero character cannot be written in SQL")
        if self.escapes:
            word = word.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
            return "'" + word.replace("'", "\\'") + "'"
        return "'" + word.replace("'", "''") + "'"


DIALECTS = {
    "postgresql": Dialect(days="(CAST({} AS DATE) - DATE '1970-01-01')", nan="{} = 'NaN'"),
    "sqlite": Dialect(days="CAST(julianday(date({})) - 2440587.5 AS INTEGER)", nan=None),
    "duckdb": Dialect(
        double="DOUBLE",
        text="VARCHAR",
        days="date_diff('day', DATE '1970-01-01', CAST({} AS DATE))",
        nan="isnan({})",
    ),
    "bigquery": Dialect(
        double="FLOAT64",
        text="STRING",
        days="UNIX_DATE(CAST({} AS DATE))",
        nan="IS_NAN({})",
        quote="`",
        escapes=True,
        once="",
    ),
}


def _constant(value: float) -> str:
    """With an exponent, which makes it a floating-point number where it could be a decimal."""
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def _choose(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    if not cases:
        return otherwise
    whens = " ".join(f"WHEN {when} THEN {then}" for when, then in cases)
    return f"(CASE {whens} ELSE {otherwise} END)"


def _language(dialect: Dialect, cells: dict[Cell, str], numeric: str) -> Language:
    def among(cell: str, values: Sequence[str], folded: bool) -> str:
        text = f"LOWER({cell})" if folded else cell
        return f"{text} IN ({', '.join(map(dialect.literal, values))})"

    return Language(
        cell=cells.__getitem__,
        constant=_constant,
        step=str,
        missing=f"CAST(NULL AS {numeric})",
        is_missing="{} IS NULL",
        functions={"log": "LN", "exp": "EXP", "sqrt": "SQRT", "floor": "FLOOR"},
        comparisons={},
        among=among,
        both=" AND ",
        choose=_choose,
    )


def write(
    program: Program, title: Sequence[str], *, dialect: str, table: str, keep: Sequence[str] = ()
) -> str:
    """A query over a table.

    Parameters
    ----------
    program : Program
    title : sequence of str
        Lines of comments.
    dialect : str
        A key of `DIALECTS`.
    table : str
        Its name, with dots between its parts.
    keep : sequence of str
        Columns to show beside the predictions.
    """
    engine = DIALECTS[dialect]
    cells = {cell: f"cell_{k}" for k, cell in enumerate(program.cells)}
    language = _language(engine, cells, engine.double)
    kept = {column: f"kept_{k}" for k, column in enumerate(keep)}
    source = ".".join(map(engine.name, table.split(".")))
    first = [f"{_read(engine, cell)} AS {name}" for cell, name in cells.items()]
    first += [f"{engine.name(column)} AS {name}" for column, name in kept.items()]
    parts = [("cells", [*first, *(["1 AS nothing"] if not first else [])], source)]
    for depth, layer in enumerate(program.layers()):
        columns = [f"{language.number(program.steps[name])} AS {name}" for name in layer]
        parts.append((f"layer_{depth}", ["*", *columns], parts[-1][0]))
    valid = " AND ".join(f"{check.step} = 1" for check in program.checks)
    shown = _outputs(program, engine)
    if valid:
        shown = {label: f"CASE WHEN {valid} THEN {text} END" for label, text in shown.items()}
    columns = [f"{name} AS {engine.name(column)}" for column, name in kept.items()]
    columns += [f"{text} AS {engine.name(label)}" for label, text in shown.items()]
    with_parts = ",\n".join(_part(engine.once, *part) for part in parts)
    lines = [f"-- {line}" for line in title]
    lines += [f"WITH {with_parts}", "SELECT", "  " + ",\n  ".join(columns)]
    return "\n".join([*lines, f"FROM {parts[-1][0]}"]) + "\n"


def _part(once: str, name: str, columns: Sequence[str], source: str) -> str:
    shown = ",\n    ".join(columns)
    return f"{name} AS {once}(\n  SELECT\n    {shown}\n  FROM {source}\n)"


def _read(dialect: Dialect, cell: Cell) -> str:
    column = dialect.name(cell.column)
    if cell.read == "text":
        return f"TRIM(CAST({column} AS {dialect.text}))"
    if cell.read == "date":
        return f"CAST({dialect.days.format(column)} AS {dialect.double})"
    number = f"CAST({column} AS {dialect.double})"
    if dialect.nan is None:
        return number
    return f"(CASE WHEN {dialect.nan.format(number)} THEN NULL ELSE {number} END)"


def _outputs(program: Program, dialect: Dialect) -> dict[str, str]:
    shown = dict(program.outputs)
    if program.label is None:
        return shown
    return {"prediction": _best(program.label, dialect.literal), **shown}


def _best(label: Label, literal: Callable[[Word], str]) -> str:
    """The label of the first score that none exceeds."""
    numeric = all(
        isinstance(word, int | float) and not isinstance(word, bool) for word in label.labels
    )
    truth = all(isinstance(word, bool) for word in label.labels)
    words = [
        literal(word if numeric or truth or isinstance(word, str) else str(word))
        for word in label.labels
    ]
    cases = []
    for k, word in enumerate(words[:-1]):
        others = [other for j, other in enumerate(label.scores) if j != k]
        highest = " AND ".join(f"{label.scores[k]} >= {other}" for other in others)
        cases.append((highest, word))
    return _choose(cases, words[-1])
