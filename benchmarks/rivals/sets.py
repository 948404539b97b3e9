"""Data sets of benchmarks/rivals: tables with bounds, and the splits that all methods share.

The folder of data holds load.py with ``load(name, split)``. A set is read once and kept in a folder
of caches, so that environments without sparsedp or pandas read the same bytes.
"""

import importlib.util
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.rivals import packaged
from scipy import sparse

LARGEST = 50_000  # records of a set, of which a fifth is for tests
REGRESSIONS = ("bodyfat", "diabetes_sklearn", "abalone", "cpusmall", "puma32h", "california")
BINARY = (
    "breast_cancer_sklearn",
    "heart_uci",
    "german",
    "digits_even",
    "splice",
    "abalone_high",
    "satimage_rare",
    "california_high",
    "madelon",
    "dna",
    "phishing",
    "mushrooms",
    "covtype",
    "covtype_rare",
    "synthetic",
    "usps_even",
    "adult",
    "a9a",
    "kddcup99",
    "w8a",
    "mnist49",
)
TEXT = ("basehock", "imdb")
ROUGHLY_BY_COST = (*REGRESSIONS, *BINARY)

# Tasks with two classes made from others: the set that is read, and what counts as 1.
MADE = {
    "digits_even": ("digits_sklearn", lambda y: y % 2 == 0),
    "usps_even": ("usps", lambda y: y % 2 == 0),
    "satimage_rare": ("satimage", lambda y: y == np.argmin(np.bincount(y))),
    "dna": ("dna", lambda y: y == np.argmax(np.bincount(y))),
    "covtype_rare": ("covtype7", lambda y: y == 7),
    "abalone_high": ("abalone", lambda y: y > np.median(y)),
    "california_high": ("california", lambda y: y > np.median(y)),
}


@dataclass(frozen=True)
class Table:
    """A set as its holder declares it.

    Attributes
    ----------
    X : ndarray or csr_array
    y : ndarray
        0 and 1, or numbers.
    lower, upper : ndarray
        Bounds of the features.
    target_bounds : (float, float) or None
        Of regressions.
    row_norm : float or None
        Of text.
    """

    name: str
    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    target_bounds: tuple[float, float] | None
    row_norm: float | None


@dataclass(frozen=True)
class Part:
    """One split of a table."""

    table: Table
    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    X_test: np.ndarray | sparse.csr_array
    y_test: np.ndarray

    @property
    def delta(self) -> float:
        """One in a million, or a tenth of 1/n where there are few records."""
        n = len(self.y)
        return 1e-6 if n >= 5000 else 1 / (10 * n)


def outwards(lower, upper):
    """Limits rounded away from the data, to half the leading digit of their distance."""
    distance = np.where(upper > lower, upper - lower, 1.0)
    step = 10.0 ** np.floor(np.log10(distance)) / 2
    low, high = np.floor(lower / step) * step, np.ceil(upper / step) * step
    return low, np.where(high > low, high, low + 1)


def raw(name, folder):
    """Features and target of all records, as load.py gives them."""
    if name == "synthetic":
        from sparsedp.data.synthetic import wang_zhang

        made = wang_zhang(seed=0)
        return made.X, made.y
    if name in packaged.TABLES or name in packaged.LATER:
        return packaged.read(name, folder)
    spec = importlib.util.spec_from_file_location("load", Path(folder) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source, is_one = MADE.get(name, (name, None))
    has_all = source not in ("kddcup99", "imdb")
    labels = "raw" if source == "covtype7" else "01"
    X, y = module.load(source, split="all" if has_all else "train", labels=labels)
    return X, (y if is_one is None else is_one(y).astype(int))


def declared(name, folder):
    """The table: at most LARGEST records, dense unless it is text."""
    X, y = raw(name, folder)
    if len(y) > LARGEST:
        chosen = np.random.default_rng(0).permutation(len(y))[:LARGEST]
        X, y = X[chosen], y[chosen]
    if name in TEXT:
        X = sparse.csr_array(X)
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X = sparse.csr_array(sparse.diags_array(1 / np.where(norms > 0, norms, 1)) @ X)
        return Table(name, X, y, np.zeros(X.shape[1]), np.ones(X.shape[1]), None, 1.0)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    lower, upper = outwards(X.min(axis=0), X.max(axis=0))
    limits = None
    if name in (*REGRESSIONS, *packaged.NUMBERS):
        low, high = outwards(y.min(), y.max())
        limits = float(low), float(high)
    return Table(name, X, y, lower, upper, limits, None)


def table(name, cache, folder=None):
    """A set from the cache, or from `folder` into the cache."""
    path = Path(cache) / f"{name}.npz"
    if not path.exists():
        if folder is None:
            raise FileNotFoundError(
                f"{name} is not in {cache}: say where the data sets are, --data"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        write(declared(name, folder), path)
    with np.load(path) as kept:
        if name in TEXT:
            X = sparse.csr_array(
                (kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])
            )
        else:
            X = kept["X"]
        limits = tuple(map(float, kept["limits"])) or None
        norm = 1.0 if name in TEXT else None
        return Table(name, X, kept["y"], kept["lower"], kept["upper"], limits, norm)


def write(made, path):
    """Keep a table, in a file that is complete or not there."""
    arrays = {"y": made.y, "lower": made.lower, "upper": made.upper}
    arrays["limits"] = np.array(made.target_bounds or ())
    if sparse.issparse(made.X):
        X = made.X
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        arrays["X"] = made.X
    part = path.with_suffix(".part.npz")
    np.savez(part, **arrays)
    part.rename(path)


def split(made, run):
    """Four fifths for training; the split depends on the set and on the run alone."""
    n = len(made.y)
    order = np.random.default_rng([run, zlib.crc32(made.name.encode())]).permutation(n)
    train, test = order[: n * 4 // 5], order[n * 4 // 5 :]
    return Part(made, made.X[train], made.y[train], made.X[test], made.y[test])
