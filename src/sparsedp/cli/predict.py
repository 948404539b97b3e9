"""``sparsedp predict``: apply a model file to records."""

import csv
import sys
from pathlib import Path

import click

from sparsedp.cli.options import anywhere, existing, format_option, limit_option


@click.command("predict")
@click.argument("model", type=existing)
@click.argument("data", type=existing)
@format_option()
@limit_option()
@click.option("-o", "--output", type=anywhere, help="CSV file; by default standard output.")
def command(model: Path, data: Path, file_format: str | None, output: Path | None) -> None:
    """Predict the records in DATA by MODEL (a folder or a model.json).

    Prints CSV: the prediction and, for classes, the probability of each. Columns are found by
    name; only those that the model uses are needed.
    """
    from sparsedp.cli.declared.records import read_for_model
    from sparsedp.release.feature import label_text
    from sparsedp.release.model import PublishedModel

    published = PublishedModel.load(model)
    table = read_for_model(data, published, file_format)
    names = table.feature_names
    header, columns = ["prediction"], [published.predict(table.X, names).tolist()]
    if published.classes is not None:
        header += [f"probability of {label_text(label)}" for label in published.classes]
        columns += published.predict_proba(table.X, names).T.tolist()
    rows = ([label_text(row[0]), *map(repr, row[1:])] for row in zip(*columns, strict=True))
    if output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows([header, *rows])
        return
    with output.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows([header, *rows])
    click.echo(f"Wrote {output}")
