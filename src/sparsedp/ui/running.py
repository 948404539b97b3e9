"""Run one command of the page: the same program, in the folder where the page was started."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LONGEST = 120
"""Seconds that a command without records may take."""


def process(command: Sequence[str]) -> list[str]:
    """What is started for ``sparsedp ...``.

    -P, as for the program itself: a file csv.py among the data is no module.
    """
    return [sys.executable, "-P", "-m", "sparsedp", *command]


@dataclass(frozen=True)
class Ran:
    """What became of a command.

    Parameters
    ----------
    command : tuple of str
    code : int
        0 if all is well, 2 if it was refused and nothing was charged.
    output : dict
        What it printed as JSON; empty if it did not.
    error : str
        Its sentence.
    """

    command: tuple[str, ...]
    code: int
    output: dict[str, object]
    error: str

    @property
    def is_well(self) -> bool:
        """Whether it did what it was asked."""
        return self.code == 0

    @classmethod
    def of(
        cls, command: Sequence[str], code: int, printed: str, said: str, kept: str = ""
    ) -> "Ran":
        """From what it printed; ``kept`` names the file that keeps what it said."""
        try:
            output = json.loads(printed)
        except ValueError:
            output = {}
        found = output if isinstance(output, dict) else {}
        return cls(tuple(command), code, found, "" if code == 0 else sentence(said, kept))

    def to_json(self) -> str:
        """As it is stored."""
        content = {"command": self.command, "code": self.code}
        return json.dumps({**content, "output": self.output, "error": self.error})

    @classmethod
    def read(cls, path: Path) -> "Ran | None":
        """From its file, if it is there."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                tuple(map(str, stored["command"])),
                int(stored["code"]),
                dict(stored["output"]),
                str(stored["error"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None


def run(command: Sequence[str], root: Path) -> Ran:
    """Run a command to its end."""
    try:
        done = subprocess.run(
            process(command),
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return Ran(tuple(command), 2, {}, f"this took more than {LONGEST} seconds and was stopped")
    return Ran.of(command, done.returncode, done.stdout, done.stderr)


def sentence(said: str, kept: str = "") -> str:
    """The sentence that a command ends with; a traceback is a bug, and is not shown.

    ``kept`` names the file that has it: nobody is told to run a fit again, which is charged again.
    """
    if "Traceback (most recent call last)" in said:
        where = f"{kept} says more" if kept else "run the command in a terminal to see more"
        return f"this is a bug in sparsedp: {where}"
    for line in reversed(said.replace("\r", "\n").splitlines()):
        if line.startswith("Error: "):
            return line.removeprefix("Error: ")
    return "the command was stopped before it ended"
