"""The ledger's file in the hands of time, other processes and people: found, said, never lost."""

import contextlib
import decimal
import json
import os
import pickle
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sparsedp.privacy.ledger as package
import sparsedp.privacy.ledger.store as store_module
from sparsedp import BudgetExceeded, Ledger, PrivateSearchCV, SparseLogisticRegression
from sparsedp.privacy.ledger import LedgerBusy, LedgerError, LedgerGone, Receipt
from sparsedp.privacy.ledger.chain import START, Line, broken_at, encoded, linked
from sparsedp.privacy.ledger.head import head_path, read_head, write_head
from sparsedp.privacy.ledger.state import first_line
from sparsedp.privacy.ledger.store import Store
from sparsedp.privacy.ledger.sums import exact, text_of, total
from sparsedp.privacy.ledger.upgrade import upgrade
from sparsedp.solvers import BY_NAME

Pursuit = BY_NAME["pursuit"]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "l"


@pytest.fixture(scope="module")
def four(tmp_path_factory) -> Path:
    made = Ledger(2.0, 1e-5, tmp_path_factory.mktemp("four") / "l")
    for i in range(4):
        made.charge(0.25, 1e-7, what=f"fit {i}")
    return made.path


@pytest.fixture
def ledger(path, four) -> Ledger:
    """Four charges of 0.25 in a budget of 2."""
    for copied in (path, head_path(path)):
        shutil.copy(four.with_name(copied.name), copied)
    return Ledger(path=path)


def edit(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def in_child(work) -> str:
    """What a forked child says: the name and text of its exception, or what it returns."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


# --- sums and budgets ------------------------------------------------------------------------


def test_sums_do_not_depend_on_the_callers_decimals():
    """Review finding: with one digit, forty charges of 0.04 went into 1."""
    ledger = Ledger(1.0, 1e-5)
    with decimal.localcontext() as context:
        context.prec = 1
        context.traps[decimal.Inexact] = False
        for _ in range(25):
            ledger.charge(0.04, 0)
        assert ledger.remaining().epsilon == 0
        with pytest.raises(BudgetExceeded):
            ledger.charge(0.04, 0)


@pytest.mark.parametrize("value", [0.0, -0.0, 5e-324, 1e-6, 0.1, 1e16, 1.7976931348623157e308])
def test_numbers_come_back_as_they_went(value):
    assert float(exact(text_of(value))) == value
    assert total([text_of(value)] * 3) == 3 * exact(text_of(value))


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-1.0", "0.10", "1", "1e-999999999", " 0.1", "1_0.0"]
)
def test_other_texts_are_not_numbers(text):
    with pytest.raises(ValueError):
        exact(text)


def test_a_stale_ledger_object_has_no_budget_of_its_own(path):
    """Review finding: a pickled ledger compared with its own budget, not with the file's."""
    stale = pickle.dumps(Ledger(10.0, 1e-5, path))
    path.unlink()
    head_path(path).unlink()
    Ledger(1.0, 1e-5, path)
    twin = pickle.loads(stale)
    for cost in (9.9, 0.1):
        with pytest.raises(BudgetExceeded, match="another has taken its place"):
            twin.charge(cost, 0)
    assert Ledger(path=path).remaining().epsilon == 1.0
    own = Ledger(path=path)
    own.epsilon = own.delta = 1.0e6  # what an object remembers decides nothing
    with pytest.raises(BudgetExceeded):
        own.charge(2.0, 0)


def test_of_two_creators_one_is_told(path, monkeypatch):
    """Review finding: 9 of 40 silently got the other's budget."""
    create = Store.create

    def late(self, first: Line) -> bool:
        monkeypatch.setattr(Store, "create", create)
        Ledger(5.0, 1e-5, path)
        return create(self, first)

    monkeypatch.setattr(Store, "create", late)
    with pytest.raises(LedgerError, match="has the budget epsilon=5"):
        Ledger(1.0, 1e-5, path)
    assert Ledger(path=path).epsilon == 5.0
    monkeypatch.setattr(Store, "create", late)
    path.unlink()
    head_path(path).unlink()
    assert Ledger(5.0, 1e-5, path).epsilon == 5.0  # the same budget: nothing to say
    assert [name for name in os.listdir(path.parent) if name.endswith(".new")] == []


@pytest.mark.parametrize(
    "asked", [{"epsilon": 3.0}, {"delta": 1e-4}, {"rule": "union"}, {"unit": "person"}]
)
def test_what_is_asked_must_be_what_is_there(ledger, asked):
    given = {"epsilon": 2.0, "delta": 1e-5} | asked
    with pytest.raises(LedgerError, match="has the budget"):
        Ledger(**given, path=ledger.path)


def test_units_and_relations_are_never_mixed():
    people = Ledger(1.0, 1e-5, unit="person", neighbors="replace_one")
    with pytest.raises(BudgetExceeded, match="every person"):
        people.charge(0.1, 0, neighbors="replace_one")
    with pytest.raises(BudgetExceeded, match="under 'replace_one'"):
        people.charge(0.1, 0, unit="person")
    people.charge(0.1, 0, unit="person", neighbors="replace_one")
    first = Ledger(1.0, 1e-5)
    first.charge(0.1, 0, neighbors="replace_one")
    with pytest.raises(BudgetExceeded, match="under 'replace_one'"):
        first.charge(0.1, 0)
    assert [len(ledger.history()) for ledger in (people, first)] == [1, 1]


# --- lines -----------------------------------------------------------------------------------


def test_lines_say_who_what_and_whether_seeded(path, monkeypatch):
    """Review finding: the lines of seeded fits did not say so."""
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (60, 3))
    y = (X[:, 0] > 0).astype(int)
    ledger = Ledger(5.0, 1e-4, path, who="Ada", data="patients")
    settings = {"epsilon": 0.5, "delta": 1e-6, "bounds": 1.0, "classes": (0, 1), "ledger": ledger}
    model = SparseLogisticRegression(**settings, random_state=3).fit(X, y)
    SparseLogisticRegression(**settings).fit(X, y)
    SparseLogisticRegression(**settings).fit(X[:50], y[:50])
    lines = ledger.history()
    assert [line.seeded for line in lines] == [True, False, False]
    assert {(line.who, line.data) for line in lines} == {("Ada", "patients")}
    assert [line.table for line in lines] == [1, 1, 2]
    assert [line.pending for line in lines] == [False] * 3
    assert ledger.remaining().epsilon == 3.5
    record = model.privacy_.ledger
    assert record == {"id": ledger.terms["id"], "line": 1, "head": record["head"]}
    ledger.verify([Receipt(*record.values())])
    monkeypatch.setenv("SPARSEDP_WHO", "Grace")
    Ledger(path=path).charge(0.1, 0)
    assert Ledger(path=path).history()[-1].who == "Grace"
    # The key and the fingerprints stay in the file.
    shown = repr([ledger.history(), ledger.terms, model.privacy_.to_dict()])
    with contextlib.closing(sqlite3.connect(path)) as db:
        secret = json.loads(db.execute("SELECT details FROM lines").fetchone()[0])["key"]
        marks = [row[0] for row in db.execute("SELECT fingerprint FROM fingerprints")]
    assert len(marks) == 3
    assert not any(mark in shown for mark in (secret, *marks))


def test_a_search_carries_its_receipt():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (300, 3))
    ledger = Ledger(5.0, 1e-4, rule="union")
    model = SparseLogisticRegression(bounds=1.0, classes=(0, 1))
    search = PrivateSearchCV(
        model, {"n_nonzero": [1, 2]}, epsilon=1.0, delta=1e-6, expected_trials=2, ledger=ledger
    ).fit(X, (X[:, 0] > 0).astype(int))
    assert search.privacy_.ledger == search.best_estimator_.privacy_.ledger
    ledger.verify([Receipt(*search.privacy_.ledger.values())])
    assert [charge.pending for charge in ledger.history()] == [False]


def test_a_fit_that_fails_leaves_its_charge_pending(monkeypatch):
    def fails(*arguments):
        raise RuntimeError("out of luck")

    ledger = Ledger(5.0, 1e-4)
    monkeypatch.setattr(Pursuit, "solve", fails)
    model = SparseLogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=1.0, classes=(0, 1), ledger=ledger
    )
    with pytest.raises(RuntimeError, match="already charged"):
        model.fit(np.zeros((9, 2)), np.arange(9) % 2)
    assert len(ledger.pending()) == 1
    assert ledger.remaining().epsilon == 4.0


def test_names_are_names():
    ledger = Ledger(1.0, 1e-5)
    for bad in ("x" * 2_000, "a\x1b[2Jb", "\ud800"):
        with pytest.raises(ValueError, match="printable"):
            ledger.charge(0.1, 0, who=bad)
    with pytest.raises(ValueError, match="plain data"):
        ledger.charge(0.1, 0, events=[{"event": float("nan")}])
    ledger.charge(0.1, 0, who="Ada\n2  fake line", what="é ü 漢")
    assert ledger.history()[0].who == "Ada 2 fake line"
    assert ledger.history()[0].what == "é ü 漢"


def test_a_charge_is_pending_until_its_model_exists(ledger):
    receipts = [ledger.charge(0.1, 0), ledger.charge(0.1, 0)]
    assert [charge.line for charge in ledger.pending()] == [1, 2, 3, 4, 5, 6]
    note = ledger.finish(receipts[1], "ab" * 32)
    assert ledger.finish(receipts[1], "ab" * 32) == note  # once is enough
    assert [charge.line for charge in ledger.pending()] == [1, 2, 3, 4, 5]
    assert ledger.remaining().epsilon == pytest.approx(0.8)
    for wrong in (
        receipts[0]._replace(ledger_id="0" * 32),
        receipts[0]._replace(line=99),
        receipts[0]._replace(head="0" * 64),
        note,  # not a charge
    ):
        with pytest.raises(LedgerError, match="receipt does not fit"):
            ledger.finish(wrong, "ab" * 32)


# --- tampering -------------------------------------------------------------------------------

FORGED = {
    "a budget": ["UPDATE lines SET epsilon = '9.0' WHERE line = 0"],
    "a rule": ["UPDATE lines SET details = replace(details, '\"sum\"', '\"best\"') WHERE line = 0"],
    "a unit": ["UPDATE lines SET details = replace(details, 'record', 'person') WHERE line = 0"],
    "a charge": ["UPDATE lines SET epsilon = '0.01' WHERE line = 2"],
    "a time": ["UPDATE lines SET time = '2020-01-01T00:00:00Z' WHERE line = 1"],
    "a name": ["UPDATE lines SET details = replace(details, 'fit 1', 'fit 9') WHERE line = 2"],
    "a line in the middle": ["DELETE FROM lines WHERE line = 2"],
    "a line in the middle, numbers closed up": [
        "DELETE FROM lines WHERE line = 2",
        "UPDATE lines SET line = line - 1 WHERE line > 2",
    ],
    "the last line": ["DELETE FROM lines WHERE line = 4"],
    "all lines": ["DELETE FROM lines"],
    "all charges": ["DELETE FROM lines WHERE line > 0"],
    "a negative charge": [
        "PRAGMA ignore_check_constraints = ON",
        "INSERT INTO lines SELECT 5, kind, time, '-5.0', delta, divergence, leak, details, hash "
        "FROM lines WHERE line = 4",
    ],
    "not a number": [
        "PRAGMA ignore_check_constraints = ON",
        "UPDATE lines SET epsilon = 'nan' WHERE line = 4",
    ],
    "bytes for text": ["UPDATE lines SET details = x'00ff' WHERE line = 4 OR 1"],
    "a trigger": [
        "CREATE TRIGGER t AFTER INSERT ON lines BEGIN DELETE FROM lines WHERE line = new.line; END"
    ],
    "a view": ["CREATE VIEW v AS SELECT * FROM lines"],
    "a table": ["CREATE TABLE t (x)"],
    "an index": ["CREATE INDEX i ON lines (time)"],
    "the tables' rules": [
        "CREATE TABLE u AS SELECT * FROM lines",
        "DROP TABLE lines",
        "ALTER TABLE u RENAME TO lines",
    ],
}


@pytest.mark.parametrize("what", FORGED)
def test_a_changed_ledger_is_found_by_verify_and_by_the_next_charge(ledger, what):
    """Review finding: deleted rows, edited budgets, negative rows and a trigger went unseen."""
    before = ledger.path.read_bytes()
    with contextlib.suppress(sqlite3.IntegrityError):  # refused by the tables themselves
        edit(ledger.path, *FORGED[what])
    if ledger.path.read_bytes() == before:
        return
    for attempt in (ledger.verify, ledger.remaining, ledger.history, lambda: ledger.charge(0.1, 0)):
        with pytest.raises(LedgerError):
            attempt()
    with pytest.raises(LedgerError):
        Ledger(path=ledger.path)


@pytest.mark.parametrize("values", ["'-1.0'", "'nan'", "'inf'", "'Infinity'", "x'31'", "NULL"])
@pytest.mark.parametrize("column", ["epsilon", "delta"])
def test_the_tables_themselves_refuse_what_is_no_cost(ledger, column, values):
    with pytest.raises(sqlite3.IntegrityError):
        edit(ledger.path, f"UPDATE lines SET {column} = {values} WHERE line = 3")


def test_an_old_copy_is_found_by_the_note_and_by_models(ledger, tmp_path):
    old = tmp_path / "copy"
    shutil.copy(ledger.path, old)
    receipt = ledger.charge(0.5, 0)
    ledger.verify([receipt])
    shutil.copy(old, ledger.path)
    for attempt in (ledger.verify, ledger.history, lambda: ledger.charge(0.1, 0)):
        with pytest.raises(LedgerError, match="An old copy was put back"):
            attempt()
    head_path(ledger.path).unlink()  # then only a model knows
    assert ledger.verify().line == 4
    with pytest.raises(LedgerError, match="knows line 5, and the ledger ends at line 4"):
        ledger.verify([receipt])
    ledger.charge(0.25, 0)
    with pytest.raises(LedgerError, match="knows another line 5"):
        ledger.verify([receipt])
    with pytest.raises(LedgerError, match="belongs to another ledger"):
        ledger.verify([receipt._replace(ledger_id="0" * 32)])


def test_a_line_of_another_history_does_not_fit(ledger, tmp_path):
    """Lines of a copy that went another way are right in themselves, not after these."""
    other = tmp_path / "copy"
    shutil.copy(ledger.path, other)
    Ledger(path=other).charge(0.01, 0)
    for _ in range(2):
        ledger.charge(0.25, 0)
    edit(
        ledger.path,
        f"ATTACH '{other}' AS other",
        "DELETE FROM main.lines WHERE line = 5",
        "INSERT INTO main.lines SELECT * FROM other.lines WHERE line = 5",
    )
    with pytest.raises(LedgerError, match="line 6 does not follow"):
        ledger.verify()


def test_a_note_that_is_behind_is_in_order(ledger):
    """Whoever is killed between the charge and the note leaves it one line behind, or more."""
    note = head_path(ledger.path)
    behind = note.read_bytes()
    ledger.charge(0.1, 0)
    ledger.charge(0.1, 0)
    note.write_bytes(behind)
    ledger.verify()
    ledger.charge(0.1, 0)
    assert read_head(ledger.path) == ledger.verify()
    write_head(ledger.path, Receipt(ledger.terms["id"], 2, "0" * 64))  # a late writer
    assert read_head(ledger.path) == ledger.verify()
    note.unlink()
    receipt = ledger.charge(0.1, 0)
    assert read_head(ledger.path) == receipt
    for broken in (b"", b"{", b"[" * 3000, b'{"id": 1, "line": 0, "head": "x"}', b"\xff"):
        note.write_bytes(broken)
        with pytest.raises(LedgerError, match="is damaged"):
            ledger.charge(0.1, 0)


def test_a_deleted_ledger_does_not_start_anew(ledger):
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="says that a ledger was here"):
        Ledger(2.0, 1e-5, ledger.path)
    with pytest.raises(LedgerGone, match="there is no ledger"):
        Ledger(path=ledger.path)


def test_the_first_broken_line_is_named(ledger):
    with Store(ledger.path).transaction(write=False) as db:
        lines = Store(ledger.path).lines(db)
    assert broken_at(lines) is None
    for i, line in enumerate(lines):
        assert broken_at([*lines[:i], line._replace(delta="0.5"), *lines[i + 1 :]]) == i
        swapped = lines[:i] + lines[i + 1 :]
        assert broken_at(swapped) == (None if i == len(lines) - 1 else i)
    # Right hashes do not make up for a wrong number.
    forged = [*lines[:2]]
    for line in lines[2:]:
        forged.append(linked(forged[-1].hash, line._replace(line=line.line + 1)))
    assert broken_at(forged) == 2
    assert broken_at([lines[0], linked(lines[0].hash, lines[0]._replace(line=1))]) == 1


# --- faults ----------------------------------------------------------------------------------


def test_a_writer_excludes_all_others(ledger):
    """Review finding: nothing noticed when a charge did not lock out others from the start."""
    store = Store(ledger.path)
    with (
        store.transaction(write=True),
        contextlib.closing(sqlite3.connect(ledger.path, timeout=0, isolation_level=None)) as other,
    ):
        for statement in ("BEGIN IMMEDIATE", "SELECT count(*) FROM lines"):
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute(statement)


def test_what_is_committed_is_on_the_disk(ledger):
    with Store(ledger.path).transaction(write=True) as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    edit(ledger.path, "PRAGMA journal_mode = WAL")  # which would weaken that
    ledger.charge(0.1, 0)
    with Store(ledger.path).transaction(write=True) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_busy_ledger_is_waited_for_and_says_so(ledger, monkeypatch):
    """Review finding: 'is not a ledger (database is locked)' after 70 s."""
    opened = sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)
    with contextlib.closing(opened) as db:
        db.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr(store_module, "PATIENCE", 0.3)
        for attempt in (lambda: ledger.charge(0.1, 0), ledger.remaining):
            with pytest.raises(LedgerError, match="is busy: another process"):
                attempt()
        monkeypatch.setattr(store_module, "PATIENCE", 60.0)
        monkeypatch.setattr(store_module, "TELL", 0.1)

        later = threading.Timer(0.5, db.execute, ["COMMIT"])
        later.start()
        with pytest.warns(LedgerBusy, match="waiting for the ledger"):
            ledger.charge(0.1, 0)
        later.join()
    assert len(ledger.history()) == 5


def test_waiting_ends_with_control_c(ledger):
    with contextlib.closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            code = 1
            try:
                ledger.charge(0.1, 0)
            except KeyboardInterrupt:
                code = 7
            finally:
                os._exit(code)
        time.sleep(0.3)
        started = time.monotonic()
        os.kill(child, signal.SIGINT)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7
        assert time.monotonic() - started < 1
    assert len(ledger.history()) == 4


def test_a_full_disk_is_said_and_nothing_is_charged(ledger, tmp_path):
    def full(limit, work):
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            return work()

        return in_child(limited)

    many = [{"event": "Gaussians", "mu": 0.1, "name": "x" * 50_000}]
    size = ledger.path.stat().st_size
    for limit in (size, 600, 0):  # the file, its journal, everything
        said = full(limit, lambda: ledger.charge(0.1, 0, events=many))
        assert said.startswith("LedgerError: the ledger"), said
        assert "nothing was charged" in said
    assert len(ledger.history()) == 4
    for limit in (10_000, 100, 0):
        said = full(limit, lambda: Ledger(1.0, 1e-5, tmp_path / "new"))
        assert said.startswith("LedgerError"), said
    assert sorted(os.listdir(tmp_path)) == ["l", "l.head"]


def test_a_ledger_that_may_only_be_read_is_shown_and_not_charged(ledger, tmp_path):
    def nobody(work):
        def changed():
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            return work()

        return in_child(changed)

    for folder in (tmp_path, *tmp_path.parents):  # pytest keeps its folders to their owner
        if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):
            os.chmod(folder, folder.stat().st_mode | 0o055)
    os.chmod(ledger.path, 0o444)
    os.chmod(tmp_path, 0o555)
    try:
        assert nobody(lambda: ledger.remaining().epsilon) == "1.0"
        said = nobody(lambda: ledger.charge(0.1, 0))
        assert "is read-only here" in said
        os.chmod(ledger.path, 0o666)
        said = nobody(lambda: ledger.charge(0.1, 0))
        assert said.startswith("LedgerError: the ledger"), said
        assert "to its folder" in said
        assert nobody(lambda: Ledger(1.0, 1e-5, tmp_path / "n")).startswith(
            "LedgerError: no ledger"
        )
        os.chmod(ledger.path, 0o000)
        assert nobody(ledger.remaining).startswith("LedgerError: the ledger")
    finally:
        os.chmod(tmp_path, 0o755)
        os.chmod(ledger.path, 0o600)
    assert len(ledger.history()) == 4


def test_what_is_not_a_ledger_is_said_to_be_none(tmp_path):
    (tmp_path / "text").write_text("not a database, but long enough to be looked at as one" * 20)
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    edit(tmp_path / "other", "CREATE TABLE people (name TEXT)")
    for name in ("text", "empty", "folder", "pipe", "other"):
        for arguments in ((), (1.0, 1e-5)):
            with pytest.raises(LedgerError, match="is not a ledger of sparsedp"):
                Ledger(*arguments, path=tmp_path / name)
    assert (tmp_path / "empty").stat().st_size == 0


def test_a_ledger_has_a_limit(ledger, monkeypatch):
    monkeypatch.setattr(store_module, "LARGEST", 100)
    with pytest.raises(LedgerError, match="larger than a ledger may be"):
        ledger.charge(0.1, 0)


def test_pickles_of_version_0_1_are_read(ledger):
    class Old:
        def __reduce__(self):
            return (package._reopen, (ledger.path, 99.0, 0.5))

    twin = pickle.loads(pickle.dumps(Old()))
    with pytest.raises(BudgetExceeded):
        twin.charge(1.5, 0)
    twin.charge(1.0, 0)
    assert ledger.remaining().epsilon == 0


def test_a_newer_ledger_is_left_alone(ledger):
    edit(ledger.path, "PRAGMA user_version = 3")
    with pytest.raises(LedgerError, match="newer version of sparsedp"):
        ledger.charge(0.1, 0)


def test_any_flipped_byte_is_harmless_or_found(ledger):
    """Seed 1. Nothing but a LedgerError comes out, and no balance that is larger."""
    whole = ledger.path.read_bytes()
    random = np.random.default_rng(1)
    found = 0
    for place in random.integers(0, len(whole), 150):
        broken = bytearray(whole)
        broken[place] ^= int(random.integers(1, 256))
        ledger.path.write_bytes(bytes(broken))
        try:
            assert ledger.remaining() == (1.0, 9.6e-6)
        except LedgerError:
            found += 1
    for length in (0, 1, 99, 4096, len(whole) // 2):
        ledger.path.write_bytes(whole[:length])
        with pytest.raises(LedgerError):
            ledger.remaining()
    assert found > 20


# --- ledgers of version 0.1 ------------------------------------------------------------------


def old_ledger(path: Path, *charges: tuple) -> None:
    edit(
        path,
        "CREATE TABLE budget (epsilon TEXT, delta TEXT)",
        "CREATE TABLE charges "
        "(time TEXT, epsilon TEXT, delta TEXT, neighbors TEXT, what TEXT, events TEXT)",
        "INSERT INTO budget VALUES ('2.0', '1e-05')",
        *(f"INSERT INTO charges VALUES {charge!r}" for charge in charges),
    )


TIME = "2026-01-02T03:04:05Z"


def test_a_ledger_of_version_0_1_is_converted_whole(path):
    charges = [
        (TIME, "0.5", "1e-07", "replace_one", f"fit {i}", '[{"event": "x"}]') for i in (1, 2)
    ]
    old_ledger(path, *charges)
    with pytest.raises(LedgerError, match="--upgrade"):
        Ledger(path=path)
    upgrade(path)
    ledger = Ledger(2.0, 1e-5, path)
    assert ledger.remaining() == (1.0, 9.8e-6)
    assert [(c.time, c.what, c.events) for c in ledger.history()] == [
        (TIME, "fit 1", [{"event": "x"}]),
        (TIME, "fit 2", [{"event": "x"}]),
    ]
    assert ledger.pending() == []
    with pytest.raises(BudgetExceeded):
        ledger.charge(0.1, 0)  # another relation
    ledger.charge(1.0, 0, neighbors="replace_one")
    with pytest.raises(LedgerError, match="need not be converted"):
        upgrade(path)
    assert ledger.verify().line == 3


@pytest.mark.parametrize(
    "charge",
    [
        (TIME, "-0.5", "0.0", "add_remove", "", "[]"),
        (TIME, "nan", "0.0", "add_remove", "", "[]"),
        (TIME, "0.5", "x", "add_remove", "", "[]"),
        (TIME, "0.5", "0.0", "nobody", "", "[]"),
        (TIME, "0.5", "0.0", "add_remove", "", "["),
        ("yesterday", "0.5", "0.0", "add_remove", "", "[]"),
    ],
)
def test_what_cannot_be_converted_stays_as_it_is(path, charge):
    old_ledger(path, (TIME, "0.5", "0.0", "add_remove", "", "[]"), charge)
    before = path.read_bytes()
    with pytest.raises(LedgerError):
        upgrade(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_an_overspent_ledger_of_version_0_1_keeps_its_charges(path):
    old_ledger(path, *[(TIME, "1.5", "0.0", "add_remove", "", "[]")] * 2)
    upgrade(path)
    ledger = Ledger(path=path)
    assert len(ledger.history()) == 2
    assert ledger.remaining().epsilon == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge(0.0, 0)
    with pytest.raises(LedgerError, match="more charges than its budget"):
        ledger.verify()


def test_making_a_ledger_drops_no_lock_of_another_thread(path, monkeypatch):
    # Closing a handle of a file drops all POSIX locks of the process on it: a thread that charges
    # the moment the file has its name would no longer exclude other processes.
    link, held = os.link, []

    def link_and_lock(source, target):
        link(source, target)
        held.append(sqlite3.connect(target, isolation_level=None))
        held[0].execute("BEGIN EXCLUSIVE")

    monkeypatch.setattr(store_module.os, "link", link_and_lock)
    Store(path).create(first_line(1.0, 1e-5, "sum", "record", None))
    script = (
        "import sqlite3, sys\n"
        "sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN EXCLUSIVE')"
    )
    other = subprocess.run([sys.executable, "-c", script, path], capture_output=True, check=False)
    held[0].close()
    assert b"database is locked" in other.stderr


def test_a_charge_pays_for_one_model(ledger):
    receipt = ledger.charge(0.1, 0)
    ledger.finish(receipt, "ab" * 32)
    with pytest.raises(LedgerError, match="another model of line"):
        ledger.finish(receipt, "cd" * 32)
    assert ledger.models()[receipt.line] == {"ab" * 32}


STRANGE = [
    *((1, key, value) for key in ("what", "who", "seeded", "events") for value in (5, {"a": [1]})),
    *((2, "charge", value) for value in ([1], {"a": 1}, None)),
    *((0, "key", value) for value in (5, None, [1])),
    (1, "neighbors", "all"),
    (2, "model", 5),
]


@pytest.mark.parametrize(("number", "key", "value"), STRANGE)
def test_lines_of_other_types_are_damage(number, key, value, path):
    # Correct hashes over details that no ledger writes: a sentence, not a traceback.
    ledger = Ledger(1.0, 1e-5, path)
    ledger.finish(ledger.charge(0.1, 0), "ab" * 32)
    head_path(path).unlink()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        rows = [Line(*row) for row in db.execute("SELECT * FROM lines ORDER BY line")]
        before = START
        db.execute("DELETE FROM lines")
        for row in rows:
            details = row.read() | ({key: value} if row.line == number else {})
            line = linked(before, row._replace(details=encoded(details)))
            db.execute("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", line)
            before = line.hash

    def read() -> None:
        Ledger(path=path).models()
        Ledger(path=path).history()

    with pytest.raises(LedgerError, match="damaged or changed by hand"):
        read()
