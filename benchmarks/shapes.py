"""Synthetic data in the shapes of well-known sets: columns by Zipf's law, rows like documents."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Shape:
    """How many records and features, and how many entries a record has.

    Parameters
    ----------
    n, d, per_row : int
        Records, features, entries of a record (fewer where a feature was drawn twice).
    kind : {"text", "binary", "dense", "signal"}
        Values of text are positive, rows of length one, then columns divided by their largest
        value; binary values are one; dense data are uniform, without zeros. With a signal, values
        are uniform, columns fall off faster, and the fifty most frequent decide the label.
    radius : float
        Of the L1 ball that the benchmarks use.
    """

    n: int
    d: int
    per_row: int
    kind: str
    radius: float


SHAPES = {
    "rcv1": Shape(20_242, 47_236, 72, "text", 50.0),
    "news20": Shape(19_996, 1_355_191, 439, "text", 50.0),
    "url": Shape(200_000, 3_231_961, 97, "text", 50.0),
    "gisette": Shape(6_000, 5_000, 5_000, "dense", 10.0),
    "a9a": Shape(32_561, 123, 14, "binary", 10.0),
    "signal": Shape(20_242, 47_236, 72, "signal", 50.0),
}


def generate(shape: Shape, seed: int = 0):
    """Make records and labels.

    Parameters
    ----------
    shape : Shape
    seed : int

    Returns
    -------
    X : csr_array or ndarray of shape (n, d)
        Within [-1, 1].
    y : ndarray of shape (n,)
        0 and 1; twenty of the hundred most frequent features matter.
    """
    rng = np.random.default_rng(seed)
    if shape.kind == "signal":
        return _signal(shape, rng)
    if shape.kind == "dense":
        X = rng.uniform(-1, 1, size=(shape.n, shape.d))
    else:
        X = _zipf(shape, rng)
    truth = np.zeros(shape.d)
    matter = rng.choice(min(100, shape.d), size=20, replace=False)
    truth[matter] = rng.choice([-1, 1], size=20)
    margins = X @ truth
    margins = 3 * (margins - margins.mean()) / margins.std()
    y = (rng.random(shape.n) < 1 / (1 + np.exp(-margins))).astype(float)
    return X, y


def _signal(shape: Shape, rng: np.random.Generator):
    ends = np.cumsum((np.arange(shape.d) + 1.0) ** -1.05)
    size = shape.n * shape.per_row
    columns = np.searchsorted(ends / ends[-1], rng.random(size)).astype(np.int32)
    np.minimum(columns, shape.d - 1, out=columns)
    indptr = np.arange(shape.n + 1, dtype=np.int64) * shape.per_row
    X = csr_array((rng.random(size), columns, indptr), shape=(shape.n, shape.d))
    X.sum_duplicates()
    np.minimum(X.data, 1, out=X.data)
    truth = np.zeros(shape.d)
    truth[:50] = np.where(np.arange(50) % 2, -1, 1)
    return X, (X @ truth > 0).astype(float)


def _zipf(shape: Shape, rng: np.random.Generator) -> csr_array:
    frequency = 1 / (np.arange(shape.d) + 2.7)  # Zipf and Mandelbrot
    ends = np.cumsum(frequency / frequency.sum())
    size = shape.n * shape.per_row
    columns = np.empty(size, dtype=np.int32)
    for start in range(0, size, 1 << 22):
        part = rng.random(min(1 << 22, size - start))
        columns[start : start + len(part)] = np.searchsorted(ends, part)
    np.minimum(columns, shape.d - 1, out=columns)
    values = np.ones(size) if shape.kind == "binary" else rng.lognormal(0.0, 0.5, size)
    indptr = np.arange(shape.n + 1, dtype=np.int64) * shape.per_row
    X = csr_array((values, columns, indptr), shape=(shape.n, shape.d))
    X.sum_duplicates()
    if shape.kind == "binary":
        X.data[:] = 1.0
        return X
    # Rare features weigh more, as by inverse document frequency.
    counts = np.bincount(X.indices, minlength=shape.d)
    X.data *= np.log(shape.n / np.maximum(counts, 1))[X.indices] + 0.1
    lengths = np.sqrt(np.add.reduceat(np.square(X.data), X.indptr[:-1]))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    largest = np.zeros(shape.d)
    np.maximum.at(largest, X.indices, X.data)
    X.data /= np.where(largest > 0, largest, 1)[X.indices]
    return X
