"""How a table fits its schema: for the eyes of whoever holds the records, never to be stored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparsedp.data.raw import Label
from sparsedp.data.schema.encode import Part, Reading, missing_among, rows_at_once
from sparsedp.data.schema.frame import Frame
from sparsedp.data.schema.kinds.category import Category


@dataclass(frozen=True, repr=False)
class Match:
    """How the cells of one column fit its declaration; private.

    Parameters
    ----------
    missing : int
        Cells without a value.
    malformed : int
        Cells with a value that is not as declared.
    other : int
        Cells that fall under ``other``.
    never : tuple
        Declared categories that do not occur.
    admits_missing : bool
        Whether missing cells are declared.
    """

    missing: int
    malformed: int
    other: int
    never: tuple[Label, ...]
    admits_missing: bool

    def __repr__(self) -> str:
        return "Match(private)"

    @property
    def unmatched(self) -> int:
        """Cells that do not fit."""
        return self.malformed + (0 if self.admits_missing else self.missing)


def match(frame: Frame, part: Part) -> Match:
    """Count how one column fits."""
    kind = part.kind
    reading = Reading.of(part, "replace")
    missing = malformed = other = 0
    seen: set[int] = set()
    step = rows_at_once(kind.width)
    for start in range(0, frame.n_rows, step):
        stop = min(start + step, frame.n_rows)
        cells = frame.block(part.name, start, stop, dates=kind.holds_dates)
        gaps = reading.gaps(cells, np.empty((stop - start, kind.width)))
        empty = int(missing_among(cells, gaps).sum())
        missing, malformed = missing + empty, malformed + int(gaps.sum()) - empty
        if isinstance(kind, Category):
            codes, others = kind.exact_codes(cells)
            seen |= set(np.unique(codes[codes >= 0]).tolist())
            other += others
    values: Sequence[Label] = kind.categories if isinstance(kind, Category) else ()
    never = tuple(value for code, value in enumerate(values) if code not in seen)
    return Match(missing, malformed, other, never, part.admits_missing)
