"""Parquet files, whole or by row groups; needs pyarrow, which is loaded when first used."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsedp.data.encode import ColumnPlan, label_array
from sparsedp.data.files import TOO_MUCH, BadFile, parsing, size_on_disk
from sparsedp.data.limits import limits


def column_names(path: Path) -> list[str]:
    """The columns of a file, which are public."""
    parquet = _pyarrow("pyarrow.parquet")
    size_on_disk(path)
    with parsing(path, "a Parquet file"):
        names = list(parquet.read_schema(path).names)
    limits().check("columns", len(names), str(path))
    return names


def row_group_sizes(path: Path) -> list[int]:
    """Numbers of records in the row groups of a file."""
    size_on_disk(path)
    with parsing(path, "a Parquet file"):
        metadata = _pyarrow("pyarrow.parquet").read_metadata(path)
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def read_row_groups(
    path: Path, plan: ColumnPlan, groups: Sequence[int] | None = None
) -> tuple[NDArray[np.float64], NDArray | None]:
    """Features and labels of some row groups, or of the whole file.

    Parameters
    ----------
    path : Path
    plan : ColumnPlan
        Which columns become which features.
    groups : sequence of int, optional
        All by default.
    """
    parquet, arrow = _pyarrow("pyarrow.parquet"), _pyarrow("pyarrow")
    kept = [*plan.numeric, *(position for position, _ in plan.categorical)]
    kept += [] if plan.target is None else [plan.target]
    columns = [plan.names[position] for position in kept]
    with parsing(path, "a Parquet file"), parquet.ParquetFile(path) as file:
        _check_size(path, file.metadata, len(columns), groups)
        # One thread: blocks are what is read at the same time, if anything.
        if groups is None:
            frame = file.read(columns=columns)
        else:
            frame = file.read_row_groups(list(groups), columns=columns, use_threads=False)
    numeric = np.empty((frame.num_rows, len(plan.numeric)))
    for j, position in enumerate(plan.numeric):
        name = plan.names[position]
        if not (_is_number(frame[name]) or arrow.types.is_decimal(frame[name].type)):
            raise ValueError(
                f"{path}: column {name!r} is not numeric; declare its values with "
                f"categories={{{name!r}: [...]}} or leave it out with drop=[{name!r}]."
            )
        numeric[:, j] = frame[name].cast(arrow.float64(), safe=False).to_numpy()
    codes = [
        [code_of.get(str(cell), -1) for cell in frame[plan.names[position]].to_pylist()]
        for position, code_of in plan.categorical
    ]
    X = plan.assemble(numeric, codes)
    if plan.target is None:
        return X, None
    labels = frame[plan.names[plan.target]]
    if _is_number(labels):
        return X, labels.cast(arrow.float64(), safe=False).to_numpy()
    return X, label_array(labels.to_pylist())


def _check_size(path: Path, metadata: Any, n_columns: int, groups: Sequence[int] | None) -> None:
    """Refuse to unpack what would be out of proportion; repeated values cost a file nothing."""
    picked = range(metadata.num_row_groups) if groups is None else groups
    parts = [metadata.row_group(group) for group in picked]
    unpacked = sum(max(part.total_byte_size, 8 * part.num_rows * (n_columns + 1)) for part in parts)
    if unpacked > limits().of_cells(size_on_disk(path)):
        raise BadFile(TOO_MUCH.format(path=path))


def _is_number(column: Any) -> bool:
    types = _pyarrow("pyarrow").types
    kind = column.type
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _pyarrow(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            'Parquet files need pyarrow: python -m pip install "sparsedp[parquet]"'
        ) from None
