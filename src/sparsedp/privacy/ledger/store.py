"""The ledger's file: an SQLite database that is made whole, or not at all."""

import contextlib
import hashlib
import hmac
import os
import random
import sqlite3
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparsedp.privacy.ledger.chain import KINDS, Line
from sparsedp.privacy.ledger.errors import (
    LedgerBusy,
    LedgerError,
    LedgerGone,
    damaged,
    is_busy,
    translated,
)

VERSION = 2
"""Of the tables below. Version 0.1 of the library wrote no number (`upgrade`)."""

LARGEST = 2**28
"""Bytes of a ledger that is opened: some 300,000 lines, read as a whole at every charge."""

PATIENCE = 60.0
"""Seconds to wait for other processes."""

TELL = 10.0
"""Seconds after which a warning says that it waits."""

SLICE = 0.02
"""Seconds that SQLite may wait by itself: Ctrl-C is not seen meanwhile, and it is not fair."""


def _number(column: str, also: str = "") -> str:
    """A text that reads as a number, is not negative and neither nan nor infinite."""
    plain = f"{column} GLOB '[0-9]*' AND {column} NOT GLOB '*[^0-9.e+-]*'"
    return f"CHECK (typeof({column}) = 'text' AND {plain} AND length({column}) <= 32{also})"


def _optional(column: str) -> str:
    plain = f"{column} GLOB '[0-9]*' AND {column} NOT GLOB '*[^0-9.e+-]*'"
    return f"CHECK ({column} IS NULL OR {column} = 'inf' OR {plain} AND length({column}) <= 32)"


_KINDS = ", ".join(f"'{kind}'" for kind in KINDS)
_DAY = "-".join(("[0-9]" * 4, "[0-9]" * 2, "[0-9]" * 2))
_CLOCK = ":".join(("[0-9]" * 2,) * 3)

SCHEMA = {
    "lines": f"""CREATE TABLE lines (
  line INTEGER PRIMARY KEY CHECK (line >= 0),
  kind TEXT NOT NULL CHECK (kind IN ({_KINDS})),
  time TEXT NOT NULL CHECK (time GLOB '{_DAY}T{_CLOCK}Z'),
  epsilon TEXT NOT NULL {_number("epsilon")},
  delta TEXT NOT NULL {_number("delta", " AND CAST(delta AS REAL) <= 1")},
  divergence TEXT {_optional("divergence")},
  leak TEXT {_optional("leak")},
  details TEXT NOT NULL CHECK (typeof(details) = 'text'),
  hash TEXT NOT NULL CHECK (length(hash) = 64 AND hash NOT GLOB '*[^0-9a-f]*'))""",
    "fingerprints": """CREATE TABLE fingerprints (
  line INTEGER PRIMARY KEY REFERENCES lines (line),
  fingerprint TEXT NOT NULL CHECK (length(fingerprint) = 64))""",
}

_OLD = {"budget", "charges"}
"""Tables of version 0.1."""


class Store:
    """Reads and appends lines, in transactions that exclude other processes.

    Parameters
    ----------
    path : Path
    durable : bool
        Whether what was committed must survive a loss of power. False only for a ledger that ends
        with its process anyway.
    """

    def __init__(self, path: Path, durable: bool = True) -> None:
        self.path = path
        self.durable = durable

    def create(self, first: Line) -> bool:
        """Make the file with its first line; False if there is one already.

        The file is written under another name, brought to the disk, and given its name when it is
        complete: whoever is killed on the way leaves no ledger, or a whole one.
        """
        folder = self.path.parent
        try:
            sweep(self.path)
            handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", suffix=".new", dir=folder)
        except OSError as error:
            raise LedgerError(f"no ledger can be made in {folder}: {error.strerror}") from None
        try:
            with contextlib.closing(sqlite3.connect(name, isolation_level=None)) as db:
                # Nobody else knows this file, and it is synced as a whole below.
                db.execute("PRAGMA journal_mode = MEMORY")
                db.execute("PRAGMA synchronous = OFF")
                db.execute("BEGIN")
                fill(db, [first])
                db.execute("COMMIT")
            os.fsync(handle)
            # Before others can open the file: closing any handle of a file drops all locks that
            # this process holds on it, also those of another thread's charge.
            os.close(handle)
            handle = None
            os.link(name, self.path)
            sync_folder(folder)
        except FileExistsError:
            return False
        except sqlite3.Error as error:
            raise translated(error, self.path) from None
        except OSError as error:
            raise LedgerError(f"no ledger can be made in {folder}: {error.strerror}") from None
        finally:
            if handle is not None:
                os.close(handle)
            with contextlib.suppress(OSError):
                os.unlink(name)
        return True

    @contextmanager
    def transaction(self, *, write: bool, version: int = VERSION) -> Iterator[sqlite3.Connection]:
        """A view of the file that no other process changes; with ``write``, committed at the end.

        Every error of SQLite comes out as a `LedgerError`, and nothing was written then.
        """
        self._check_file()
        try:
            with contextlib.closing(self._begin(write)) as db:  # closing rolls back
                _check_schema(db, self.path, version)
                yield db
                if write:
                    db.execute("COMMIT")
        except sqlite3.Error as error:
            raise translated(error, self.path) from None
        except UnicodeDecodeError:  # of a broken name in SQLite's own message
            raise damaged(self.path, "its database is broken") from None

    def lines(self, db: sqlite3.Connection) -> list[Line]:
        """All lines, oldest first."""
        rows = db.execute(f"SELECT {', '.join(Line._fields)} FROM lines ORDER BY line")
        return [Line(*row) for row in rows]

    def _check_file(self) -> None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            raise LedgerGone(
                f"the ledger's file {self.path} is gone; a ledger without a path ends with the "
                "process that made it: give it a path to keep it"
            ) from None
        except OSError as error:
            raise LedgerError(f"the ledger {self.path}: {error.strerror}") from None
        if not stat.S_ISREG(found.st_mode):
            raise LedgerError(f"{self.path} is not a ledger of sparsedp: it is not a file")
        if found.st_size > LARGEST:
            raise LedgerError(f"{self.path} is larger than a ledger may be, {LARGEST >> 20} MB")

    def _begin(self, write: bool) -> sqlite3.Connection:
        """Wait for our turn, in slices, so that Ctrl-C is seen and someone is told."""
        db = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw", uri=True, timeout=SLICE, isolation_level=None
        )
        try:
            started, told = time.monotonic(), False
            while True:
                try:
                    _prepare(db, self.durable)
                    # Exclusive: whoever comes later can neither read a balance nor write until
                    # this charge is on the disk.
                    db.execute("BEGIN EXCLUSIVE" if write else "BEGIN")
                    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    return db
                except sqlite3.Error as error:
                    waited = time.monotonic() - started
                    if not is_busy(error) or waited > PATIENCE:
                        raise
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    if waited > TELL and not told:
                        warnings.warn(
                            f"waiting for the ledger {self.path}, which another process uses",
                            LedgerBusy,
                            stacklevel=2,
                        )
                        told = True
                    time.sleep(random.uniform(0.005, 0.05))  # everybody has the same chance
        except BaseException:
            db.close()
            raise


def fill(db: sqlite3.Connection, lines: list[Line]) -> None:
    """Make the tables and write these lines, within the caller's transaction."""
    for sql in SCHEMA.values():
        db.execute(sql)
    db.execute(f"PRAGMA user_version = {VERSION}")
    for line in lines:
        append(db, line)


def append(db: sqlite3.Connection, line: Line) -> None:
    """Write a line."""
    db.execute(f"INSERT INTO lines VALUES ({', '.join('?' * len(line))})", line)


def note_fingerprint(db: sqlite3.Connection, line: Line, key: str, digest: bytes) -> None:
    """Keep a keyed fingerprint of the records of a charge; only the ledger's file has the key."""
    fingerprint = hmac.new(bytes.fromhex(key), digest, hashlib.sha256).hexdigest()
    db.execute("INSERT INTO fingerprints VALUES (?, ?)", (line.line, fingerprint))


def sweep(path: Path) -> None:
    """Remove what processes that were killed left beside a ledger, unless it may be in use."""
    with os.scandir(path.parent) as entries:
        for entry in entries:
            ours = entry.name.startswith(f".{path.name}.") and entry.name.endswith(
                (".new", ".head")
            )
            with contextlib.suppress(OSError):
                if ours and entry.stat().st_mtime < time.time() - 3600:
                    os.unlink(entry.path)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    if os.name == "nt":
        return  # Windows has no such call; NTFS logs names itself
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _prepare(db: sqlite3.Connection, durable: bool) -> None:
    # EXTRA also syncs the folder after the journal is removed: else a loss of power can bring the
    # journal back, and with it the balance from before the charge.
    db.execute(f"PRAGMA synchronous = {'EXTRA' if durable else 'OFF'}")
    db.execute("PRAGMA trusted_schema = OFF")
    if db.execute("PRAGMA journal_mode").fetchone()[0] != "delete":
        db.execute("PRAGMA journal_mode = DELETE")


def _check_schema(db: sqlite3.Connection, path: Path, version: int) -> None:
    """Refuse what is not a ledger of this version, to the letter: no triggers, no views."""
    found = db.execute("PRAGMA user_version").fetchone()[0]
    objects = {
        (kind, name): sql
        for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master")
    }
    names = {name for _, name in objects}
    if found == version == 0 and names == _OLD:
        return
    if found == 0 and names == _OLD:
        raise LedgerError(
            f"the ledger {path} was made by sparsedp 0.1: convert it by "
            "'sparsedp ledger FILE --upgrade', which keeps every charge"
        )
    if found > VERSION and "lines" in names:
        raise LedgerError(
            f"the ledger {path} was made by a newer version of sparsedp: use that version"
        )
    if "lines" not in names:
        raise LedgerError(f"{path} is not a ledger of sparsedp")
    if version != VERSION:
        raise LedgerError(f"the ledger {path} need not be converted: it is of this version")
    if found != VERSION or objects != {("table", name): sql for name, sql in SCHEMA.items()}:
        raise damaged(path, "its tables are not those that sparsedp makes")
