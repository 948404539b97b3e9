"""Parquet files, whole or by row groups; needs pyarrow, which is loaded when first used."""

import importlib
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from pathlib import Path

import numpy as np

from sparsedp.data.files.encode import ColumnPlan
from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import TOO_MUCH, BadFile, parsing, size_on_disk
from sparsedp.data.gate import Invalid
from sparsedp.data.gate.table import INDEX
from sparsedp.data.raw import Module, RawArray, RawColumn
from sparsedp.data.storage import Array


def column_names(path: Path) -> list[str]:
    """The columns of a file, which are public, without the index of a pandas table."""
    parquet = _pyarrow("pyarrow.parquet")
    size_on_disk(path)
    with parsing(path, "a Parquet file"):
        names = [name for name in parquet.read_schema(path).names if not INDEX.fullmatch(name)]
    limits().check("columns", len(names), str(path))
    return names


def row_group_sizes(path: Path) -> list[int]:
    """Numbers of records in the row groups of a file."""
    size_on_disk(path)
    with parsing(path, "a Parquet file"):
        metadata = _pyarrow("pyarrow.parquet").read_metadata(path)
        return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def read_row_groups(
    path: Path,
    plan: ColumnPlan,
    groups: Sequence[int] | None = None,
    invalid: Invalid = "raise",
) -> tuple[Array, RawArray | None]:
    """Features and labels of some row groups, or of the whole file.

    Parameters
    ----------
    path : Path
    plan : ColumnPlan
        Which columns become which features.
    groups : sequence of int, optional
        All by default.
    invalid : {"raise", "replace"}
        As for `read_table`.
    """
    parquet = _pyarrow("pyarrow.parquet")
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
        numeric[:, j] = _numbers(frame[plan.names[position]], plan, position, invalid, str(path))
    codes = []
    for column, (position, _) in enumerate(plan.categorical):
        found = map(_plain, frame[plan.names[position]].to_pylist())
        codes.append([plan.category(cell, column, invalid, str(path)) for cell in found])
    X = plan.assemble(numeric, codes)
    return X, None if plan.target is None else _labels(frame[plan.names[plan.target]])


def _numbers(
    column: RawColumn, plan: ColumnPlan, position: int, invalid: Invalid, where: str
) -> Array:
    """A column as floats: at once where the file's type is a number, else cell by cell."""
    arrow = _pyarrow("pyarrow")
    kind = column.type
    if _is_number(kind) or arrow.types.is_decimal(kind) or arrow.types.is_null(kind):
        numbers: Array = column.cast(arrow.float64(), safe=False).to_numpy()
        return numbers
    texts = (arrow.types.is_string, arrow.types.is_large_string, arrow.types.is_dictionary)
    if not any(is_text(kind) for is_text in texts):
        plan.number((), position, "raise", where)  # dates, lists: no cell of these is a number
    found = [plan.number(cell, position, invalid, where) for cell in column.to_pylist()]
    return np.array(found, dtype=np.float64)


def _labels(column: RawColumn) -> RawArray:
    """Labels as they are stored: whole numbers exactly, text as text; a missing one is NaN."""
    whole = _pyarrow("pyarrow").types.is_integer(column.type)
    if _is_number(column.type) and not (whole and column.null_count):
        found: RawArray = column.to_numpy()
        return found
    labels = np.empty(len(column), dtype=object)
    labels[:] = [np.nan if cell is None else _plain(cell) for cell in column.to_pylist()]
    return labels


def _plain(cell: object) -> object:
    """Numbers, text and bytes as they are; dates and others in words, as they would be declared."""
    return cell if cell is None or isinstance(cell, str | bytes | Real | Decimal) else str(cell)


def _check_size(path: Path, metadata: Module, n_columns: int, groups: Sequence[int] | None) -> None:
    """Refuse to unpack what would be out of proportion; repeated values cost a file nothing."""
    wanted = range(metadata.num_row_groups) if groups is None else groups
    parts = [metadata.row_group(group) for group in wanted]
    unpacked = sum(max(part.total_byte_size, 8 * part.num_rows * (n_columns + 1)) for part in parts)
    if unpacked > limits().of_cells(size_on_disk(path)):
        raise BadFile(TOO_MUCH.format(path=path))


def _is_number(kind: Module) -> bool:
    types = _pyarrow("pyarrow").types
    kinds = (types.is_integer, types.is_floating, types.is_boolean)
    return any(is_kind(kind) for is_kind in kinds)


def _pyarrow(module: str) -> Module:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            'Parquet files need pyarrow: python -m pip install "sparsedp[parquet]"'
        ) from None
