"""The gate against malformed records: one record changes itself only, and stays in the box.

Names V1-V5 and V9 are those of the attacks that a gate must stop: labels outside the declared set,
values that are not finite, duplicate sparse entries, small integers that wrap around, bounds far
from zero, and wrong shapes or promises.
"""

import datetime
import itertools
import pickle
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from sparsedp import Ledger, SparseLogisticRegression
from sparsedp.data import Bounds, Dataset, read_table

ROUNDING = 1e-9
N, D = 40, 6
BOX = Bounds(lower=0, upper=1)
L2 = Bounds(lower=-1000, upper=1000, row_norm=1.0)
SECRET = 271828.1828


def records(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.random((N, D)) if np.issubdtype(dtype, np.floating) else rng.integers(0, 2, (N, D))
    return X.astype(dtype), rng.integers(0, 2, N).astype(np.float64)


def with_record(X, y, x, label):
    x = np.asarray(x, dtype=X.dtype)
    return np.vstack([X, x[None]]), np.append(y, label)


def unit_rows(data):
    return data.columns(np.arange(data.n_columns))


def declared_norms(data):
    features = data.declared_units().columns(np.arange(data.n_features))
    return np.linalg.norm(features, axis=1)


def assert_in_box(data):
    rows = unit_rows(data)
    assert np.isfinite(rows).all()
    assert np.abs(rows).max() <= 1
    assert np.abs(data.target).max() <= 1
    # One more record moves a sum of residuals in [-1, 1] by at most 1 per column.
    for sign in (1.0, -1.0):
        last = np.zeros(data.n_records)
        last[-1] = sign
        assert np.abs(data.rmatvec(last)).max() <= 1 + ROUNDING
    if data.row_norm is not None:
        assert declared_norms(data).max() <= data.row_norm


@pytest.mark.parametrize("label", [-1.0, 1e6, 0.5, np.nan, np.inf])
def test_v1_undeclared_labels(label):
    X, y = with_record(*records(), np.ones(D), label)
    with pytest.raises(ValueError, match="declared classes"):
        Dataset.clip(X, y, BOX)
    data = Dataset.clip(X, y, BOX, invalid="replace")
    assert data.target[-1] == 0
    assert set(data.target) <= {0.0, 1.0}


def test_v1_undeclared_label_among_many_classes():
    X, _ = records()
    y = np.resize(["low", "mid", "high"], N).astype(object)
    y[3] = "else"
    data = Dataset.clip(X, y, BOX, classes=("low", "mid", "high"), invalid="replace")
    assert data.target.dtype == np.int64
    assert data.target[:6].tolist() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("bounds", [BOX, L2], ids=["box", "row_norm"])
@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_v2_features_that_are_not_finite(bounds, form, bad):
    x = np.ones(D)
    x[0] = bad
    X, y = with_record(*records(), x, 1.0)
    X = X if form == "dense" else sparse.csr_array(X).asformat(form)
    kind = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(ValueError, match=kind):
        Dataset.clip(X, y, bounds)
    data = Dataset.clip(X, y, bounds, invalid="replace")
    assert_in_box(data)
    value = data.declared_units().columns([0])[-1, 0]
    if np.isnan(bad):
        assert value == pytest.approx(0.5 if bounds is BOX and form == "dense" else 0.0)
    elif bounds is BOX:
        assert value == pytest.approx(1.0 if bad > 0 else 0.0)


@pytest.mark.parametrize(("bad", "mapped"), [(np.nan, 0.0), (np.inf, 1.0), (-np.inf, -1.0)])
def test_v2_targets_that_are_not_finite(bad, mapped):
    X, y = with_record(*records(), np.ones(D), bad)
    with pytest.raises(ValueError, match="Input y contains"):
        Dataset.clip(X, y, BOX, target_bounds=(-3, 5))
    data = Dataset.clip(X, y, BOX, target_bounds=(-3, 5), invalid="replace")
    assert data.target[-1] == mapped


def test_v2_extreme_bounds_neither_overflow_nor_vanish():
    x = np.full(D, 1e300)
    tiny = np.full(D, 1e-300)
    bounds = Bounds(lower=-1e50, upper=1e50, row_norm=1e-3)
    for form in (np.asarray, sparse.csr_array, sparse.csc_array):
        data = Dataset.clip(form(np.vstack([x, tiny, 0 * x])), [0, 1, 0], bounds)
        norms = declared_norms(data)
        assert norms[0] == pytest.approx(1e-3)
        assert norms[0] <= 1e-3
        values = data.storage if isinstance(data.storage, np.ndarray) else data.storage.toarray()
        assert (values[1] == 1e-300).all()
        assert (values[2] == 0).all()


@pytest.mark.parametrize("bounds", [BOX, L2], ids=["box", "row_norm"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_v3_duplicate_sparse_entries(bounds, form):
    X, y = records()
    parts = sparse.coo_array(X)
    row = np.append(parts.row, np.full(50, N))
    col = np.append(parts.col, np.zeros(50, dtype=int))
    coo = sparse.coo_array((np.append(parts.data, np.ones(50)), (row, col)), shape=(N + 1, D))
    matrix = coo
    if form != "coo":
        order = np.argsort(coo.row if form == "csr" else coo.col, kind="stable")
        major, minor = (coo.row, coo.col) if form == "csr" else (coo.col, coo.row)
        size = N + 1 if form == "csr" else D
        indptr = np.searchsorted(major[order], np.arange(size + 1))
        kind = sparse.csr_array if form == "csr" else sparse.csc_array
        matrix = kind((coo.data[order], minor[order], indptr), shape=(N + 1, D))
        assert matrix.nnz == coo.nnz
        matrix.has_canonical_format = True  # a flag that lies must not help either
    data = Dataset.clip(matrix, np.append(y, 1.0), bounds)
    assert_in_box(data)
    dense = Dataset.clip(coo.toarray(), np.append(y, 1.0), bounds)
    np.testing.assert_allclose(unit_rows(data), unit_rows(dense), atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "value"), [(np.uint8, 16), (np.int16, 256), (np.int8, 64), (np.uint16, 256)]
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_v4_small_integers_do_not_wrap(dtype, value, form):
    x = np.zeros(D, dtype=dtype)
    x[0] = value  # its square is zero in this type
    X, y = with_record(*records(dtype), x, 1.0)
    data = Dataset.clip(form(X), y, L2)
    assert_in_box(data)
    assert declared_norms(data)[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_array])
def test_v4_sums_of_duplicates_do_not_wrap(form):
    entries = np.array([250, 250], dtype=np.uint8)
    coo = sparse.coo_array((entries, ([0, 0], [0, 0])), shape=(1, 2))
    matrix = coo if form is sparse.coo_array else form((entries, [0, 0], [0, 2]), shape=(1, 2))
    data = Dataset.clip(matrix, [1], Bounds(lower=0, upper=1000))
    assert data.declared_units().columns([0])[0, 0] == 500


@pytest.mark.parametrize("offset", [0.0, 1e3, 1.6e9, 1e12, -1e12])
@pytest.mark.parametrize("intercept", [True, False])
def test_v5_bounds_far_from_zero(offset, intercept):
    """A record moves the sums by at most 1, and the slack of 1e-6 that sensitivities carry.

    The record comes first, so that all later additions are rounded anew, and residuals are not
    multiples of a power of two. A record at the end, or residuals of +-1, hide the cancellation.
    """
    rng = np.random.default_rng(1)
    n = 20_000
    X = offset + rng.random((n, 3))
    X[0] = offset + 1
    bounds = Bounds(lower=offset, upper=offset + 1)
    data = Dataset.clip(X, rng.integers(0, 2, n), bounds, intercept=intercept)
    assert np.abs(unit_rows(data)).max() <= 1
    for _ in range(5):
        residual = rng.uniform(-1, 1, n)
        sums = []
        for first in (0.0, 1.0, -1.0):
            residual[0] = first
            sums.append(data.rmatvec(residual))
        for neighbor in sums[1:]:
            assert np.abs(neighbor - sums[0]).max() <= 1 + 1e-6


def test_v5_target_bounds_far_from_zero():
    X, _ = records()
    y = 1e12 + np.linspace(-5, 6, N)
    target = Dataset.clip(X, y, BOX, target_bounds=(1e12, 1e12 + 1)).target
    assert np.abs(target).max() == 1
    assert target[0] == -1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.zeros((N, 1))}, "1d array"),
        ({"y": np.zeros(N - 1)}, "different numbers of records"),
        ({"X": np.zeros(N)}, "Reshape your data"),
        ({"X": np.zeros((N, 0))}, "no features"),
        ({"bounds": None}, "bounds are missing"),
        ({"bounds": Bounds([0, 0], [1, 1])}, "declared for 2 features"),
        ({"classes": (0, 0)}, "distinct"),
        ({"classes": (0,)}, "at least two"),
        ({"target_bounds": (1, 0)}, "below upper"),
        ({"target_bounds": (0, np.inf)}, "finite"),
        ({"target_bounds": 3}, "pair"),
        ({"invalid": "ignore"}, "invalid must be"),
        ({"X": np.zeros((N, D), dtype=complex)}, "Complex data not supported"),
    ],
)
def test_v9_wrong_shapes_and_promises(arguments, message):
    X, y = records()
    given = {"X": X, "y": y, "bounds": BOX} | arguments
    with pytest.raises(ValueError, match=message):
        Dataset.clip(given.pop("X"), given.pop("y"), given.pop("bounds"), **given)


NASTY = {
    "text": ["x", None, "1e999", True, 10**400, -(10**400)],
    "objects": [(), {}, object(), np.nan, "nan", 1j],
    "numbers": [np.inf, -np.inf, np.nan, 1e308, -0.0, 5e-324],
}


@pytest.mark.parametrize("kind", [np.array, list], ids=["array", "list"])
@pytest.mark.parametrize("bounds", [BOX, L2], ids=["box", "row_norm"])
@pytest.mark.parametrize("name", sorted(NASTY))
@pytest.mark.parametrize("label", ["x", None, np.nan, (), 1e999, [1, 2]])
def test_a_record_changes_only_itself(kind, bounds, name, label):
    X, y = records()
    rows = [*X.tolist(), NASTY[name]]
    labels = [*y.tolist(), label]
    if kind is np.array:
        table = np.empty((N + 1, D), dtype=object)
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                table[i, j] = cell
        column = np.empty(N + 1, dtype=object)
        column[:] = labels
        rows, labels = table, column
    for target_bounds in (None, (0.0, 1.0)):
        options = {"target_bounds": target_bounds, "invalid": "replace"}
        without = Dataset.clip(X, y, bounds, **options)
        data = Dataset.clip(rows, labels, bounds, **options)
        assert_in_box(data)
        first = data.rows(np.arange(N + 1) < N)
        assert np.array_equal(unit_rows(first), unit_rows(without))
        assert np.array_equal(first.target, without.target)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("bounds", [BOX, L2], ids=["box", "row_norm"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308, -7.0])
def test_a_sparse_record_changes_only_itself(form, bounds, bad):
    X, y = records()
    X *= X > 0.5
    more, labels = with_record(X, y, np.full(D, bad), 2.0)
    without = Dataset.clip(form(X), y, bounds)
    data = Dataset.clip(form(more), labels, bounds, invalid="replace")
    assert_in_box(data)
    first = data.rows(np.arange(N + 1) < N)
    assert np.array_equal(unit_rows(first), unit_rows(without))


@pytest.mark.parametrize("invalid", ["raise", "replace"])
def test_the_caller_keeps_an_untouched_table(invalid):
    X, y = records()
    X[0, 0] = 7.5
    for table in (X, sparse.csr_array(X), sparse.csc_array(X)):
        before = pickle.dumps(table)
        Dataset.clip(table, y, Bounds(-1, 1, row_norm=0.5), invalid=invalid)
        assert pickle.dumps(table) == before


def test_errors_and_repr_reveal_neither_values_nor_the_number_of_records():
    X, y = records()
    table = X.astype(object)
    table[0, 0] = f"name-{SECRET}"
    infinite = X.copy()
    infinite[:2, 0] = [SECRET, np.inf]
    attempts = [
        (table, y, {}),
        (infinite, y, {}),
        (sparse.csr_array(infinite), y, {}),
        (X, np.full(N, SECRET), {}),
        (X, np.full(N, f"name-{SECRET}"), {}),
        (X, np.full(N, f"name-{SECRET}"), {"target_bounds": (0, 1)}),
        (X, y[:-1], {}),
        (X, y[:, None], {}),
    ]
    for features, labels, options in attempts:
        with pytest.raises(ValueError) as caught:
            Dataset.clip(features, labels, BOX, **options)
        text = "".join(traceback.format_exception_only(caught.value))
        assert str(SECRET) not in text
        assert str(N) not in text
        assert caught.value.__context__ is None  # nor does what it was raised from
    data = Dataset.clip(X, y, BOX)
    for shown in (repr(data), str(data), f"{data}"):
        assert str(N) not in shown
        assert "array" not in shown


def test_after_the_gate_nothing_can_be_written():
    X, y = records()
    for table in (X, sparse.csr_array(X)):
        data = Dataset.clip(table, y, BOX)
        values = data.storage if isinstance(data.storage, np.ndarray) else data.storage.data
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 9
        with pytest.raises(ValueError, match="read-only"):
            data.target[0] = 9
        with pytest.raises(AttributeError):
            data.target = y  # pyrefly: ignore[read-only]  that is the point


def test_no_record_is_a_neighbor_of_one_record():
    X, y = records()
    for form in (np.asarray, sparse.csr_array, sparse.csc_array):
        for bounds in (BOX, L2):
            empty = Dataset.clip(form(X[:0]), y[:0], bounds)
            assert not empty.rmatvec(np.zeros(0)).any()
            assert empty.matvec(np.ones(D + 1)).shape == (0,)
            assert empty.columns([0, D]).shape == (0, 2)
            assert Dataset.clip(form(X[:1]), y[:1], bounds).rmatvec(np.ones(1))[D] == 1


def test_rows_takes_a_mask_only_so_that_no_record_counts_twice():
    X, y = records()
    data = Dataset.clip(X, y, BOX)
    with pytest.raises(ValueError, match="boolean"):
        data.rows([0, 0, 1])


@pytest.mark.parametrize("index", [77, -1, 2**32])
def test_a_sparse_index_beyond_the_matrix_is_refused(index):
    X = sparse.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.indices[0] = index  # the last would be zero in 32 bits
    with pytest.raises(ValueError):
        Dataset.clip(X, [0, 1, 0], BOX)


def test_sparse_indices_are_kept_in_32_bits_where_these_suffice():
    X = sparse.csr_array(np.eye(3))
    wide = sparse.csr_array(
        (X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape
    )
    for form in (wide, wide.tocsc(), wide.tocoo()):
        storage = Dataset.clip(form, [0, 1, 0], BOX).storage
        assert storage.indices.dtype == storage.indptr.dtype == np.int32


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_the_last_entry_of_a_record_is_not_added_to_the_next(form):
    # Found by a planted fault: one column all over, so that neighbors in storage are equal.
    X = np.zeros((4, 3))
    X[:, 1] = [0.5, -0.25, 0.75, 1.0]
    found = Dataset.clip(form(X), np.zeros(4), Bounds(-1, 1)).matvec(np.array([0, 1.0, 0, 0]))
    np.testing.assert_array_equal(found, X[:, 1])
    found = Dataset.clip(form(X.T), np.zeros(3), Bounds(-1, 1)).matvec(np.ones(5))
    np.testing.assert_array_equal(found, [1.0, 3.0, 1.0])


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ([1.0, 2.0, np.inf], 9.0),
        ([1.0, 2.0, -np.inf], -9.0),
        ([1.0, np.inf, np.inf], 9.0),
        ([np.inf, 1.0, -np.inf], 0.0),
        ([np.inf, np.inf, np.nan], 0.0),
        ([1.0, 2.0, np.nan], 0.0),
    ],
)
def test_one_wild_duplicate_decides_its_cell_wherever_it_is_stored(entries, wanted):
    """Infinities of both signs are NaN, which is zero behind the gate."""
    for order in itertools.permutations(entries):
        X = sparse.csr_array((np.array(order), [0, 0, 0], [0, 3]), shape=(1, 2))
        data = Dataset.clip(X, [0], Bounds(-9, 9), invalid="replace")
        assert data.declared_units().columns([0])[0, 0] == wanted


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_beyond_all_floats_keeps_its_sign(sign):
    X = [[sign * 10**400], [0.5]]
    data = Dataset.clip(X, [0, 1], 1.0, invalid="replace")
    assert data.storage[:, 0].tolist() == [sign, 0.5]


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (pa.table({"a": ["True", "False", b"x"]}), [1, 0]),
        (np.ma.masked_array([0.5, -0.5, 1j]), [0.5, -0.5]),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0.5, -0.5, 1j])}), [0.5, -0.5]),
        (pl.DataFrame({"a": [1, 0, 2**64]}, schema={"a": pl.Int128}), [1, 0]),
    ],
)
def test_a_type_that_one_cell_gave_to_all_changes_no_number(column, wanted):
    X = column[:, None] if isinstance(column, np.ndarray) else column
    data = Dataset.clip(X, [0, 1, 0], 1.0, invalid="replace")
    assert data.storage[:2, 0].tolist() == wanted


@pytest.mark.parametrize("cell", ["x", b"x"])
def test_arrays_of_text_are_refused_by_type(cell):
    """Half precision is written in few digits: one text would move the numbers of all records."""
    X = np.array([np.float16(0.1), np.float16(0.2), cell])[:, None]
    with pytest.raises(ValueError, match="array of text"):
        Dataset.clip(X, [0, 1, 0], 1.0, invalid="replace")


def test_a_complex_label_too_large_for_an_absolute_value_is_replaced():
    y = [2**60, 2**60 + 1, complex(1e308, 1e308)]
    data = Dataset.clip(np.zeros((3, 1)), y, 1.0, classes=(2**60, 2**60 + 1), invalid="replace")
    assert data.target.tolist() == [0, 1, 0]


def test_a_float_that_may_have_been_several_integers_is_no_declared_one():
    y = [2**53 + 2, 2**53, float(2**53 + 2)]
    data = Dataset.clip(np.zeros((3, 1)), y, 1.0, classes=(2**53, 2**53 + 2), invalid="replace")
    assert data.target.tolist() == [1, 0, 0]


def test_a_number_that_two_declared_texts_share_is_neither():
    y = ["01", "1", 1]
    data = Dataset.clip(np.zeros((3, 1)), y, 1.0, classes=("1", "01"), invalid="replace")
    assert data.target.tolist() == [1, 0, 0]


def test_a_number_and_its_text_cannot_both_be_classes():
    with pytest.raises(ValueError, match="reads as the same"):
        Dataset.clip(np.zeros((2, 1)), [1, "1"], 1.0, classes=(1, "1"))


@pytest.mark.parametrize("form", ["plain", "dictionary", "pandas", "lists"])
def test_columns_that_arrow_took_for_dates_or_lists_are_refused(form):
    day = datetime.date(2020, 1, 1)
    column = pa.array([day, 1, 0] if form != "lists" else [[1.0], [2.0], [3.0]])
    column = column.cast(pa.list_(pa.float64(), 1)) if form == "lists" else column
    column = column.dictionary_encode() if form == "dictionary" else column
    table = pa.table({"a": column})
    if form == "pandas":
        table = table.to_pandas(types_mapper=pd.ArrowDtype)
    with pytest.raises(ValueError, match="has dtype"):
        Dataset.clip(table, [0, 1, 0], 1.0, invalid="replace")


def in_parquet(labels, folder):
    path = folder / "t.parquet"
    pq.write_table(pa.table({"x": [0.0] * len(labels), "y": labels}), path)
    return read_table(path, target="y", invalid="replace").y


def in_csv(labels, folder):
    path = folder / "t.csv"
    pd.DataFrame({"x": 0.0, "y": labels}).to_csv(path, index=False)
    return read_table(path, target="y", invalid="replace").y


@pytest.mark.parametrize(
    ("make", "labels", "classes"),
    [
        (in_parquet, ["b", "a", b"x"], ("a", "b")),
        (lambda y, _: np.array(y), [b"b", b"a", "x"], (b"a", b"b")),
        (lambda y, _: pa.array(y), ["b", "a", b"x"], (b"a", b"b")),
        (lambda y, _: pd.Series(pd.arrays.SparseArray(y)), [1, 0, 1j], ("0", "1")),
    ],
)
def test_a_type_that_one_label_gave_to_all_changes_no_label(make, labels, classes, tmp_path):
    y = make(labels, tmp_path)
    data = Dataset.clip(np.zeros((3, 1)), y, 1.0, classes=classes, invalid="replace")
    assert data.target[:2].tolist() == [1, 0]


@pytest.mark.parametrize(
    "make",
    [
        in_csv,
        lambda y, _: pd.Series(pd.arrays.SparseArray(y)),
        lambda y, _: np.ma.masked_array(np.array(y)),
        lambda y, _: np.array(y).tolist(),
    ],
)
def test_labels_that_became_floats_are_refused_where_digits_are_lost(make, tmp_path):
    """Else one missing label would make all others the first class."""
    classes = (2**53 + 1, 2**53 + 3)
    whole = make([classes[1], classes[0]], tmp_path)
    data = Dataset.clip(np.zeros((2, 1)), whole, 1.0, classes=classes, invalid="replace")
    assert data.target.tolist() == [1, 0]
    y = make([classes[1], classes[0], float("nan")], tmp_path)
    with pytest.raises(ValueError, match="cannot be told apart"):
        Dataset.clip(np.zeros((3, 1)), y, 1.0, classes=classes, invalid="replace")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bounds", [L2, Bounds(lower=-1e-40, upper=1e-40)])
def test_what_the_caller_wants_of_numpy_makes_no_record_fail(form, bounds):
    """Else a fit would end, after its charge, because of one record."""
    X, y = records()
    X[7], X[8] = [5e-324, 1e-310, 1e308, np.inf, np.nan, -1e308], 1e-200
    model = SparseLogisticRegression(
        epsilon=1, delta=1e-6, bounds=bounds, classes=(0, 1), invalid="replace", solver="noisy_gd"
    )
    with np.errstate(all="raise"):
        model.fit(form(X), y)


def test_no_records_are_refused_before_the_charge_where_that_is_public():
    ledger = Ledger(1.0, 1e-6)
    model = SparseLogisticRegression(
        epsilon=1, delta=1e-6, bounds=1.0, classes=(0, 1), invalid="replace", ledger=ledger
    ).set_params(neighbors="replace_one")
    with pytest.raises(ValueError, match="no records"):
        model.fit(np.zeros((0, 2)), [])
    assert not ledger.history()
