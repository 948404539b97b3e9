"""The folder that a fit writes: prepared before the budget is charged, put in place as a whole.

Beside FOLDER a fit keeps ``FOLDER.unfinished``, which is never published::

    note.json      which folder is being made, and the ledger of the charge
    model/         what will be FOLDER: run.toml from the start, then model.json, then report.html
    old/           what was FOLDER, for a moment, where two names cannot be exchanged

``model/`` holds room for the model before anything is charged. From the moment that its model.json
exists nothing can be lost: ``sparsedp fit --resume`` writes what is missing and puts it in place.
"""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from sparsedp.cli.folder.swap import put_in_place, sync_folder, write_whole

if os.name == "posix":
    import fcntl

MODEL, REPORT, RUN = "model.json", "report.html", "run.toml"
FILES = (MODEL, REPORT, RUN)

LARGEST_RESERVE = 64 * 2**20
"""Bytes that are written as a proof at most; beyond that the free space is believed."""


class Note(TypedDict):
    """What a fit that goes on needs to know about the one that was interrupted."""

    ledger: str | None
    force: bool


class Output:
    """One fit's way to its folder.

    Parameters
    ----------
    folder : Path
        What -o says. A link is followed: the folder that it names is replaced, the link stays.
    """

    def __init__(self, folder: Path) -> None:
        self.shown = folder
        self.folder = Path(os.path.realpath(folder))
        self.staging = self.folder.with_name(self.folder.name + ".unfinished")
        self.new = self.staging / "model"
        self.placed = False
        self._lock: int | None = None

    @property
    def stored(self) -> bool:
        """Whether a released model waits to be put in place."""
        return self._lies_at(self.new) and (self.new / MODEL).exists()

    @property
    def model(self) -> bytes:
        """The stored model file."""
        return (self.new / MODEL).read_bytes()

    def check(self, *, force: bool) -> None:
        """Refuse what can be refused before anything is read or written."""
        folder = self.folder
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{self.shown} is a file: choose another folder by -o")
        if folder == Path.cwd() or folder in Path.cwd().parents or os.path.ismount(folder):
            raise ValueError(
                f"{self.shown} cannot be replaced as a whole: name a folder inside it by -o"
            )
        if self.stored and self._free():
            raise ValueError(
                f"an interrupted fit left a model for {self.shown} that is paid for: finish it by "
                f"'sparsedp fit --resume -o {self.shown}' at no charge, or delete {self.staging}"
            )
        self._check_old(force=force)

    def _check_old(self, *, force: bool) -> None:
        """Refuse to replace what is no model, or a model without being told to."""
        if not self.folder.is_dir():
            return
        names = sorted(path.name for path in self.folder.iterdir())
        if MODEL in names and (self.folder / MODEL).stat().st_size and not force:
            raise ValueError(
                f"{self.shown} already holds a model: choose another folder by -o, or --force"
            )
        others = [name for name in names if name not in FILES]
        if others:
            raise ValueError(
                f"{self.shown} holds other files ({others[0]}), and a fit replaces a folder as a "
                "whole: choose another folder by -o"
            )

    def prepare(self, run_toml: str, size: int, *, ledger: Path | None, force: bool) -> None:
        """Prove that the folder can be written, and keep room for a model of this many bytes."""
        try:
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            self._begin()
            try:
                self._reserve(
                    run_toml,
                    size,
                    Note(ledger=None if ledger is None else str(ledger), force=force),
                )
            except BaseException:
                self.discard()
                raise
        except OSError as error:
            raise ValueError(
                f"the model could not be written to {self.shown} ({error.strerror}): nothing was "
                "charged"
            ) from None

    def store(self, model: bytes) -> None:
        """Keep a model file in the room that was made for it, on disk when this returns."""
        reserve = self.new / "reserve"
        with reserve.open("r+b") as file:
            file.write(model)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        reserve.replace(self.new / MODEL)
        sync_folder(self.new)

    def finish(self, report: str, *, force: bool) -> None:
        """Add the report and put the folder in place."""
        self._check_old(force=force)
        write_whole(self.new / REPORT, report.encode())
        put_in_place(self.new, self.folder, self.staging / "old")
        self.placed = True
        self.discard()

    def resume(self) -> Note | None:
        """Take up what an interrupted fit left: its note, or None if all is in place."""
        if self.staging.is_dir():
            if not self._take():
                raise ValueError(f"a fit is just writing {self.shown}: wait for it")
            if self.stored:
                note = json.loads((self.staging / "note.json").read_text(encoding="utf-8"))
                return {"ledger": note.get("ledger"), "force": note.get("force") is True}
            self._check_moved()
            self.discard()
        if (self.folder / MODEL).exists():
            return None
        raise ValueError(
            f"no model is waiting for {self.shown}: if the fit was charged, 'sparsedp ledger' "
            "lists the charge as pending"
        )

    def discard(self) -> None:
        """Remove what is beside the folder, the note last: without it nothing is believed.

        Only what this fit holds: another one may be running, or have left the only copy of a model.
        """
        if os.name == "posix" and self._lock is None:
            return
        for name in ("model", "old"):
            shutil.rmtree(self.staging / name, ignore_errors=True)
        shutil.rmtree(self.staging, ignore_errors=True)
        self.release()

    def release(self) -> None:
        """Let others at what is beside the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _begin(self) -> None:
        """Make the folder beside, ours alone; what an earlier fit left there held no model."""
        if self.staging.is_dir() and self._take():
            if self.stored:
                raise ValueError(f"another fit has just made a model for {self.shown}")
            self._check_moved()
            self.discard()
        try:
            self.staging.mkdir()
        except FileExistsError:
            raise ValueError(f"another fit is writing {self.shown}: choose another") from None
        if not self._take():
            raise ValueError(f"another fit is writing {self.shown}: choose another")

    def _reserve(self, run_toml: str, size: int, note: Note) -> None:
        self.new.mkdir()
        inode = self.new.stat().st_ino
        write_whole(self.staging / "note.json", json.dumps({**note, "inode": inode}).encode())
        write_whole(self.new / RUN, run_toml.encode())
        if shutil.disk_usage(self.staging).free < 2 * size:
            raise ValueError(
                f"there is too little space for a model in {self.shown}: make {2 * size >> 20} MB "
                "free; nothing was charged"
            )
        with (self.new / "reserve").open("wb") as file:
            # Bytes that no file system stores as a hole.
            for _ in range(0, min(size, LARGEST_RESERVE), 2**20):
                file.write(os.urandom(2**20))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.new)

    def _lies_at(self, path: Path) -> bool:
        """Whether the folder of this fit, which keeps its inode, has this name now."""
        try:
            note = json.loads((self.staging / "note.json").read_text(encoding="utf-8"))
            return path.stat().st_ino == note["inode"]
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _check_moved(self) -> None:
        """Refuse to remove a model that was copied or put back: its folder has another inode."""
        if (self.new / MODEL).exists() and not self._lies_at(self.folder):
            self.release()
            raise ValueError(
                f"{self.staging} was moved or put back from a copy, and holds a model that may be "
                f"the only one: move {self.new} to where it belongs, or delete {self.staging}"
            )

    def _free(self) -> bool:
        """Whether no running fit holds what is beside the folder."""
        free = self._take()
        self.release()
        return free

    def _take(self) -> bool:
        """Hold the folder beside until this process ends; False if another one does."""
        if os.name != "posix":
            return True
        handle = os.open(self.staging, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(handle).st_ino != self.staging.stat().st_ino:
                raise OSError("removed meanwhile")
        except OSError:
            os.close(handle)
            return False
        self._lock = handle
        return True


def model_size(names: Sequence[str] | None, n_features: int, n_outputs: int) -> int:
    """Bytes that model.json, report.html and run.toml need at most, rounded up generously."""
    spelled = 0 if names is None else sum(len(name) for name in names)
    used = min(n_features, 50_000)  # a model that uses more finds the free space believed
    # A shape has some twenty knots, and heights for each output, in the file and in the report.
    return 2**20 + used * (1800 + 800 * n_outputs) + 60 * n_features + 16 * spelled
