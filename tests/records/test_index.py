"""Columns of stored records: taken, made dense, clipped."""

import numpy as np
import pytest
from scipy import sparse

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums import entries_reference
from sparsedp.data.columns import index
from sparsedp.data.gate import clip

KERNELS = {"reference": entries_reference}
if COMPILED:
    from sparsedp._kernels.sums import entries as compiled

    KERNELS["compiled"] = compiled


def wide_indices(X):
    """Records by rows, with indices of 64 bits."""
    rows = sparse.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


STORAGES = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csr 64": wide_indices,
    "csc": sparse.csc_array,
}


@pytest.fixture(params=list(KERNELS))
def kernel(request, monkeypatch):
    for module in (index, clip):
        monkeypatch.setattr(module, "kernel", KERNELS[request.param])


@pytest.fixture(params=list(STORAGES))
def store(request):
    return STORAGES[request.param]


def matrix():
    """Sparse, with empty rows at the end and in the middle."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(40, 9)) * (rng.random((40, 9)) < 0.4)
    X[5] = X[-1] = 0
    return X


def everything(storage):
    """A dense copy."""
    d = storage.shape[1]
    return index.dense(storage, 0, np.zeros(d), np.ones(d))


def test_taken_columns_are_those_of_the_matrix(kernel, store):
    X, chosen = matrix(), np.array([7, 0, 3])
    storage = store(X)
    some = index.taken(storage, chosen)
    np.testing.assert_array_equal(everything(some), X[:, chosen])
    more = np.array([8, 1])
    wide = index.extended(some, storage, chosen, more)
    np.testing.assert_array_equal(everything(wide), X[:, [7, 0, 3, 8, 1]])
    assert index.taken(storage, np.zeros(0, dtype=int)).shape == (40, 0)


@pytest.mark.parametrize("form", ["csr", "csr 64"])
def test_columns_whose_entries_are_known_are_the_same(kernel, form):
    X, chosen, more = matrix(), np.array([7, 0, 3]), np.array([8, 1])
    X[:, 1] = 0  # a column without entries
    storage = STORAGES[form](X)
    some = index.taken(storage, chosen)
    known = index.ColumnIndex.of(storage)
    for j in range(9):
        at = known.positions[known.starts[j] : known.starts[j + 1]]
        np.testing.assert_array_equal(storage.data[at], X[X[:, j] != 0, j])
    plain = index.extended(some, storage, chosen, more)
    found = index.extended(some, storage, chosen, more, known)
    again = index.extended(some, storage, chosen, more, known)  # what is known stays as it is
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
        np.testing.assert_array_equal(getattr(again, name), getattr(plain, name))


@pytest.mark.parametrize("first", [0, 4, 9])
def test_dense_columns_are_shifted_and_scaled_entry_by_entry(kernel, store, first):
    X, rng = matrix(), np.random.default_rng(11)
    shift, scale = rng.normal(size=9 - first), rng.uniform(0.5, 2, 9 - first)
    found = index.dense(store(X), first, shift, scale)
    np.testing.assert_array_equal(found, (X[:, first:] - shift) / scale)
    assert found.flags.c_contiguous


@pytest.mark.parametrize("form", ["csr", "csr 64", "csc"])
def test_entries_are_clipped_to_the_bounds_of_their_column(kernel, form):
    X, rng = matrix(), np.random.default_rng(12)
    lower, upper = -rng.random(9), rng.random(9)
    storage = STORAGES[form](X)
    clip.clip_entries(storage, lower, upper)
    np.testing.assert_array_equal(storage.toarray(), np.clip(X, lower, upper))
