"""``sparsedp init``: a bounds file to fill in."""

from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, format_option, limit_option

HEAD = """\
# Public promises about the records in {name}, to be filled in.
#
# These numbers set the noise and are published with the model. Take them from knowledge of the
# domain (an age is at most 120), NEVER from the records themselves: a limit that was read off the
# data reveals the most extreme person in it. Values beyond the limits are clipped.
"""

TARGET = """
[target]
{column}
# Required: either the label set (as the file writes it) ...
# classes = ["no", "yes"]
# ... or, for a number, its limits:
# lower = ?
# upper = ?
"""

BOUNDS = """
# For every feature that has no table of its own.
[bounds]
# lower = ?
# upper = ?
"""

FEATURES = """
# Single features: uncomment the table and
#   give a number its limits                              lower = 0, upper = 120
#   give text its values, each becomes a 0/1 feature      categories = ["red", "green"]
#   or leave the column out                               drop = true
"""

FEATURE = """
# [features.{name}]
# lower = ?
# upper = ?
"""


@click.command("init")
@click.argument("data", type=existing)
@click.option("--target", metavar="COLUMN", help="The column to predict.")
@format_option()
@limit_option()
@click.option(
    "-o", "--output", type=anywhere, default=Path("bounds.toml"), show_default=True, help="File."
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
def command(
    data: Path, target: str | None, file_format: str | None, output: Path, force: bool
) -> None:
    """Write a bounds file for DATA, to be filled in.

    Reads the names of the columns and no record.
    """
    from sparsedp.cli.declared.declaration import toml
    from sparsedp.cli.declared.records import known_format
    from sparsedp.data.files.readers import read_header

    if output.exists() and not force:
        raise ValueError(f"{output} exists: choose another name by -o, or --force")
    names: list[str] = []
    kind = known_format(data, file_format)
    if kind not in ("libsvm", "npz"):
        names = read_header(data, format=kind)
    if target is not None and names and target not in names:
        raise ValueError(f"{data} has no column {target!r}; it has {', '.join(names[:12])}")
    column = f"column = {toml(target)}" if target is not None else '# column = "..."'
    text = HEAD.format(name=data.name) + TARGET.format(column=column) + BOUNDS
    text += FEATURES if names else ""
    text += "".join(FEATURE.format(name=toml(name)) for name in names if name != target)
    output.write_text(text, encoding="utf-8")
    click.echo(f"Wrote {output} for {len(names)} columns." if names else f"Wrote {output}.")
    click.echo("Fill in the limits from what you know about the domain, not from the data; then:")
    click.echo(f"  sparsedp fit {data} --bounds {output} --epsilon 1 --delta 1e-6")
