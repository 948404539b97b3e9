"""The table of coefficients as text and as HTML."""

from dataclasses import dataclass
from html import escape

import numpy as np

from sparsedp.inference.table import CoefficientTable

METHODS = {
    "same": "all records, all features",
    "split": "a secret half chooses, the other estimates",
}

ESTIMAND = (
    "Coefficients are those of the best linear fit to a population, in which records far out count "
    "less. Intervals cover sampling and privacy noise."
)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a fit knows about its coefficients, for readers.

    Parameters
    ----------
    title : str
    names : tuple of str
        Of the features of the model.
    table : CoefficientTable
    epsilon, delta : float
    notes : tuple of str
        Sentences below the table.

    Privacy
    -------
    Says what was released, and nothing about the number of records.
    """

    title: str
    names: tuple[str, ...]
    table: CoefficientTable
    epsilon: float
    delta: float
    notes: tuple[str, ...] = ()

    @property
    def head(self) -> tuple[str, ...]:
        """Lines above the table."""
        return (
            self.title,
            f"epsilon = {self.epsilon:g}, delta = {self.delta:g}; "
            f"method: {self.table.method} ({METHODS[self.table.method]})",
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        tail = (1 - self.table.confidence) / 2
        ends = f"[{tail:.3g}", f"{1 - tail:.3g}]"
        return ("", "coef", "std err", *ends, "noise", "sign", "p")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row for each feature, and the intercept last."""
        table = self.table
        cells = zip(
            (*self.names, "(intercept)"),
            table.estimates,
            table.standard_errors,
            table.intervals,
            table.noise_shares,
            table.sign_certainty,
            table.p_values,
            strict=True,
        )
        return [
            (name, f"{estimate:.4g}", *_known(error, ends, noise, sign, p))
            for name, estimate, error, ends, noise, sign, p in cells
        ]

    @property
    def tail(self) -> tuple[str, ...]:
        """Lines below the table."""
        return (self.table.sentence(list(self.names)), ESTIMAND, *self.notes)

    def __str__(self) -> str:
        rows = [self.columns, *self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        ]
        rule = "=" * max(map(len, lines))
        return "\n".join(
            [*self.head, rule, lines[0], "-" * len(rule), *lines[1:], rule, *self.tail]
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        def row(cells: tuple[str, ...], tag: str) -> str:
            first, *rest = (f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
            return f"<tr>{first}{''.join(rest)}</tr>"

        head = "<br>".join(map(escape, self.head))
        body = "".join(row(cells, "td") for cells in self.rows)
        tail = "".join(f"<p>{escape(line)}</p>" for line in self.tail)
        return (
            f"<table><caption>{head}</caption><thead>{row(self.columns, 'th')}</thead>"
            f"<tbody>{body}</tbody></table>{tail}"
        )


def _known(
    error: float, ends: np.ndarray, noise: float, sign: float, p: float
) -> tuple[str, str, str, str, str, str]:
    if np.isnan(error):
        return "no", "interval", "", "", "", ""
    low, high = ends
    return (
        f"{error:.3g}",
        f"{low:.4g}",
        f"{high:.4g}",
        f"{100 * noise:.0f} %",
        f"{100 * min(sign, 0.999):.1f} %" if sign < 0.999 else "> 99.9 %",
        f"{p:.3f}" if p >= 0.001 else "< 0.001",
    )
