"""What a ledger says when it cannot do what was asked: one type, one sentence each."""

import sqlite3
from pathlib import Path


class LedgerError(ValueError):
    """A ledger cannot be used as asked; nothing was charged unless the message says so."""


class BudgetExceeded(LedgerError, RuntimeError):
    """A charge was refused: nothing was written and nothing may be drawn."""


class LedgerGone(LedgerError, FileNotFoundError):
    """The ledger's file is not there: never a reason to start a fresh budget."""


class LedgerBusy(UserWarning):
    """Another process is using the ledger; this one waits for its turn."""


_SENTENCES = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "is busy: another process has kept it locked all the time; try again when that one is done",
    ),
    (("SQLITE_FULL",), "could not be written: the disk is full; make room and try again"),
    (
        ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"),
        "is read-only here: a charge needs the right to write to it and to its folder",
    ),
    (
        ("SQLITE_CANTOPEN",),
        "cannot be opened: reading needs the right to read it, a charge also needs the right to "
        "write to its folder",
    ),
    (("SQLITE_NOTADB",), "is not a ledger of sparsedp"),
    (
        ("SQLITE_IOERR", "SQLITE_PROTOCOL", "SQLITE_NOLFS"),
        "could not be read or written: the disk or a limit on file sizes refused",
    ),
)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether waiting may help."""
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def translated(error: sqlite3.Error, path: Path) -> LedgerError:
    """The same as one sentence about the ledger; what is unknown counts as damage."""
    for names, sentence in _SENTENCES:
        if _name(error).startswith(names):
            return LedgerError(f"the ledger {path} {sentence}; nothing was charged")
    return damaged(path, "its database is broken")


def damaged(path: Path, reason: str) -> LedgerError:
    """The file is no ledger that was only ever appended to."""
    return LedgerError(
        f"the ledger {path} was damaged or changed by hand ({reason}): nothing is charged to it. "
        "Put the latest backup back and verify it against the published models "
        "(sparsedp ledger verify FILE --model MODEL)"
    )


def _name(error: sqlite3.Error) -> str:
    # Errors of Python's own module (text that is not UTF-8, say) carry no code of SQLite.
    return str(getattr(error, "sqlite_errorname", ""))
