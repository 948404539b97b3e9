"""A model as a JavaScript module that needs nothing else."""

import json
from collections.abc import Sequence

from sparsedp.data.schema.kinds.cells import MISSING
from sparsedp.release.export.expression import Program
from sparsedp.release.export.language import Language

READERS = """\
const MISSING = new Set(@missing@);
const DAY = 86400000;

function text(cell) {
  if (cell === null || cell === undefined || Number.isNaN(cell)) return null;
  return String(typeof cell === "boolean" ? Number(cell) : cell).trim().normalize("NFC");
}

function number(cell) {
  const found = text(cell);
  if (found === null || MISSING.has(found.toLowerCase())) return null;
  const value = Number(found);
  return Number.isNaN(value) ? Infinity : value; // which no number may be
}

// A text that begins as 2020-12-31 does, or a Date, whose day is that of UTC.
function date(cell) {
  if (cell instanceof Date) return Number.isNaN(cell.getTime()) ? null : Math.floor(cell / DAY);
  const found = text(cell);
  if (found === null || MISSING.has(found.toLowerCase())) return null;
  const match = /^(\\d{4})-(\\d{2})-(\\d{2})(?:$|[T ])/.exec(found);
  if (match === null) return Infinity;
  const [year, month, day] = match.slice(1).map(Number);
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day);
  const same = moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day && year > 0;
  return same ? moment / DAY : Infinity;
}

function folded(value) {
  return value.toLowerCase().normalize("NFC");
}

function best(labels, scores) {
  return labels[scores.indexOf(Math.max(...scores))];
}
"""


def _among(cell: str, values: Sequence[str], folded: bool) -> str:
    return f"{json.dumps(list(values))}.includes({f'folded({cell})' if folded else cell})"


def _choose(cases: Sequence[tuple[str, str]], otherwise: str) -> str:
    return "(" + "".join(f"{when} ? {then} : " for when, then in cases) + otherwise + ")"


def write(program: Program, title: Sequence[str]) -> str:
    """The text of a module that exports one function, ``predict``."""
    cells = {cell: f"c{k}" for k, cell in enumerate(program.cells)}
    language = Language(
        cell=cells.__getitem__,
        constant=repr,
        step=str,
        missing="null",
        is_missing="{} === null",
        functions={name: f"Math.{name}" for name in ("exp", "log", "sqrt", "sin", "cos", "floor")},
        comparisons={"=": "===", "<>": "!=="},
        among=_among,
        both=" && ",
        choose=_choose,
    )
    lines = [
        *(f"// {line}" for line in title),
        "",
        READERS.replace("@missing@", json.dumps(sorted(MISSING))),
    ]
    lines += ["// Score one record: an object from columns to cells."]
    lines += ["export function predict(record) {"]
    lines += [
        f"  const {name} = {cell.read}(record[{json.dumps(cell.column)}]);"
        for cell, name in cells.items()
    ]
    failures = {check.step: check.otherwise for check in program.checks}
    for name, expression in program.steps.items():
        lines.append(f"  const {name} = {language.number(expression)};")
        if name in failures:
            lines.append(f"  if ({name} !== 1) throw new Error({json.dumps(failures[name])});")
    lines.append("  return {")
    if program.label is not None:
        scores = ", ".join(program.label.scores)
        labels = json.dumps(list(program.label.labels))
        lines.append(f"    prediction: best({labels}, [{scores}]),")
    lines += [f"    {json.dumps(label)}: {step}," for label, step in program.outputs.items()]
    return "\n".join([*lines, "  };", "}"]) + "\n"
