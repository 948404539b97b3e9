"""The small language that models are written in before they are written in another one.

A program reads the cells of one record and computes numbers from them. Whatever an engine makes of
missing values by itself differs between engines, so a program never computes with one: it asks
first (`IsMissing`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

Read = Literal["number", "text", "date"]
Comparison = Literal["<", "<=", ">", ">=", "=", "<>"]
Named = Literal["exp", "log", "sqrt", "sin", "cos", "floor"]


@dataclass(frozen=True)
class Cell:
    """A cell of the record.

    Parameters
    ----------
    column : str
    read : {"number", "text", "date"}
        A number, missing where it is NaN; a text without blanks around; or the whole number of days
        since 1970-01-01.
    """

    column: str
    read: Read


@dataclass(frozen=True)
class Constant:
    """A finite number."""

    value: float


@dataclass(frozen=True)
class Missing:
    """No value."""


@dataclass(frozen=True)
class Step:
    """What an earlier step has found, by its name."""

    name: str


@dataclass(frozen=True)
class Sum:
    """Of terms, from left to right."""

    terms: tuple["Number", ...]


@dataclass(frozen=True)
class Product:
    """Of two numbers."""

    left: "Number"
    right: "Number"


@dataclass(frozen=True)
class Quotient:
    """Of two numbers, the second not zero."""

    left: "Number"
    right: "Number"


@dataclass(frozen=True)
class Function:
    """A function that every engine has."""

    name: Named
    of: "Number"


@dataclass(frozen=True)
class Choose:
    """The number of the first condition that holds, else the last one."""

    cases: tuple[tuple["Condition", "Number"], ...]
    otherwise: "Number"


@dataclass(frozen=True)
class IsMissing:
    """Whether a cell or a step has no value."""

    of: "Cell | Step"


@dataclass(frozen=True)
class Compare:
    """Two numbers that are not missing."""

    left: "Number"
    how: Comparison
    right: "Number"


@dataclass(frozen=True)
class IsAmong:
    """Whether a text that is not missing is one of several, in small letters if `folded`."""

    of: Cell
    values: tuple[str, ...]
    folded: bool = False


@dataclass(frozen=True)
class Every:
    """Whether all conditions hold."""

    of: tuple["Condition", ...]


Number: TypeAlias = Cell | Constant | Missing | Step | Sum | Product | Quotient | Function | Choose
Condition: TypeAlias = IsMissing | Compare | IsAmong | Every


@dataclass(frozen=True)
class Check:
    """A step that must be 1 for a record to be scored, and what is wrong if it is not.

    Where a program can raise, it raises; elsewhere the record's predictions are missing.
    """

    step: str
    otherwise: str


@dataclass(frozen=True)
class Label:
    """The label of the largest of several steps, the first of them if there are several.

    Parameters
    ----------
    labels : tuple
        Texts, numbers or truth values.
    scores : tuple of str
        Steps, one for each label.
    """

    labels: tuple[str | int | float | bool, ...]
    scores: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """A model as steps, each of which may use those before it.

    Parameters
    ----------
    steps : dict of str to Number
        In their order; names are plain words.
    checks : tuple of Check
    outputs : dict of str to str
        What the reader calls the numbers that come out, and the steps that hold them.
    label : Label or None
        The predicted class; the first output otherwise.
    """

    steps: dict[str, Number]
    checks: tuple[Check, ...]
    outputs: dict[str, str]
    label: Label | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that are read, each once."""
        inside = (part for step in self.steps.values() for part in parts(step))
        return tuple(dict.fromkeys(part for part in inside if isinstance(part, Cell)))

    def layers(self) -> list[list[str]]:
        """Names of steps such that each uses only those of earlier layers."""
        depth: dict[str, int] = {}
        for name, expression in self.steps.items():
            used = [part.name for part in parts(expression) if isinstance(part, Step)]
            depth[name] = 1 + max((depth[other] for other in used), default=-1)
        layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
        for name, layer in depth.items():
            layers[layer].append(name)
        return layers


def parts(expression: Number | Condition) -> Iterator[Number | Condition]:
    """An expression and all that it is made of."""
    yield expression
    for field in fields(expression):
        yield from _inside(getattr(expression, field.name))


def _inside(value: object) -> Iterator[Number | Condition]:
    if isinstance(value, tuple):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, Number | Condition):
        yield from parts(value)


def total(terms: list[Number]) -> Number:
    """A sum of any number of terms."""
    if not terms:
        return Constant(0.0)
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def minus(left: Number, constant: float) -> Number:
    """A number less a constant."""
    return Sum((left, Constant(-constant))) if constant else left


def clipped(value: Number, lower: float, upper: float) -> Number:
    """A number within limits."""
    return Choose(
        (
            (Compare(value, "<", Constant(lower)), Constant(lower)),
            (Compare(value, ">", Constant(upper)), Constant(upper)),
        ),
        value,
    )


def one_if(condition: Condition) -> Number:
    """1 where a condition holds, else 0."""
    return Choose(((condition, Constant(1.0)),), Constant(0.0))
