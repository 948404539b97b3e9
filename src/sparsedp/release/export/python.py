"""A model as a Python function that needs nothing but Python."""

from collections.abc import Sequence

from sparsedp.data.schema.kinds.cells import MISSING
from sparsedp.release.export.expression import Program
from sparsedp.release.export.language import Language

READERS = """\
import math
from datetime import date, datetime
from unicodedata import normalize

MISSING = @missing@


def _text(cell):
    if cell is None or cell != cell:
        return None
    return normalize("NFC", str(int(cell) if isinstance(cell, bool) else cell).strip())


def _folded(text):
    return normalize("NFC", text.casefold())


def _number(cell):
    text = _text(cell)
    if text is None or text.lower() in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        return math.inf  # which no number may be


def _date(cell):
    text = _text(cell)
    if text is None or text.lower() in MISSING:
        return None
    try:
        day = cell if isinstance(cell, date) else datetime.fromisoformat(text)
        return float(day.toordinal() - 719163)
    except ValueError:
        return math.inf
"""

BEST = """

def _best(labels, scores):
    return labels[max(range(len(scores)), key=scores.__getitem__)]
"""


def _among(cell: str, values: Sequence[str], folded: bool) -> str:
    text = f"_folded({cell})" if folded else cell
    return f"{text} in ({', '.join(map(repr, values))},)"


def _choose(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    return "(" + "".join(f"{then} if {when} else " for when, then in cases) + otherwise + ")"


def readers() -> str:
    """Functions that read cells, and what they import."""
    return READERS.replace("@missing@", repr(tuple(sorted(MISSING))))


def steps(program: Program) -> list[str]:
    """The lines of a function of one ``record`` that compute all steps, or raise."""
    cells = {cell: f"c{k}" for k, cell in enumerate(program.cells)}
    language = Language(
        cell=cells.__getitem__,
        constant=repr,
        step=str,
        missing="None",
        is_missing="{} is None",
        functions={name: f"math.{name}" for name in ("exp", "log", "sqrt", "sin", "cos", "floor")},
        comparisons={"=": "==", "<>": "!="},
        among=_among,
        both=" and ",
        choose=_choose,
    )
    lines = [
        f"    {name} = _{cell.read}(record.get({cell.column!r}))" for cell, name in cells.items()
    ]
    failures = {check.step: check.otherwise for check in program.checks}
    for name, expression in program.steps.items():
        lines.append(f"    {name} = {language.number(expression)}")
        if name in failures:
            lines += [f"    if {name} != 1.0:", f"        raise ValueError({failures[name]!r})"]
    return lines


def write(program: Program, title: Sequence[str]) -> str:
    """The text of a module with one function, ``predict``."""
    lines = [
        *(f"# {line}" for line in title),
        "",
        readers() + BEST,
        "",
        "def predict(record):",
        '    """Score one record: a mapping from columns to cells."""',
        *steps(program),
        "    return {",
    ]
    if program.label is not None:
        scores = ", ".join(program.label.scores)
        lines.append(f"        'prediction': _best({program.label.labels!r}, ({scores})),")
    lines += [f"        {label!r}: {step}," for label, step in program.outputs.items()]
    return "\n".join([*lines, "    }"]) + "\n"
