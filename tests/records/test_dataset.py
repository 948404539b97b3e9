"""Dataset against plain dense arithmetic, for every storage and view; and its memory."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sparsedp.data import Bounds, Dataset


def expected_rows(X, bounds, intercept, is_sparse, view):
    """Rows as solvers should see them, written out the plain way."""
    d = X.shape[1]
    bounds = bounds.aligned(d)
    if is_sparse:
        bounds = bounds.containing_zero()
    lower, upper = bounds.arrays(d)
    X = np.clip(X, lower, upper)
    if bounds.row_norm is not None:
        norms = np.linalg.norm(X, axis=1, keepdims=True)
        X = X * np.minimum(1, bounds.row_norm / np.maximum(norms, 1e-300))
    if view == "unit":
        box = bounds.unit_map(d, centered=intercept)
        X = (X - box.center) / box.half_width
    return np.column_stack([X, np.ones(len(X))]) if intercept else X


def with_duplicates(X, form, rng):
    """The same matrix as SciPy may legally store it: split entries, explicit zeros, any order."""
    row, col = np.nonzero(np.ones_like(X))
    value = X[row, col]
    keep = (value != 0) | (rng.random(value.size) < 0.3)  # some explicit zeros
    row, col, value = row[keep], col[keep], value[keep]
    part = rng.choice([0.0, 0.25, 0.5], value.size) * value
    row, col, value = np.tile(row, 2), np.tile(col, 2), np.concatenate([part, value - part])
    major, minor = (row, col) if form == "csr" else (col, row)
    order = rng.permutation(value.size)
    order = order[np.argsort(major[order], kind="stable")]
    size = X.shape[0] if form == "csr" else X.shape[1]
    indptr = np.searchsorted(major[order], np.arange(size + 1))
    kind = sparse.csr_matrix if form == "csr" else sparse.csc_array
    return kind((value[order], minor[order], indptr), shape=X.shape)


@st.composite
def cases(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.round(rng.normal(0, 2, (n, d)) * (rng.random((n, d)) < 0.6), 3)
    if draw(st.booleans()):
        lower, upper = -rng.uniform(0.1, 3, d), rng.uniform(0.1, 3, d)
    else:
        lower, upper = -draw(st.floats(0.1, 3)), draw(st.floats(0.1, 3))
    row_norm = draw(st.none() | st.floats(0.1, 5))
    if row_norm is None and draw(st.booleans()):
        lower, upper = lower + 5, upper + 5  # zero outside the box
    bounds = Bounds(lower, upper, row_norm=row_norm)
    return X, bounds, draw(st.booleans()), draw(st.sampled_from(["csr", "csc"])), rng


@given(cases(), st.sampled_from(["unit", "declared"]), st.sampled_from([None, 1, 3]))
def test_every_storage_multiplies_as_the_plain_matrix(case, view, n_outputs):
    X, bounds, intercept, form, rng = case
    n = len(X)
    y = rng.integers(0, 3, n)
    for table in (X, np.asfortranarray(X), with_duplicates(X, form, rng)):
        data = Dataset.clip(table, y, bounds, classes=(0, 1, 2), intercept=intercept)
        data = data if view == "unit" else data.declared_units()
        rows = expected_rows(X, bounds, intercept, sparse.issparse(table), view)
        outputs = () if n_outputs is None else (n_outputs,)
        w = rng.normal(size=(data.n_columns, *outputs))
        r = rng.normal(size=(n, *outputs))
        tolerance = {"rtol": 1e-9, "atol": 1e-9}
        np.testing.assert_allclose(data.matvec(w), rows @ w, **tolerance)
        np.testing.assert_allclose(data.rmatvec(r), rows.T @ r, **tolerance)
        picked = rng.integers(0, data.n_columns, 4)
        np.testing.assert_allclose(data.columns(picked), rows[:, picked], **tolerance)
        if view == "unit":
            assert np.abs(data.columns(np.arange(data.n_columns))).max() <= 1
        assert np.linalg.norm(rows, axis=1).max() <= data.norm_bound * (1 + 1e-9)
        assert np.array_equal(data.target, y)
        mask = rng.random(n) < 0.5
        np.testing.assert_allclose(data.rows(mask).matvec(w), rows[mask] @ w, **tolerance)


@given(cases())
def test_weights_of_either_view_give_the_same_scores_in_declared_units(case):
    X, bounds, intercept, form, rng = case
    d = X.shape[1]
    for table in (X, with_duplicates(X, form, rng)):
        data = Dataset.clip(table, np.zeros(len(X)), bounds, intercept=intercept)
        declared = data.declared_units()
        w = rng.normal(size=data.n_columns)
        constant = w[d] if intercept else 0.0
        coef, offset = data.unit_map.to_original(w[:d], constant)
        again, constant_again = data.unit_map.from_original(coef, offset)
        np.testing.assert_allclose(again, w[:d], rtol=1e-9)
        np.testing.assert_allclose(constant_again, constant, atol=1e-8)
        moved = np.append(coef, offset) if intercept else coef
        np.testing.assert_allclose(declared.matvec(moved), data.matvec(w), atol=1e-8)
        same, same_offset = declared.unit_map.to_original(coef, offset)
        assert np.array_equal(same, coef)
        assert same_offset == offset


@pytest.mark.parametrize("form", ["lil", "dok", "dia", "bsr", "coo", "csr", "csc"])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool])
def test_other_sparse_forms_and_types(form, dtype):
    X = (np.arange(24).reshape(6, 4) % 3).astype(dtype)
    y = [0, 1, 0, 1, 0, 1]
    data = Dataset.clip(sparse.coo_array(X).asformat(form), y, Bounds(0, 2))
    dense = Dataset.clip(X, y, Bounds(0, 2))
    assert data.storage.format == ("csc" if form == "csc" else "csr")
    assert data.storage.dtype == dense.storage.dtype == np.float64
    columns = np.arange(5)
    np.testing.assert_allclose(data.columns(columns), dense.columns(columns), atol=1e-15)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([0, 1, 1, 0]), (0, 1)),
        (np.array([0.0, 1.0, 1.0, 0.0]), (0, 1)),
        (np.array([False, True, True, False]), (0, 1)),
        (np.array([0, 1, 1, 0], dtype=np.uint8), (False, True)),
        (np.array([-1, 1, 1, -1], dtype=np.int8), np.array([-1, 1])),
        (np.array(["no", "yes", "yes", "no"]), ("no", "yes")),
        (np.array(["no", "yes", "yes", "no"], dtype=object), np.array(["no", "yes"])),
        (np.array([0, True, 1.0, False], dtype=object), (0, 1)),
        (["no", "yes", "yes", "no"], ["no", "yes"]),
        (pd.Series(["no", "yes", "yes", "no"], dtype="category"), ("no", "yes")),
        (pd.Series([0, 1, 1, 0], dtype="Int64"), (0, 1)),
        (pa.chunked_array([["no", "yes"], ["yes", "no"]]), ("no", "yes")),
        ([0, "yes", "yes", 0], (0, "yes")),
    ],
)
def test_labels_of_every_type(labels, classes):
    target = Dataset.clip(np.zeros((4, 2)), labels, 1.0, classes=classes).target
    assert target.dtype == np.float64
    assert target.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_classes_decide_the_codes_not_the_labels_found():
    y = np.array(["b", "c", "b"])
    target = Dataset.clip(np.zeros((3, 1)), y, 1.0, classes=("a", "b", "c")).target
    assert target.dtype == np.int64
    assert target.tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    "frame",
    [
        lambda columns: pd.DataFrame(columns),
        lambda columns: pa.table(columns),
        lambda columns: pa.RecordBatch.from_pydict(columns),
    ],
    ids=["pandas", "pyarrow", "record_batch"],
)
def test_data_frames_go_by_name(frame):
    columns = {
        "age": [20, 60, 240],
        "smoker": [True, False, True],
        "columns": [0.5, 0.25, 0.0],
        "column_names": [1.0, 2.0, 3.0],
    }
    bounds = Bounds(
        lower=[0, 0, 0, 0],
        upper=[4, 1, 1, 120],
        features=["column_names", "columns", "smoker", "age"],
    )
    data = Dataset.clip(frame(columns), [0, 1, 0], bounds)
    assert data.feature_names == tuple(columns)
    assert data.bounds.upper == (120.0, 1.0, 1.0, 4.0)
    table = np.column_stack([[20, 60, 120], [1, 0, 1], [0.5, 0.25, 0.0], [1, 2, 3]])
    np.testing.assert_allclose(data.declared_units().columns(range(4)), table)
    with pytest.raises(ValueError, match="'smoker'"):
        Dataset.clip(frame(columns), [0, 1, 0], Bounds([0], [1], features=["age"]))


def test_missing_cells_of_data_frames_are_replaced():
    frames = [
        pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [0.5, np.nan, 1.0]}),
        pa.table({"a": [1, None, 3], "b": [0.5, None, 1.0]}),
    ]
    for frame in frames:
        data = Dataset.clip(frame, [0, 1, 0], Bounds(0, 4), invalid="replace")
        assert data.columns([0, 1])[1].tolist() == [0.0, 0.0]
        with pytest.raises(ValueError, match=r"not numbers|NaN"):
            Dataset.clip(frame, [0, 1, 0], Bounds(0, 4))
    with pytest.raises(ValueError, match="column 'city'"):
        Dataset.clip(pd.DataFrame({"city": ["Rome"]}), [0], 1.0)
    masked = np.ma.masked_array([[0.5, 99.0]], mask=[[False, True]])
    assert Dataset.clip(masked, [0], Bounds(0, 1), invalid="replace").columns([1])[0, 0] == 0


def test_masked_and_nullable_labels_are_undeclared():
    labels = np.ma.masked_array([0, 1, 1], mask=[False, True, False])
    with pytest.raises(ValueError, match="declared classes"):
        Dataset.clip(np.zeros((3, 1)), labels, 1.0)
    nullable = pd.Series([0, None, 1], dtype="Int64")
    for y in (labels, nullable):
        target = Dataset.clip(np.zeros((3, 1)), y, 1.0, invalid="replace").target
        assert target.tolist() == [0, 0, 1]


def test_wrong_lengths_of_weights_residuals_and_indices():
    data = Dataset.clip(np.zeros((3, 2)), [0, 1, 0], 1.0)
    with pytest.raises(ValueError, match="3 rows"):
        data.matvec(np.zeros(2))
    with pytest.raises(ValueError, match="one row per record"):
        data.rmatvec(np.zeros(2))
    with pytest.raises(ValueError, match="between 0 and 2"):
        data.columns([3])


def test_a_dataset_travels_to_another_process():
    X = np.random.default_rng(0).normal(size=(5, 3))
    for table in (X, sparse.csr_array(X)):
        data = Dataset.clip(table, [0, 1, 0, 1, 1], Bounds(-1, 1, row_norm=1.0))
        again = pickle.loads(pickle.dumps(data))
        assert np.array_equal(again.matvec(np.arange(4.0)), data.matvec(np.arange(4.0)))


MEMORY = """
import os
import numpy as np
from scipy import sparse
from sparsedp.data import Bounds, Dataset


def resident_now():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def resident_peak():
    # Not ru_maxrss, which a child process inherits from whoever started it.
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10


n, d, per_row = 200_000, 1_000_000, 50
rng = np.random.default_rng(0)
indices = rng.integers(0, d, n * per_row, dtype=np.int32)
values = rng.standard_normal(n * per_row)
X = sparse.csr_array((values, indices, np.arange(0, n * per_row + 1, per_row)), shape=(n, d))
if "{form}" == "csc":
    X = X.tocsc()
del values, indices
y = rng.integers(0, 2, n)
w, r = np.ones(d + 1), np.ones(n)
before, peak_before = resident_now(), resident_peak()
data = Dataset.clip(X, y, Bounds(-1, 1, row_norm={row_norm}))
for _ in range(3):
    data.matvec(w)
    data.rmatvec(r)
data.columns([0, 5, d])
print(resident_peak() - before, peak_before - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("form", "row_norm"), [("csr", None), ("csc", 3.0)])
def test_memory_of_a_large_sparse_table(form, row_norm):
    """10 million entries, a million features: the gate and products stay below 1 GB extra.

    The peak is taken over what is resident once the input stands, not over the earlier peak: that
    one holds what it took to make the input, and would hide as much of the gate's own use.
    """
    script = MEMORY.format(form=form, row_norm=row_norm)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    extra, of_the_input = map(float, done.stdout.split())
    print(f"{form}, row_norm={row_norm}: {extra:.0f} MB (making the input: {of_the_input:.0f} MB)")
    assert extra < 1024


def test_products_copy_no_matrix():
    import tracemalloc

    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 500), density=0.5, rng=rng, format="csr")
    for table in (X, X.tocsc()):
        data = Dataset.clip(table, np.zeros(2000), 1.0)
        w, r = np.ones(501), np.ones(2000)
        data.matvec(w)
        data.rmatvec(r)
        tracemalloc.start()
        data.matvec(w)
        data.rmatvec(r)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < data.storage.data.nbytes / 10


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("view", ["unit", "declared"])
@pytest.mark.parametrize("row_norm", [None, 2.0])
def test_row_norms_bound_the_rows_that_solvers_see(intercept, view, row_norm):
    random = np.random.default_rng(3)
    X = 3 * random.normal(size=(60, 5))
    X[random.random(X.shape) < 0.5] = 0
    X[0] = 0
    bounds = Bounds([-1, 0, -3, 0, -1], [1, 1, 1, 8, 2], row_norm=row_norm)
    for matrix in (X, sparse.csr_array(X), sparse.csc_array(X)):
        data = Dataset.clip(matrix, np.arange(60) % 2, bounds, intercept=intercept)
        data = data.declared_units() if view == "declared" else data
        norms = data.row_norms()
        exact = np.linalg.norm(data.matvec(np.eye(data.n_columns)), axis=1)
        assert (norms >= exact).all()
        np.testing.assert_allclose(norms, exact, rtol=1e-10, atol=1e-6)


def test_what_is_computed_once_stays_with_the_records_until_they_are_closed():
    data = Dataset.clip(np.eye(3), [0, 1, 1], 1.0)
    seen = []

    def make(records):
        seen.append(records)
        return len(seen)

    assert [data.once(make), data.once(make)] == [1, 1]
    assert seen == [data]
    assert (
        pickle.loads(pickle.dumps(data)).once(len_of_storage) == 3
    )  # a local function is not in it
    assert data.rows(np.ones(3, dtype=bool)).once(make) == 2
    data.close()
    assert data.once(make) == 3


def len_of_storage(data):
    return len(data.storage)
