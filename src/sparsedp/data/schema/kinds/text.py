"""Free text as hashed words, within a row norm."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass

import numpy as np

from sparsedp.data.raw import Cells
from sparsedp.data.schema.kinds.cells import number_read, says_nothing
from sparsedp.data.schema.kinds.checks import checked_number, checked_whole
from sparsedp.data.schema.kinds.kind import INDICATOR, Column, Mask, Writer
from sparsedp.data.storage import Array

WORD = re.compile(r"\w+")
MOST_WORDS = 1 << 20
MOST_REMEMBERED = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Text:
    """Free text, as counts of hashed words that are shrunk to a row norm.

    Parameters
    ----------
    words : int
        Number of columns; words that share one are not told apart.
    row_norm : float
        The counts c of a cell become c * min(1, row_norm / ||c||).
    seed : int
        Which words share a column; public.
    missing : "indicator", optional
        By default a missing cell is a text without words, which is never invalid.

    Notes
    -----
    Words are runs of letters and digits without regard to case (NFKC, case folded), hashed by
    BLAKE2b. A cell that reads as a number as a whole has no words: a program that reads tables may
    have rewritten it.
    """

    words: int
    row_norm: float = 1.0
    seed: int = 0
    missing: str | None = None
    kind: str = "text"

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", checked_whole(self.words, "words", 1, MOST_WORDS))
        object.__setattr__(self, "seed", checked_whole(self.seed, "seed", 0, 2**63 - 1))
        object.__setattr__(self, "row_norm", checked_number(self.row_norm, "row_norm"))
        if not 1e-6 <= self.row_norm <= 1e6:
            raise ValueError("row_norm must lie between 1e-6 and 1e6")
        if self.missing not in (None, INDICATOR):
            raise ValueError('missing must be "indicator", or be left out')
        if self.kind != "text":
            raise ValueError('kind must be "text"')

    @property
    def holds_dates(self) -> bool:
        """Dates are read by their own kind."""
        return False

    @property
    def expects(self) -> str:
        """For messages."""
        return "text"

    @property
    def width(self) -> int:
        """One column per hash."""
        return self.words

    def columns(self, name: str) -> tuple[Column, ...]:
        """One column per hash."""
        return tuple(Column(f"{name} word {j}", 0.0, self.row_norm) for j in range(self.words))

    def filled(self) -> Array | None:
        """No words."""
        return np.zeros(self.words)

    def writer(self) -> Writer:
        """Counts the words of each cell."""
        slots: dict[str, int] = {}

        def slot(word: str) -> int:
            found = slots.get(word)
            if found is None:
                found = self._slot(word)
                if len(slots) < MOST_REMEMBERED:
                    slots[word] = found
            return found

        def write(cells: Cells, out: Array) -> Mask:
            if isinstance(cells, np.ndarray):
                raise ValueError("holds numbers, not text: declare another kind, or drop = true")
            gaps = np.zeros(len(cells), dtype=np.bool_)
            out[:] = 0.0
            for i, cell in enumerate(cells):
                words = words_of(cell)
                gaps[i] = words is None
                if words:
                    found, counts = np.unique([slot(word) for word in words], return_counts=True)
                    out[i, found] = self._shrunk(counts.astype(np.float64))
            return gaps

        return write

    def _slot(self, word: str) -> int:
        content = word.encode("utf-8", "surrogatepass")
        salt = self.seed.to_bytes(16, "little")
        digest = hashlib.blake2b(content, digest_size=8, salt=salt, person=b"sparsedp words")
        return int.from_bytes(digest.digest(), "little") % self.words

    def _shrunk(self, counts: Array) -> Array:
        """Counts within the norm; whole numbers are added exactly, whatever their order."""
        norm = float(np.sqrt(counts @ counts))
        return np.minimum(counts * min(1.0, self.row_norm / norm), self.row_norm)


def words_of(cell: object) -> list[str] | None:
    """The words of a cell: none of a number, None where it is missing or no text."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if says_nothing(cell):
        return None
    if number_read(cell) is not None:
        return []
    if not isinstance(cell, str):
        return None
    plain = unicodedata.normalize("NFKC", cell).casefold()
    return WORD.findall(plain)
