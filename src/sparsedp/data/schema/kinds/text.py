"""Free text as hashed words, within a row norm."""

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparsedp.data.raw import Cells
from sparsedp.data.schema.kinds.cells import LONGEST, kernel, number_read, says_nothing
from sparsedp.data.schema.kinds.checks import checked_number, checked_source, checked_whole
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
    source : str, optional
        Where the declaration comes from (a code book, a law), for whoever must approve the model.

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
    source: str | None = None

    def __post_init__(self) -> None:
        checked_source(self.source)
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
        slots = _Slots(self._slot)

        def write(cells: Cells, out: Array) -> Mask:
            if isinstance(cells, np.ndarray):
                raise ValueError("holds numbers, not text: declare another kind, or drop = true")
            gaps = np.zeros(len(cells), dtype=np.bool_)
            counts, left = np.zeros((len(cells), self.words)), np.empty(len(cells), dtype=np.uint8)
            kernel.count_words(cells, slots, counts, left)
            for i in np.flatnonzero(left).tolist():
                words = words_of(cells[i])
                gaps[i] = words is None
                for word in words or ():
                    counts[i, slots[word]] += 1
            self._shrink(counts, out)
            return gaps

        return write

    def _slot(self, word: str) -> int:
        content = word.encode("utf-8", "surrogatepass")
        salt = self.seed.to_bytes(16, "little")
        digest = hashlib.blake2b(content, digest_size=8, salt=salt, person=b"sparsedp words")
        return int.from_bytes(digest.digest(), "little") % self.words

    def _shrink(self, counts: Array, out: Array) -> None:
        """Counts within the norm: squares of whole numbers are added exactly, in any order."""
        norms = np.sqrt(np.square(counts).sum(axis=1))
        factors = np.minimum(1.0, self.row_norm / np.maximum(norms, 1.0))
        np.minimum(counts * factors[:, None], self.row_norm, out=out)


class _Slots(dict[str, int]):
    """The columns of words, computed once for a word that repeats."""

    def __init__(self, function: Callable[[str], int]) -> None:
        super().__init__()
        self.function = function

    def __missing__(self, word: str) -> int:
        slot = self.function(word)
        if len(self) < MOST_REMEMBERED:
            self[word] = slot
        return slot


def words_of(cell: object) -> list[str] | None:
    """The words of a cell: none of a number, None where it is missing or no text."""
    if isinstance(cell, bytes):
        cell = cell.decode(errors="replace")
    if not isinstance(cell, str):
        return [] if not says_nothing(cell) and number_read(cell) is not None else None
    if says_nothing(cell):
        return None
    number = number_read(cell)
    if number is not None and math.isfinite(number):
        return []
    return WORD.findall(composed(cell).casefold())


def composed(text: str) -> str:
    """The text in NFKC; of a long one, runs without blanks in pieces of at most `LONGEST`."""
    if len(text) <= LONGEST or text.isascii():
        return unicodedata.normalize("NFKC", text)
    runs = text.split()
    pieces = [run[i : i + LONGEST] for run in runs for i in range(0, len(run), LONGEST)]
    return " ".join(unicodedata.normalize("NFKC", piece) for piece in pieces)
