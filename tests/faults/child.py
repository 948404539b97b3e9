"""The command line in a forked child: real files, real signals, and no second start of Python."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sparsedp.cli import main


class Ended(NamedTuple):
    """How a child ended: its exit code (negative: the signal that killed it), and what it said."""

    code: int
    out: str
    err: str


class Child:
    """A child that runs ``sparsedp`` with these arguments in ``folder``."""

    def __init__(
        self, arguments: list[str], folder: Path, prepare: Callable[[], None] = lambda: None
    ) -> None:
        self.folder = folder
        ready, begun = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(arguments, prepare, begun)
        os.close(begun)
        os.read(ready, 1)  # until the command begins
        os.close(ready)

    def _run(self, arguments: list[str], prepare: Callable[[], None], begun: int) -> None:
        code = 99
        try:
            # Background jobs of a shell start with interrupts switched off.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(self.folder)
            for number, name in ((1, "out"), (2, "err")):
                handle = os.open(f".{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
                os.dup2(handle, number)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            prepare()
            os.write(begun, b"!")
            try:
                main(arguments, prog_name="sparsedp")
            except SystemExit as end:
                code = 0 if end.code is None else int(end.code)
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    def send(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def wait(self) -> Ended:
        """Wait for the end."""
        _, status = os.waitpid(self.pid, 0)
        texts = [(self.folder / f".{name}").read_text() for name in ("out", "err")]
        return Ended(os.waitstatus_to_exitcode(status), *texts)
