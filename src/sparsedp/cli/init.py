"""``sparsedp init``: a schema file to fill in."""

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparsedp.cli.options import (
    anywhere,
    existing,
    json_option,
    limit_option,
    source,
    table_options,
)

if TYPE_CHECKING:
    from sparsedp.cli.declared.source import Source
    from sparsedp.data.files.location import Location

QUESTION = (
    "Whose data are protected? The column that says whose a row is, or 'row' if every row is "
    "somebody else's"
)


@click.command("init")
@click.argument("data", type=source)
@click.option("--target", metavar="COLUMN", help="The column to predict.")
@click.option("--person", metavar="COLUMN", help="The column that says whose a row is.")
@click.option(
    "--unit", type=click.Choice(("row",)), help="Protect single rows: each is somebody else's."
)
@click.option(
    "--codebook",
    type=existing,
    help="Public CSV or JSON: name, kind, lower, upper, categories of columns.",
)
@click.option("--columns", metavar="A,B,...", help="Names of the columns of JSON lines.")
@table_options()
@limit_option()
@click.option(
    "-o", "--output", type=anywhere, default=Path("schema.toml"), show_default=True, help="File."
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
@json_option()
def command(
    data: "Location",
    target: str | None,
    person: str | None,
    unit: str | None,
    codebook: Path | None,
    columns: str | None,
    file_format: str | None,
    delimiter: str | None,
    encoding: str,
    sheet: str | None,
    output: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Write a schema for DATA, to be filled in.

    Reads the names of the columns and no record.
    """
    from sparsedp.cli.declared.codebook import read_codebook
    from sparsedp.cli.declared.source import Source
    from sparsedp.cli.declared.template import template

    if output.exists() and not force:
        raise ValueError(f"{output} exists: choose another name by -o, or --force")
    if person is not None and unit is not None:
        raise ValueError("--person says whose a row is, --unit row that there is no such column")
    book = {} if codebook is None else read_codebook(codebook)
    given = columns.split(",") if columns is not None else list(book) or None
    records = Source(data, file_format, delimiter, encoding, sheet)
    names = [] if records.matrix else _names(records, given)
    if records.first_line_names:
        _check_names(data, [name for name in names if name not in book])
    if person is None and unit is None and names and not as_json and _is_terminal(data):
        person, unit = _ask(names)
    for column in (target, person):
        if column is not None and names and column not in names:
            raise ValueError(f"{data} has no column {column!r}; it has {', '.join(names[:12])}")
    text = template(data.name, names, target=target, person=person, unit=unit, book=book)
    output.write_text(text, encoding="utf-8")
    _tell(data, output, names, list(book), unit_is_said=bool(person or unit), as_json=as_json)


def _tell(
    data: "Location",
    output: Path,
    names: list[str],
    book: list[str],
    *,
    unit_is_said: bool,
    as_json: bool,
) -> None:
    """What was written, and what is to be filled in."""
    from sparsedp.cli.show import echo_json
    from sparsedp.data.schema.tables import quoted

    unknown = [name for name in book if name not in names]
    if as_json:
        echo_json({"schema": str(output), "columns": names, "not_columns": unknown})
        return
    click.echo(f"Wrote {output} for {len(names)} columns." if names else f"Wrote {output}.")
    if unknown:
        click.echo(f"Of the code book, {len(unknown)} entries are no columns of these data.")
    if not unit_is_said:
        click.echo("Say in it who is protected: people by the column of an id, or single rows.")
    click.echo("Fill in what you know about the domain or find in a code book, not in the data:")
    click.echo(f"  {', '.join(quoted(name) for name in names if name not in book)[:200] or '-'}")
    click.echo("Then:")
    click.echo(f"  sparsedp fit {data} --schema {output} --epsilon 1 --delta 1e-6")


def _names(records: "Source", given: list[str] | None) -> list[str]:
    """Names of the columns: by the header, or as given where there is none."""
    return list(records.table(None if records.has_header else given).names)


def _check_names(data: "Location", names: list[str]) -> None:
    """Names are published with the model: a record in the place of the header would be, too."""
    if any(map(_is_number, names)):
        raise ValueError(
            f"{data}: there are numbers where the first line should have names of columns. If it "
            "is a record, put a line of names above it; if they are names, say so in a code book "
            "(--codebook)"
        )


def _is_number(name: str) -> bool:
    try:
        return math.isfinite(float(name.replace(",", ".")))
    except ValueError:
        return False


def _is_terminal(data: "Location") -> bool:
    """Whether somebody is there to answer."""
    return data.kind != "stream" and sys.stdin.isatty() and sys.stdout.isatty()


def _ask(names: list[str]) -> tuple[str | None, str | None]:
    """The unit of protection, from whoever sits at the terminal."""
    answer = click.prompt(QUESTION, type=click.Choice(["row", *names]), show_choices=False)
    return (None, "row") if answer == "row" else (answer, None)
