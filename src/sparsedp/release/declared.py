"""What a schema declares, in words for the reader of a report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sparsedp.data.schema import Category, Cyclic, Date, Number, Schema, Text, YesNo
from sparsedp.data.schema.kinds.kind import Kind

MOST_SHOWN = 12
"""Categories beyond these are counted, not listed."""


@dataclass(frozen=True)
class Declared:
    """A raw column for readers.

    Parameters
    ----------
    name : str
    holds : str
        What its cells are, and what becomes of them.
    missing : str
        What a cell without a value becomes.
    used : bool
        Whether the model uses it.
    source : str or None
        Where that comes from.
    """

    name: str
    holds: str
    missing: str
    used: bool
    source: str | None


def declared(schema: Schema, used: Sequence[int]) -> tuple[Declared, ...]:
    """The raw columns of a schema, in its order.

    Privacy
    -------
    Says only what the schema says, which is part of the model file.
    """
    needed = set(schema.needs(used))
    return tuple(
        Declared(
            part.name,
            _holds(part.kind),
            _missing(part.kind),
            part.name in needed,
            part.kind.source,
        )
        for part in schema.parts
    )


def sources(columns: Sequence[Declared] | None) -> str:
    """For whoever signs: how many declarations do not say where they come from.

    Parameters
    ----------
    columns : sequence of Declared, or None
        None for a model without a schema.
    """
    if columns is None:
        return "not declared: limits were given as numbers"
    unsaid = [column.name for column in columns if column.source is None]
    if not unsaid:
        return f"declared for {'all ' if len(columns) > 1 else ''}{_columns(len(columns))}"
    where = "any of " if len(unsaid) == len(columns) > 1 else f"{len(unsaid)} of "
    return f"not declared for {where}{_columns(len(columns))}: {_some(unsaid)}"


def _columns(n: int) -> str:
    return f"{n} column{'s' if n != 1 else ''}"


def _holds(kind: Kind) -> str:
    match kind:
        case Number():
            return _number(kind)
        case Category():
            levels = _some(list(map(str, kind.categories)))
            if kind.reference is not None:
                levels += f", compared with {kind.reference}"
            if kind.other is False:
                return f"one of {levels}"
            how = "counts as other" if kind.other is True else f"counts as {kind.other}"
            return f"one of {levels}; any other value {how}"
        case YesNo():
            return "yes or no"
        case Date():
            return f"a date, by its {', '.join(kind.parts)}".replace("_", " ")
        case Cyclic():
            return f"a number that comes around after {kind.period:g}, by sine and cosine"
        case Text():
            return f"text, as {kind.words} hashed words within a norm of {kind.row_norm:g}"
        case _:
            return kind.kind


def _number(kind: Number) -> str:
    what = "a whole number" if kind.kind == "whole" else "a number"
    if kind.bins:
        return f"{what}, cut at {_some([f'{cut:g}' for cut in kind.bins])}"
    if kind.knots:
        return f"{what}, piecewise linear with knots {_some([f'{knot:g}' for knot in kind.knots])}"
    low, high = kind.limits
    scale = f", on the scale of {kind.transform}" if kind.transform else ""
    return f"{what} from {low:g} to {high:g}{scale}"


def _missing(kind: Kind) -> str:
    if kind.missing is None:
        return "no words" if isinstance(kind, Text) else "invalid"
    if kind.missing == "indicator":
        return "a column of its own"
    return kind.missing.isoformat() if isinstance(kind.missing, date) else f"{kind.missing}"


def _some(items: list[str]) -> str:
    more = f" and {len(items) - MOST_SHOWN} more" if len(items) > MOST_SHOWN else ""
    return ", ".join(items[:MOST_SHOWN]) + more
