"""Read tables from files: CSV/TSV, LIBSVM, NPZ and Parquet; text formats also compressed."""

import codecs
import csv
import io
import itertools
import zipfile
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsedp.data.entries import canonical
from sparsedp.data.files import parquet
from sparsedp.data.files.encode import ColumnPlan, label_array
from sparsedp.data.files.libsvm import parse_libsvm
from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import (
    COMPRESSED,
    LONGEST_LINE,
    TOO_MUCH,
    BadFile,
    opened,
    parsing,
    reading,
    size_on_disk,
)
from sparsedp.data.gate import Invalid

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


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """What a file holds, before the gate.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)
        Features; a missing cell is NaN.
    y : ndarray of shape (n,), or None
        Labels as the file has them: numbers, or text where a cell is not a number.
    feature_names : tuple of str, or None
    target_name : str, or None

    Notes
    -----
    *Privacy.* Nothing here is clipped or private yet: hand it to an estimator, do not print it.
    """

    X: Any
    y: NDArray | None
    feature_names: tuple[str, ...] | None
    target_name: str | None

    def __repr__(self) -> str:
        return f"Table(n_features={self.X.shape[1]}, target={self.target_name!r}, records private)"


def read_table(
    path: str | Path,
    *,
    target: str | None = None,
    format: str | None = None,
    n_features: int | None = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
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
            return _read_npz(path, target or "y")
        if kind == "parquet":
            plan = ColumnPlan.of(parquet.column_names(path), target, categories, drop, str(path))
            X, y = parquet.read_row_groups(path, plan, invalid=invalid)
            return Table(X, y, plan.feature_names, target)
        return _read_delimited(path, kind, target, categories, drop, invalid)


def read_header(path: str | Path, *, format: str | None = None) -> list[str]:
    """Return the column names of a file, which are public, without parsing any record."""
    path = Path(path)
    kind = _format(path, format)
    if kind == "libsvm":
        raise ValueError(f"{path}: LIBSVM files have no header.")
    if kind == "parquet":
        return parquet.column_names(path)
    if kind == "npz":
        source, keys = _npz_source(path)
        if "feature_names" not in keys:
            raise ValueError(f"{path}: no feature_names in this file.")
        with parsing(path, "an NPZ file"), np.load(source, allow_pickle=False) as arrays:
            return [str(name) for name in arrays["feature_names"].ravel().tolist()]
    with opened(path) as handle:
        return _header(path, kind, _Records(_decoded(handle, path), path))[0]


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


def _decoded(handle: Iterable[bytes], path: Path) -> Generator[str]:
    """Decode line by line: a text stream decodes ahead, and the header must not need records."""
    for number, raw in enumerate(handle, start=1):
        if len(raw) > LONGEST_LINE:
            raise ValueError(f"{path}, line {number}: is longer than any record can be.")
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        text = line.decode("utf-8", errors="replace")
        if "\ufffd" in text and text.encode() != line:
            raise ValueError(f"{path}, line {number}: not UTF-8 text; save the file as UTF-8.")
        yield text


class _Records:
    """Texts of records: lines, joined where a quote is open.

    Where a record ends must depend on its own quotes alone. A cell that only begins with one would
    else swallow all records up to the next quote, even in a column that is left out.
    """

    def __init__(self, lines: Iterator[str], path: Path) -> None:
        self._lines, self._path = lines, path
        self.line = 0

    def __iter__(self) -> "_Records":
        return self

    def __next__(self) -> str:
        parts, closed, first = [], True, self.line + 1
        for text in self._lines:
            self.line += 1
            parts.append(text)
            closed ^= text.count('"') % 2 == 1
            if closed:
                return "".join(parts)
        if parts:
            # Counted over all lines: if one record has an odd number of quotes, so has the file.
            raise ValueError(f"{self._path}, from line {first} on: a quote does not end.")
        raise StopIteration


def _header(path: Path, kind: str, lines: Iterator[str]) -> tuple[list[str], Any]:
    """Read the header line; return the names and the reader of what follows."""
    first = next(lines, "")
    delimiter = "\t" if kind == "tsv" else max(",;\t|", key=first.count)
    limits().check("columns", first.count(delimiter), str(path))
    reader = csv.reader(itertools.chain([first], lines), delimiter=delimiter, skipinitialspace=True)
    names = [name.strip() for name in next(reader, [])]
    if not names or all(_is_number(name) for name in names):
        raise ValueError(f"{path}, line 1: needs a header line with the names of the columns.")
    return names, reader


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell == ""
    return True


def _read_delimited(
    path: Path,
    kind: str,
    target: str | None,
    categories: Mapping[str, Sequence[Any]] | None,
    drop: Sequence[str],
    invalid: Invalid,
) -> Table:
    with opened(path, whole=True) as handle:
        records = _Records(_decoded(handle, path), path)
        names, reader = _header(path, kind, records)
        plan = ColumnPlan.of(names, target, categories, drop, str(path))
        pick = itemgetter(*plan.numeric, 0) if plan.numeric else None  # with 0: always a tuple
        width, numeric = len(names), array("d")
        codes: list[list[int]] = [[] for _ in plan.categorical]
        labels: list[str] = []
        n = 0
        try:
            for n_read, row in enumerate(reader, start=2):
                where = f"{path}, line {records.line}"
                if reader.line_num != n_read:
                    raise ValueError(f"{where}: a quote does not end, or stands within a cell.")
                if not row:
                    continue
                if len(row) != width:
                    raise ValueError(
                        f"{where}: {len(row)} cells where the header has "
                        f"{width}; check the delimiter and quotes."
                    )
                n += 1
                if pick is not None:
                    values = _floats(pick(row)[:-1])
                    if values is None:  # raised here, an error would carry one that quotes a cell
                        values = [plan.number(row[p], p, invalid, where) for p in plan.numeric]
                    numeric.extend(values)
                for column, (position, _) in enumerate(plan.categorical):
                    codes[column].append(plan.category(row[position], column, invalid, where))
                if plan.target is not None:
                    labels.append(row[plan.target])
        except csv.Error:
            raise ValueError(
                f"{path}, line {records.line}: cannot be split into cells; check its quotes."
            ) from None
    X = plan.assemble(np.frombuffer(numeric).reshape(n, len(plan.numeric)), codes)
    y = None if plan.target is None else label_array(labels)
    return Table(X, y, plan.feature_names, target)


def _floats(cells: Sequence[str]) -> list[float] | None:
    """All cells of a record, if all are numbers: the usual case, and the fast one."""
    try:
        return list(map(float, cells))
    except ValueError:
        return None


def _read_npz(path: Path, target: str) -> Table:
    source, keys = _npz_source(path)
    wanted = {"X", "feature_names", target} & keys
    with parsing(path, "an NPZ file"):
        source.seek(0)
        try:
            with np.load(source, allow_pickle=False) as file:
                arrays = {name: file[name] for name in wanted}
                X = _npz_sparse(path, source, file) if {"data", "shape"} <= keys else None
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise BadFile(f"{path}: holds Python objects; save numbers and text arrays.") from None
    X = arrays.get("X") if X is None else X
    if X is None:
        raise ValueError(
            f"{path}: save the features as X, or a sparse matrix as scipy.sparse.save_npz."
        )
    y, names = arrays.get(target), arrays.get("feature_names")
    if y is None and target != "y":
        raise ValueError(f"{path}: no array {target!r} in this file.")
    if X.ndim != 2:
        raise ValueError(f"{path}: X must have one row per record and one column per feature.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must hold numbers.")
    if y is not None and (y.ndim == 0 or y.shape[0] != X.shape[0]):
        raise ValueError(f"{path}: {target} must have one entry per row of X.")
    limits().check("features", X.shape[1], str(path))
    if names is not None:
        names = tuple(map(str, names.ravel().tolist()))
        if len(names) != X.shape[1]:
            raise ValueError(f"{path}: feature_names must name every column of X once.")
    return Table(X, y, names, None if y is None else target)


def _npz_source(path: Path) -> tuple[io.BytesIO, set[str]]:
    """The file in memory, because NumPy needs to seek, and the names of its arrays."""
    most = limits().of(size_on_disk(path))
    with opened(path, whole=True) as handle:
        source = io.BytesIO(handle.read())
    with parsing(path, "an NPZ file"), zipfile.ZipFile(source) as archive:
        entries = archive.infolist()
        # Sizes as the archive states them: beyond these nothing is unpacked.
        if sum(entry.file_size for entry in entries) > most:
            raise BadFile(TOO_MUCH.format(path=path))
        return source, {entry.filename.removesuffix(".npy") for entry in entries}


def _npz_sparse(path: Path, source: io.BytesIO, arrays: Any) -> Any:
    """A CSR matrix; every index is checked, for kernels would follow it beyond the memory."""
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2 or 8 * max(shape[0], 1) > limits().of(size_on_disk(path)):
        raise BadFile(TOO_MUCH.format(path=path))
    limits().check("features", shape[1], str(path))
    if "format" in arrays.files:
        source.seek(0)
        matrix = sparse.load_npz(source)
    else:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        matrix = sparse.csr_array(parts, shape=shape)
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)
    return canonical(matrix).tocsr()  # SciPy would sum duplicates in an order of its own
