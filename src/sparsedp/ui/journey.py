"""One person's way from a file to a model, as a folder: what was said, and what came of it.

Below the folder where the page was started::

    sparsedp-ui/NAME/
      journey.json      what was said
      lock              held by whoever changes anything here
      columns.json      the form of columns, as a code book
      schema.toml       as the commands wrote it
      unit.json ...     a file per step: its command, and what it printed
      fit-1/ ...        attempts at a fit (fitting.py)
      model/            the model, with its report
"""

import re
import secrets
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sparsedp.ui.answers import Answers, Unreadable
from sparsedp.ui.commands import Commands
from sparsedp.ui.locks import taken
from sparsedp.ui.places import WORK, Places
from sparsedp.ui.running import Ran, run

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


class Absent(Exception):
    """A journey that does not exist."""


def write(path: Path, text: str) -> None:
    """Write a file as a whole, or not at all."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


@dataclass(frozen=True)
class Journey:
    """A journey that exists.

    Parameters
    ----------
    places : Places
    name : str
    """

    places: Places
    name: str

    @classmethod
    def begun(cls, places: Places, said: Answers) -> "Journey":
        """A new one; only its owner can read its folder."""
        stem = re.sub(r"[^a-z0-9]+", "-", Path(said.data).name.split(".")[0].lower()).strip("-")
        found = cls(places, f"{stem[:30] or 'table'}-{secrets.token_hex(3)}")
        (places.work() / found.name).mkdir(mode=0o700)
        found.save(said)
        return found

    @classmethod
    def found(cls, places: Places, name: str) -> "Journey":
        """One that exists, by its name; anything else is refused."""
        journey = cls(places, name)
        if not NAME.fullmatch(name) or not (journey.folder / "journey.json").is_file():
            raise Absent("there is no such journey")
        return journey

    @classmethod
    def all(cls, places: Places) -> list["Journey"]:
        """All of them, the latest first."""
        found = {}
        for path in (places.root / WORK).glob("*/journey.json"):
            with suppress(OSError):  # it was left meanwhile
                found[path] = path.stat().st_mtime
        ordered = sorted(found, key=lambda path: found[path], reverse=True)
        return [
            cls(places, path.parent.name) for path in ordered if NAME.fullmatch(path.parent.name)
        ]

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.places.root / WORK / self.name

    @property
    def said(self) -> Answers:
        """What was said so far."""
        path = self.folder / "journey.json"
        found = Answers.read(path)
        named = filter(None, (found.data, found.ledger, found.codebook))
        if not all(map(self.places.is_own, named)):
            raise Unreadable(
                f"{path} names a file that is a link, or lies outside the page's folder"
            )
        return found

    def commands(self, said: Answers) -> Commands:
        """The commands that follow from what was said."""
        return Commands(said, f"{WORK}/{self.name}")

    def save(self, said: Answers) -> None:
        """Keep what was said."""
        write(self.folder / "journey.json", said.to_json())

    @contextmanager
    def changing(self) -> Generator[None]:
        """Nobody else changes anything here meanwhile, in this process or in another."""
        with taken(self.folder / "lock"):
            yield

    def run(self, step: str, command: Sequence[str]) -> Ran:
        """Run the command of a step, and keep what it printed if all is well."""
        ran = run(command, self.places.root)
        if ran.is_well:
            write(self.folder / f"{step}.json", ran.to_json())
        return ran

    def ran(self, step: str) -> Ran | None:
        """What the command of a step printed."""
        return Ran.read(self.folder / f"{step}.json")

    def again(self) -> "Journey":
        """The same as a new journey, up to the price: another fit is another charge."""
        said = self.said
        copy = Journey.begun(self.places, said)
        for name in ("schema.toml", "columns.json", "plan.json", "by_default.json"):
            if (self.folder / name).exists():
                shutil.copyfile(self.folder / name, copy.folder / name)
        copy.save(replace(said, reached="plan"))
        return copy

    def leave(self) -> None:
        """Remove it: its first command was refused."""
        shutil.rmtree(self.folder, ignore_errors=True)
