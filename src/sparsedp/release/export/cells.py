"""How raw cells become the bounded columns of a schema, as expressions.

The mirror of data/schema: each function here says what a kind's writer does to one cell. A test
holds the two against each other for every kind.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from sparsedp.data.gate.cells import Invalid
from sparsedp.data.gate.labels import as_number
from sparsedp.data.schema.encode import Part
from sparsedp.data.schema.kinds.category import Category, Levels, YesNo
from sparsedp.data.schema.kinds.cells import MISSING, normalized
from sparsedp.data.schema.kinds.cyclic import Cyclic
from sparsedp.data.schema.kinds.date import DAYS_PER_YEAR, EPOCH, PARTS, Date
from sparsedp.data.schema.kinds.number import SCALES, Number
from sparsedp.release.export import calendar
from sparsedp.release.export import expression as e

LARGEST = float(np.finfo(np.float64).max)

TRUTH = {0.0: ("false", "False", "FALSE"), 1.0: ("true", "True", "TRUE")}
"""Truth values are numbers, whoever wrote them."""

UNKNOWN = -1.0
"""The code of a cell that is none of the declared categories."""


@dataclass
class Steps:
    """A program while it is written.

    Parameters
    ----------
    invalid : {"raise", "replace"}
        What becomes of a cell that does not fit: its record is not scored, or it counts as missing.
    """

    invalid: Invalid
    found: dict[str, e.Number] = field(default_factory=dict)
    checks: list[e.Check] = field(default_factory=list)

    def add(self, expression: e.Number) -> e.Step:
        """A new step, or the earlier one that computes the same."""
        if isinstance(expression, e.Step):
            return expression
        for name, other in self.found.items():
            if other == expression:
                return e.Step(name)
        name = f"v{len(self.found)}"
        self.found[name] = expression
        return e.Step(name)

    def fits(
        self, value: e.Number, conditions: Sequence[e.Condition], column: str, what: str
    ) -> e.Step:
        """A value for which conditions hold: others raise, or are missing."""
        step = self.add(value)
        if not conditions:
            return step
        every = conditions[0] if len(conditions) == 1 else e.Every(tuple(conditions))
        if self.invalid == "replace":
            unless = e.Choose(((every, step),), e.Missing())
            return self.add(e.Choose(((e.IsMissing(step), e.Missing()),), unless))
        met = e.Choose(((e.IsMissing(step), e.Constant(1.0)),), e.one_if(every))
        self.checks.append(e.Check(self.add(met).name, f"{column}: not a {what}"))
        return step

    def needs(self, step: e.Step, column: str) -> None:
        """A value that must be there."""
        there = e.Choose(((e.IsMissing(step), e.Constant(0.0)),), e.Constant(1.0))
        self.checks.append(e.Check(self.add(there).name, f"{column}: missing"))


def columns_of(part: Part, wanted: Sequence[int], steps: Steps) -> dict[int, e.Step]:
    """The wanted bounded columns of a raw column, by their positions in the result."""
    kind = part.kind
    if isinstance(kind, Number):
        value, made = _number(part.name, kind, steps)
    elif isinstance(kind, Category | YesNo):
        value, made = _category(part.name, kind, steps)
    elif isinstance(kind, Date):
        value, made = _date(part.name, kind, steps)
    elif isinstance(kind, Cyclic):
        cell = e.Cell(part.name, "number")
        value = steps.fits(cell, [_finite(cell)], part.name, "finite number")
        made = _circle(value, kind.period)
    else:
        raise ValueError(
            f"the column {part.name!r} is free text, whose words are hashed: such a model is not "
            "exported; use sparsedp predict, or PublishedModel in Python"
        )
    if steps.invalid == "raise" and not part.admits_missing:
        steps.needs(value, part.name)
    fill = part.fill()
    found = {}
    for j in wanted:
        own = j - part.first
        if own == kind.width:
            found[j] = steps.add(e.one_if(e.IsMissing(value)))
        else:
            filled = e.Constant(float(fill[own]))
            found[j] = steps.add(e.Choose(((e.IsMissing(value), filled),), made[own]))
    return found


def _finite(value: e.Number) -> e.Condition:
    limit = e.Constant(LARGEST)
    return e.Every((e.Compare(value, "<=", limit), e.Compare(value, ">=", e.Constant(-LARGEST))))


def _number(name: str, kind: Number, steps: Steps) -> tuple[e.Step, list[e.Number]]:
    cell = e.Cell(name, "number")
    conditions = [_finite(cell)]
    if kind.kind == "whole":
        conditions.append(e.Compare(cell, "=", e.Function("floor", cell)))
    if kind.binary:
        lower, upper = kind.limits
        near = e.Choose(((e.Compare(cell, "=", e.Constant(lower)), cell),), e.Constant(upper))
        conditions.append(e.Compare(cell, "=", near))
    what = "whole number" if kind.kind == "whole" else "number that the schema declares"
    value = steps.fits(cell, conditions, name, what)
    if kind.bins:
        return value, _bins(value, kind.bins)
    if kind.knots:
        return value, _hats(steps.add(_present(value, e.clipped(value, *_ends(kind)))), kind.knots)
    lower, upper = kind.limits
    number = e.clipped(value, lower, upper)
    if kind.transform:
        inside = steps.add(_present(value, number))
        if kind.transform == "sqrt":
            scaled: e.Number = e.Function("sqrt", inside)
        else:
            scaled = e.Function("log", e.Sum((e.Constant(1.0), inside)))
        scale = SCALES[kind.transform]
        number = e.clipped(steps.add(_present(value, scaled)), scale(lower), scale(upper))
    return value, [number]


def _ends(kind: Number) -> tuple[float, float]:
    return kind.knots[0], kind.knots[-1]


def _present(value: e.Step, number: e.Number) -> e.Number:
    """A number that is computed from a value, where there is one."""
    return e.Choose(((e.IsMissing(value), e.Missing()),), number)


def _bins(value: e.Step, cuts: tuple[float, ...]) -> list[e.Number]:
    def at_least(cut: float) -> e.Condition:
        return e.Compare(value, ">=", e.Constant(cut))

    def below(cut: float) -> e.Condition:
        return e.Compare(value, "<", e.Constant(cut))

    between = [e.Every((at_least(a), below(b))) for a, b in pairwise(cuts)]
    return [e.one_if(c) for c in (below(cuts[0]), *between, at_least(cuts[-1]))]


def _hats(value: e.Step, knots: tuple[float, ...]) -> list[e.Number]:
    """One at a knot, zero at the next ones; the last piece holds its right end."""
    zero = e.Constant(0.0)
    found: list[e.Number] = []
    for k, knot in enumerate(knots):
        cases: list[tuple[e.Condition, e.Number]] = []
        if k > 0:
            left = knots[k - 1]
            rising = e.Quotient(e.minus(value, left), e.Constant(knot - left))
            cases.append((e.Compare(value, "<", e.Constant(left)), zero))
            cases.append((e.Compare(value, "<", e.Constant(knot)), rising))
        if k + 1 < len(knots):
            right = knots[k + 1]
            risen = e.Quotient(e.minus(value, knot), e.Constant(right - knot))
            falling = e.Sum((e.Constant(1.0), e.Product(e.Constant(-1.0), risen)))
            cases.append((e.Compare(value, "<", e.Constant(right)), falling))
            found.append(e.Choose(tuple(cases), zero))
        else:
            found.append(e.Choose(tuple(cases), e.Constant(1.0)))
    return found


def _category(name: str, kind: Category | YesNo, steps: Steps) -> tuple[e.Step, list[e.Number]]:
    text = e.Cell(name, "text")
    levels = kind.levels
    cases: list[tuple[e.Condition, e.Number]] = [(e.IsMissing(text), e.Missing())]
    for code, written in enumerate(spellings(levels)):
        here = e.IsAmong(text, written, levels.fold_case)
        cases.append((here, e.Constant(float(code))))
    empty = e.IsAmong(text, tuple(sorted(MISSING)), folded=True)
    cases.append((empty, e.Missing()))
    other = e.Constant(float(levels.other) if levels.other >= 0 else UNKNOWN)
    code = e.Choose(tuple(cases), other)
    step = steps.add(code)
    known = [e.Compare(step, ">=", e.Constant(0.0))] if levels.other < 0 else []
    value = steps.fits(step, known, name, "declared category")
    slots = kind.slots.tolist()
    made: list[e.Number] = []
    for own in range(kind.width):
        codes = [code for code, slot in enumerate(slots) if slot == own]
        same = tuple((e.Compare(value, "=", e.Constant(float(c))), e.Constant(1.0)) for c in codes)
        made.append(e.Choose(same, e.Constant(0.0)))
    return value, made


def spellings(levels: Levels) -> list[tuple[str, ...]]:
    """How each declared value may be written: a number also as programs write it."""
    found = []
    for value in levels.values:
        texts = [normalized(str(value), fold_case=levels.fold_case)]
        number = as_number(value)
        if number is not None and math.isfinite(number):
            texts += [repr(number), repr(float(number))]
            texts += TRUTH.get(float(number), ())
        found.append(tuple(dict.fromkeys(texts)))
    return found


def _date(name: str, kind: Date, steps: Steps) -> tuple[e.Step, list[e.Number]]:
    cell = e.Cell(name, "date")
    first, last = calendar.FIRST, calendar.LAST
    known = e.Every(
        (e.Compare(cell, ">=", e.Constant(first)), e.Compare(cell, "<=", e.Constant(last)))
    )
    value = steps.fits(cell, [known], name, "date")
    made: list[e.Number] = []
    for part in kind.parts:
        if part == "days":
            lower, upper = kind.limits
            since = e.minus(value, float(lower.toordinal() - EPOCH))
            made.append(e.clipped(since, 0.0, float((upper - lower).days)))
        elif part == "weekday":
            made += _codes(steps.add(_present(value, calendar.weekday(value))), PARTS[part], 0)
        else:
            of = calendar.civil(value, lambda number: steps.add(_present(value, number)))
            if part == "year":
                lower, upper = kind.limits
                made.append(e.clipped(of.year, float(lower.year), float(upper.year)))
            elif part == "month":
                made += _codes(of.month, PARTS[part], 1)
            else:
                made += _circle(of.day_of_year, DAYS_PER_YEAR)
    return value, made


def _codes(value: e.Step, n: int, first: int) -> list[e.Number]:
    return [e.one_if(e.Compare(value, "=", e.Constant(float(first + k)))) for k in range(n)]


def _circle(value: e.Step, period: float) -> list[e.Number]:
    turns = e.Quotient(value, e.Constant(period))
    part = e.Sum((turns, e.Product(e.Constant(-1.0), e.Function("floor", turns))))
    angle = e.Product(e.Constant(2 * math.pi), part)
    return [e.Function("sin", angle), e.Function("cos", angle)]
