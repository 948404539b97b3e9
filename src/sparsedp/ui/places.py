"""Which files the page can name: those below the folder where it was started."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sparsedp.ui.answers import Unreadable

WORK = "sparsedp-ui"
"""Folder of all journeys, below the root."""

READABLE = (
    *(".csv", ".tsv", ".txt", ".tab", ".gz", ".bz2", ".xz", ".parquet", ".arrow", ".feather"),
    ".xlsx",
)
MOST_LISTED = 500


@dataclass(frozen=True)
class Listing:
    """What lies in one folder.

    Parameters
    ----------
    folder, parent : str or None
        Relative to the root; the root is ".", and has no parent.
    folders, files : tuple of str
        Paths relative to the root.
    cut : bool
        Whether there is more.
    """

    folder: str
    parent: str | None
    folders: tuple[str, ...]
    files: tuple[str, ...]
    cut: bool


@dataclass(frozen=True)
class Places:
    """The folder that the page was started in, and what lies below it.

    Parameters
    ----------
    root : Path
        Without links.
    """

    root: Path

    @classmethod
    def at(cls, folder: Path) -> "Places":
        """Below a folder."""
        return cls(Path(os.path.realpath(folder)))

    def inside(self, text: str) -> str:
        """A path as commands take it, relative to the root; what leads outside is refused.

        Links are followed before it is compared. A relative path has no "//", so it is no URL of a
        database, and "./" keeps a name that begins with a minus from being an option.
        """
        text = text.strip()
        if not text or "\0" in text or "\n" in text:
            raise ValueError("name a file")
        path = self.root / text
        real = Path(os.path.realpath(path))
        if real != self.root and self.root not in real.parents:
            raise ValueError(
                "that is outside the folder in which the page was started, and nothing outside is "
                "read: start sparsedp ui in a folder above it"
            )
        plain = real.relative_to(self.root).as_posix()
        return f"./{plain}" if plain.startswith("-") else plain

    def file(self, text: str) -> str:
        """A regular file that exists."""
        plain = self.inside(text)
        if not os.path.exists(self.root / plain):  # False for what can be no name, too
            raise ValueError(f"there is no file {plain}")
        return plain

    def is_own(self, text: str) -> bool:
        """Whether a stored path is still what it was: inside, and no link to elsewhere."""
        try:
            return self.inside(text) == text
        except ValueError:
            return False

    def work(self) -> Path:
        """The folder of all journeys, made if it is not there; nobody else can look into it.

        Raises
        ------
        Unreadable
            If it is a link, or somebody else's, who could put other files in the place of ours.
        """
        path = self.root / WORK
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise Unreadable(
                f"{WORK} is a link or belongs to somebody else, and the page keeps its work there: "
                "remove it, or start sparsedp ui in another folder"
            )
        path.chmod(0o700)
        return path

    def listing(self, text: str) -> Listing:
        """Folders and tables in a folder; hidden ones and links to outside are left out."""
        folder = self.inside(text or ".")
        if not os.path.isdir(self.root / folder):
            raise ValueError(f"there is no folder {folder}")
        folders, files = [], []
        with os.scandir(self.root / folder) as entries:
            for entry in sorted(entries, key=lambda each: each.name.lower()):
                if entry.name.startswith(".") or (folder == "." and entry.name == WORK):
                    continue
                try:
                    plain = self.inside(f"{folder}/{entry.name}")
                except ValueError:
                    continue
                if entry.is_dir():
                    folders.append(plain)
                elif entry.is_file() and entry.name.lower().endswith(READABLE):
                    files.append(plain)
        return Listing(
            folder=folder,
            parent=None if folder == "." else str(Path(folder).parent),
            folders=tuple(folders[:MOST_LISTED]),
            files=tuple(files[:MOST_LISTED]),
            cut=max(len(folders), len(files)) > MOST_LISTED,
        )
