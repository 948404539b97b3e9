"""A fit that is charged once, whatever is clicked twice.

An attempt is a folder ``fit-N``, which only one can make. It holds the commands, and a lock that
the process of the fit inherits: as long as that lives, in this server or after it, the lock is
held. A journey has one attempt that may have been charged. Only after a refusal (exit code 2, by
which nothing was charged) is there another one; what ended in any other way can be taken up by
``sparsedp fit --resume``, which charges nothing, and never be run again.
"""

import hashlib
import json
import os
import re
import secrets
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sparsedp.ui.answers import Answers
from sparsedp.ui.journey import Journey
from sparsedp.ui.locks import is_held, take
from sparsedp.ui.running import Ran

Kind = Literal["none", "running", "refused", "done", "failed"]
COUNTED = re.compile(r"(\d+)/(\d+) releases")


@dataclass(frozen=True)
class Standing:
    """How the fit of a journey stands.

    Parameters
    ----------
    kind : {"none", "running", "refused", "done", "failed"}
        "failed" may have been charged, and "refused" was not.
    attempt : int
        The last one, 0 if there was none.
    resuming : bool
        Whether it takes up what an earlier one left.
    progress : (int, int) or None
        Releases made and planned, as the command counts them.
    fit, ledger, verify : Ran or None
        What the commands printed.
    """

    kind: Kind
    attempt: int = 0
    resuming: bool = False
    progress: tuple[int, int] | None = None
    fit: Ran | None = None
    ledger: Ran | None = None
    verify: Ran | None = None

    @property
    def is_open(self) -> bool:
        """Whether settings may still be changed, and a fit be started."""
        return self.kind in ("none", "refused")


def standing(journey: Journey) -> Standing:
    """How things stand, from the disk alone."""
    attempts = sorted(
        (int(path.name[4:]), path)
        for path in journey.folder.glob("fit-*")
        if path.name[4:].isdecimal()
    )
    if not attempts:
        return Standing("none")
    number, folder = attempts[-1]
    held = is_held(folder / "lock")  # first: what ended meanwhile has left its files
    resuming = _is_resuming(folder)
    found = {name: Ran.read(folder / f"{name}.json") for name in ("fit", "ledger", "verify")}
    fit = found["fit"]
    kind: Kind = "failed"
    if held:
        kind = "running"
    elif fit is not None and fit.is_well:
        kind = "done"
    elif fit is not None and fit.code == 2 and resuming is False and not _has_model(journey):
        kind = "refused"
    return Standing(kind, number, resuming is True, _progress(folder), **found)


def fingerprint(journey: Journey, said: Answers) -> str:
    """What a fit would be: its command and its schema. A click is for what its page showed."""
    schema = journey.folder / "schema.toml"
    content = schema.read_bytes() if schema.is_file() else b""
    return hashlib.sha256(json.dumps(journey.commands(said).fit()).encode() + content).hexdigest()


def start(journey: Journey, attempt: int) -> None:
    """Start the fit, if this is the attempt that comes next; otherwise the other one goes on.

    The caller holds the journey.
    """
    now = standing(journey)
    if now.is_open and attempt == now.attempt + 1:
        _start(journey, attempt, resuming=False)


def resume(journey: Journey, attempt: int) -> None:
    """Take up what a fit left that did not end well; charges nothing. The caller holds it."""
    now = standing(journey)
    if now.kind == "failed" and attempt == now.attempt + 1:
        _start(journey, attempt, resuming=True)


def _start(journey: Journey, attempt: int, *, resuming: bool) -> None:
    commands = journey.commands(journey.said)
    steps = {
        "fit": commands.resume() if resuming else commands.fit(),
        "ledger": commands.show_ledger(),
        "verify": commands.verify(),
    }
    content = {"root": str(journey.places.root), "resuming": resuming, "commands": steps}
    beside = journey.folder / f".fit-{secrets.token_hex(4)}"
    beside.mkdir(mode=0o700)
    (beside / "commands.json").write_text(json.dumps(content), encoding="utf-8")
    lock = take(beside / "lock")
    try:
        folder = journey.folder / f"fit-{attempt}"
        beside.rename(folder)  # fails if there is one: it is never empty
        _begin(folder, lock)
    finally:
        os.close(lock)


def _begin(folder: Path, lock: int) -> None:
    """Start the runner in a session of its own: it outlives the server, and Ctrl-C there."""
    with (folder / "runner.log").open("wb") as log:
        runner = subprocess.Popen(
            [sys.executable, "-P", "-m", "sparsedp.ui.runner", str(folder), str(lock)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
            start_new_session=True,
        )
    threading.Thread(target=runner.wait, daemon=True).start()


def _has_model(journey: Journey) -> bool:
    """Whether a fit has left anything: what can be printed no more may still be paid for."""
    return any((journey.folder / name).exists() for name in ("model", "model.unfinished"))


def _is_resuming(folder: Path) -> bool | None:
    """What an attempt was; None if that cannot be read any more."""
    try:
        return bool(json.loads((folder / "commands.json").read_bytes())["resuming"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _progress(folder: Path) -> tuple[int, int] | None:
    try:
        text = (folder / "fit.stderr").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    counted = COUNTED.findall(text)
    return (int(counted[-1][0]), int(counted[-1][1])) if counted else None
