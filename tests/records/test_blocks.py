"""Records in blocks: the same answers as in memory, in bounded memory. Nothing is statistical."""

import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsedp import Ledger, RecordBlocks, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.blocks.admit import LostBlock
from sparsedp.data.blocks.blocked import BlockedDataset
from sparsedp.data.blocks.packed import size_of
from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.data.sums.running import RunningSum
from sparsedp.solvers.frank_wolfe import vertex_walk
from tests.cases import (
    LOSSES,
    N_FEATURES,
    SOLVERS,
    TAKEN,
    Table,
    declared,
    is_number,
    public_facts,
    random_table,
)
from tests.solved import solved

PUBLIC = ["n_features", "n_columns", "intercept", "bounds", "view", "classes", "target_bounds"]
PUBLIC += ["feature_names", "row_norm", "norm_bound", "has_implicit_zeros", "n_records"]

BOUNDS = Bounds(lower=[-1, 0, -3, 0, -1, -10.0], upper=[1, 1, 1, 8, 2, 10.0])


def in_blocks(table: Table, layout: str, rows: int, n_threads: int = 1) -> BlockedDataset:
    """The same as `Table.dataset`, in blocks."""
    X = table.X if layout == "dense" else sparse.csr_array(table.X)
    records = RecordBlocks.from_arrays(X, table.y, rows_per_block=rows, n_threads=n_threads)
    return records.clip(BOUNDS, **declared(table.loss))


def fitted(name: str, data, loss: str) -> np.ndarray:
    solver = SOLVERS[name]
    public = public_facts(loss, "add_remove", data.n_records)
    return solved(solver, data, LOSSES[loss], public, epsilon=3.0, delta=1e-3, seed=3).weights


@pytest.mark.parametrize(("name", "loss"), TAKEN)
def test_every_solver_gives_the_same_in_blocks(monkeypatch, name, loss):
    layout = "dense" if is_number(loss) else "sparse"
    # The compiled walk, and the one in few rounds over blocks, draw their noise in another way.
    monkeypatch.setattr(vertex_walk, "compact_columns", lambda data: None)
    monkeypatch.setattr(vertex_walk.VertexWalk, "in_rounds", lambda self: None)
    table = random_table(loss, 60, 1)
    whole = fitted(name, table.dataset(layout), loss)
    # Different rounding of sums may move noise by a step of its grid.
    np.testing.assert_allclose(
        fitted(name, in_blocks(table, layout, 17), loss), whole, rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_everything_a_solver_may_ask(layout):
    table = random_table("logistic", 53, 4)
    whole, blocked = table.dataset(layout), in_blocks(table, layout, 11)
    random = np.random.default_rng(0)
    tighter = Bounds(lower=[-1, 0, -1, 0, -1, -5.0], upper=[1, 1, 1, 2, 2, 5.0])
    keep = random.random(53) < 0.5
    views = [
        lambda data: data,
        lambda data: data.declared_units(),
        lambda data: data.tightened(tighter),
        lambda data: data.features([4, 1]),
        lambda data: data.rows(keep),
        lambda data: data.tightened(tighter).rows(keep).features([0, 2, 3]),
    ]
    for view in views:
        one, other = view(whole), view(blocked)
        weights, residuals = random.normal(size=one.n_columns), random.normal(size=one.n_records)
        for name in PUBLIC:
            assert getattr(one, name) == getattr(other, name), name
        np.testing.assert_array_equal(one.unit_map.center, other.unit_map.center)
        np.testing.assert_array_equal(one.target, other.target)
        np.testing.assert_array_equal(one.columns([0, 1]), other.columns([0, 1]))
        np.testing.assert_array_equal(one.dyadic_counts(5), other.dyadic_counts(5))
        np.testing.assert_allclose(one.row_norms(), other.row_norms(), rtol=1e-14)
        np.testing.assert_allclose(one.matvec(weights), other.matvec(weights), rtol=1e-12)
        np.testing.assert_allclose(one.rmatvec(residuals), other.rmatvec(residuals), rtol=1e-12)
    with pytest.raises(ValueError, match="one row per record"):
        blocked.rmatvec(np.ones(3))
    with pytest.raises(ValueError, match="boolean"):
        blocked.rows(np.ones(3))
    assert "records private" in repr(blocked)


def test_sums_are_compensated_and_keep_their_shape():
    random = np.random.default_rng(1)
    parts = random.normal(size=(400, 3)) * 10.0 ** random.integers(-8, 9, size=(400, 1))
    running = RunningSum()
    for part in parts:
        running.add((part, np.array([1], dtype=np.int64), part[0]))
    vector, count, number = running.result()
    exact = [math.fsum(column) for column in parts.T]
    np.testing.assert_allclose(vector, exact, rtol=2**-52)
    assert number == np.asarray(vector)[0]
    assert count.dtype == np.int64
    assert np.asarray(count)[0] == 400


def test_threads_do_not_change_a_bit():
    table = random_table("logistic", 200, 8)
    residuals = np.random.default_rng(2).normal(size=200)
    one, three = (in_blocks(table, "dense", 13, n_threads=k).rmatvec(residuals) for k in (1, 3))
    assert one.tobytes() == three.tobytes()


class Row:
    """A function of a block that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, block: Dataset) -> np.ndarray:
        self.calls += 1
        return block.columns(np.arange(N_FEATURES))


def _sum(values: np.ndarray) -> np.ndarray:
    return values.sum(axis=0)


@pytest.mark.parametrize(("memory", "calls"), [(2**20, 5), (0, 10), (2 * 10 * N_FEATURES * 8, 8)])
def test_derived_values_are_kept_as_far_as_memory_goes(memory, calls):
    table = random_table("logistic", 50, 9)
    records = RecordBlocks.from_arrays(table.X, table.y, rows_per_block=10)
    records = RecordBlocks(records.sources, N_FEATURES, False, memory=memory)
    function = Row()
    derived = records.clip(BOUNDS).derive(function)
    first, second = derived.total(_sum), derived.total(_sum)
    assert function.calls == calls
    assert first.tobytes() == second.tobytes()


def test_what_is_no_longer_used_gives_way():
    table = random_table("logistic", 50, 9)
    records = RecordBlocks.from_arrays(table.X, table.y, rows_per_block=10)
    size = 50 * N_FEATURES * 8
    data = RecordBlocks(records.sources, N_FEATURES, False, memory=size).clip(BOUNDS)
    old, new = data.derive(Row()), data.derive(function := Row())
    old.total(_sum)
    for _ in range(8):
        new.total(_sum)
    # Room for one of the two: after a few passes it is the new one's.
    assert function.calls < 8 * 5
    calls = function.calls
    new.total(_sum)
    assert function.calls == calls


def test_size_of_values():
    X = sparse.csr_array(np.eye(4))
    assert size_of((np.zeros(3), X, "text")) == 24 + 4 * 8 + X.indices.nbytes + X.indptr.nbytes
    assert size_of(Dataset.clip(np.ones((4, 2)), np.zeros(4), 1.0)) >= (8 + 4) * 8


def written(
    folder: Path, kind: str, n_parts: int = 3
) -> tuple[RecordBlocks, np.ndarray, np.ndarray]:
    """The same records as files, and in memory."""
    table = random_table("logistic", 90, 5)
    X, y = np.clip(table.X, -10, 10), table.y
    cuts = zip(np.array_split(X, n_parts), np.array_split(y, n_parts), strict=True)
    if kind == "memory map":
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        X_map, y_map = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in "Xy")
        return RecordBlocks.from_arrays(X_map, y_map, rows_per_block=40), X, y
    for i, (X_part, y_part) in enumerate(cuts):
        path = folder / f"part-{i}.{'parquet' if kind == 'parquet' else 'npz'}"
        if kind == "parquet":
            frame = pd.DataFrame(X_part, columns=list("abcdef")).assign(label=y_part, note="text")
            frame.to_parquet(path, row_group_size=7)
        elif kind == "dense npz":
            np.savez(path, X=X_part, y=y_part)
        else:
            A = sparse.csr_array(X_part)
            save = np.savez if kind == "sparse npz" else np.savez_compressed
            save(path, data=A.data, indices=A.indices, indptr=A.indptr, shape=A.shape, y=y_part)
    if kind == "parquet":
        blocks = RecordBlocks.from_parquet(
            folder, target="label", drop=["note"], rows_per_block=20, n_threads=2
        )
        return blocks, X, y
    return RecordBlocks.from_npz(folder), X, y


KINDS = ["memory map", "parquet", "dense npz", "sparse npz", "compressed npz"]


@pytest.mark.parametrize("kind", KINDS)
def test_estimators_read_files(kind, tmp_path, capsys):
    records, X, y = written(tmp_path, kind)
    settings = {"epsilon": 2.0, "delta": 1e-3, "bounds": 10.0, "random_state": 1, "n_nonzero": 2}
    in_memory = SparseLogisticRegression(**settings).fit(
        sparse.csr_array(X) if "sparse" in kind or "compressed" in kind else X, y
    )
    model = SparseLogisticRegression(**settings, classes=(0, 1), verbose=True).fit(records)
    np.testing.assert_allclose(model.coef_, in_memory.coef_, rtol=1e-6, atol=1e-9)
    assert model.n_features_in_ == N_FEATURES
    assert model.predict(X).shape == y.shape if kind != "parquet" else True
    assert "reading records" in capsys.readouterr().err
    regressor = SparseLinearRegression(**settings, target_bounds=(0, 1)).fit(records)
    assert np.isfinite(regressor.coef_).all()
    if kind == "parquet":
        assert list(model.feature_names_in_) == list("abcdef")
        assert len(records.sources) == 6  # row groups of 7, up to 20 records together


def test_clear_errors(tmp_path):
    records, X, y = written(tmp_path, "sparse npz")
    model = SparseLogisticRegression(epsilon=1.0, delta=1e-3, bounds=10.0)
    with pytest.raises(ValueError, match="declared classes"):
        model.fit(records)
    with pytest.raises(ValueError, match="without y"):
        model.fit(records, y)
    with pytest.raises(ValueError, match="does not exist"):
        RecordBlocks.from_npz(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"no \.parquet files"):
        RecordBlocks.from_parquet(tmp_path, target="label")
    with pytest.raises(ValueError, match="one entry per record"):
        RecordBlocks.from_arrays(X, y[:-1])
    with pytest.raises(ValueError, match=r"no \.npz files"):
        RecordBlocks.from_npz([])
    np.savez(tmp_path / "part-9.npz", X=np.zeros((4, N_FEATURES)), y=np.zeros(4))
    with pytest.raises(ValueError, match=r"part-9\.npz.*some blocks are sparse"):
        RecordBlocks.from_npz(tmp_path).clip(1.0)
    np.savez(tmp_path / "part-9.npz", X=np.zeros((4, 2)), y=np.zeros(4))
    with pytest.raises(ValueError, match=r"part-9\.npz.*2 features"):
        RecordBlocks.from_npz(tmp_path).clip(1.0)
    np.savez(tmp_path / "part-9.npz", z=np.zeros(4))
    with pytest.raises(ValueError, match="no array 'y'"):
        RecordBlocks.from_npz(tmp_path).clip(1.0)


def test_malformed_records_are_found_before_anything_is_charged(tmp_path):
    table = random_table("logistic", 60, 6)
    X = table.X.copy()
    X[55, 2] = np.nan
    records = RecordBlocks.from_arrays(X, table.y, rows_per_block=20)
    ledger = Ledger(5.0, 1e-2)
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-3, bounds=10.0, classes=(0, 1), ledger=ledger
    )
    with pytest.raises(ValueError, match="some rows of the arrays: Input X contains NaN"):
        model.fit(records)
    assert not ledger.history()
    replaced = records.clip(10.0, invalid="replace")
    np.testing.assert_array_equal(
        replaced.columns([2]), Dataset.clip(X, table.y, 10.0, invalid="replace").columns([2])
    )


def test_a_file_that_vanishes_in_the_middle(tmp_path):
    records, _, _ = written(tmp_path, "dense npz")
    ledger = Ledger(5.0, 1e-2)

    class Vanishing(SparseLogisticRegression):
        def _problem(self, given, settings):
            found = super()._problem(given, settings)
            os.remove(tmp_path / "part-1.npz")  # after the check, before the charge
            return found

    model = Vanishing(epsilon=1.0, delta=1e-3, bounds=10.0, classes=(0, 1), ledger=ledger)
    with pytest.raises(LostBlock, match=r"part-1\.npz.*already charged, and nothing was released"):
        model.fit(records)
    assert len(ledger.history()) == 1
    assert not {"coef_", "privacy_"} & set(vars(model))
