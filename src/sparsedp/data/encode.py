"""Columns of a file to features: numbers, and declared categories as 0/1 columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ColumnPlan:
    """Which columns of a file become which features, decided by its header alone."""

    names: tuple[str, ...]
    target: int | None
    numeric: tuple[int, ...]
    categorical: tuple[tuple[int, dict[str, int]], ...]
    feature_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        target: str | None,
        categories: Mapping[str, Sequence[Any]] | None,
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
        numeric, categorical, feature_names = [], [], []
        for position, name in enumerate(names):
            if name == target or name in drop:
                continue
            if name not in categories:
                numeric.append(position)
                feature_names.append(name)
                continue
            values = [str(value) for value in categories[name]]
            categorical.append((position, {value: k for k, value in enumerate(values)}))
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

    def assemble(self, numeric: NDArray[np.float64], codes: Sequence[Sequence[int]]) -> NDArray:
        """Merge numeric columns and category codes (-1: not declared, all zeros)."""
        if not self.categorical:
            return numeric
        X = np.zeros((numeric.shape[0], len(self.feature_names)))
        slot = 0
        values_of = {position: len(values) for position, values in self.categorical}
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


def label_array(cells: Sequence[Any]) -> NDArray:
    """Read label cells one by one: numbers as floats, an empty cell as NaN, other text as text.

    Each value depends on its own cell only. If one text cell turned the whole column into text,
    a single record could undo every other record's label.
    """
    values = np.empty(len(cells), dtype=object)
    values[:] = [_label(cell) for cell in cells]
    if all(isinstance(value, float) for value in values):
        return values.astype(np.float64)
    return values


def _label(cell: Any) -> Any:
    if cell is None:
        return np.nan
    text = str(cell).strip()
    try:
        return float(cell if not isinstance(cell, str) else text or "nan")
    except (TypeError, ValueError):
        return text
