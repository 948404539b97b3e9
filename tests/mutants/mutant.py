"""One planted fault, and the tests that must notice it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """Replace one piece of text in one file.

    Parameters
    ----------
    file : str
        Below the root of the repository.
    old, new : str
        ``old`` must occur exactly once: a mutant that fits nowhere is an error, not a success.
    tests : tuple of str
        What pytest is given: quick tests, of which at least one must fail.
    builds : tuple of str
        For C and Cython: the extension modules that hold the file, such as ("products",).
    survives : str
        Why no test can notice it, where that is so.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    builds: tuple[str, ...] = ()
    survives: str = ""

    @property
    def label(self) -> str:
        """The place and what becomes of it, in a line."""
        changed = f"{' '.join(self.old.split())} -> {' '.join(self.new.split()) or '(nothing)'}"
        return f"{Path(self.file).name}: {changed}"

    def problem(self, root: Path) -> str | None:
        """Why it cannot be planted, if so."""
        path = root / self.file
        if not path.exists():
            return "the file is gone"
        n = path.read_text().count(self.old)
        if n != 1:
            return f"its text occurs {n} times"
        if self.old == self.new:
            return "it changes nothing"
        compiled = path.suffix in (".pyx", ".pxd", ".h", ".c")
        if compiled != bool(self.builds):
            return "say which extensions it builds" if compiled else "it builds nothing"
        missing = [test for test in self.tests if not (root / test.split("::")[0]).exists()]
        return f"no test {missing[0]}" if missing or not self.tests else None
