"""What the holder of the records may see before a fit, and nobody else: how they fit the schema."""

from collections.abc import Iterable
from dataclasses import dataclass

import click

from sparsedp.data.files.raw_columns import RawColumns
from sparsedp.data.gate.cells import is_missing
from sparsedp.data.gate.labels import Labels
from sparsedp.data.gate.persons import NOBODY, person_codes
from sparsedp.data.raw import Cells, Label
from sparsedp.data.schema import Schema

PRIVATE = (
    "For your eyes only: these counts are about the records, so they are private. They are stored "
    "nowhere; --quiet keeps them off the screen."
)


@dataclass(repr=False)
class Fit:
    """How the cells of one column fit what was declared, over all blocks. Private."""

    missing: int = 0
    unlike: int = 0
    other: int = 0
    never: set[Label] | None = None
    declared_missing: bool = False

    @property
    def is_otherwise_written(self) -> bool:
        """Whether a declared value never occurs while others do, as m for M."""
        return bool(self.never) and self.unlike + self.other > 0


def look(schema: Schema, blocks: Iterable[RawColumns]) -> dict[str, Fit]:
    """Go through the records once; columns that fit have no entry."""
    found: dict[str, Fit] = {}
    for block in blocks:
        for name, match in schema.matches(block).items():
            fit = found.setdefault(name, Fit(declared_missing=match.admits_missing))
            fit.missing += match.missing
            fit.unlike += match.malformed
            fit.other += match.other
            fit.never = {*match.never} if fit.never is None else fit.never & {*match.never}
        _look_at_roles(schema, block, found)
    return found


def _look_at_roles(schema: Schema, block: RawColumns, found: dict[str, Fit]) -> None:
    if schema.target is not None:
        fit = found.setdefault(schema.target.column, Fit())
        cells = schema.target_cells(block)
        classes = schema.target.classes
        if classes is not None:
            codes = Labels(classes).codes(cells)
            fit.unlike += int((codes < 0).sum())
            never = {label for code, label in enumerate(classes) if code not in set(codes.tolist())}
            fit.never = never if fit.never is None else fit.never & never
        else:
            fit.unlike += _without_number(cells)
    groups = schema.groups(block)
    if groups is not None and schema.person is not None:
        fit = found.setdefault(schema.person.column, Fit())
        fit.missing += int((person_codes(groups, "replace") == NOBODY).sum())


def _without_number(cells: Cells) -> int:
    return sum(is_missing(cell) or cell != cell for cell in cells)


def tell(found: dict[str, Fit]) -> None:
    """Show on standard error what does not fit."""
    rows = [
        (name, fit)
        for name, fit in found.items()
        if fit.unlike or fit.other or (fit.missing and not fit.declared_missing) or fit.never
    ]
    if not rows:
        return
    click.echo(PRIVATE, err=True)
    width = max(len(name) for name, _ in rows)
    for name, fit in rows:
        parts = [
            f"{fit.missing} missing" if fit.missing else "",
            f"{fit.unlike} not as declared" if fit.unlike else "",
            f"{fit.other} under other" if fit.other else "",
            f"never {', '.join(map(repr, sorted(map(str, fit.never))))}" if fit.never else "",
        ]
        click.echo(f"  {name:<{width}}  {'; '.join(filter(None, parts))}", err=True)


def refuse_misspelled(found: dict[str, Fit]) -> None:
    """Stop where a declared value is written otherwise: budget would be spent on nothing."""
    names = [name for name, fit in found.items() if fit.is_otherwise_written]
    if names:
        raise ValueError(
            f"column {', '.join(map(repr, names[:5]))}: a declared value never occurs, while "
            "others that are not declared do (is it written in another way, as m for M?). Compare "
            "them, or pass --allow-unmatched; nothing was charged"
        )
