"""Declared categories, and yes or no, as columns of zeros and ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.gate.labels import Labels, as_number
from sparsedp.data.gate.table import check_type
from sparsedp.data.raw import Cells, Label
from sparsedp.data.schema.kinds.cells import Remembered, kernel, normalized, says_nothing
from sparsedp.data.schema.kinds.checks import checked_flag, checked_source, checked_texts
from sparsedp.data.schema.kinds.kind import INDICATOR, Column, Mask, Writer, indicator
from sparsedp.data.storage import Array

NONE = "none"
"""What ``other`` and ``missing`` say for zeros in all columns."""

FEW = 32
"""Declared values up to which a typed column is compared with each of them."""

YES, NO = ("yes", "y", "t", "1"), ("no", "n", "f", "0")
"""True and false read as 1 and 0, whoever wrote them."""


@dataclass(frozen=True)
class Levels:
    """Which of several declared values a cell is: numbers by value, text without its dress.

    Parameters
    ----------
    values : tuple
        Text, numbers or truth values.
    fold_case : bool
        Whether capitals make no difference.
    other : int
        The code of a cell that says something else; -1 if such a cell is invalid.
    """

    values: tuple[Label, ...]
    fold_case: bool = False
    other: int = -1

    def __post_init__(self) -> None:
        for code, value in enumerate(self.values):
            if not isinstance(value, str | int | float) or value != value:
                raise ValueError("categories must be texts or numbers")
            if isinstance(value, str) and not value.strip():
                raise ValueError('an empty text is a missing cell: declare missing = "indicator"')
            if self._labels.code(self._plain(value)) != code or not self._alone(value, code):
                raise ValueError(
                    f"the category {value!r:.60} reads like another one: programs that read tables "
                    "would mix them up"
                )

    @cached_property
    def _labels(self) -> Labels:
        return Labels([self._plain(value) for value in self.values])

    def _alone(self, value: Label, code: int) -> bool:
        """Whether the number that a value reads as, if it does, is this value and no other."""
        key = as_number(value)
        return key is None or self._labels.code(key) == code

    def _plain(self, value: Label) -> Label:
        return normalized(value, fold_case=self.fold_case) if isinstance(value, str) else value

    def code(self, cell: object) -> float:
        """The code of a cell; NaN for one that is missing or invalid."""
        if isinstance(cell, bytes):
            cell = cell.decode(errors="replace")
        plain = self._plain(cell) if isinstance(cell, str) else cell
        found = self._labels.code(plain)
        if found < 0 and not says_nothing(cell):
            found = self.other
        return found if found >= 0 else math.nan

    def codes(self, cells: Cells, remembered: Remembered) -> Array:
        """Codes of a column, each cell by itself; NaN for missing or invalid ones."""
        if self._labels.too_fine_for(cells):
            kind = cells.dtype if isinstance(cells, np.ndarray) else "float"
            raise ValueError(
                f"has dtype {kind}, in which the declared whole numbers cannot be told apart: keep "
                "them as whole numbers or as text"
            )
        if not isinstance(cells, np.ndarray):
            return remembered.of(cells, self.code)
        check_type(cells.dtype, "the column")
        if len(self.values) > FEW:
            distinct, positions = np.unique(cells, return_inverse=True)
            return np.array([self.code(cell) for cell in distinct.tolist()])[positions]
        codes = self._labels.codes(cells)
        unknown = codes < 0
        if self.other >= 0:
            codes[unknown & (cells == cells)] = self.other
        return np.where(codes < 0, np.nan, codes)

    def remember(self) -> Remembered:
        """Codes of texts that repeat."""
        return Remembered(self.code)


@dataclass(frozen=True, kw_only=True)
class Category:
    """One of several declared values.

    Parameters
    ----------
    categories : sequence of str, int or float
        Two levels take one column, which is 1 for the second; others one column each.
    reference : a category, optional
        Has no column: the others are compared with it, and have coefficients and intervals of
        their own beside an intercept. Of two it is the first by default.
    other : True, a category or "none", optional
        A cell with another value gets a 0/1 column of its own, counts as the named category, or as
        none of them (zeros); otherwise it is invalid.
    missing : "indicator", a category or "none", optional
        The same for cells without a value.
    fold_case : bool
        Whether capitals make no difference.
    source : str, optional
        Where the declaration comes from (a code book, a law), for whoever must approve the model.

    Notes
    -----
    *Privacy.* Categories are published with the model: list what may occur, not what does.
    """

    categories: tuple[Label, ...]
    other: bool | Label = False
    missing: Label | None = None
    fold_case: bool = False
    reference: Label | None = None
    kind: str = "category"
    source: str | None = None

    def __post_init__(self) -> None:
        checked_source(self.source)
        if not isinstance(self.categories, (list, tuple, np.ndarray)):
            raise ValueError("categories must be a list of texts or numbers")
        values = [v.item() if isinstance(v, np.generic) else v for v in self.categories]
        object.__setattr__(self, "categories", tuple(values))
        checked_flag(self.fold_case, "fold_case")
        if self.kind != "category":
            raise ValueError('kind must be "category"')
        if not self.categories:
            raise ValueError("categories must list at least one value")
        Levels(self.categories, self.fold_case)
        if self.other is not True and self.other is not False:
            self._code_of(self.other, "other")
        if self.missing is not None and self.missing != INDICATOR:
            self._code_of(self.missing, "missing")
        if self.reference is not None:
            if len(self.categories) < 2:
                raise ValueError("reference needs another category to be compared with it")
            if math.isnan(Levels(self.categories, self.fold_case).code(self.reference)):
                raise ValueError("reference must be one of the categories")

    def _code_of(self, value: Label, name: str) -> int:
        """The category that stands for others or for missing cells; -1 for none of them."""
        code = Levels(self.categories, self.fold_case).code(value)
        if math.isnan(code) and value != NONE:
            also = "true" if name == "other" else '"indicator"'
            raise ValueError(f'{name} must be {also}, one of the categories, or "none"')
        return -1 if math.isnan(code) else int(code)

    @cached_property
    def levels(self) -> Levels:
        """The declared values, and the code of what is none of them."""
        return Levels(self.categories, self.fold_case, self._other_code)

    @property
    def _other_code(self) -> int:
        if self.other is False:
            return -1
        code = -1 if self.other is True else self._code_of(self.other, "other")
        return len(self.categories) if code < 0 else code

    @property
    def holds_dates(self) -> bool:
        """Dates are read by their own kind."""
        return False

    @property
    def expects(self) -> str:
        """For messages."""
        return "among its declared categories: declare them all, or other = true"

    @property
    def compared_with(self) -> int:
        """The code of the category without a column, -1 if each has one."""
        if self.reference is None:
            return 0 if len(self.categories) == 2 else -1
        return int(Levels(self.categories, self.fold_case).code(self.reference))

    @property
    def width(self) -> int:
        """A column per category but the reference, and one for others."""
        return len(self.categories) - (self.compared_with >= 0) + (self.other is True)

    def columns(self, name: str) -> tuple[Column, ...]:
        """A column per category but the reference, and one for others."""
        reference = self.compared_with
        shown = [value for code, value in enumerate(self.categories) if code != reference]
        others = [f"{name} other"] if self.other is True else []
        return tuple(map(indicator, [*(f"{name}={value}" for value in shown), *others]))

    def writer(self) -> Writer:
        """Finds the category of each cell."""
        return coded_writer(self.levels, self.slots)

    def filled(self) -> Array | None:
        """The row of the category that stands for a missing cell."""
        if self.missing is None or self.missing == INDICATOR:
            return None
        out = np.zeros((1, self.width))
        code = self._code_of(self.missing, "missing")
        if code >= 0:
            kernel.one_hot(np.array([float(code)]), self.slots, out)
        return out.reshape(-1)

    def exact_codes(self, cells: Cells) -> tuple[NDArray[np.int64], int]:
        """Codes of cells that are a category themselves, else -1; and how many count as other."""
        strict, loose = Levels(self.categories, self.fold_case), self.levels
        found = strict.codes(cells, strict.remember())
        other = np.isnan(found) & ~np.isnan(loose.codes(cells, loose.remember()))
        return np.where(np.isnan(found), -1, found).astype(np.int64), int(other.sum())

    @property
    def slots(self) -> NDArray[np.int64]:
        """The column of each code, -1 for none."""
        k, reference = len(self.categories), self.compared_with
        slots = np.arange(k + 1)
        if reference >= 0:
            slots[reference:] -= 1
            slots[reference] = -1
        slots[k] = self.width - 1 if self.other is True else -1
        return slots


@dataclass(frozen=True, kw_only=True)
class YesNo:
    """Yes or no, as one column that is 1 for yes.

    Parameters
    ----------
    yes, no : sequence of str
        What stands for them; by default yes, y, true, t, 1 and no, n, false, f, 0 in any case.
    missing : "indicator", "yes" or "no", optional
    fold_case : bool, optional
        Whether capitals make no difference; by default only for the default words.
    source : str, optional
        Where the declaration comes from (a code book, a law), for whoever must approve the model.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    missing: str | None = None
    fold_case: bool | None = None
    kind: str = "yes_no"
    source: str | None = None

    def __post_init__(self) -> None:
        checked_source(self.source)
        for name in ("yes", "no"):
            object.__setattr__(self, name, checked_texts(getattr(self, name), name))
        if bool(self.yes) != bool(self.no):
            raise ValueError("needs both yes = [...] and no = [...], or neither")
        if self.missing not in (None, INDICATOR, "yes", "no"):
            raise ValueError('missing must be "indicator", "yes" or "no"')
        if self.fold_case is not None:
            checked_flag(self.fold_case, "fold_case")
        if self.kind != "yes_no":
            raise ValueError('kind must be "yes_no"')
        _ = self.levels

    @cached_property
    def levels(self) -> Levels:
        """Words for no, then words for yes."""
        return Levels((*self._no, *self._yes), self._folds)

    @property
    def _folds(self) -> bool:
        return self.fold_case if self.fold_case is not None else not self.yes

    @property
    def _no(self) -> tuple[str, ...]:
        return _apart(self.no or NO, self._folds)

    @property
    def _yes(self) -> tuple[str, ...]:
        return _apart(self.yes or YES, self._folds)

    @property
    def holds_dates(self) -> bool:
        """Dates are read by their own kind."""
        return False

    @property
    def expects(self) -> str:
        """For messages."""
        return "yes or no: declare what stands for them by yes = [...] and no = [...]"

    @property
    def width(self) -> int:
        """One column."""
        return 1

    def columns(self, name: str) -> tuple[Column, ...]:
        """One column."""
        return (indicator(name),)

    def writer(self) -> Writer:
        """Finds out whether each cell says yes."""
        return coded_writer(self.levels, self.slots)

    def filled(self) -> Array | None:
        """The row of what stands for a missing cell."""
        if self.missing is None or self.missing == INDICATOR:
            return None
        return np.array([float(self.missing == "yes")])

    @property
    def slots(self) -> NDArray[np.int64]:
        """The column of each code: the words for yes have the only one."""
        return np.where(np.arange(len(self.levels.values) + 1) < len(self._no), -1, 0)


def _apart(words: Sequence[str], fold_case: bool) -> tuple[str, ...]:
    """Words without those that read like an earlier one, such as "true" after "1"."""
    kept: dict[object, str] = {}
    for word in words:
        plain = normalized(word, fold_case=fold_case)
        number = as_number(plain)
        kept.setdefault(plain if number is None else number, word)
    return tuple(kept.values())


def coded_writer(levels: Levels, slots: NDArray[np.int64]) -> Writer:
    """Writes a one into the column of each cell's code, zeros elsewhere."""
    remembered = levels.remember()

    def write(cells: Cells, out: Array) -> Mask:
        codes = levels.codes(cells, remembered)
        gaps = np.isnan(codes)
        codes[gaps] = 0.0
        kernel.one_hot(codes, slots, out)
        return gaps

    return write
