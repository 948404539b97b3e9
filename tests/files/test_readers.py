"""Readers: every format gives the same table, and mistakes are named by file and line."""

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from sparsedp.data import Bounds, Dataset, read_header, read_table

PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
CSV = 'age,"blood, pressure",city,risk\n20,1.5,Rome,low\n\n"30",,Oslo,high\n 40 ,-2e3,"Rome",low\n'


@pytest.fixture
def write(tmp_path):
    def writer(name, content, pack=""):
        path = tmp_path / (name + pack)
        path.write_bytes(PACK[pack](content.encode() if isinstance(content, str) else content))
        return path

    return writer


@pytest.mark.parametrize("pack", PACK)
def test_csv(write, pack):
    path = write("t.csv", CSV, pack)
    assert read_header(path) == ["age", "blood, pressure", "city", "risk"]
    categories = {"city": ["Oslo", "Paris"]}
    with pytest.raises(ValueError, match="line 2: column 'city' has a value that is missing"):
        read_table(path, target="risk", categories=categories)
    table = read_table(path, target="risk", categories=categories, invalid="replace")
    assert table.feature_names == ("age", "blood, pressure", "city=Oslo", "city=Paris")
    assert table.target_name == "risk"
    assert table.y.tolist() == ["low", "high", "low"]
    expected = [[20, 1.5, 0, 0], [30, np.nan, 1, 0], [40, -2000, 0, 0]]
    np.testing.assert_array_equal(table.X, expected)
    assert read_table(path, drop=["city", "risk"]).y is None


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_delimiters_line_ends_and_byte_order_mark(write, delimiter, ending):
    lines = [delimiter.join(row) for row in (["a", "b"], ["1", "0"], ["2", "1"])]
    name = "t.tsv" if delimiter == "\t" else "t.csv"
    path = write(name, "\ufeff" + ending.join(lines))
    table = read_table(path, target="b")
    assert table.feature_names == ("a",)
    assert table.X.tolist() == [[1], [2]]
    assert table.y.tolist() == [0, 1]


def test_missing_cells_are_nan(write):
    path = write("t.csv", "a,b\n,1\nNA,2\n?,3\nnull,4\nN/A,5\n")
    assert np.isnan(read_table(path).X[:, 0]).all()


def test_a_label_cell_changes_no_other_label(write):
    clean = read_table(write("t.csv", "a,y\n1,0\n2,1\n"), target="y")
    dirty = read_table(write("u.csv", "a,y\n1,0\n2,1\n3,oops\n4,\n"), target="y")
    assert dirty.y[:2].tolist() == clean.y.tolist() == [0.0, 1.0]
    assert dirty.y[2] == "oops"
    data = Dataset.clip(dirty.X, dirty.y, Bounds(0, 4), invalid="replace")
    assert data.target.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,b\n1,2\n3\n", {}, r"t\.csv, line 3: 1 cells where the header has 2"),
        ("a,b\n1,2\n3,x\n", {}, r"line 3: column 'b' is not numeric.*categories=.*drop="),
        ("1,2\n3,4\n", {}, "line 1: needs a header"),
        ("", {}, "line 1: needs a header"),
        ("a,a\n1,2\n", {}, "share a name"),
        ("a,b\n1,2\n", {"target": "z"}, "no column 'z'. The columns are 'a', 'b'"),
        ("a,b\n1,2\n", {"drop": ["z"]}, "no column 'z'"),
        ("a,b\n1,2\n", {"categories": {"z": [1]}}, "no column 'z'"),
        ("a,b\n1,2\n", {"categories": {"a": [1, 1]}}, "declared twice"),
        ("a,b\n1,2\n", {"n_features": 2}, "LIBSVM files only"),
        (b"a,b\n1,\xff\xfe\n", {}, "line 2: not UTF-8"),
        (b"a,\xff\n1,2\n", {}, "line 1: not UTF-8"),
    ],
)
def test_csv_mistakes_are_named(write, content, options, message):
    with pytest.raises(ValueError, match=message):
        read_table(write("t.csv", content), **options)


@pytest.mark.parametrize("cell", ['"oops', 'oops"', '"oops",fine"', 'o"ps,"fine'])
@pytest.mark.parametrize("others", ["fine", '"fine"', '",x"', '""', '"two\nlines"'])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_quote_that_does_not_end_swallows_no_record(write, cell, others, place):
    """Not even in a column that is left out, where no cell is looked at."""
    rows = [f"0.{i},{i % 2},{others}" for i in range(4)]
    whole = read_table(write("t.csv", "\n".join(["a,y,note", *rows])), target="y", drop=["note"])
    assert len(whole.y) == 4
    hostile = [*rows[:place], f"0.5,1,{cell}", *rows[place:]]
    with pytest.raises(ValueError, match=r"quote|cells where the header has"):
        read_table(write("u.csv", "\n".join(["a,y,note", *hostile])), target="y", drop=["note"])


def test_a_mistake_shows_no_cell(write):
    with pytest.raises(ValueError) as caught:
        read_table(write("t.csv", "a\n1\nsecret\n"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("pack", PACK)
def test_the_header_is_read_without_any_record(write, pack):
    path = write("t.csv", b"a,b\n1,2\n" + b"\xff" * 100_000, pack)
    assert read_header(path) == ["a", "b"]
    with pytest.raises(ValueError, match="needs a header") as caught:
        read_header(write("u.csv", "1.25,2\n", pack))
    assert "1.25" not in str(caught.value)


def as_libsvm(X, y):
    lines = []
    for row, label in zip(X.toarray(), y, strict=True):
        pairs = [f"{j + 1}:{value!r}" for j, value in enumerate(row.tolist()) if value]
        lines.append(" ".join([f"{label:+g}", *pairs]))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("pack", PACK)
def test_libsvm(write, pack, monkeypatch):
    monkeypatch.setattr("sparsedp.data.files.libsvm.CHUNK_BYTES", 500)  # many chunks
    X = sparse.random_array((80, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = np.where(np.arange(80) % 3, 1.0, -1.0)
    path = write("t.libsvm", as_libsvm(X, y), pack)
    table = read_table(path, n_features=32)
    assert table.X.shape == (80, 32)
    assert table.X.format == "csr"
    np.testing.assert_array_equal(table.X.toarray()[:, :30], X.toarray())
    np.testing.assert_array_equal(table.y, y)
    assert read_table(path).X.shape == (80, 30)
    with pytest.raises(ValueError, match="no header"):
        read_header(path)


def test_libsvm_comments_query_ids_blank_lines_and_missing_newline(write):
    text = "# a note\n1 qid:7 2:3 # why\n\n-1\n+1 3:1e-3 1:.5 1:nan\r\n0 2:-INF"
    table = read_table(write("t.svm", text))
    assert table.y.tolist() == [1, -1, 1, 0]
    assert table.X.indptr.tolist() == [0, 1, 1, 4, 5]
    assert table.X.indices.tolist() == [1, 2, 0, 0, 1]
    np.testing.assert_array_equal(table.X.data, [3, 1e-3, 0.5, np.nan, -np.inf])


@pytest.mark.parametrize(
    "line",
    [
        "x 1:2",
        "1 0:2",
        "1 2",
        "1 2:",
        "1 :2",
        "1:2 3",
        "1 1:2:3",
        "1 a:2",
        "1 1:x",
        "1 -1:2",
        "1 1:infe5",
    ],
)
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_libsvm_mistakes_are_named(write, line, chunk, monkeypatch):
    monkeypatch.setattr("sparsedp.data.files.libsvm.CHUNK_BYTES", chunk)
    path = write("t.libsvm", f"1 1:2\n\n{line}\n1 1:2\n")
    with pytest.raises(ValueError, match=r"t\.libsvm, line 3: write a numeric label"):
        read_table(path)


def test_libsvm_index_beyond_the_declared_number_of_features(write):
    path = write("t.libsvm", "1 1:2\n1 9:2\n")
    with pytest.raises(ValueError, match="line 2: an index is beyond n_features=4"):
        read_table(path, n_features=4)
    with pytest.raises(ValueError, match="no record"):
        read_table(write("u.libsvm", "\n# nothing\n"))


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize("pack", PACK)
def test_npz(write, pack):
    X = np.arange(6.0).reshape(3, 2)
    content = npz(X=X, y=np.array(["a", "b", "a"]), feature_names=np.array(["u", "v"]))
    path = write("t.npz", content, pack)
    table = read_table(path)
    np.testing.assert_array_equal(table.X, X)
    assert table.y.tolist() == ["a", "b", "a"]
    assert table.feature_names == ("u", "v")
    assert read_header(path) == ["u", "v"]
    csr = sparse.csr_array(X)
    parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape}
    for extra in ({}, {"format": b"csr"}):
        table = read_table(
            write("s.npz", npz(**parts, **extra, risk=[1, 0, 1]), pack), target="risk"
        )
        assert table.X.format == "csr"
        np.testing.assert_array_equal(table.X.toarray(), X)
        assert table.y.tolist() == [1, 0, 1]
        assert table.target_name == "risk"


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_npz_as_scipy_saves_it(tmp_path, form):
    X = sparse.coo_array(np.eye(3)).asformat(form)
    sparse.save_npz(tmp_path / "t.npz", X)
    table = read_table(tmp_path / "t.npz")
    assert table.X.format == "csr"
    assert table.y is None
    np.testing.assert_array_equal(table.X.toarray(), np.eye(3))


def test_npz_mistakes_are_named(write):
    with pytest.raises(ValueError, match="save the features as X"):
        read_table(write("t.npz", npz(Z=np.zeros(2))))
    with pytest.raises(ValueError, match="Python objects"):
        read_table(write("t.npz", npz(X=np.array([[{}]], dtype=object))))
    with pytest.raises(ValueError, match="no array 'risk'"):
        read_table(write("t.npz", npz(X=np.zeros((2, 2)))), target="risk")
    with pytest.raises(ValueError, match="no feature_names"):
        read_header(write("t.npz", npz(X=np.zeros((2, 2)))))
    with pytest.raises(ValueError, match="CSV and Parquet"):
        read_table(write("t.npz", npz(X=np.zeros((2, 2)))), drop=["a"])


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {
        "age": pa.array([20, None, 40]),
        "city": pa.array(["Rome", "Oslo", None]).dictionary_encode(),
        "smoker": [True, False, True],
        "risk": ["low", "high", None],
        "note": ["x", "y", "z"],
    }
    pq.write_table(pa.table(columns), path)
    assert read_header(path) == list(columns)
    options = {"target": "risk", "categories": {"city": ["Rome"]}, "drop": ["note"]}
    with pytest.raises(ValueError, match="column 'city' has a value that is missing or not"):
        read_table(path, **options)
    table = read_table(path, **options, invalid="replace")
    assert table.feature_names == ("age", "city=Rome", "smoker")
    np.testing.assert_array_equal(table.X, [[20, 1, 1], [np.nan, 0, 0], [40, 0, 1]])
    assert table.y[:2].tolist() == ["low", "high"]
    assert np.isnan(table.y[2])
    with pytest.raises(ValueError, match="column 'city' is not numeric"):
        read_table(path, drop=["note"])


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "sparsedp\[parquet\]"'):
        read_table(tmp_path / "t.parquet")


def test_formats(write):
    with pytest.raises(ValueError, match="unknown format; pass format="):
        read_table(write("t.dat", "a,b\n1,2\n"))
    with pytest.raises(ValueError, match="unpack the file"):
        read_table(write("t.parquet", "", ".gz"))
    with pytest.raises(ValueError, match="leave target out"):
        read_table(write("t.svm", "1 1:1\n"), target="y")
    assert read_table(write("t.dat", "a,b\n1,2\n"), format="csv").X.tolist() == [[1, 2]]
    with pytest.raises(FileNotFoundError):
        read_table("no-such-file.csv")


def test_repr_shows_no_record(write):
    table = read_table(write("t.csv", "a,b\n71,2\n"), target="b")
    assert repr(table) == "Table(n_features=1, target='b', records private)"


def test_every_text_format_gives_the_same_dataset(write, tmp_path):
    X = np.round(np.random.default_rng(0).normal(size=(20, 3)), 3)
    y = np.arange(20) % 2
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X, y, strict=True)]
    pq.write_table(
        pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}), tmp_path / "t.parquet"
    )
    tables = [
        read_table(write("t.csv", "\n".join(["a,b,c,y", *rows])), target="y"),
        read_table(write("t.libsvm", as_libsvm(sparse.csr_array(X), y)), n_features=3),
        read_table(write("t.npz", npz(X=X, y=y))),
        read_table(tmp_path / "t.parquet", target="y"),
    ]
    datasets = [Dataset.clip(table.X, table.y, 1.0) for table in tables]
    for data in datasets:
        np.testing.assert_allclose(
            data.columns(range(4)), datasets[0].columns(range(4)), atol=1e-15
        )
        assert np.array_equal(data.target, y)
