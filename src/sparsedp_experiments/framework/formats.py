"""Files of public data sets, as their sources have them."""

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

OPENERS = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
DENIAL_OF_SERVICE = ("back", "land", "neptune", "pod", "smurf", "teardrop")


def read(path: Path, source: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """Records and targets of one file; labels of two classes are 0 and 1, 1 for the larger."""
    match source["format"]:
        case "libsvm":
            return libsvm(path, source)
        case "covtype":
            return covtype(path)
        case "kddcup99":
            return kddcup99(path)
    raise ValueError(f"unknown format {source['format']!r}")


def libsvm(path: Path, source: dict[str, Any]) -> tuple[Any, np.ndarray]:
    """LIBSVM's text format."""
    from sklearn.datasets import load_svmlight_file

    with _opened(path) as file:
        X, y = load_svmlight_file(file, n_features=source["n_features"])
    if source.get("dense"):
        X = X.toarray()
    if source.get("task") != "regression":
        y = (y == y.max()).astype(np.int64)
    return X, y


def covtype(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Forest cover types: the second class against the rest, as in LIBSVM's binary version."""
    with _opened(path) as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float64)
    return table[:, :-1], (table[:, -1] == 2).astype(np.int64)


def kddcup99(path: Path) -> tuple[Any, np.ndarray]:
    """Network connections: normal (1) against denial of service (0); text becomes 0/1."""
    import pandas as pd

    with _opened(path) as file:
        frame = pd.read_csv(file, header=None)
    labels = frame.iloc[:, 41].str.rstrip(".")
    frame = frame.iloc[:, :41]
    kept = (labels.isin(DENIAL_OF_SERVICE) | (labels == "normal")).to_numpy()
    text = [1, 2, 3]
    blocks = [sparse.csr_array(frame.drop(columns=text).to_numpy(dtype=np.float64))]
    for name in text:
        codes, levels = pd.factorize(frame[name], sort=True)
        rows = np.arange(len(codes))
        blocks.append(
            sparse.csr_array((np.ones(len(codes)), (rows, codes)), (len(codes), len(levels)))
        )
    X = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    return X[kept], (labels[kept] == "normal").to_numpy().astype(np.int64)


def _opened(path: Path) -> Any:
    return OPENERS.get(path.suffix, open)(path, "rb")
