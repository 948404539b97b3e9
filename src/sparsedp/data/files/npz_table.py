"""Tables in NPZ files, which may be compressed as a whole; for blocks see npz.py."""

import io
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from sparsedp.data.files.limits import limits
from sparsedp.data.files.opened import TOO_MUCH, BadFile, opened, parsing, size_on_disk
from sparsedp.data.files.table import Table
from sparsedp.data.gate.entries import canonical
from sparsedp.data.raw import Module, RawTable
from sparsedp.data.storage import Sparse


def feature_names(path: Path) -> list[str]:
    """Names of the features, which are public."""
    source, keys = _npz_source(path)
    if "feature_names" not in keys:
        raise ValueError(f"{path}: no feature_names in this file.")
    with parsing(path, "an NPZ file"), np.load(source, allow_pickle=False) as arrays:
        return [str(name) for name in arrays["feature_names"].ravel().tolist()]


def read_npz(path: Path, target: str) -> Table:
    """All records of a file."""
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
    features: RawTable = arrays.get("X") if X is None else X
    if features is None:
        raise ValueError(
            f"{path}: save the features as X, or a sparse matrix as scipy.sparse.save_npz."
        )
    y, names = arrays.get(target), arrays.get("feature_names")
    if y is None and target != "y":
        raise ValueError(f"{path}: no array {target!r} in this file.")
    if features.ndim != 2:
        raise ValueError(f"{path}: X must have one row per record and one column per feature.")
    if features.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must hold numbers.")
    if y is not None and (y.ndim == 0 or y.shape[0] != features.shape[0]):
        raise ValueError(f"{path}: {target} must have one entry per row of X.")
    limits().check("features", features.shape[1], str(path))
    if names is not None:
        names = tuple(map(str, names.ravel().tolist()))
        if len(names) != features.shape[1]:
            raise ValueError(f"{path}: feature_names must name every column of X once.")
    return Table(features, y, names, None if y is None else target)


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


def _npz_sparse(path: Path, source: io.BytesIO, arrays: Module) -> Sparse:
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
