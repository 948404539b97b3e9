"""Columns of a file to features: numbers, and declared categories as 0/1 columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sparsedp.data.gate import Invalid
from sparsedp.data.gate.cells import number
from sparsedp.data.gate.labels import EXACT_BITS, Labels, as_number
from sparsedp.data.raw import Label, RawArray
from sparsedp.data.storage import Array

MISSING = frozenset(["", "na", "n/a", "nan", "null", "none", "?"])
"""Text that says that a cell of a numeric column is empty, in capitals or not."""


@dataclass(frozen=True)
class ColumnPlan:
    """Which columns of a file become which features, decided by its header alone."""

    names: tuple[str, ...]
    target: int | None
    numeric: tuple[int, ...]
    categorical: tuple[tuple[int, Labels], ...]
    feature_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        target: str | None,
        categories: Mapping[str, Sequence[Label]] | None,
        drop: Sequence[str],
        where: str,
    ) -> "ColumnPlan":
        """Plan the columns called `names`; `where` is the file, for messages."""
        categories = categories or {}
        if len(set(names)) != len(names):
            raise ValueError(f"{where}: two columns share a name; rename one in the header.")
        for name in [*([] if target is None else [target]), *categories, *drop]:
            if name not in names:
                known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
                raise ValueError(f"{where}: no column {name!r}. The columns are {known}.")
        numeric: list[int] = []
        categorical: list[tuple[int, Labels]] = []
        feature_names: list[str] = []
        for position, name in enumerate(names):
            if name == target or name in drop:
                continue
            if name not in categories:
                numeric.append(position)
                feature_names.append(name)
                continue
            values = list(categories[name])
            if len(set(values)) != len(values):
                raise ValueError(f"{where}: a category of column {name!r} is declared twice.")
            categorical.append((position, Labels(values)))
            feature_names += [f"{name}={value}" for value in values]
        if len(set(feature_names)) != len(feature_names):
            raise ValueError(f"{where}: a category is declared twice, or its column exists.")
        return cls(
            tuple(names),
            None if target is None else list(names).index(target),
            tuple(numeric),
            tuple(categorical),
            tuple(feature_names),
        )

    def number(self, cell: object, position: int, invalid: Invalid, where: str) -> float:
        """A cell of a numeric column; what is missing is NaN, what is no number raises or is NaN.

        The message names the file and the column, never the cell.
        """
        if isinstance(cell, str):
            cell = None if cell.strip().lower() in MISSING else cell.strip()
        value = number(cell)
        if value is not None:
            return value
        if invalid == "replace":
            return np.nan
        name = self.names[position]
        raise ValueError(
            f"{where}: column {name!r} is not numeric; declare its values with "
            f"categories={{{name!r}: [...]}}, leave it out with drop=[{name!r}], or take what is "
            'no number as missing with invalid="replace" (--invalid replace).'
        )

    def category(self, cell: object, column: int, invalid: Invalid, where: str) -> int:
        """The code of a cell of a categorical column; one that is not declared raises or is -1."""
        position, labels = self.categorical[column]
        code = labels.code(cell)
        if code < 0 and invalid == "raise":
            raise ValueError(
                f"{where}: column {self.names[position]!r} has a value that is missing or not one "
                "of its declared categories; declare it, or take it as none of them with "
                'invalid="replace" (--invalid replace).'
            )
        return code

    def assemble(self, numeric: Array, codes: Sequence[Sequence[int]]) -> Array:
        """Merge numeric columns and category codes (-1: none of them, all zeros)."""
        if not self.categorical:
            return numeric
        X = np.zeros((numeric.shape[0], len(self.feature_names)))
        slot = 0
        values_of = {position: len(labels.values) for position, labels in self.categorical}
        numeric_columns, category_columns = iter(numeric.T), iter(codes)
        for position in sorted([*self.numeric, *values_of]):
            if position not in values_of:
                X[:, slot] = next(numeric_columns)
                slot += 1
                continue
            code = np.asarray(next(category_columns), dtype=np.int64)
            declared = np.flatnonzero(code >= 0)
            X[declared, slot + code[declared]] = 1
            slot += values_of[position]
        return X


def labels_from_text(cells: Sequence[str]) -> RawArray:
    """Labels of a text file, each read by itself: numbers, NaN for an empty cell, other text.

    Whole numbers beyond 2^53 stay exact. The array has no common type: if one text cell turned the
    whole column into text, a single record could undo every other record's label.
    """
    values = np.empty(len(cells), dtype=object)
    values[:] = [_label(cell) for cell in cells]
    return values


def _label(cell: str) -> str | float:
    text = cell.strip()
    try:
        value = float(text or "nan")
    except ValueError:
        return text
    # With a point or an exponent it was a float, whose digits are not those of a whole number.
    whole = abs(value) >= 2.0**EXACT_BITS and text.lstrip("+-").isdigit()
    exact = as_number(text) if whole else None
    return value if exact is None else exact
