"""Numbers that come around again, such as hours of a day, as points on a circle."""

from dataclasses import dataclass

import numpy as np

from sparsedp.data.raw import Cells
from sparsedp.data.schema.kinds.cells import kernel
from sparsedp.data.schema.kinds.checks import checked_number, checked_source
from sparsedp.data.schema.kinds.kind import INDICATOR, Column, Mask, Writer
from sparsedp.data.schema.kinds.writing import PLAIN, Writing
from sparsedp.data.storage import Array


@dataclass(frozen=True, kw_only=True)
class Cyclic:
    """A number that comes around again after a period: sine and cosine.

    Parameters
    ----------
    period : float
        24 for hours, 360 for degrees.
    missing : "indicator" or float, optional
    writing : Writing, optional
        How text cells write numbers.
    source : str, optional
        Where the declaration comes from (a code book, a law), for whoever must approve the model.
    """

    period: float
    missing: float | str | None = None
    writing: Writing | None = None
    kind: str = "cyclic"
    source: str | None = None

    def __post_init__(self) -> None:
        checked_source(self.source)
        object.__setattr__(self, "period", checked_number(self.period, "period"))
        if not 1e-50 <= self.period <= 1e50:
            raise ValueError("period must be a positive number")
        if self.missing not in (None, INDICATOR):
            if isinstance(self.missing, str):
                raise ValueError('missing must be "indicator" or a number')
            object.__setattr__(self, "missing", checked_number(self.missing, "missing"))
        if self.kind != "cyclic":
            raise ValueError('kind must be "cyclic"')

    @property
    def holds_dates(self) -> bool:
        """Dates are read by their own kind."""
        return False

    @property
    def expects(self) -> str:
        """For messages."""
        return "finite numbers: say how they are written (decimal, thousands)"

    @property
    def width(self) -> int:
        """Sine and cosine."""
        return 2

    def columns(self, name: str) -> tuple[Column, ...]:
        """Sine and cosine."""
        return tuple(Column(f"{name} {f}", -1.0, 1.0) for f in ("sine", "cosine"))

    def writer(self) -> Writer:
        """Reads cells as numbers, by themselves."""
        writing = (self.writing or Writing()).or_else(PLAIN)
        remembered = writing.remember()

        def write(cells: Cells, out: Array) -> Mask:
            values = writing.numbers(cells, remembered)
            gaps = ~np.isfinite(values)
            values[gaps] = 0.0
            circle(values, self.period, out)
            return gaps

        return write

    def filled(self) -> Array | None:
        """The row of the value that stands for a missing cell."""
        if self.missing is None or isinstance(self.missing, str):
            return None
        out = np.empty((1, 2))
        circle(np.array([self.missing]), self.period, out)
        return out.reshape(-1)


def circle(values: Array, period: float, out: Array) -> None:
    """Sine and cosine of each number, one at a time: their bits do not depend on its place."""
    kernel.circle(values, period, out)
    np.clip(out, -1.0, 1.0, out=out)
    out += 0.0  # no negative zero
