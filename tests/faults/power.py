"""What a loss of power can take back: file calls of a process, and which of them are on the disk.

A write is safe once its file was synced; a name (made, removed or replaced) once its folder was.
Until then the disk may hold either state: a journal whose removal is taken back rolls the
database back to before the charge.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SCRIPT = """
import ctypes, sys
from sparsedp.privacy.ledger import Ledger, store
folder, prepare = sys.argv[1], store._prepare

def weaker(db, durable):
    prepare(db, durable)
    db.execute("PRAGMA synchronous = FULL")

for level, used in (("EXTRA", prepare), ("FULL", weaker)):
    store._prepare = used
    ctypes.CDLL(None).setenv(b"TRACE_LOG", f"{folder}/log.{level}".encode(), 1)
    path = f"{folder}/{level}/l"

    def told(what):
        with open(path + ".told", "a") as file:
            file.write(what)

    ledger = Ledger(1.0, 1e-5, path)
    told("made")
    receipt = ledger.charge(0.1, 0)
    told("charged")
    ledger.finish(receipt, "model")
    told("finished")
"""


class Call(NamedTuple):
    """One call: what, on which path, and the new name if it gives one."""

    what: str
    path: str
    other: str


def calls(folder: Path) -> dict[str, list[Call]]:
    """The file calls of making a ledger, charging it and finishing, by SQLite's level of care."""
    library, source = folder / "trace.so", Path(__file__).with_name("trace.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    for level in ("EXTRA", "FULL"):
        (folder / level).mkdir()
    subprocess.run(
        [sys.executable, "-c", SCRIPT, folder],
        env={**os.environ, "LD_PRELOAD": str(library)},
        check=True,
    )
    found = {}
    for level in ("EXTRA", "FULL"):
        every = [Call(*x.split("\t")) for x in (folder / f"log.{level}").read_text().splitlines()]
        found[level] = [call for call in every if call.path.startswith(f"{folder}/{level}")]
    return found


def unsafe(done: list[Call]) -> set[tuple[str, str]]:
    """What a loss of power after these calls may take back: contents and names, by path."""
    open_ends: set[tuple[str, str]] = set()
    for what, path, other in done:
        match what:
            case "write":
                open_ends.add(("content", path))
            case "unlink":
                open_ends.add(("name", path))
                open_ends.discard(("content", path))
            case "rename" | "link":
                open_ends.add(("name", other))
                if ("content", path) in open_ends:
                    open_ends.add(("content", other))
            case "sync":
                open_ends.discard(("content", path))
                open_ends -= {
                    end
                    for end in open_ends
                    if end[0] == "name" and str(Path(end[1]).parent) == path
                }
    return open_ends
