"""Numbers within public limits: as they are, on another scale, in bins, or on declared knots."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.raw import Cells
from sparsedp.data.schema.kinds.cells import kernel
from sparsedp.data.schema.kinds.checks import (
    checked_ascending,
    checked_flag,
    checked_number,
    checked_source,
)
from sparsedp.data.schema.kinds.kind import INDICATOR, Column, Mask, Writer, indicator
from sparsedp.data.schema.kinds.writing import PLAIN, Writing
from sparsedp.data.storage import Array

SCALES = {"log1p": math.log1p, "sqrt": math.sqrt}


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number within public limits.

    Parameters
    ----------
    lower, upper : float, optional
        What lies beyond is clipped. Without them the schema's ``[bounds]`` apply.
    kind : {"number", "whole"}
        Whether numbers with a fraction are invalid.
    missing : "indicator" or float, optional
        A missing cell gets a 0/1 column of its own, or this value; otherwise it is invalid.
    transform : {"log1p", "sqrt"}, optional
        Of the clipped number.
    bins : sequence of float, optional
        Where to cut: k cuts make k + 1 columns of zeros and ones. Needs no limits.
    knots : sequence of float, optional
        Corners of a piecewise linear function: k knots make k columns from 0 to 1, each one at its
        knot and falling to zero at the next ones (linear B-splines). Needs no limits.
    writing : Writing, optional
        How text cells write numbers, where it differs from the schema's ``[numbers]``.
    binary : bool
        Whether cells hold only the limits, by declaration.
    source : str, optional
        Where the declaration comes from (a code book, a law), for whoever must approve the model.

    Notes
    -----
    *Privacy.* Limits, cuts and knots are published with the model and must not be read off the
    records (not their quantiles either).
    """

    lower: float | None = None
    upper: float | None = None
    kind: Literal["number", "whole"] = "number"
    missing: float | str | None = None
    transform: str | None = None
    bins: tuple[float, ...] = ()
    knots: tuple[float, ...] = ()
    writing: Writing | None = None
    binary: bool = False
    source: str | None = None

    def __post_init__(self) -> None:
        checked_source(self.source)
        if self.kind not in ("number", "whole"):
            raise ValueError('kind must be "number" or "whole"')
        for name in ("lower", "upper"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_number(getattr(self, name), name))
        if self.missing not in (None, INDICATOR):
            if isinstance(self.missing, str):
                raise ValueError('missing must be "indicator" or a number')
            object.__setattr__(self, "missing", checked_number(self.missing, "missing"))
        if len(self.bins):
            object.__setattr__(self, "bins", checked_ascending(self.bins, "bins", 1))
        if len(self.knots):
            object.__setattr__(self, "knots", checked_ascending(self.knots, "knots", 2))
            Bounds(self.knots[0], self.knots[-1])  # so that differences are finite
        if sum([self.transform is not None, bool(self.bins), bool(self.knots)]) > 1:
            raise ValueError("takes one of transform, bins and knots")
        if self.transform is not None and self.transform not in SCALES:
            raise ValueError('transform must be "log1p" or "sqrt" (or give bins or knots)')
        checked_flag(self.binary, "binary")
        if self.binary and (self.transform or self.bins or self.knots):
            raise ValueError("binary numbers take no transform, bins or knots")
        if self.lower is not None and self.upper is not None:
            self._check_limits(self.lower, self.upper)
            limits = (None, INDICATOR, self.lower, self.upper)
            if self.binary and self.missing not in limits:
                raise ValueError("missing must be lower or upper where binary is true")

    def _check_limits(self, lower: float, upper: float) -> None:
        if not lower < upper:
            raise ValueError("lower must be below upper")
        least = {"log1p": -1.0, "sqrt": 0.0}.get(self.transform or "")
        if least is not None and not (lower > least or (self.transform == "sqrt" and lower == 0)):
            raise ValueError(f"transform = {self.transform!r} needs lower above {least:g}")

    def with_defaults(self, lower: float | None, upper: float | None, writing: Writing) -> "Number":
        """The same with what the schema says for all."""
        own = (self.writing or Writing()).or_else(writing)
        if self.bins or self.knots:
            return replace(self, writing=own)
        lower = self.lower if self.lower is not None else lower
        upper = self.upper if self.upper is not None else upper
        if lower is None or upper is None:
            raise ValueError(
                "needs lower and upper, known without looking at the records (here or under "
                "[bounds]); if it holds no numbers, declare categories or another kind, or "
                "drop = true"
            )
        return replace(self, lower=lower, upper=upper, writing=own)

    @property
    def holds_dates(self) -> bool:
        """Dates are no numbers."""
        return False

    @property
    def expects(self) -> str:
        """For messages."""
        what = "whole numbers" if self.kind == "whole" else "numbers"
        if self.binary:
            return "lower or upper, as binary = true says: leave that out, or repair the limits"
        doubted = self.writing is not None and self.writing.doubts_floats
        typed = "; cells that are floats already need typed = true" if doubted else ""
        return (
            f"finite {what}: say how they are written (decimal, thousands, percent, currency), "
            f"or declare categories or another kind{typed}"
        )

    @property
    def limits(self) -> tuple[float, float]:
        """Of numbers before any transform."""
        if self.lower is None or self.upper is None:
            raise ValueError("needs lower and upper")
        return self.lower, self.upper

    @property
    def width(self) -> int:
        """One column, or one per bin or knot."""
        return len(self.bins) + 1 if self.bins else len(self.knots) or 1

    def columns(self, name: str) -> tuple[Column, ...]:
        """One column, or one per bin or knot."""
        if self.bins:
            cuts = [repr(cut).removesuffix(".0") for cut in self.bins]
            between = [f"{a}<={name}<{b}" for a, b in pairwise(cuts)]
            names = [f"{name}<{cuts[0]}", *between, f"{name}>={cuts[-1]}"]
            return tuple(map(indicator, names))
        if self.knots:
            knots = [repr(knot).removesuffix(".0") for knot in self.knots]
            return tuple(Column(f"{name}~{knot}") for knot in knots)
        lower, upper = (self._scaled(limit) for limit in self.limits)
        title = f"{self.transform}({name})" if self.transform else name
        middle = lower + (upper - lower) / 2
        return (Column(title, lower, upper, self.binary, lower if self.binary else middle),)

    def writer(self) -> Writer:
        """Reads cells as numbers, by themselves."""
        writing = (self.writing or Writing()).or_else(PLAIN)
        remembered = writing.remember()

        def write(cells: Cells, out: Array) -> Mask:
            values = writing.numbers(cells, remembered)
            gaps = ~np.isfinite(values)
            if self.kind == "whole":
                gaps |= values != np.floor(values)
            if self.binary:
                gaps |= ~np.isin(values, self.limits)
            values[gaps] = 0.0
            self._expand(values, out)
            return gaps

        return write

    def filled(self) -> Array | None:
        """The row of the value that stands for a missing cell."""
        if self.missing is None or isinstance(self.missing, str):
            return None
        out = np.empty((1, self.width))
        self._expand(np.array([self.missing]), out)
        return out.reshape(-1)

    def _scaled(self, value: float) -> float:
        return SCALES[self.transform](value) if self.transform else value

    def _expand(self, values: Array, out: Array) -> None:
        """Finite numbers to columns."""
        if self.bins:
            out[:] = 0.0
            out[np.arange(len(values)), np.searchsorted(self.bins, values, side="right")] = 1.0
        elif self.knots:
            _hats(values, np.array(self.knots), out)
        else:
            lower, upper = self.limits
            values = np.clip(values, lower, upper)
            if self.transform:
                scale = SCALES[self.transform]
                values = _root_or_log(self.transform, values)
                values = np.clip(values, scale(lower), scale(upper))
            out[:, 0] = values + 0.0  # no negative zero, which equals zero but is other bits


def _root_or_log(transform: str, values: Array) -> Array:
    """Each number by itself: NumPy's logarithm may depend on its place, roots are exact."""
    if transform == "sqrt":
        return np.sqrt(values)
    out = np.empty(len(values))
    kernel.log1p(values, out)
    return out


def _hats(values: Array, knots: Array, out: Array) -> None:
    """Hat functions: t and 1 - t of the two knots beside a number, which lie in [0, 1].

    Differences and quotients are rounded monotonically, so t <= 1 in floating point too.
    """
    values = np.clip(values, knots[0], knots[-1])
    left = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, len(knots) - 2)
    t = (values - knots[left]) / (knots[left + 1] - knots[left])
    rows = np.arange(len(values))
    out[:] = 0.0
    out[rows, left] = 1.0 - t
    out[rows, left + 1] = t + 0.0
