"""Files from strangers: damaged ones and bombs are refused by one sentence, within memory."""

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy import sparse

from sparsedp import Ledger
from sparsedp.cli import main
from sparsedp.data.files.limits import Limits
from sparsedp.data.files.opened import BadFile, opened
from sparsedp.data.files.readers import read_header, read_table

FIT = ("--target", "y", "--classes", "0,1", "--bounds", "0,1", "--epsilon", "1", "--delta", "1e-5")
CSV = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (k % 2, k % 3 == 0, k % 2) for k in range(200))
ZEROS = 72 * 2**20  # what a bomb unpacks to


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Ledger(10.0, 1e-2, tmp_path / "budget.ledger")
    return tmp_path


def refused(*arguments: object) -> str:
    """The sentence by which a command is refused, with nothing charged."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 2, (result.output, result.exception)
    assert len(result.stderr.splitlines()) == 1
    assert Ledger(path="budget.ledger").remaining().epsilon == 10
    return result.stderr


def npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


WHOLE = {
    "t.csv.gz": gzip.compress(CSV),
    "t.csv.bz2": bz2.compress(CSV),
    "t.csv.xz": lzma.compress(CSV),
    "t.npz": npz(X=np.eye(200), y=np.arange(200) % 2),
    "t.npz.gz": gzip.compress(npz(X=np.eye(200), y=np.arange(200) % 2)),
    "t.parquet": parquet(pa.table({"a": [0.0, 1.0] * 100, "y": [0, 1] * 100})),
}


@pytest.mark.parametrize("name", WHOLE)
def test_damaged_files_are_refused(name, folder):
    whole, path = WHOLE[name], Path(name)
    for damaged in (whole[: len(whole) // 2], whole[:-1], whole[:20], b"", b"\0" * 50):
        path.write_bytes(damaged)
        refused("fit", name, *FIT, "--ledger", "budget.ledger")
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(8) + whole[middle + 8 :])
    code = CliRunner().invoke(main, ["fit", name, *FIT, "--ledger", "budget.ledger"]).exit_code
    assert code in (0, 2)


def large_npz() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        shape = (ZEROS // 80, 10)
        np.lib.format.write_array_header_1_0(
            header, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )
        archive.writestr("X.npy", header.getvalue() + bytes(ZEROS))
    return buffer.getvalue()


BOMBS = {
    "t.csv.xz": lambda: lzma.compress(b"a,y\n" + b"0,0\n" * (ZEROS // 4), preset=0),
    "t.csv.gz": lambda: gzip.compress(b"a,y\n" + bytes(ZEROS)),
    "t.csv.bz2": lambda: bz2.compress(b"a,y\n" + b" " * ZEROS, 1),
    "t.svm.gz": lambda: gzip.compress(b"1 1:1\n" * (ZEROS // 6)),
    "t.npz": large_npz,
    "t.parquet": lambda: parquet(pa.table({"a": np.zeros(50_000_000), "y": np.zeros(50_000_000)})),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_before_they_fill_the_memory(name, folder):
    content = BOMBS[name]()
    assert len(content) < 2**21
    Path(name).write_bytes(content)
    del content
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    width = ("--n-features", 1) if ".svm" in name else ()
    options = FIT[2:] if ".svm" in name else FIT
    sentence = refused("fit", name, *options, *width, "--ledger", "budget.ledger")
    assert "--limit bytes=" in sentence
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # KiB


def test_limits_can_be_raised(folder):
    Path("t.csv").write_bytes(CSV)
    run = ("fit", "t.csv", *FIT, "--seed", "1", "--solver", "sparsifier", "--set", "n_steps=3")
    assert "--limit bytes=" in refused(*run, "--limit", "bytes=100")
    assert "--limit columns=" in refused(*run, "--limit", "columns=1")
    assert "--limit classes=" in refused(*run, "--limit", "classes=1")
    assert "NAME=NUMBER" in refused(*run, "--limit", "memory=1")
    assert "NAME=NUMBER" in refused(*run, "--limit", "bytes=lots")
    assert CliRunner().invoke(main, [*run, "--limit", "bytes=1e5"]).exit_code == 0
    with pytest.raises(BadFile, match="Limits"), Limits(bytes=9).applied():
        read_table("t.csv", target="y")
    assert read_header("t.csv") == ["a", "b", "y"]


def test_what_is_no_regular_file_is_refused(folder):
    os.mkfifo("pipe.csv")
    for path in ("/dev/zero", "pipe.csv"):
        assert "not a regular file" in refused("fit", path, "--format", "csv", *FIT)
        assert "not a regular file" in refused("report", path)
        assert "not a regular file" in refused("fit", "budget.ledger", *FIT, "--config", path)
        for kind in ("parquet", "npz", "libsvm"):
            arguments = ("--n-features", 2, *FIT[2:]) if kind == "libsvm" else FIT
            assert "not a regular file" in refused("fit", path, "--format", kind, *arguments)
    Path("folder.csv").mkdir()
    assert "is a folder" in refused("fit", "folder.csv", *FIT)


def test_a_file_with_holes_is_not_read_to_its_end(folder):
    with open("t.csv", "wb") as file:
        file.write(b"a,y\n")
        file.truncate(2**40)
    assert "--limit bytes=" in refused("fit", "t.csv", *FIT)
    with pytest.raises(BadFile), opened(Path("t.csv")) as handle:
        handle.read(2**27)


def test_many_categories_are_refused(folder):
    Path("t.csv").write_bytes(CSV)
    text = ", ".join(f'"{k}"' for k in range(100_000))
    Path("b.toml").write_text(f"[bounds]\nlower=0\nupper=1\n[features.a]\ncategories = [{text}]\n")
    sentence = refused("fit", "t.csv", "--target", "y", "--classes", "0,1", *FIT[6:],
                       "--bounds", "b.toml")  # fmt: skip
    assert "--limit categories=" in sentence


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[1e400, 1" + "0" * 5000 + "]"])
def test_deep_and_long_json_is_refused(deep, folder):
    Path("model.json").write_text(deep)
    refused("report", "model.json")
    refused("verify", "model.json")
    Path("b.toml").write_text("a = " + deep)
    refused("fit", "budget.ledger", *FIT[:4], *FIT[6:], "--bounds", "b.toml")


def test_indices_beyond_a_sparse_matrix_are_refused(folder):
    good = sparse.random_array((200, 5), density=0.5, format="csr", rng=np.random.default_rng(0))
    for indices in (good.indices + 10**6, -good.indices - 1):
        parts = {"data": good.data, "indices": indices, "indptr": good.indptr}
        for extra in ({}, {"format": np.array(b"csr")}):
            Path("t.npz").write_bytes(npz(**parts, shape=(200, 5), y=np.arange(200) % 2, **extra))
            refused("fit", "t.npz", *FIT, "--ledger", "budget.ledger")
    for shape in ((200, 10**12), (10**12, 5), (200,), (200, -5)):
        parts = {"data": good.data, "indices": good.indices, "indptr": good.indptr}
        Path("t.npz").write_bytes(npz(**parts, shape=np.array(shape), y=np.arange(200) % 2))
        refused("fit", "t.npz", *FIT, "--ledger", "budget.ledger")


@pytest.mark.parametrize("y", [np.zeros(5), np.zeros(7), np.zeros(()), np.zeros((1, 6))])
def test_targets_of_another_length_are_refused(y, folder):
    np.savez("t.npz", X=np.eye(6), y=y)
    assert "one entry per row" in refused("fit", "t.npz", *FIT, "--ledger", "budget.ledger")
    np.savez("t.npz", X=np.eye(6), y=np.arange(6) % 2, feature_names=["a", "b"])
    assert "feature_names" in refused("fit", "t.npz", *FIT, "--ledger", "budget.ledger")


def test_nothing_in_a_file_is_quoted(folder):
    secret = "SECRET-CELL"
    Path("t.csv").write_text(f"a,y\n1,0\n{secret},1\n")
    np.savez("t.npz", X=np.array([["1", secret]]), y=np.array([0]))
    table = pa.table({"a": ["1", secret], "y": [0, 1]})
    pq.write_table(table, "t.parquet")
    Path("t.svm").write_text(f"1 1:1\n{secret} 1:1\n")
    for name in ("t.csv", "t.npz", "t.parquet"):
        for more in ((), ("--invalid", "replace")):
            result = CliRunner().invoke(main, ["fit", name, *FIT, *more])
            assert secret not in result.output
    result = CliRunner().invoke(main, ["fit", "t.svm", *FIT[2:], "--n-features", "1"])
    assert secret not in result.output
    assert json.dumps(result.exit_code) == "2"
