"""Markdown tables, and the errors in them."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table, its cells as text; None is an empty cell."""
    lines = [list(map(str, header)), ["---"] * len(header)]
    lines += [["" if cell is None else str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def grouped(rows: Iterable[dict[str, Any]], *names: str) -> dict[Any, list[dict[str, Any]]]:
    """Rows by their values in these columns: a tuple, or the value itself for one column."""
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        values = tuple(row.get(name) for name in names)
        groups.setdefault(values[0] if len(names) == 1 else values, []).append(row)
    return groups


def column(rows: Iterable[dict[str, Any]], name: str) -> np.ndarray:
    """The values of a column, in the order of rows; rows without it are left out."""
    return np.array([row[name] for row in rows if name in row], dtype=float)


def standard_error(values: Sequence[float] | np.ndarray) -> float:
    """Of the mean; zero for one value, about which nothing is known."""
    values = np.asarray(values, dtype=float)
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0


def mean_error(values: Sequence[float] | np.ndarray, digits: int = 2) -> str:
    """Mean and standard error, such as "16.10 ± 0.34"; empty without values."""
    if len(values) == 0:
        return ""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {standard_error(values):.{digits}f}"


def wilson(successes: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Interval for a proportion that also holds near 0 and 1 (Wilson, 1927)."""
    if total == 0:
        return 0.0, 1.0
    p = successes / total
    center = (p + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z * math.sqrt(p * (1 - p) / total + z**2 / (4 * total**2)) / (1 + z**2 / total)
    return center - half, center + half
