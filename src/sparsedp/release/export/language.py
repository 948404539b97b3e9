"""How expressions are written in another language."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sparsedp.release.export.expression import (
    Cell,
    Choose,
    Compare,
    Condition,
    Constant,
    Every,
    Function,
    IsAmong,
    IsMissing,
    Missing,
    Number,
    Product,
    Quotient,
    Step,
    Sum,
)


@dataclass(frozen=True, kw_only=True)
class Language:
    """The words of a language, where they differ from those of others.

    Parameters
    ----------
    cell, constant, step : callable
        How these are written.
    missing, is_missing : str
        No value, and the question whether there is one, with {} for what is asked.
    functions, comparisons : mapping
        Where they are called otherwise.
    among : callable
        Of a cell, the texts that it may be, and whether its letters are made small.
    both : str
        Between conditions.
    choose : callable
        Of conditions with their numbers, and the last number.
    """

    cell: Callable[[Cell], str]
    constant: Callable[[float], str]
    step: Callable[[str], str]
    missing: str
    is_missing: str
    functions: Mapping[str, str]
    comparisons: Mapping[str, str]
    among: Callable[[str, Sequence[str], bool], str]
    both: str
    choose: Callable[[Sequence[tuple[str, str]], str], str]

    def number(self, it: Number) -> str:
        """Write a number."""
        match it:
            case Cell():
                return self.cell(it)
            case Constant(value):
                return self.constant(value)
            case Missing():
                return self.missing
            case Step(name):
                return self.step(name)
            case Sum(terms):
                return "(" + " + ".join(map(self.number, terms)) + ")"
            case Product(left, right):
                return f"({self.number(left)} * {self.number(right)})"
            case Quotient(left, right):
                return f"({self.number(left)} / {self.number(right)})"
            case Function(name, of):
                return f"{self.functions.get(name, name)}({self.number(of)})"
            case Choose(cases, otherwise):
                written = [(self.condition(when), self.number(then)) for when, then in cases]
                return self.choose(written, self.number(otherwise))

    def condition(self, it: Condition) -> str:
        """Write a condition."""
        match it:
            case IsMissing(of):
                return self.is_missing.format(self.number(of))
            case Compare(left, how, right):
                how = self.comparisons.get(how, how)
                return f"{self.number(left)} {how} {self.number(right)}"
            case IsAmong(of, values, folded):
                return self.among(self.cell(of), values, folded)
            case Every(conditions):
                return "(" + self.both.join(map(self.condition, conditions)) + ")"
