"""Blocks that change during a fit, and fits that stop after the charge. Nothing is statistical."""

import gc
import io
import os
import shutil
import sys
import traceback
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparsedp import Ledger, RecordBlocks, SparseLinearRegression, SparseLogisticRegression
from sparsedp.data.blocks.admit import LostBlock, admitted
from sparsedp.data.blocks.seal import Sealing
from sparsedp.fit.progress import Progress
from sparsedp.fit.stopped import after_charge
from sparsedp.solvers import NoisyGD

N, D = 60, 3
RANDOM = np.random.default_rng(4)
X, Y = RANDOM.uniform(-1, 1, (N, D)), RANDOM.integers(0, 2, N)


def write(path, X, y):
    """One block as a file of the kind that its name says."""
    if path.suffix == ".parquet":
        pd.DataFrame(X, columns=list("abc")).assign(y=y).to_parquet(path)
    elif "sparse" in path.stem:
        A = sparse.csr_array(X)
        np.savez(path, data=A.data, indices=A.indices, indptr=A.indptr, shape=A.shape, y=y)
    else:
        np.savez(path, X=X, y=y)


def edited(X, y):
    X = X.copy()
    X[3, 1] = np.nextafter(X[3, 1], 2)
    return X, y


CHANGES = {
    "shortened": lambda X, y: (X[:-10], y[:-10]),
    "longer": lambda X, y: (np.vstack([X, X[:1]]), np.append(y, y[:1])),
    "reordered": lambda X, y: (X[::-1].copy(), y[::-1].copy()),
    "edited by a bit": edited,
    "another label": lambda X, y: (X, np.append(1 - y[:1], y[1:])),
}


class Changing(SparseLogisticRegression):
    """Has something happen between the check of the blocks and the charge."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def _problem(self, given, settings):
        found = super()._problem(given, settings)
        self.meanwhile()
        return found


def estimator(solver=None, ledger=None, **how):
    return Changing(
        epsilon=1.0,
        delta=1e-3,
        bounds=1.0,
        classes=(0, 1),
        solver=solver or NoisyGD(n_steps=2),
        ledger=ledger,
        **how,
    )


def stops(model, records, ledger):
    with pytest.raises(LostBlock, match=r"not those that were checked.*already charged, and not"):
        model.fit(records)
    assert len(ledger.history()) == 1
    assert "coef_" not in vars(model)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["block-{}.parquet", "block-{}.npz", "sparse-{}.npz"])
def test_a_file_that_changes_stops_the_fit(tmp_path, kind, change):
    paths = [tmp_path / kind.format(i) for i in range(3)]
    for path, rows in zip(paths, np.split(np.arange(N), 3), strict=True):
        write(path, X[rows], Y[rows])
    if kind.endswith("parquet"):
        records = RecordBlocks.from_parquet(tmp_path, target="y")
    else:
        records = RecordBlocks.from_npz(tmp_path)
    ledger = Ledger(5.0, 1e-2)
    model = estimator(ledger=ledger)
    rows = np.arange(20, 40)
    model.meanwhile = lambda: write(paths[1], *CHANGES[change](X[rows], Y[rows]))
    stops(model, records, ledger)


def test_files_that_are_swapped(tmp_path):
    paths = [tmp_path / f"{i}.npz" for i in range(2)]
    for path, rows in zip(paths, np.split(np.arange(N), 2), strict=True):
        write(path, X[rows], Y[rows])

    def swapped():
        shutil.move(paths[0], tmp_path / "aside")
        shutil.move(paths[1], paths[0])
        shutil.move(tmp_path / "aside", paths[1])

    ledger = Ledger(5.0, 1e-2)
    model = estimator(ledger=ledger)
    model.meanwhile = swapped
    stops(model, RecordBlocks.from_npz(tmp_path), ledger)


def test_arrays_that_are_written_to():
    mine = X.copy()
    ledger = Ledger(5.0, 1e-2)
    model = estimator(ledger=ledger)
    model.meanwhile = lambda: mine.__setitem__((50, 0), -mine[50, 0])
    stops(model, RecordBlocks.from_arrays(mine, Y, rows_per_block=20), ledger)


def test_seals_say_nothing():
    """Two fits have different keys, and neither a seal nor a sealing shows what it holds."""
    block = RecordBlocks.from_arrays(X, Y).clip(1.0)._blocks.each(lambda block: block)[0]
    sealing = Sealing()
    assert sealing(block) == sealing(block)
    assert sealing(block) != Sealing()(block)
    assert sealing.key.hex() not in repr(sealing)
    assert sealing.key not in repr(sealing).encode()
    assert "digest" not in repr(sealing(block))


class Stopping(NoisyGD):
    """Stops as a library would: with what it was working on in its message and its frames."""

    error: type = MemoryError

    def solve(self, data, loss, curator):
        secret = data.target  # private
        try:
            raise KeyError(f"record {secret[0]}")
        except KeyError:
            raise self.error(f"SECRET {data.n_records}")  # noqa: B904


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize("error", [MemoryError, ValueError, KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("in_blocks", [True, False])
def test_whatever_stops_a_fit_says_that_it_was_charged(error, in_blocks):
    ledger = Ledger(5.0, 1e-2)
    solver = Stopping(n_steps=1)
    object.__setattr__(solver, "error", error)
    model = estimator(solver, ledger)
    data = (RecordBlocks.from_arrays(X, Y, rows_per_block=20),) if in_blocks else (X, Y)
    with pytest.raises(error, match="already charged, and nothing was released") as caught:
        model.fit(*data)
    assert len(ledger.history()) == 1
    told = "".join(traceback.format_exception(caught.value))
    assert "SECRET" not in told
    assert str(N) not in str(caught.value).replace(".py, line", "")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    frames = [frame.f_code.co_name for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    assert "solve" not in frames


def test_an_exception_that_a_sentence_cannot_make():
    def work():
        raise Odd(1, 2)

    with pytest.raises(RuntimeError, match=r"Odd.*already charged"):
        after_charge(work)


def test_what_a_library_says_about_a_block_is_not_passed_on():
    class Foreign(ValueError):
        pass

    def read():
        raise Foreign("Failed to parse 'secret diagnosis'")

    with pytest.raises(LostBlock, match=r"here: it could not be read \(Foreign\)") as caught:
        admitted(read, "here")
    assert caught.value.__context__ is None


def test_nothing_shown_depends_on_the_number_of_blocks(monkeypatch):
    shown = []
    for n_blocks in (1, 30):
        records = RecordBlocks.from_arrays(X, Y, rows_per_block=N // n_blocks)
        written = io.StringIO()
        monkeypatch.setattr(sys, "stderr", written)
        clock = iter(range(1, 9999))
        monkeypatch.setattr("sparsedp.fit.progress.time.monotonic", clock.__next__)
        estimator(verbose=True, random_state=1).fit(records)
        shown.append((repr(records), repr(records.clip(1.0)), written.getvalue()))
    assert shown[0] == shown[1]
    assert "reading records" in shown[0][2]


def test_a_line_is_written_once(capsys):
    progress = Progress(5, True)
    for _ in range(100):
        progress.last = 0.0
        progress.reading()
    assert capsys.readouterr().err.count("reading") == 1


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, None])
def test_blocks_of_no_rows_are_refused(tmp_path, rows):
    with pytest.raises(ValueError, match="rows_per_block must be a whole number"):
        RecordBlocks.from_arrays(X, Y, rows_per_block=rows)
    write(tmp_path / "a.parquet", X, Y)
    with pytest.raises(ValueError, match="rows_per_block must be a whole number"):
        RecordBlocks.from_parquet(tmp_path, target="y", rows_per_block=rows)


def test_subfolders_are_read_or_refused(tmp_path):
    for i, name in enumerate(["a", "b/c", "b"]):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        write(tmp_path / name / f"{i}.parquet", X[20 * i : 20 * i + 20], Y[20 * i : 20 * i + 20])
    (tmp_path / "_temporary").mkdir()
    write(tmp_path / "_temporary" / "left.parquet", X, Y)
    records = RecordBlocks.from_parquet(tmp_path, target="y")
    assert records.clip(1.0).n_records == N
    (tmp_path / "year=2024").mkdir()
    write(tmp_path / "year=2024" / "part.parquet", X, Y)
    with pytest.raises(ValueError, match="subfolders whose names are columns"):
        RecordBlocks.from_parquet(tmp_path, target="y")


def test_prediction_of_blocks_is_refused_in_a_sentence():
    records = RecordBlocks.from_arrays(X, Y)
    model = estimator().fit(records)
    with pytest.raises((TypeError, ValueError), match="RecordBlocks are for fit"):
        model.predict(records)


def test_a_public_model_goes_by_names(tmp_path):
    """Coefficients for other columns, or in another order, are refused."""
    write(tmp_path / "a.parquet", X, Y)
    records = RecordBlocks.from_parquet(tmp_path, target="y")
    frame = pd.DataFrame(X, columns=list("abc"))
    common = {"epsilon": 1.0, "delta": 1e-3, "bounds": 1.0, "target_bounds": (0, 1)}
    common |= {"solver": NoisyGD(n_steps=1)}
    ordered = SparseLinearRegression(**common).fit(frame, Y)
    SparseLinearRegression(**common, initial_model=ordered).fit(records)
    turned = SparseLinearRegression(**common).fit(frame[list("cba")], Y)
    with pytest.raises(ValueError, match="initial_model was fitted to other features"):
        SparseLinearRegression(**common, initial_model=turned).fit(records)


def test_kept_values_go_when_a_fit_is_over():
    """Also where the exception, and so the frame of the fit, is kept."""
    data = RecordBlocks.from_arrays(X, Y, rows_per_block=20).clip(1.0)
    derived = data.derive(lambda block: block.columns([0, 1]))
    derived.total(lambda columns: columns.sum(axis=0))
    assert derived._kept
    data.close()
    assert not derived._kept
    gc.collect()
    assert data._blocks._machine._free == 2**30


def test_spilled_records_are_for_one_user(tmp_path):
    from sparsedp.data.blocks.worker import alone_in_its_folder

    class Worker:
        local_directory = str(tmp_path)

    os.chmod(tmp_path, 0o755)
    alone_in_its_folder(Worker)
    assert os.stat(tmp_path).st_mode & 0o077 == 0
