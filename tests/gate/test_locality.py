"""Whatever one record contains, every other record comes out bit for bit the same, through `fit`.

Every kind of input that `fit` takes, times every kind of hostile cell: what the solver was given is
caught, and all other records are compared to the last bit with those of a harmless table.
"""

import csv
import datetime
from collections import UserList
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client
from scipy import sparse

from sparsedp import Bounds, RecordBlocks, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data import read_table
from sparsedp.solvers import NoisyGD

N, SPOT = 24, 11
"""Records, and which of them is hostile."""
NAMES = ("real", "whole", "truth", "large", "tiny")
BIG = 2**53
BOX = Bounds(lower=[-3, 0, 0, 0, -1e-40], upper=[4, 9, 1, 2.0**60, 1e-40])
NORM = Bounds(lower=-3, upper=4, row_norm=2.0)

CELLS = {
    "text": "secret",
    "number in text": " 7.5",
    "truth in text": "True",
    "empty": "",
    "None": None,
    "nan": float("nan"),
    "infinite": -float("inf"),
    "huge": 1e308,
    "subnormal": 5e-324,
    "fraction": 0.1,
    "large int": BIG + 1,
    "enormous int": 10**400,
    "negative": -(10**400),
    "bool": True,
    "Decimal": Decimal("0.1"),
    "signaling": Decimal("sNaN"),
    "Fraction": Fraction(1, 3),
    "bytes": b"\xff7",
    "float32": np.float32(0.1),
    "longdouble": np.longdouble("1e4000"),
    "int8": np.int8(-7),
    "list": [1, 2],
    "array": np.array([1.0, 2.0]),
    "dict": {"a": 1},
    "NA": pd.NA,
    "NaT": pd.NaT,
    "date": datetime.date(2020, 1, 1),
    "datetime64": np.datetime64("2020-01-01", "ns"),
    "complex": 1j,
    "object": object(),
}
NUMBERS = ("nan", "infinite", "huge", "subnormal", "fraction", "bool", "int8")


def harmless():
    """Rows of cells in which every column has its own type, and labels 0 and 1."""
    random = np.random.default_rng(0)
    rows = [
        [
            float(random.normal()),
            int(random.integers(0, 9)),
            bool(random.integers(0, 2)),
            BIG + int(random.integers(0, 99)),
            float(random.normal()) * 1e-40,
        ]
        for _ in range(N)
    ]
    return rows, [int(label) for label in random.integers(0, 2, N)]


class Caught(Exception):
    """The solver has what it needs."""


@dataclass(frozen=True)
class Catcher(NoisyGD):
    """Keeps what it was given instead of solving."""

    def solve(self, data, loss, curator):
        SEEN.append((data.columns(np.arange(data.n_columns)).copy(), np.array(data.target)))
        raise Caught


SEEN: list = []


def seen(X, y=None, bounds=BOX, classes=(0, 1)):
    """Features and targets of all records as the solver got them, as bits."""
    settings = {"epsilon": float("inf"), "delta": 0.5, "bounds": bounds, "invalid": "replace"}
    if classes is None:
        model = SparseLinearRegression(target_bounds=(0, 1), solver=Catcher(), **settings)
    else:
        model = SparseLogisticRegression(classes=classes, solver=Catcher(), **settings)
    SEEN.clear()
    try:
        model.fit(X, y)
    except Exception:
        if not SEEN:
            raise
    features, target = SEEN.pop()
    return np.ascontiguousarray(features).view(np.int64), target.astype(np.float64).view(np.int64)


def assert_local(found, expected, spot=SPOT):
    for now, before in zip(found, expected, strict=True):
        assert np.array_equal(np.delete(now, spot, axis=0), np.delete(before, spot, axis=0))


def assert_local_or_refused(X, y, bounds, classes, expected):
    """Refused, if at all, by the type that the container chose for a column: nothing is fitted."""
    try:
        found = seen(X, y, bounds, classes)
    except ValueError as error:
        refusal = str(error)
    else:
        return assert_local(found, expected)
    assert "dtype" in refusal or "Complex data" in refusal


def object_array(rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            table[i, j] = cell
    return table


def columns(rows):
    return {name: [row[j] for row in rows] for j, name in enumerate(NAMES)}


def masked(rows):
    table = np.ma.masked_array(object_array(rows), mask=False)
    table[SPOT, 0] = np.ma.masked
    return table


CONTAINERS = {
    "list": list,
    "tuple": lambda rows: tuple(map(tuple, rows)),
    "list of arrays": lambda rows: list(object_array(rows)),
    "sequence": lambda rows: UserList(map(UserList, rows)),
    "object array": object_array,
    "masked": masked,
    "pandas": lambda rows: pd.DataFrame(columns(rows)),
    "pandas objects": lambda rows: pd.DataFrame(columns(rows), dtype=object),
    "pandas nullable": lambda rows: pd.DataFrame(columns(rows)).convert_dtypes(),
    "polars": lambda rows: pl.DataFrame(columns(rows), strict=False),
    "arrow": lambda rows: pa.table(columns(rows)),
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("bounds", [BOX, NORM], ids=["box", "norm"])
def test_a_hostile_cell_changes_its_record_only(kind, bounds):
    rows, labels = harmless()
    expected = seen(CONTAINERS[kind](rows), labels, bounds)
    tried = 0
    for cell in CELLS.values():
        for places in ((0,), (1,), (2,), (3,), range(len(NAMES))):
            hostile = [list(row) for row in rows]
            for j in places:
                hostile[SPOT][j] = cell
            try:
                X = CONTAINERS[kind](hostile)
            except (Exception, pl.exceptions.PanicException):
                continue  # the container itself refuses such a cell
            tried += 1
            assert_local_or_refused(X, labels, bounds, (0, 1), expected)
    assert tried >= 10


LABELS = {
    "whole": (0, 1),
    "large": (BIG, BIG + 1),
    "truth": (False, True),
    "text": ("no", "yes"),
    "digits": ("0", "1"),
    "real": (0.1, 0.25),
    "three": ("low", "mid", "high"),
    "numbers": None,
}

VECTORS = {
    "list": list,
    "tuple": tuple,
    "sequence": UserList,
    "object array": lambda cells: object_array([[cell] for cell in cells])[:, 0],
    "text array": lambda cells: np.array([str(cell) for cell in cells]),
    "pandas": pd.Series,
    "pandas objects": lambda cells: pd.Series(cells, dtype=object),
    "category": lambda cells: pd.Series(cells, dtype="category"),
    "polars": lambda cells: pl.Series(cells, strict=False),
    "arrow": pa.array,
    "chunked": lambda cells: pa.chunked_array([cells[:7], cells[7:]]),
}


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("declared", LABELS)
def test_a_hostile_label_changes_its_record_only(kind, declared):
    """Review finding: one text among labels in a list turned all labels into the first class."""
    X = np.random.default_rng(1).random((N, 3))
    classes = LABELS[declared]
    values = (0.0, 0.3, 1.0) if classes is None else classes
    labels = [values[(3 * i) % 7 % len(values)] for i in range(N)]
    expected = seen(X, VECTORS[kind](labels), 1.0, classes)
    assert len(np.unique(expected[1])) == len(values)
    tried = 0
    for cell in CELLS.values():
        hostile = [cell if i == SPOT else label for i, label in enumerate(labels)]
        try:
            y = VECTORS[kind](hostile)
        except (Exception, pl.exceptions.PanicException):
            continue
        tried += 1
        assert_local_or_refused(X, y, 1.0, classes, expected)
    assert tried


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.longdouble])
@pytest.mark.parametrize("bounds", [Bounds(-3, 4), NORM], ids=["box", "norm"])
@pytest.mark.parametrize("form", ["array", "memoryview", "matrix", "csr", "csc", "blocks"])
def test_a_hostile_number_changes_its_record_only(dtype, bounds, form):
    random = np.random.default_rng(2)
    rows, labels = random.normal(size=(N, 40)).astype(dtype), random.integers(0, 2, N)

    def given(table):
        if form == "blocks":
            return (RecordBlocks.from_arrays(table, labels, rows_per_block=7),)
        plain = {"array": np.array, "memoryview": np.array, "matrix": np.asmatrix}
        if form in plain:
            return plain[form](table), labels
        return sparse.csr_array(table.astype(np.float64)).asformat(form), labels

    expected = seen(*given(rows), bounds=bounds)
    for name in NUMBERS:
        hostile = rows.copy()
        with np.errstate(over="ignore"):
            hostile[SPOT, ::3] = dtype(CELLS[name])
        assert_local(seen(*given(hostile), bounds=bounds), expected)
    for kept in (range(N - 1), range(1), range(5)):  # other numbers of records, too
        if form != "blocks":
            # pyrefly: ignore[bad-unpacking]  only blocks are no pair
            few, y = given(rows)
            chosen = list(kept)
            # pyrefly: ignore[bad-index]  nor can they be indexed
            found = seen(few[chosen], y[chosen], bounds)
            for now, before in zip(found, expected, strict=True):
                assert np.array_equal(now, before[chosen])


def entries(hostile):
    """COO parts: rows whose duplicates cancel, and what the hostile record stores."""
    random = np.random.default_rng(3)
    parts = []
    for i in range(N):
        cells = [(i, j, 0.25 * j) for j in range(0, 12, 3)]
        for j in (1, 5, 8):
            cells += [(i, j, value) for value in (2.0**60, -(2.0**60), 1.0, *[0.0] * 15)]
        parts += [cells[k] for k in random.permutation(len(cells))] if i != SPOT else hostile
    return parts


def sparse_of(parts, form):
    """As stored, duplicates and order kept; SciPy's own conversions would sum them."""
    row, column = (np.array([part[k] for part in parts], dtype=np.int32) for k in (0, 1))
    values = np.array([part[2] for part in parts])
    if form == "coo":
        return sparse.coo_array((values, (row, column)), shape=(N, 12))
    major, minor, size = (row, column, N) if form == "csr" else (column, row, 12)
    order = np.argsort(major, kind="stable")
    starts = np.searchsorted(major[order], np.arange(size + 1)).astype(np.int32)
    kind = sparse.csr_array if form == "csr" else sparse.csc_array
    matrix = kind((values[order], minor[order], starts), shape=(N, 12))
    matrix.has_sorted_indices = True  # not believed
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "blocks"])
def test_duplicates_are_summed_by_each_record_alone(form):
    """Review finding: SciPy sorted all rows when one was unsorted, and sums came out otherwise."""
    labels = np.arange(N) % 2
    random = np.random.default_rng(4)
    sorted_row = [(SPOT, j, 1.0) for j in range(12)]
    records = [[], sorted_row, sorted_row[::-1]]
    for count in (2, 3, 16, 17, 18, 40, 100):
        values = random.choice([2.0**60, -(2.0**60), 1.0, 1e308, -1e308, 5e-324, np.nan], count)
        places = random.integers(0, 12, count).tolist()
        records.append([(SPOT, j, v) for j, v in zip(places, values, strict=True)])
    expected = None
    for hostile in records:
        matrix = sparse_of(entries(hostile), "csr" if form == "blocks" else form)
        if form == "blocks":
            given = (RecordBlocks.from_arrays(matrix, labels, rows_per_block=5),)
        else:
            given = (matrix, labels)
        found = seen(*given, bounds=Bounds(-3, 4))
        if expected is None:
            expected = found
            others = seen(sparse_of(entries([]), "csr"), labels, Bounds(-3, 4))
            assert_local(found, others)  # the same from every format
            cells = found[0].view(np.float64)
            assert np.allclose(cells[0, [1, 5, 8]], (1.0 + 3) / 3.5 - 1)  # the exact sum is 1
        assert_local(found, expected)


@pytest.fixture(scope="module")
def client():
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 1}
    with Client(**options, dashboard_address=None) as client:
        yield client


@pytest.mark.parametrize("kind", ["frame", "array", "sparse"])
def test_a_hostile_cell_on_a_cluster_changes_its_record_only(client, kind):
    rows, labels = harmless()

    def given(hostile):
        y = da.from_array(np.array(labels), chunks=8)
        if kind == "frame":
            frame = pd.DataFrame(columns(hostile) | {"y": labels})
            return (RecordBlocks.from_dask(dd.from_pandas(frame, npartitions=3), target="y"),)
        X = da.from_array(object_array(hostile), chunks=(8, -1))
        if kind == "sparse":
            X = X.map_blocks(lambda block: sparse.csr_array(block.astype(np.float64)))
        return X, y

    expected = seen(*given(rows))
    for name in ("None", "nan", "huge", "subnormal") if kind == "sparse" else ("text", "None"):
        hostile = [list(row) for row in rows]
        hostile[SPOT][1] = hostile[SPOT][2] = CELLS[name]
        assert_local(seen(*given(hostile)), expected)


def write_csv(path, rows, labels):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([[*NAMES, "y"], *([*row, y] for row, y in zip(rows, labels, strict=True))])
    return read_table(path, target="y", invalid="replace")


def write_pandas_csv(path, rows, labels):
    pd.DataFrame(columns(rows) | {"y": labels}).to_csv(path, index=False)
    return read_table(path, target="y", invalid="replace")


def write_parquet(path, rows, labels):
    pd.DataFrame(columns(rows) | {"y": labels}, index=range(5, N + 5)).to_parquet(path)
    return read_table(path, target="y", format="parquet", invalid="replace")


def write_libsvm(path, rows, labels):
    pairs = (" ".join(f"{j + 1}:{cell!s}" for j, cell in enumerate(row) if j != 2) for row in rows)
    lines = [f"{label} {row}" for label, row in zip(labels, pairs, strict=True)]
    path.write_text("\n".join(lines))
    return read_table(path, format="libsvm", n_features=5, invalid="replace")


def write_npz(path, rows, labels):
    with open(path, "wb") as file:
        np.savez(file, X=np.array(rows, dtype=np.float64), y=np.array(labels))
    return read_table(path, format="npz", invalid="replace")


FILES = {
    "csv": write_csv,
    "csv of pandas": write_pandas_csv,
    "parquet": write_parquet,
    "libsvm": write_libsvm,
    "npz": write_npz,
}


@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_cell_of_a_file_changes_its_record_only(kind, tmp_path):
    rows, labels = harmless()
    path = tmp_path / ("t.csv" if "csv" in kind else "t")
    clean = FILES[kind](path, rows, labels)
    expected = seen(clean.X, clean.y)
    tried = 0
    for cell in CELLS.values():
        for places, label in (((0,), 1), ((1,), 1), (range(5), 1), ((), cell)):
            hostile = [list(row) for row in rows]
            for j in places:
                hostile[SPOT][j] = cell
            given = [label if i == SPOT else y for i, y in enumerate(labels)]
            try:
                written = FILES[kind](path, hostile, given)
            except Exception:
                continue  # cannot be written by such a tool, or is no such file
            tried += 1
            assert_local_or_refused(written.X, written.y, BOX, (0, 1), expected)
    assert tried >= 20


@pytest.mark.parametrize("kind", ["csv", "parquet", "blocks"])
@pytest.mark.parametrize("declared", [(1, 2, 3), ("1", "2", "3"), (1.0, 2.0, 3.0)])
def test_a_missing_cell_does_not_erase_the_categories_of_others(kind, declared, tmp_path):
    """Review finding: pandas stores 1 as 1.0 when one cell is missing, and nothing matched."""
    found = []
    for cell in (2, None, 7, "x"):
        column = [cell if i == SPOT else i % 3 + 1 for i in range(N)]
        frame = pd.DataFrame({"ward": column, "age": np.arange(N), "y": np.arange(N) % 2})
        path = tmp_path / f"t.{'csv' if kind == 'csv' else 'parquet'}"
        options = {"target": "y", "categories": {"ward": declared}}
        if kind == "csv":
            frame.to_csv(path, index=False)
        else:
            text = column if cell != "x" else [str(value) for value in column]
            frame.assign(ward=text).to_parquet(path)
        if kind == "blocks":
            given = (RecordBlocks.from_parquet(path, rows_per_block=9, **options),)
        else:
            table = read_table(path, invalid="replace", **options)
            given = (table.X, table.y)
            if cell != 2:
                with pytest.raises(ValueError, match="column 'ward' has a value that is missing"):
                    read_table(path, **options)
        found.append(seen(*given, bounds=Bounds([0] * 4, [1, 1, 1, N])))
    indicators = found[0][0].view(np.float64)[:, :3]
    assert (indicators.sum(axis=1) == -1).all()  # one of three is 1, the others -1
    for other in found[1:]:
        assert_local(other, found[0])
        assert (other[0].view(np.float64)[SPOT, :3] == -1).all()  # none of them


def test_labels_beyond_doubles_are_exact_or_refused(tmp_path):
    """Review finding: integers above 2^53 in Parquet collapsed to one label."""
    X, classes = np.zeros((N, 1)), (BIG, BIG + 1)
    labels = [classes[i % 2] for i in range(N)]
    pq.write_table(pa.table({"x": np.zeros(N), "y": labels}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", target="y")
    assert seen(table.X, table.y, 1.0, classes)[1].view(np.float64).tolist() == [0.0, 1.0] * (
        N // 2
    )
    with pytest.raises(ValueError, match="cannot be told apart"):
        seen(X, pd.Series([*labels[:-1], None]), 1.0, classes)  # pandas made floats of them


def test_text_labels_of_parquet_stay_text(tmp_path):
    """Review finding: "0" and "1" became numbers, and then everybody the first class."""
    pq.write_table(pa.table({"x": np.zeros(N), "y": ["0", "1"] * (N // 2)}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", target="y")
    for classes in (("0", "1"), (0, 1), (False, True)):
        assert seen(table.X, table.y, 1.0, classes)[1].view(np.float64).tolist() == [0.0, 1.0] * 12
