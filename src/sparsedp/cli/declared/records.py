"""Reading records for the verbs: for a fit by what was declared, for a model by what it needs."""

from pathlib import Path

import numpy as np

from sparsedp.cli.declared.declaration import Declaration
from sparsedp.data.blocks.blocks import RecordBlocks
from sparsedp.data.bounds import Bounds
from sparsedp.data.files.encode import ColumnPlan
from sparsedp.data.files.readers import FORMATS, Table, read_header, read_table
from sparsedp.data.gate import Invalid
from sparsedp.release.model import PublishedModel


def known_format(path: Path, given: str | None) -> str | None:
    """The format by option or by name: that of a9a.svm.xz is libsvm."""
    found = [FORMATS[suffix.lower()] for suffix in path.suffixes if suffix.lower() in FORMATS]
    return given or (found[-1] if found else None)


def read_for_fit(
    path: Path,
    declared: Declaration,
    given: str | None,
    n_features: int | None,
    invalid: Invalid = "raise",
) -> tuple[Table, Bounds]:
    """Read records to fit a model to; the declaration says what the columns are."""
    kind = known_format(path, given)
    if kind == "libsvm":
        if n_features is None:
            raise ValueError(
                "a LIBSVM file does not say how many features there are: give --n-features (the "
                "largest index that occurs is a fact about the records)"
            )
        bounds = declared.bounds(None)
        return read_table(path, format=kind, n_features=n_features, invalid=invalid), bounds
    if kind == "npz":
        table = read_table(path, format=kind, target=declared.target)
        return table, declared.bounds(table.feature_names)
    target = declared.target
    if target is None:
        raise ValueError("which column is to be predicted? Give --target, or [target] column = ...")
    categories, drop = declared.categories, declared.drop
    try:
        names = read_header(path, format=kind)
        # The header alone tells whether all is declared: a better message than the first text cell.
        columns = ColumnPlan.of(names, target, categories, drop, str(path))
        bounds = declared.bounds(columns.feature_names)
        table = read_table(
            path, format=kind, target=target, categories=categories, drop=drop, invalid=invalid
        )
    except ImportError as error:  # Parquet needs an extra
        raise ValueError(str(error)) from None
    return table, bounds


def blocks_for_fit(path: Path, declared: Declaration) -> tuple[Table, Bounds, RecordBlocks]:
    """Open Parquet files that need not fit in memory; the table is empty but has the names."""
    if declared.target is None:
        raise ValueError("which column is to be predicted? Give --target, or [target] column = ...")
    try:
        records = RecordBlocks.from_parquet(
            path, target=declared.target, categories=declared.categories, drop=declared.drop
        )
    except ImportError as error:
        raise ValueError(str(error)) from None
    names = records.feature_names
    nobody = Table(np.zeros((0, records.n_features)), None, names, declared.target)
    return nobody, declared.bounds(names), records


def read_for_model(
    path: Path, model: PublishedModel, given: str | None, target: str | None = None
) -> Table:
    """Read records to predict: of a file with names only the columns that the model uses."""
    kind = known_format(path, given)
    if kind == "libsvm":
        return read_table(path, format=kind, n_features=model.n_features, invalid=model.invalid)
    if kind == "npz" or not model.named:
        return read_table(path, format=kind, target=target, invalid=model.invalid)
    encoded = {f"{name}={value}" for name, values in model.categories.items() for value in values}
    needed = {name for name in model.feature_names if name not in encoded} | set(model.categories)
    try:
        names = read_header(path, format=kind)
        missing = sorted(needed - set(names))
        if missing:
            raise ValueError(f"{path}: the model needs the columns {', '.join(map(repr, missing))}")
        drop = [name for name in names if name not in needed and name != target]
        return read_table(
            path,
            format=kind,
            target=target,
            categories=model.categories,
            drop=drop,
            invalid=model.invalid,
        )
    except ImportError as error:
        raise ValueError(str(error)) from None
