"""A claim in print that does not hold, and what shows it."""

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

CONFIDENCE = 1 - 1e-6
"""Of every bound that was measured."""

WIDTH = 96
UNCONFIRMED = "NOT CONFIRMED: the command does not show what it should"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a conviction came to.

    Parameters
    ----------
    stands : bool
        Whether it shows what the erratum says.
    measured : tuple of (str, str)
        What was found, each with a word that says what it is.
    table : tuple of str
        Lines of numbers, already aligned.
    """

    stands: bool
    measured: tuple[tuple[str, str], ...] = ()
    table: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One claim, and the attack or computation that refutes it.

    Parameters
    ----------
    name : str
        By which the command line calls it; also its heading in docs/errata.md.
    paper : str
        Authors and year.
    reference : str
        Theorem, algorithm, equation, table or section, as printed.
    claim : str
        What is claimed, in our words.
    why : str
        The attack or the computation, in words.
    convict : callable
        Carries it out; by fixed seeds, so that it always prints the same.
    instead : str
        What to use.
    verdict : str
        What the conviction shows if it stands.
    """

    name: str
    paper: str
    reference: str
    claim: str
    why: str
    convict: Callable[[], Finding]
    instead: str
    verdict: str = "the claim does not hold"

    def lines(self, finding: Finding) -> list[str]:
        """What a terminal shows."""
        lines = textwrap.wrap(f"{self.name}: {self.paper}, {self.reference}", WIDTH)
        lines += _entry("claim", self.claim) + _entry("why", self.why)
        lines += [f"  {row}".rstrip() for row in finding.table]
        for label, text in finding.measured:
            lines += _entry(label, text)
        return [
            *lines,
            *_entry("verdict", self.verdict if finding.stands else UNCONFIRMED),
            *_entry("instead", self.instead),
        ]

    def to_dict(self, finding: Finding) -> dict[str, object]:
        """JSON-ready form."""
        return {
            "name": self.name,
            "paper": self.paper,
            "reference": self.reference,
            "claim": self.claim,
            "why": self.why,
            "measured": [list(pair) for pair in finding.measured],
            "table": list(finding.table),
            "stands": finding.stands,
            "verdict": self.verdict if finding.stands else UNCONFIRMED,
            "instead": self.instead,
        }


def violation(
    claimed: float,
    delta: float | None,
    found: float,
    control: float,
    *,
    exact: bool = True,
    measure: str = "epsilon",
    against: str = "the noise is proven",
    table: Sequence[str] = (),
) -> Finding:
    """A lower bound above the claim, beside what the same attack finds against proven noise.

    The conviction stands only if that control stays within the claim: otherwise the attack, not
    the method, would be at fault.
    """
    at = "" if delta is None else f" at delta = {delta:.3g}"
    how = "exactly" if exact else f"with confidence {CONFIDENCE:.6f}"
    return Finding(
        stands=found > claimed >= control - 1e-9,
        measured=(
            ("claimed", f"{measure} = {claimed:.4g}{at}"),
            ("found", f"{measure} is at least {number(found)}{at}, {how}"),
            ("control", f"{number(control)} by the same attack where {against}"),
        ),
        table=tuple(table),
    )


def number(value: float) -> str:
    """Two digits after the point, or fewer where that says nothing."""
    if math.isinf(value):
        return "infinity"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def aligned(rows: Sequence[Sequence[object]]) -> tuple[str, ...]:
    """Columns: the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return tuple(
        "  ".join(
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )


def _entry(label: str, text: str) -> list[str]:
    lead = f"  {label:<9}"
    return textwrap.wrap(text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead))
