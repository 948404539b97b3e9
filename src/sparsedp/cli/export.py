"""``sparsedp export``: write a model for another engine."""

from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, limit_option


@click.command("export")
@click.argument("model", type=existing)
@click.option(
    "--to",
    type=click.Choice(["python", "js", "sql", "onnx", "sklearn", "pmml", "card"]),
    required=True,
    help="What to write.",
)
@click.option(
    "--dialect",
    type=click.Choice(["postgresql", "sqlite", "duckdb", "bigquery"]),
    default="postgresql",
    show_default=True,
    help="Of SQL.",
)
@click.option("--table", default="records", show_default=True, help="That the query reads.")
@click.option("--keep", multiple=True, help="A column to show beside predictions; may be repeated.")
@click.option("-o", "--output", type=anywhere, help="File; by default standard output.")
@limit_option()
def command(
    model: Path, to: str, dialect: str, table: str, keep: tuple[str, ...], output: Path | None
) -> None:
    """Write MODEL (a folder or a model.json) as code that needs nothing of sparsedp.

    A Python or JavaScript module has one function, predict, of one record; SQL is a query over a
    table, ONNX a graph over columns. They take numbers as numbers, categories as text and dates as
    dates (or 2020-12-31), and do with them what the model's schema says: limits, missing values,
    categories, shapes. The module of sklearn has a function, build, that makes a pipeline of
    scikit-learn for data frames; PMML is version 4.4. A card is a README.md about the model for
    Hugging Face or MLflow.
    """
    from sparsedp.release import PublishedModel
    from sparsedp.release.approval.verify import verify
    from sparsedp.release.export.export import export, export_bytes

    if to == "onnx":
        if output is None:
            raise ValueError("an ONNX file is not text: say where to write it by -o FILE")
        output.write_bytes(export_bytes(PublishedModel.load(model)))
        click.echo(f"Wrote {output}")
        return
    # A card repeats what the file says about itself, so the file is verified first.
    found = verify(model) if to == "card" else None
    verdict = None if found is None else found.verdict
    text = export(
        PublishedModel.load(model), to, dialect=dialect, table=table, keep=keep, verdict=verdict
    )
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        click.echo(f"Wrote {output}")
    click.get_current_context().exit(1 if found is not None and found.problems else 0)
