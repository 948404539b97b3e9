"""Read tables from files: CSV/TSV, LIBSVM, NPZ and Parquet; text formats also compressed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sparsedp.data.files import delimited, npz_table, parquet
from sparsedp.data.files.encode import ColumnPlan
from sparsedp.data.files.libsvm import parse_libsvm
from sparsedp.data.files.opened import COMPRESSED, opened, reading
from sparsedp.data.files.table import Table
from sparsedp.data.gate import Invalid
from sparsedp.data.raw import Label

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".npz": "npz",
    ".parquet": "parquet",
}


def read_table(
    path: str | Path,
    *,
    target: str | None = None,
    format: str | None = None,
    n_features: int | None = None,
    categories: Mapping[str, Sequence[Label]] | None = None,
    drop: Sequence[str] = (),
    invalid: Invalid = "raise",
) -> Table:
    """Read a table of records, each cell by itself.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .libsvm (.svm, .svmlight), .npz or .parquet file; all but Parquet may be
        compressed as .gz, .bz2 or .xz.
    target : str, optional
        Column to predict, which becomes y; in an NPZ file the key of y. LIBSVM files carry their
        label first and take no target.
    format : {"csv", "tsv", "libsvm", "npz", "parquet"}, optional
        Taken from the name of the file if not given.
    n_features : int, optional
        Number of features of a LIBSVM file; the largest index found if not given.
    categories : dict of str to sequence, optional
        Declared values of columns (CSV, Parquet). Column "color" with values red and blue becomes
        the 0/1 columns "color=red" and "color=blue". Numbers are compared by value: 1 is "1.0" too.
    drop : sequence of str, optional
        Columns to leave out (CSV, Parquet). The index of a pandas table (``__index_level_0__``)
        is always left out.
    invalid : {"raise", "replace"}
        Cells that are no numbers in a numeric column, and values that are missing or not among the
        declared categories, raise an error that names the column; or become NaN, which the gate
        replaces by a public value, and all zeros (none of the categories).

    Notes
    -----
    *Privacy.* Number and meaning of features are public, so they must not depend on records:
    categories are declared rather than collected, and `n_features` should be given.
    """
    path = Path(path)
    kind = _format(path, format)
    if kind in ("libsvm", "npz") and (categories or drop):
        raise ValueError(f"{path}: categories and drop are for CSV and Parquet files.")
    if kind != "libsvm" and n_features is not None:
        raise ValueError(f"{path}: n_features is for LIBSVM files only.")
    if kind == "libsvm" and target is not None:
        raise ValueError(f"{path}: LIBSVM files carry their label first; leave target out.")
    with reading(path):
        if kind == "libsvm":
            with opened(path, whole=True) as handle:
                X, y = parse_libsvm(handle, str(path), n_features, invalid)
            return Table(X, y, None, "label")
        if kind == "npz":
            return npz_table.read_npz(path, target or "y")
        if kind == "parquet":
            plan = ColumnPlan.of(parquet.column_names(path), target, categories, drop, str(path))
            X, y = parquet.read_row_groups(path, plan, invalid=invalid)
            return Table(X, y, plan.feature_names, target)
        return delimited.read_delimited(path, kind, target, categories, drop, invalid)


def read_header(path: str | Path, *, format: str | None = None) -> list[str]:
    """Return the column names of a file, which are public, without parsing any record."""
    path = Path(path)
    kind = _format(path, format)
    if kind == "libsvm":
        raise ValueError(f"{path}: LIBSVM files have no header.")
    if kind == "parquet":
        return parquet.column_names(path)
    if kind == "npz":
        return npz_table.feature_names(path)
    return delimited.column_names(path, kind)


def _format(path: Path, given: str | None) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    kind = given or FORMATS.get(suffixes[-1] if suffixes else "")
    if kind is None or kind not in FORMATS.values():
        choices = ", ".join(sorted(set(FORMATS.values())))
        raise ValueError(f"{path}: unknown format; pass format= as one of {choices}.")
    if kind == "parquet" and path.suffix.lower() in COMPRESSED:
        raise ValueError(f"{path}: Parquet compresses by itself; unpack the file first.")
    return kind
