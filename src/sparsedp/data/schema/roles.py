"""Columns that are no features: what is predicted, whose a record is, what it weighs."""

import math
from dataclasses import dataclass

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.files.limits import limits
from sparsedp.data.raw import Cells, Label
from sparsedp.data.schema.kinds.category import Levels
from sparsedp.data.schema.kinds.checks import checked_flag, checked_number
from sparsedp.data.schema.kinds.writing import PLAIN, Writing
from sparsedp.data.storage import Array


def checked_column(value: object) -> str:
    """The name of a column."""
    if not isinstance(value, str) or not value:
        raise ValueError('needs the name of a column: column = "..."')
    return value


@dataclass(frozen=True, kw_only=True)
class Target:
    """The column to predict, and what it can hold: classes, a number within limits, or a count.

    Parameters
    ----------
    column : str
    classes : sequence, optional
        Labels, in the order of their codes.
    lower, upper : float, optional
        Limits of a number.
    max_count : float, optional
        The largest count that matters.
    fold_case : bool
        Whether capitals make no difference between classes.
    writing : Writing, optional
        How text cells write numbers.
    """

    column: str
    classes: tuple[Label, ...] | None = None
    lower: float | None = None
    upper: float | None = None
    max_count: float | None = None
    fold_case: bool = False
    writing: Writing | None = None

    def __post_init__(self) -> None:
        checked_column(self.column)
        checked_flag(self.fold_case, "fold_case")
        ways = [self.classes is not None, self.max_count is not None]
        ways.append(self.lower is not None or self.upper is not None)
        if sum(ways) > 1:
            raise ValueError("takes one of classes, lower with upper, and max_count")
        if self.classes is not None:
            if not isinstance(self.classes, (list, tuple, np.ndarray)):
                raise ValueError("classes must be a list of labels")
            limits().check("classes", len(self.classes), "[target]")
            items = [c.item() if isinstance(c, np.generic) else c for c in self.classes]
            object.__setattr__(self, "classes", tuple(items))
            if len(items) < 2:
                raise ValueError("classes must list at least two labels")
            Levels(tuple(items), self.fold_case)
        elif self.max_count is not None:
            most = checked_number(self.max_count, "max_count")
            object.__setattr__(self, "max_count", most)
            if not most >= 1:
                raise ValueError("max_count must be at least 1")
        elif any(ways):
            if self.lower is None or self.upper is None:
                raise ValueError("needs both lower and upper")
            for name in ("lower", "upper"):
                object.__setattr__(self, name, checked_number(getattr(self, name), name))
            Bounds(self.lower, self.upper)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Limits of a number or a count."""
        if self.max_count is not None:
            return 0.0, self.max_count
        return None if self.lower is None or self.upper is None else (self.lower, self.upper)

    def cells(self, cells: Cells, writing: Writing) -> Cells:
        """Cells for the gate: numbers as they are written, declared labels without their dress."""
        if self.classes is None:
            return numbers_of(cells, self.writing, writing) if self.bounds else cells
        if isinstance(cells, np.ndarray):
            return cells
        levels = Levels(self.classes, self.fold_case)
        remembered = levels.remember()
        codes = levels.codes(cells, remembered).tolist()
        return [None if math.isnan(code) else self.classes[int(code)] for code in codes]


@dataclass(frozen=True, kw_only=True)
class Person:
    """The column that says whose a record is."""

    column: str

    def __post_init__(self) -> None:
        checked_column(self.column)


@dataclass(frozen=True, kw_only=True)
class Weight:
    """The column of what records weigh, from 0 to 1."""

    column: str
    writing: Writing | None = None

    def __post_init__(self) -> None:
        checked_column(self.column)


@dataclass(frozen=True, kw_only=True)
class Offset:
    """The column of what is added to margins, within public limits."""

    column: str
    lower: float
    upper: float
    writing: Writing | None = None

    def __post_init__(self) -> None:
        checked_column(self.column)
        for name in ("lower", "upper"):
            object.__setattr__(self, name, checked_number(getattr(self, name), name))
        Bounds(self.lower, self.upper)


def numbers_of(cells: Cells, own: Writing | None, shared: Writing) -> Array:
    """A column of numbers as they are written; NaN for what is none."""
    writing = (own or Writing()).or_else(shared).or_else(PLAIN)
    return writing.numbers(cells, writing.remember())
